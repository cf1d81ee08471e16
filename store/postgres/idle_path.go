package postgres

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Where nothing else happens, what a job waits for is round trips. A step that
// enqueues asks what time it is, which webhooks are in force and what stands at the
// end of the queue, and if a claim comes behind it, whether anything else is ready.
// Mostly it is what it was before: nothing. So that is supposed, the step is decided
// without asking, and its transaction is one round trip, in which a statement before
// all writes sees whether it was right. If it was not, or something else has to be
// read, nothing was done, and the step is done as any other is.

// idlePath is what was found when somebody looked last.
type idlePath struct {
	mu              sync.Mutex
	clock           time.Time // by the server's clock, when it was heard; zero: it was not
	clockReadAt     time.Time
	hooksStamp      string       // of the webhooks
	emptyPriorities map[int]bool // priorities at which nothing was queued
	nothingReady    bool         // nothing was ready that a step had not made itself

	misses int // how often it was not so of late
	skip   int // steps that are to suppose nothing, since it was not so
}

const (
	// idleClockLag is how long before the server's clock a step may say that it began.
	idleClockLag = 50 * time.Millisecond
	// missesMax bounds for how many steps nothing is supposed: the same power of two.
	missesMax = 6
)

// errAssumption is that things are not as they were supposed to be.
var errAssumption = errors.New("the store is not as it was supposed to be")

// assumption is what a transaction supposes.
type assumption struct {
	now          time.Time
	hooksStamp   string
	nothingReady bool
	checked      bool      // it is being seen to, and nothing more is supposed
	serverClock  time.Time // the server's, when it was seen to

	// What was made use of, also by a world that was thrown away.
	usedClock  bool
	priorities []int
	claimID    rota.ID
	types      []string
}

// observeClock notes what time it is, and which webhooks are in force. A time is on its way
// for a while: of all that were heard, the one that took least is gone by.
func (c *idlePath) observeClock(now time.Time, stamp string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooksStamp = stamp
	if c.clock.IsZero() || c.now().Before(now) {
		c.clock, c.clockReadAt = now, time.Now()
	}
}

// now is what time it is by the server's clock, or was a moment ago.
func (c *idlePath) now() time.Time {
	return c.clock.Add(time.Since(c.clockReadAt)).Truncate(time.Microsecond)
}

// observeTail notes whether anything stood at the end of a priority.
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

// observeReady notes whether nothing was ready.
func (c *idlePath) observeReady(still bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nothingReady = still
}

// observeResult notes how a supposition went. One that was wrong is forgotten, and the more
// often that happens the longer nothing is supposed: it costs twice what a right
// one saves.
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

// assume is what a batch may suppose, nil if nothing.
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

// fewEnqueues says whether commands make a few plain jobs, and whether a claim comes
// behind them.
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

// needsReads says that more has to be known of a job, or the very time: whether one
// that is to wait for its time has to wait at all.
func needsReads(j rota.NewJob) bool {
	return !j.RunAt.IsZero() || j.Delay != 0 || j.UniqueKey != "" || !j.PlanTime.IsZero() || j.Template != "" || j.ConcurrencyKey != nil
}

// isEmpty says whether nothing was queued at some priorities.
func (c *idlePath) isEmpty(priorities []int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(priorities, func(p int) bool { return !c.emptyPriorities[p] })
}

// mayAssume says whether a transaction may suppose something.
func (t *tx) mayAssume() bool { return t.assumed != nil && !t.assumed.checked }

// assumeEmpty answers what stands at the end of some priorities, if it may.
func (t *tx) assumeEmpty(priorities []int) bool {
	if !t.mayAssume() || !t.store.idlePath.isEmpty(priorities) {
		return false
	}
	t.assumed.priorities = append(t.assumed.priorities, priorities...)
	return true
}

// assumeNothingReady answers whether anything else is ready for a claim, if it may.
func (t *tx) assumeNothingReady(n *rules.Need) bool {
	if !t.mayAssume() || !t.assumed.nothingReady || n.ClaimedBefore == nil {
		return false
	}
	t.assumed.claimID, t.assumed.types = n.ClaimedBefore.Command, n.Heads.Types
	return true
}

// assumeNow answers what time it is, if it may.
func (t *tx) assumeNow() bool {
	if !t.mayAssume() {
		return false
	}
	t.now, t.assumed.usedClock = t.assumed.now, true
	return true
}

// sqlCheckAssumption ends a transaction that has supposed what is not so. The time may not
// lie ahead, nor far back.
const sqlCheckAssumption = `
SELECT rota_expect((
  (` + sqlHooksStamp + `) = $3
  AND ($4::bigint IS NULL OR ` + clockNow + ` BETWEEN $4 AND $4 + $5::bigint)
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE status LIKE 'QUEUED' AND priority = ANY ($6::int[]))
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1)
  AND NOT ` + someReady + `)::int, 1, 1), ` + clockNow

// checkAssumption has it seen whether what was supposed is so, before anything is written.
func (t *tx) checkAssumption() {
	if !t.mayAssume() {
		return
	}
	s := t.assumed
	s.checked = true
	now := param{oid: oidInt}
	if s.usedClock {
		now = timeParam(s.now)
	}
	t.pending = append(t.pending, statement{sql: sqlCheckAssumption, params: []param{
		idParam(s.claimID), textsParam(s.types), textNotNull(s.hooksStamp), now, intParam(idleClockLag.Microseconds()), intsParam(s.priorities),
	}, eachRow: func(r row) error {
		t.answered, s.serverClock = true, r.time(1)
		t.store.idlePath.observeClock(s.serverClock, s.hooksStamp)
		return nil
	}, onConflict: errAssumption})
}

// correctTimes has the answers say what time it was when what they say was seen to be so.
// Whoever claims counts its leases from that: none lasts longer here than there.
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
