package httpapi

import (
	"context"
	"slices"
	"sync"

	"github.com/rotajobs/rota"
)

// logsDue are logs that came with the ends of their runs and are not yet written.
// A log is written behind the end, since who has lost the lease writes nothing;
// who sees that end and asks for the log waits until it stands.
type logsDue struct {
	mu    sync.Mutex
	byJob map[rota.ID][]chan struct{} // closed when one stands, or never will
}

func newLogsDue() *logsDue { return &logsDue{byJob: map[rota.ID][]chan struct{}{}} }

// expect says that logs are on their way. It is said before their runs end.
func (d *logsDue) expect(logs map[int]sentLog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, log := range logs {
		log.stands = make(chan struct{})
		logs[i] = log
		d.byJob[log.job.ID] = append(d.byJob[log.job.ID], log.stands)
	}
}

// came says that a log stands, or never will.
func (d *logsDue) came(log sentLog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.byJob[log.job.ID]
	i := slices.Index(all, log.stands)
	if i < 0 {
		return // it was said before
	}
	close(log.stands)
	if all = slices.Delete(slices.Clone(all), i, i+1); len(all) == 0 {
		delete(d.byJob, log.job.ID)
		return
	}
	d.byJob[log.job.ID] = all
}

// cameAll says so of all that are left.
func (d *logsDue) cameAll(logs map[int]sentLog) {
	for _, log := range logs {
		d.came(log)
	}
}

// wait returns when those logs of a job stand that are on their way now, and not
// those that are sent meanwhile: who sends again and again keeps nobody waiting.
func (d *logsDue) wait(ctx context.Context, job rota.ID) error {
	d.mu.Lock()
	all := d.byJob[job]
	d.mu.Unlock()
	for _, stands := range all {
		select {
		case <-stands:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
