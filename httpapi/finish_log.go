package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

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

	offset int64 // of text; 0: text is the whole log
	masks  *maskedRun

	written chan struct{} // closed when the log is stored, or will not be
}

// workerLogs returns the logs in a finish request by item index. A run that does not exist, or is not
// the run of its job, has none: its outcome will be refused.
func (c *call) workerLogs(runs []api.FinishRun, masks map[int]*maskedRun) (map[int]workerLog, error) {
	logs := map[int]workerLog{}
	if c.LogWriter == nil {
		return logs, nil
	}
	for i := range runs {
		log := workerLog{text: runs[i].Log, offset: runs[i].LogOffset, masks: masks[i]}
		if log.text == "" && log.offset == 0 {
			if log.offset = log.masks.heldAt(); log.offset == 0 {
				continue
			}
		}
		job, err := c.server.Store.Job(c.ctx, runs[i].JobID.ID)
		switch {
		case rota.CodeOf(err) == rota.NotFound:
		case err != nil:
			return nil, err
		case job.Run != nil && job.Run.ID == runs[i].RunID.ID:
			log.job, log.path = job, c.LogWriter.Path(job)
			if log.offset == 0 {
				log.text = keepTail(api.ReplaceNUL(log.masks.text(log.text)), workerLogMax)
			}
			logs[i] = log
		}
	}
	return logs, nil
}

// storeLogs stores the logs of the runs whose outcome was recorded, because a worker that has lost its
// lease must write nothing. A repeated log replaces itself. If a log cannot be stored, the outcome stays
// recorded.
func (c *call) storeLogs(logs map[int]workerLog, answers []rota.FinishAnswer) {
	texts := map[*rota.Job]string{}
	ctx, done := c.detached()
	defer done()
	for i, log := range logs {
		switch {
		case answers[i].Code != "":
		case log.offset == 0:
			texts[log.job] = log.text
		default:
			log.masks.part(logPart{offset: log.offset, text: log.text, last: true, again: !log.job.Run.FinishedAt.IsZero()}, func(offset int64, text string) (full, stored bool) {
				return c.appendLog(ctx, log.job, offset, text)
			})
		}
	}
	if len(texts) == 0 {
		return
	}
	if err := c.LogWriter.Keep(ctx, texts); err != nil {
		c.Logger.Error("could not store the logs of runs", slog.Int("runs", len(texts)), slog.Any("error", err))
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

// pendingLogs tracks logs that arrived with a finish request and are not stored yet. A log is stored
// after its run has ended, because a worker that lost its lease must write nothing. A request for the
// log of an ended run waits until it is stored.
type pendingLogs struct {
	mu    sync.Mutex
	byJob map[rota.ID][]chan struct{} // closed when the log is stored or dropped
}

func newPendingLogs() *pendingLogs { return &pendingLogs{byJob: map[rota.ID][]chan struct{}{}} }

// add registers logs. It is called before their runs end.
func (p *pendingLogs) add(logs map[int]workerLog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, log := range logs {
		log.written = make(chan struct{})
		logs[i] = log
		p.byJob[log.job.ID] = append(p.byJob[log.job.ID], log.written)
	}
}

// finish marks a log as stored or dropped.
func (p *pendingLogs) finish(log workerLog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.byJob[log.job.ID]
	i := slices.Index(all, log.written)
	if i < 0 {
		return // already marked
	}
	close(log.written)
	if all = slices.Delete(slices.Clone(all), i, i+1); len(all) == 0 {
		delete(p.byJob, log.job.ID)
		return
	}
	p.byJob[log.job.ID] = all
}

// finishAll marks all remaining logs.
func (p *pendingLogs) finishAll(logs map[int]workerLog) {
	for _, log := range logs {
		p.finish(log)
	}
}

// wait returns when the logs of a job that are pending now are stored. It does not wait for logs that
// arrive meanwhile, so repeated finish requests cannot block it.
func (p *pendingLogs) wait(ctx context.Context, job rota.ID) error {
	p.mu.Lock()
	all := p.byJob[job]
	p.mu.Unlock()
	for _, written := range all {
		select {
		case <-written:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
