package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/rotajobs/rota"
)

// pendingLogs are logs that came with the ends of their runs and are not yet written.
// A log is written behind the end, since who has lost the lease writes nothing;
// who sees that end and asks for the log waits until it stands.
type pendingLogs struct {
	mu    sync.Mutex
	byJob map[rota.ID][]chan struct{} // closed when one stands, or never will
}

func newPendingLogs() *pendingLogs { return &pendingLogs{byJob: map[rota.ID][]chan struct{}{}} }

// add says that logs are on their way. It is said before their runs end.
func (p *pendingLogs) add(logs map[int]workerLog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, log := range logs {
		log.written = make(chan struct{})
		logs[i] = log
		p.byJob[log.job.ID] = append(p.byJob[log.job.ID], log.written)
	}
}

// finish says that a log stands, or never will.
func (p *pendingLogs) finish(log workerLog) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.byJob[log.job.ID]
	i := slices.Index(all, log.written)
	if i < 0 {
		return // it was said before
	}
	close(log.written)
	if all = slices.Delete(slices.Clone(all), i, i+1); len(all) == 0 {
		delete(p.byJob, log.job.ID)
		return
	}
	p.byJob[log.job.ID] = all
}

// finishAll says so of all that are left.
func (p *pendingLogs) finishAll(logs map[int]workerLog) {
	for _, log := range logs {
		p.finish(log)
	}
}

// wait returns when those logs of a job stand that are on their way now, and not
// those that are sent meanwhile: who sends again and again keeps nobody waiting.
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
