package postgres

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The idle path makes an enqueue on an idle store one round trip. An enqueue normally reads the
// clock, the webhooks in force and the end of the queue, and a claim after it reads whether other
// jobs are ready. On an idle store the answers are the same as last time, so the transaction is
// decided on that assumption. A statement before all writes checks it. If the assumption is wrong,
// or the commands need another read, the transaction is rolled back and the batch takes the normal
// path.

// idlePath holds what the last reads found.
type idlePath struct {
	mu              sync.Mutex
	clock           time.Time // server time at clockReadAt; zero if unknown
	clockReadAt     time.Time
	hooksStamp      string       // stamp of the webhooks in force
	emptyPriorities map[int]bool // priorities without queued jobs
	nothingReady    bool         // no job was ready but those that a batch created itself

	misses int // recent wrong assumptions
	skip   int // batches left before the idle path is tried again
}

const (
	// idleClockLag is how far an assumed time may be behind the server's clock.
	idleClockLag = 50 * time.Millisecond
	// missesMax limits misses; after a miss 1<<misses batches skip the idle path.
	missesMax = 6
)

// errAssumption is the error of a transaction whose assumption is wrong or does not suffice.
var errAssumption = errors.New("the store is not idle as assumed")

// assumption is what one transaction assumes.
type assumption struct {
	now          time.Time
	hooksStamp   string
	nothingReady bool
	placed       bool      // the check is among the pending statements
	sent         bool      // the check is sent, and nothing more may be assumed
	serverClock  time.Time // time of the check on the server

	// What the transaction has used, also in a unit of work that was discarded.
	usedClock  bool
	priorities []int
	claimID    rota.ID
	types      []string
}

// observeClock records the server's clock and the stamp of the webhooks. Clock samples arrive late
// by the network delay; it keeps the one with the smallest delay.
func (c *idlePath) observeClock(now time.Time, stamp string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooksStamp = stamp
	if c.clock.IsZero() || c.now().Before(now) {
		c.clock, c.clockReadAt = now, time.Now()
	}
}

// now returns the server's time, or a slightly earlier one.
func (c *idlePath) now() time.Time {
	return c.clock.Add(time.Since(c.clockReadAt)).Truncate(time.Microsecond)
}

// assumeClock returns the server's time and the stamp of the webhooks as far as they are known; a
// zero time if not.
func (c *idlePath) assumeClock() (now time.Time, stamp string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.IsZero() {
		return now, stamp
	}
	return c.now(), c.hooksStamp
}

// observeTail records whether a priority has queued jobs.
func (c *idlePath) observeTail(priority int, empty bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !empty {
		delete(c.emptyPriorities, priority)
		return
	}
	if c.emptyPriorities == nil || len(c.emptyPriorities) >= rowCacheMax {
		c.emptyPriorities = map[int]bool{}
	}
	c.emptyPriorities[priority] = true
}

// observeReady records whether no job was ready.
func (c *idlePath) observeReady(nothingReady bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nothingReady = nothingReady
}

// observeResult records whether an assumption was right. A wrong one discards what is known, and
// the more often that happens the more batches skip the idle path: a miss costs twice what a hit
// saves.
func (c *idlePath) observeResult(right bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if right {
		c.misses = max(0, c.misses-1)
		return
	}
	c.misses = min(c.misses+2, missesMax)
	c.skip = 1 << c.misses
	c.emptyPriorities, c.nothingReady, c.clock = nil, false, time.Time{}
}

// assume returns the assumption for a batch, or nil.
func (c *idlePath) assume(b rota.Batch) *assumption {
	claims, few := fewEnqueues(b.Commands)
	if !few {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.IsZero() || len(c.emptyPriorities) == 0 || claims && !c.nothingReady {
		return nil
	}
	if c.skip > 0 {
		c.skip--
		return nil
	}
	return &assumption{now: c.now(), hooksStamp: c.hooksStamp, nothingReady: c.nothingReady}
}

// fewEnqueues reports whether the commands enqueue a few simple jobs, and whether a claim follows
// them.
func fewEnqueues(commands []rota.Command) (claims, few bool) {
	jobs := 0
	for i, c := range commands {
		switch c := c.(type) {
		case *rota.Enqueue:
			if c == nil || slices.ContainsFunc(c.Jobs, needsReads) {
				return false, false
			}
			jobs += len(c.Jobs)
		case *rota.Claim:
			claims = c != nil && i > 0 && i == len(commands)-1
			if !claims {
				return false, false
			}
		default:
			return false, false
		}
	}
	return claims, jobs > 0 && jobs < copyMin
}

// needsReads reports whether the enqueue of a job needs other reads or the exact time, which
// decides whether a delayed job has to wait.
func needsReads(j rota.NewJob) bool {
	return !j.RunAt.IsZero() || j.Delay != 0 || j.UniqueKey != "" || !j.PlanTime.IsZero() || j.Template != "" || j.ConcurrencyKey != nil
}

// isEmpty reports whether priorities have no queued jobs.
func (c *idlePath) isEmpty(priorities []int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(priorities, func(p int) bool { return !c.emptyPriorities[p] })
}

// mayAssume reports whether the transaction may still assume something.
func (t *tx) mayAssume() bool { return t.assumed != nil && !t.assumed.sent }

// assumeEmpty assumes that priorities have no queued jobs, if it may.
func (t *tx) assumeEmpty(priorities []int) bool {
	if !t.mayAssume() || !t.store.idlePath.isEmpty(priorities) {
		return false
	}
	t.assumed.priorities = append(t.assumed.priorities, priorities...)
	return true
}

// assumeNothingReady assumes that no other job is ready for a claim, if it may.
func (t *tx) assumeNothingReady(n rules.Orders) bool {
	if !t.mayAssume() || !t.assumed.nothingReady || n.ClaimedBefore == nil {
		return false
	}
	t.assumed.claimID, t.assumed.types = n.ClaimedBefore.Command, n.Heads.Types
	return true
}

// assumeNow assumes the time, if it may.
func (t *tx) assumeNow() bool {
	if !t.mayAssume() {
		return false
	}
	t.clock, t.assumed.usedClock = rules.Reading{Now: t.assumed.now}, true // no command of the idle path has waited
	return true
}

// sqlCheckAssumption fails unless the assumption holds. The assumed time must not be ahead of the
// server's, nor more than idleClockLag behind it.
const sqlCheckAssumption = `
SELECT rota_expect((
  (` + sqlHooksStamp + `) = $3
  AND ($4::bigint IS NULL OR ` + clockNow + ` BETWEEN $4 AND $4 + $5::bigint)
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE status LIKE 'QUEUED' AND priority = ANY ($6::int[]))
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1)
  AND NOT ` + someReady + `)::int, 1, 1), ` + clockNow

// checkAssumption places the check of the assumption before anything is written. The check covers
// what the transaction assumes until it is sent.
func (t *tx) checkAssumption() {
	s := t.assumed
	if s == nil || s.placed {
		return
	}
	s.placed = true
	t.queue(statement{late: func() statement {
		s.sent = true
		now := param{oid: oidInt}
		if s.usedClock {
			now = timeParam(s.now)
		}
		return statement{sql: sqlCheckAssumption, params: []param{
			idParam(s.claimID), textsParam(s.types), textNotNull(s.hooksStamp), now, intParam(idleClockLag.Microseconds()), intsParam(s.priorities),
		}, eachRow: func(r row) error {
			t.answered, s.serverClock = true, r.Time(1)
			t.store.idlePath.observeClock(s.serverClock, s.hooksStamp)
			return nil
		}, onConflict: errAssumption}
	}})
}

// correctTimes sets the time of the answers to that of the check. A worker counts its leases from
// it, so that none lasts longer in the worker than on the server.
func (s *assumption) correctTimes(results []rota.Result) {
	if s == nil || !s.usedClock {
		return
	}
	for _, r := range results {
		if claimed, ok := r.Reply.(*rota.Claimed); ok {
			claimed.Now = s.serverClock
		}
	}
}
