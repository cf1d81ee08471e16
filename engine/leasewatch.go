package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// Where several processes share a store, a process that cannot reach it does not learn
// that its leases have expired and that others run its jobs. So it tracks the leases
// by its own clock. It counts a lease from when the claim or the heartbeat was sent,
// which is no later than when the store granted it. When the lease is over, the
// process stops the run, and does not start one that has yet to begin. It records the
// failure when it reaches the store, if no other process has taken the job by then.
// In a store of its own no other process takes the job, and the run continues. So does a
// run that completes in a transaction of its handler, which holds the row of the job: its
// lease cannot be extended, and no other process takes the job.
//
// A remote worker stops a run earlier: as much before the end of the lease as a handler has
// to return, so that a program that is killed at the end of that time never runs beside
// the next attempt. It counts the lease of a claim from the answer, because the claim may
// have waited at the server for a job as long as a lease. The first heartbeat follows at
// once, and corrects it.

const (
	leaseCheckFraction = 20                     // checks in the time of one lease, at least
	leaseCheckMax      = 500 * time.Millisecond // longest time between two checks
	leaseMarginShare   = 3                      // a remote worker uses at most this part of a lease to stop a run
)

// storeShared reports whether other processes may take jobs whose lease is over.
func (e *Engine) storeShared() bool { return e.config.Membership != nil || e.config.Remote }

// leaseMargin is how long before the end of its lease a run is stopped. By the clock of
// another process the lease may end earlier by the skew.
func (c *Config) leaseMargin() time.Duration {
	switch {
	case c.Remote:
		return min(c.CancelGrace, c.Lease/leaseMarginShare)
	case c.ClockSkew > 0:
		return c.ClockSkew + c.leaseCheckEvery()
	}
	return 0
}

// leaseCheckEvery is the time between two checks of the leases.
func (c *Config) leaseCheckEvery() time.Duration {
	return min(c.Lease/leaseCheckFraction, leaseCheckMax)
}

// heartbeatEvery is the interval of heartbeats. A remote worker learns from their answers alone what
// to stop, and has less time to repeat one.
func (c *Config) heartbeatEvery() time.Duration {
	if !c.Remote {
		return c.Lease / 3
	}
	return min((c.Lease-c.leaseMargin())/6, max(c.CancelGrace/3, time.Second))
}

// watchLeases stops runs whose lease is over.
func (h *heartbeat) watchLeases(ctx context.Context) {
	if !h.e.storeShared() {
		return
	}
	for pause(ctx, h.e.config.leaseCheckEvery()) {
		now := time.Now()
		for _, t := range h.e.pool.liveTasks() {
			if t.leaseExpired(now) {
				h.e.pool.stopExpired(t)
			}
		}
	}
}

// stopExpired stops a run whose lease is over by the clock of this process.
func (p *pool) stopExpired(t *task) {
	if t.isSettled() || t.completes() || context.Cause(t.ctx) != nil {
		return
	}
	p.countLost()
	p.e.config.Logger.Error("a lease could not be extended in time: the run is stopped, since another process may run the job", "job", t.job.ID, "type", t.job.Type)
	t.stop(errLeaseExpired, p.e.config.CancelGrace)
}

// leaseDeadlines holds the runs that the store has granted and that have yet to start,
// and when the lease of each is over by the clock of this process.
type leaseDeadlines struct {
	mu    sync.Mutex
	until map[rota.ID]time.Time
}

func newLeaseDeadlines() *leaseDeadlines { return &leaseDeadlines{until: map[rota.ID]time.Time{}} }

// noteLeases notes the leases in the answers to commands sent at some time.
func (e *Engine) noteLeases(sent time.Time, results []rota.Result) {
	if !e.storeShared() {
		return
	}
	for i := range results {
		switch reply := results[i].Reply.(type) {
		case *rota.Claimed:
			if e.config.Remote {
				e.leaseDeadlines.addUntil(time.Now().Add(e.config.Lease), reply.Jobs)
				continue
			}
			e.leaseDeadlines.add(sent, reply.Now, reply.Jobs...)
		case *rota.Directed:
			e.leaseDeadlines.add(sent, reply.Now, reply.Job)
		}
	}
}

// add counts the remaining time of each lease, as of the answer, from when the command
// was sent, which was earlier. The answer to a command that was sent again names the
// lease that the first one took, of which less remains.
func (l *leaseDeadlines) add(sent, answered time.Time, jobs ...*rota.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		if job.Run.Open() {
			l.until[job.Run.ID] = sent.Add(job.Run.StaleAfter.Sub(answered))
		}
	}
}

// addUntil sets the same time for several jobs.
func (l *leaseDeadlines) addUntil(until time.Time, jobs []*rota.Job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, job := range jobs {
		if job.Run != nil {
			l.until[job.Run.ID] = until
		}
	}
}

// take returns when the lease of a run that is about to start is over.
func (l *leaseDeadlines) take(run rota.ID) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	until := l.until[run]
	delete(l.until, run)
	return until
}

// setLease sets when the lease of a run is over.
func (t *task) setLease(run *rota.Run) {
	until := t.pool.e.leaseDeadlines.take(run.ID)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaseEnds, t.staleAfter = until, run.StaleAfter
}

// extendLease notes a heartbeat, unless the store skipped the job because another
// transaction had locked it. The answers to two heartbeats may arrive in the other order.
func (t *task) extendLease(sent time.Time, lease time.Duration, stale time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stale.Equal(t.staleAfter) {
		return
	}
	t.staleAfter = stale
	if ends := sent.Add(lease); ends.After(t.leaseEnds) {
		t.leaseEnds = ends
	}
}

// leaseExpired reports whether the lease of a run is over, or so near to its end that the run must stop.
func (t *task) leaseExpired(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.leaseEnds.IsZero() && now.After(t.leaseEnds.Add(-t.pool.e.config.leaseMargin()))
}
