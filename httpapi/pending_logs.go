package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/rotajobs/rota"
)

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
