package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// reaper fails the runs of workers that have stopped sending heartbeats, and ends those
// that a remote worker continues longer than the grace after a cancel or a timeout. It
// leaves out the runs of its own process: the pool handles handlers that hang.
type reaper struct{ e *Engine }

func newReaper(e *Engine) *reaper { return &reaper{e} }

// run reaps every third of a lease, or more often if the grace is short. After a pause of
// the whole process, and at its start, workers elsewhere could not reach it either: they
// get the time of a lease to send a heartbeat, and the grace to report that they stopped.
func (r *reaper) run(ctx context.Context) {
	every := r.e.config.Lease / 3
	tick := time.NewTicker(min(every, max(r.e.config.CancelGrace/4, time.Second)))
	defer tick.Stop()
	last := r.e.config.Clock().Round(0) // wall clock: it shows that the machine slept or its clock was set
	resumed := last
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := r.e.config.Clock().Round(0)
		if elapsed := now.Sub(last); elapsed > 2*every || elapsed < 0 {
			resumed = now
		}
		last = now
		if up := now.Sub(resumed); up >= min(r.e.config.CancelGrace, r.e.config.Lease) {
			r.reap(ctx, up < r.e.config.Lease)
		}
	}
}

func (r *reaper) reap(ctx context.Context, keepStale bool) {
	for more := true; more; {
		reaped, err := do[*rota.Reaped](ctx, r.e, &rota.Reap{
			Meta: rota.NewMeta(""), Incarnation: r.e.incarnation, Grace: r.e.config.CancelGrace, KeepStale: keepStale,
		})
		if err != nil {
			if ctx.Err() == nil {
				r.e.config.Logger.Error("stale leases were not reaped", "error", err)
			}
			return
		}
		for _, s := range reaped.Jobs {
			r.e.config.Logger.Warn("the server ended a run", "job", s.JobID, "act", s.Act, "outcome", s.Outcome, "retry", s.RetryID)
		}
		more = reaped.More
	}
}
