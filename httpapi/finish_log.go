package httpapi

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// workerLogMax is the highest size of a log that a worker sends. Of a longer log only the end is kept,
// which usually shows the error.
const workerLogMax = 1 << 20

// workerLog is the log of a run on a remote worker.
type workerLog struct {
	job  *rota.Job
	path string
	text string

	written chan struct{} // closed when the log is stored, or will not be
}

// workerLogs returns the logs in a finish request by item index. A run that does not exist, or is not
// the run of its job, has none: its outcome will be refused.
func (c *call) workerLogs(runs []api.FinishRun) (map[int]workerLog, error) {
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
			logs[i] = workerLog{job: job, path: c.LogWriter.Path(job), text: keepTail(api.ReplaceNUL(runs[i].Log), workerLogMax)}
		}
	}
	return logs, nil
}

// storeLog stores a log after its run has ended, because a worker that has lost its lease must write
// nothing. A repeated log replaces itself. If the log cannot be stored, the outcome stays recorded.
func (c *call) storeLog(log workerLog) {
	if err := c.LogWriter.Keep(log.job, log.text); err != nil {
		c.Logger.Error("could not store the log of a run", slog.String("job", log.job.ID.String()), slog.Any("error", err))
	}
}

// keepTail keeps the end of a text, from the start of a line if possible, and adds a note.
func keepTail(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	end := text[len(text)-maxBytes:]
	if _, rest, found := strings.Cut(end, "\n"); found && rest != "" {
		end = rest
	}
	end = strings.ToValidUTF8(end, "")
	return fmt.Sprintf("[rota: %d bytes removed: the limit for logs of remote workers is %s]\n", len(text)-len(end), problem.Size(int64(maxBytes))) + end
}
