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

// lent are the runs that the store has answered with and that have yet to begin,
// and when the lease of each is over by the watch of this process.
type lent struct {
	mu    sync.Mutex
	until map[rota.ID]time.Time
}

func newLent() *lent { return &lent{until: map[rota.ID]time.Time{}} }

// lends notes the leases in the answers to what was sent at some time.
func (e *Engine) lends(sent time.Time, results []rota.Result) {
	if !e.shares() {
		return
	}
	for i := range results {
		switch reply := results[i].Reply.(type) {
		case *rota.Claimed:
			e.lent.add(sent, reply.Now, reply.Jobs...)
		case *rota.Directed:
			e.lent.add(sent, reply.Now, reply.Job)
		}
	}
}

// add counts what was left of each lease when the store answered from when it was
// asked, which was no later. An answer to what had to be sent again tells of a
// lease that an earlier sending took, of which less is left.
func (l *lent) add(sent, answered time.Time, jobs ...*rota.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		if job.Run.Open() {
			l.until[job.Run.ID] = sent.Add(job.Run.StaleAfter.Sub(answered))
		}
	}
}

// take is when the lease of a run that is about to begin is over.
func (l *lent) take(run rota.ID) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.until[run]
	delete(l.until, run)
	return until
}

// begins notes when the lease of a run is over.
func (t *task) begins(run *rota.Run) {
	until := t.pool.e.lent.take(run.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.until, t.stale = until, run.StaleAfter
}

// lasts notes a heartbeat, unless somebody held the job and it was passed over.
func (t *task) lasts(sent time.Time, lease time.Duration, stale time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !stale.Equal(t.stale) {
		t.until, t.stale = sent.Add(lease), stale
	}
}

func (t *task) outlived(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.until.IsZero() && now.After(t.until)
}
