package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// Where several processes share a store, a process that cannot reach it does not
// hear that its leases have ended, and that others run its jobs. So it watches
// them by its own watch: a lease lasts from when the claim or the heartbeat was
// sent, which is no later than the store gave it. What still runs when it is over
// is stopped, and what has yet to begin does not. That it failed is recorded when
// the store can be reached, if nobody has taken it by then. In a store of its own
// nobody else takes anything, and a run goes on.

// leaseCheckFraction is how often, as a part of a lease.
const leaseCheckFraction = 20

// storeShared says whether others may take what this process has lost.
func (e *Engine) storeShared() bool { return e.config.Membership != nil }

// watchLeases stops what has outlived its lease.
func (h *heartbeat) watchLeases(ctx context.Context) {
	if !h.e.storeShared() {
		return
	}
	for pause(ctx, h.e.config.Lease/leaseCheckFraction) {
		now := time.Now()
		for _, t := range h.e.pool.liveTasks() {
			if t.leaseExpired(now) {
				h.e.pool.stopExpired(t)
			}
		}
	}
}

// stopExpired stops a run whose lease is over as far as can be known here.
func (p *pool) stopExpired(t *task) {
	if t.isSettled() || context.Cause(t.ctx) != nil {
		return
	}
	p.countLost()
	p.e.config.Logger.Error("a lease could not be extended in time: the run is stopped, since others may run it", "job", t.job.ID, "type", t.job.Type)
	t.stop(errLeaseExpired, p.e.config.CancelGrace)
}

// leaseDeadlines are the runs that the store has answered with and that have yet to begin,
// and when the lease of each is over by the watch of this process.
type leaseDeadlines struct {
	mu    sync.Mutex
	until map[rota.ID]time.Time
}

func newLeaseDeadlines() *leaseDeadlines { return &leaseDeadlines{until: map[rota.ID]time.Time{}} }

// noteLeases notes the leases in the answers to what was sent at some time.
func (e *Engine) noteLeases(sent time.Time, results []rota.Result) {
	if !e.storeShared() {
		return
	}
	for i := range results {
		switch reply := results[i].Reply.(type) {
		case *rota.Claimed:
			e.leaseDeadlines.add(sent, reply.Now, reply.Jobs...)
		case *rota.Directed:
			e.leaseDeadlines.add(sent, reply.Now, reply.Job)
		}
	}
}

// add counts what was left of each lease when the store answered from when it was
// asked, which was no later. An answer to what had to be sent again tells of a
// lease that an earlier sending took, of which less is left.
func (l *leaseDeadlines) add(sent, answered time.Time, jobs ...*rota.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		if job.Run.Open() {
			l.until[job.Run.ID] = sent.Add(job.Run.StaleAfter.Sub(answered))
		}
	}
}

// take is when the lease of a run that is about to begin is over.
func (l *leaseDeadlines) take(run rota.ID) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.until[run]
	delete(l.until, run)
	return until
}

// setLease notes when the lease of a run is over.
func (t *task) setLease(run *rota.Run) {
	until := t.pool.e.leaseDeadlines.take(run.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaseEnds, t.staleAfter = until, run.StaleAfter
}

// extendLease notes a heartbeat, unless somebody held the job and it was passed over.
func (t *task) extendLease(sent time.Time, lease time.Duration, stale time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !stale.Equal(t.staleAfter) {
		t.leaseEnds, t.staleAfter = sent.Add(lease), stale
	}
}

func (t *task) leaseExpired(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.leaseEnds.IsZero() && now.After(t.leaseEnds)
}
