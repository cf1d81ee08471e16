package httpapi

import (
	"context"
	"sync"

	"github.com/rotajobs/rota"
)

// logsDue are logs that came with the ends of their runs and are not yet written.
// A log is written behind the end, since who has lost the lease writes nothing;
// who sees that end and asks for the log waits until it stands.
type logsDue struct {
	mu    sync.Mutex
	byJob map[rota.ID]*logDue
}

type logDue struct {
	senders int
	done    chan struct{}
}

func newLogsDue() *logsDue { return &logsDue{byJob: map[rota.ID]*logDue{}} }

// expect says that logs are on their way. It is said before their runs end; come
// says that they stand, or never will.
func (d *logsDue) expect(logs map[int]sentLog) (come func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, log := range logs {
		due := d.byJob[log.job.ID]
		if due == nil {
			due = &logDue{done: make(chan struct{})}
			d.byJob[log.job.ID] = due
		}
		due.senders++
	}
	return func() { d.come(logs) }
}

func (d *logsDue) come(logs map[int]sentLog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, log := range logs {
		due := d.byJob[log.job.ID]
		if due.senders--; due.senders == 0 {
			close(due.done)
			delete(d.byJob, log.job.ID)
		}
	}
}

// wait returns when no log of a job is on its way.
func (d *logsDue) wait(ctx context.Context, job rota.ID) error {
	d.mu.Lock()
	due := d.byJob[job]
	d.mu.Unlock()
	if due == nil {
		return nil
	}
	select {
	case <-due.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
