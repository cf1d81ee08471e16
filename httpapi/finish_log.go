package httpapi

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/rotajobs/rota"
)

// workerLogMax is how much of a run's log a worker may send. Of a longer one the
// end is kept, where it says what went wrong.
const workerLogMax = 1 << 20

// sentLog is the log of a run that ran elsewhere.
type sentLog struct {
	job  *rota.Job
	path string
	text string

	stands chan struct{} // closed when it does
}

// logsOf are the logs that came with ends, by their places. A run that is not
// there, or is another than its job's, has none: its end will be refused.
func (c *call) logsOf(runs []FinishRun) (map[int]sentLog, error) {
	logs := map[int]sentLog{}
	if c.LogWriter == nil {
		return logs, nil
	}
	for i := range runs {
		if runs[i].Log == "" {
			continue
		}
		job, err := c.Store.Job(c.ctx, runs[i].JobID.ID)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
		case err != nil:
			return nil, err
		case job.Run != nil && job.Run.ID == runs[i].RunID.ID:
			logs[i] = sentLog{job: job, path: c.LogWriter.Path(job), text: endOf(storable(runs[i].Log), workerLogMax)}
		}
	}
	return logs, nil
}

// keepLog writes a log when its run has ended, and not before: who has lost the
// lease writes nothing. One that is sent again replaces itself. If it cannot be
// kept, the end of the run stands all the same.
func (c *call) keepLog(log sentLog) {
	if err := c.LogWriter.Keep(log.job, log.text); err != nil {
		c.Logger.Error("the log of a run was not kept", slog.String("job", log.job.ID.String()), slog.Any("err", err))
	}
}

// endOf cuts a text at its beginning, to whole lines if there are any, and says
// so.
func endOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := text[len(text)-most:]
	if _, rest, found := strings.Cut(end, "\n"); found && rest != "" {
		end = rest
	}
	end = strings.ToValidUTF8(end, "")
	return fmt.Sprintf("[rota: %d bytes are missing here: a worker may send %s]\n", len(text)-len(end), sizeText(int64(most))) + end
}
