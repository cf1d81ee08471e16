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

// workerLog is the log of a run that ran elsewhere.
type workerLog struct {
	job  *rota.Job
	path string
	text string

	written chan struct{} // closed when it does
}

// workerLogs are the logs that came with ends, by their places. A run that is not
// there, or is another than its job's, has none: its end will be refused.
func (c *call) workerLogs(runs []FinishRun) (map[int]workerLog, error) {
	logs := map[int]workerLog{}
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
			logs[i] = workerLog{job: job, path: c.LogWriter.Path(job), text: keepTail(replaceNUL(runs[i].Log), workerLogMax)}
		}
	}
	return logs, nil
}

// storeLog writes a log when its run has ended, and not before: who has lost the
// lease writes nothing. One that is sent again replaces itself. If it cannot be
// kept, the end of the run stands all the same.
func (c *call) storeLog(log workerLog) {
	if err := c.LogWriter.Keep(log.job, log.text); err != nil {
		c.Logger.Error("the log of a run was not kept", slog.String("job", log.job.ID.String()), slog.Any("err", err))
	}
}

// keepTail cuts a text at its beginning, to whole lines if there are any, and says
// so.
func keepTail(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	end := text[len(text)-maxBytes:]
	if _, rest, found := strings.Cut(end, "\n"); found && rest != "" {
		end = rest
	}
	end = strings.ToValidUTF8(end, "")
	return fmt.Sprintf("[rota: %d bytes are missing here: a worker may send %s]\n", len(text)-len(end), sizeText(int64(maxBytes))) + end
}
