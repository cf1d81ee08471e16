package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Where several processes share a store, a process that cannot reach it does not
// hear that its leases have ended, and that others run its jobs. So it watches
// them by its own watch: a lease lasts from when the claim or the heartbeat was
// sent, which is no later than the store gave it, and what still runs when it is
// over is stopped. That it failed is recorded when the store can be reached, if
// nobody has taken it by then. In a store of its own nobody else takes anything,
// and a run goes on.

// watchEvery is how often, as a part of a lease.
const watchEvery = 20

// shares says whether others may take what this process has lost.
func (e *Engine) shares() bool { return e.config.Roll != nil }

// watch stops what has outlived its lease.
func (h *heart) watch(ctx context.Context) {
	if !h.e.shares() {
		return
	}
	for pause(ctx, h.e.config.Lease/watchEvery) {
		now := time.Now()
		for _, t := range h.e.pool.live() {
			if t.outlived(now) {
				h.e.pool.outlived(t)
			}
		}
	}
}

// outlived stops a run whose lease is over as far as can be known here.
func (p *pool) outlived(t *task) {
	if t.over() || context.Cause(t.ctx) != nil {
		return
	}
	p.countLost()
	p.e.config.Logger.Error("a lease could not be extended in time: the run is stopped, since others may run it", "job", t.job.ID, "type", t.job.Type)
	t.stop(errOutlived, p.e.config.CancelGrace)
}

// begins notes when the lease of a run that was claimed is over. The id of a run
// has the time in it at which its claim was made, by the clock of this process.
func (t *task) begins(run *rota.Run, lease time.Duration) {
	sent := max(0, time.Since(run.ID.Time()))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until, t.stale = time.Now().Add(lease-sent), run.StaleAfter
}

// lasts notes a heartbeat, unless somebody held the job and it was passed over.
func (t *task) lasts(sent time.Time, lease time.Duration, stale time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stale.After(t.stale) {
		t.until, t.stale = sent.Add(lease), stale
	}
}

func (t *task) outlived(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.until.IsZero() && now.After(t.until)
}
