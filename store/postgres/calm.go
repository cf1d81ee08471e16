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

// calm is what was found when somebody looked last.
type calm struct {
	mu    sync.Mutex
	clock time.Time // by the server's clock, when it was heard; zero: it was not
	heard time.Time
	stamp string       // of the webhooks
	empty map[int]bool // priorities at which nothing was queued
	still bool         // nothing was ready that a step had not made itself

	wrong int // how often it was not so of late
	pass  int // steps that are to suppose nothing, since it was not so
}

const (
	// calmLag is how long before the server's clock a step may say that it began.
	calmLag = 50 * time.Millisecond
	// wrongMax bounds for how many steps nothing is supposed: the same power of two.
	wrongMax = 6
)

// errUnlike is that things are not as they were supposed to be.
var errUnlike = errors.New("the store is not as it was supposed to be")

// supposition is what a transaction supposes.
type supposition struct {
	now   time.Time
	stamp string
	still bool
	seen  bool      // it is being seen to, and nothing more is supposed
	clock time.Time // the server's, when it was seen to

	// What was made use of, also by a world that was thrown away.
	timed      bool
	priorities []int
	claim      rota.ID
	lanes      []string
}

// hear notes what time it is, and which webhooks are in force. A time is on its way
// for a while: of all that were heard, the one that took least is gone by.
func (c *calm) hear(now time.Time, stamp string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamp = stamp
	if c.clock.IsZero() || c.now().Before(now) {
		c.clock, c.heard = now, time.Now()
	}
}

// now is what time it is by the server's clock, or was a moment ago.
func (c *calm) now() time.Time { return c.clock.Add(time.Since(c.heard)).Truncate(time.Microsecond) }

// ended notes whether anything stood at the end of a priority.
func (c *calm) ended(priority int, empty bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !empty {
		delete(c.empty, priority)
		return
	}
	if c.empty == nil || len(c.empty) >= loreMax {
		c.empty = map[int]bool{}
	}
	c.empty[priority] = true
}

// stood notes whether nothing was ready.
func (c *calm) stood(still bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still = still
}

// met notes how a supposition went. One that was wrong is forgotten, and the more
// often that happens the longer nothing is supposed: it costs twice what a right
// one saves.
func (c *calm) met(right bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if right {
		c.wrong = max(0, c.wrong-1)
		return
	}
	c.wrong = min(c.wrong+2, wrongMax)
	c.pass = 1 << c.wrong
	c.empty, c.still, c.clock = nil, false, time.Time{}
}

// suppose is what a batch may suppose, nil if nothing.
func (c *calm) suppose(b rota.Batch) *supposition {
	claims, few := fewEnqueues(b.Commands)
	if !few {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock.IsZero() || len(c.empty) == 0 || claims && !c.still {
		return nil
	}
	if c.pass > 0 {
		c.pass--
		return nil
	}
	return &supposition{now: c.now(), stamp: c.stamp, still: c.still}
}

// fewEnqueues says whether commands make a few plain jobs, and whether a claim comes
// behind them.
func fewEnqueues(commands []rota.Command) (claims, few bool) {
	jobs := 0
	for i, c := range commands {
		switch c := c.(type) {
		case *rota.Enqueue:
			if c == nil || slices.ContainsFunc(c.Jobs, isIntricate) {
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
	return claims, jobs > 0 && jobs < copyLeast
}

// isIntricate says that more has to be known of a job, or the very time: whether one
// that is to wait for its time has to wait at all.
func isIntricate(j rota.NewJob) bool {
	return !j.RunAt.IsZero() || j.Delay != 0 || j.UniqueKey != "" || !j.PlanTime.IsZero() || j.Template != "" || j.ConcurrencyKey != nil
}

// isEmpty says whether nothing was queued at some priorities.
func (c *calm) isEmpty(priorities []int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !slices.ContainsFunc(priorities, func(p int) bool { return !c.empty[p] })
}

// supposes says whether a transaction may suppose something.
func (t *tx) supposes() bool { return t.supposed != nil && !t.supposed.seen }

// supposeEmpty answers what stands at the end of some priorities, if it may.
func (t *tx) supposeEmpty(priorities []int) bool {
	if !t.supposes() || !t.store.calm.isEmpty(priorities) {
		return false
	}
	t.supposed.priorities = append(t.supposed.priorities, priorities...)
	return true
}

// supposeStill answers whether anything else is ready for a claim, if it may.
func (t *tx) supposeStill(n *rules.Need) bool {
	if !t.supposes() || !t.supposed.still || n.ClaimedBefore == nil {
		return false
	}
	t.supposed.claim, t.supposed.lanes = n.ClaimedBefore.Command, n.Heads.Types
	return true
}

// supposeNow answers what time it is, if it may.
func (t *tx) supposeNow() bool {
	if !t.supposes() {
		return false
	}
	t.now, t.supposed.timed = t.supposed.now, true
	return true
}

// sqlUnlike ends a transaction that has supposed what is not so. The time may not
// lie ahead, nor far back.
const sqlUnlike = `
SELECT rota_expect((
  (` + sqlHooksStamp + `) = $3
  AND ($4::bigint IS NULL OR ` + clockNow + ` BETWEEN $4 AND $4 + $5::bigint)
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE status LIKE 'QUEUED' AND priority = ANY ($6::int[]))
  AND NOT EXISTS (SELECT FROM rota_jobs WHERE claim_id = $1)
  AND NOT ` + someReady + `)::int, 1, 1), ` + clockNow

// seeTo has it seen whether what was supposed is so, before anything is written.
func (t *tx) seeTo() {
	if !t.supposes() {
		return
	}
	s := t.supposed
	s.seen = true
	now := param{oid: oidInt}
	if s.timed {
		now = timeParam(s.now)
	}
	t.pending = append(t.pending, ask{sql: sqlUnlike, params: []param{
		idParam(s.claim), textsParam(s.lanes), textAlways(s.stamp), now, intParam(calmLag.Microseconds()), intsParam(s.priorities),
	}, each: func(r row) error {
		t.heard, s.clock = true, r.time(1)
		t.store.calm.hear(s.clock, s.stamp)
		return nil
	}, refused: errUnlike})
}

// correct has the answers say what time it was when what they say was seen to be so.
// Whoever claims counts its leases from that: none lasts longer here than there.
func (s *supposition) correct(results []rota.Result) {
	if s == nil || !s.timed {
		return
	}
	for _, r := range results {
		if claimed, ok := r.Reply.(*rota.Claimed); ok {
			claimed.Now = s.clock
		}
	}
}
