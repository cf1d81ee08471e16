package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

var (
	_ rules.Tx       = (*tx)(nil)
	_ rules.Clock    = (*tx)(nil)
	_ rules.RowCache = (*tx)(nil)
)

// tx is one transaction of one batch. What it writes is not sent until something
// has to be read, or it ends: the last writes and the COMMIT are one round trip.
type tx struct {
	*session
	store    *Store
	ctx      context.Context
	commands []rota.Command
	careful  bool         // it was tried before, and somebody moved its rows
	now      time.Time    // when it began; zero: it has not
	heard    bool         // PostgreSQL has answered
	supposed *supposition // nil: nothing is

	world    *rules.UnitOfWork // under way
	passes   int               // how often the run of commands under way was decided
	busy     bool              // it has written, or locked rows
	seen     seen              // what of the store the world under way has looked at
	defines  bool              // it has changed types, limits or reservations
	unlooked []rota.ID         // jobs that it is to make, and has not looked for
	looks    bool              // after all
	held     locks             // until the end of the transaction
	sure     sure              // what was seen to be so under them
	ahead    locks             // what it needed when it was tried before
	locked   map[rota.ID]bool  // jobs, likewise
	tails    map[int]tailOffer
	claim    rota.ID               // whose jobs start
	claims   int64                 // jobs that it asks for
	tooHeavy bool                  // what a claim found does not fit into an answer
	further  bool                  // others hold all that a claim has looked at
	walked   bool                  // it has locked jobs that it may not take
	resent   bool                  // the claim took jobs when it was sent before
	merges   bool                  // there was nothing in the lane that was known
	changed  map[rota.ID]*rota.Job // as it leaves them
	xid      uint32
	pending  []ask

	hookState hooksSeen

	ready  bool           // something became ready
	tells  bool           // somebody watches
	told   bool           // other processes hear of it with the commit
	events [][]rota.Event // what it does, step by step
	story  story          // which rows that is about
}

// The server ends what waits too long, or does nothing: whoever holds locks and
// has stopped must not hold up everybody else. What is set ends with the
// transaction, so that nothing is left in a connection that a pooler lends. Every
// statement of a step finds its rows one by one in an index: a plan that was made
// while a table was small would read it whole for as long as it is kept, and to
// plan each statement anew costs more than most of them do.
const (
	sqlBegin = `
BEGIN ISOLATION LEVEL READ COMMITTED`
	sqlBounds = `
SELECT ` + bounds
	bounds = `set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true),
  set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)`
	sqlInstant = `
SELECT ` + instant
	instant     = clockNow + `, (` + sqlHooksStamp + `)`
	sqlOpening  = sqlBounds + `, ` + instant // where nothing is locked in between
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
)

// begin begins the transaction, with the first that is read, and asks what time
// it is by PostgreSQL's clock, or supposes it. What the commands are sure to lock is
// locked before anything is read.
func (t *tx) begin() {
	params := []param{textAlways(lockTimeout), textAlways(statementTimeout), textAlways(idleTimeout)}
	t.pending = []ask{{sql: sqlBegin}}
	ahead := t.lockAhead()
	if t.supposed != nil {
		t.pending = append(t.pending, ask{sql: sqlBounds, params: params})
		t.pending = append(t.pending, ahead...)
		t.hookState = hooksSeen{stamped: true, stamp: t.supposed.stamp}
		return
	}
	if len(ahead) == 0 {
		t.pending = append(t.pending, ask{sql: sqlOpening, params: params, each: t.hearInstant})
		return
	}
	t.pending = append(t.pending, ask{sql: sqlBounds, params: params}) // by itself: the time of a statement counts from its start
	t.pending = append(t.pending, ahead...)
	t.pending = append(t.pending, ask{sql: sqlInstant, each: t.hearInstant})
}

// hearInstant hears what time it is, and which webhooks are in force.
func (t *tx) hearInstant(r row) error {
	r = r[len(r)-2:]
	if now := time.UnixMicro(r.int(0)).UTC(); now.After(t.now) { // a clock may be set back
		t.now = now
	}
	t.heard = true
	t.hookState = hooksSeen{stamped: true, stamp: r.text(1)}
	t.store.calm.hear(t.now, r.text(1))
	return nil
}

// Now is what time it was when the transaction began, or when it had waited for
// the locks under which it decides again. One that is supposed lies a little before.
func (t *tx) Now() (time.Time, error) {
	var err error
	if t.now.IsZero() && !t.supposeNow() {
		err = t.read()
	}
	return t.now, err
}

// commit sends what is left to write, and ends the transaction. Who waits in this
// process hears of what is ready before the others are told.
func (t *tx) commit() error {
	asks := []ask{{sql: sqlCommit, end: func() {
		if t.ready {
			t.store.wake.WakeAll()
		}
	}}}
	if t.ready && t.text.named && t.store.listener.afterPause() {
		t.told = true
		asks = append(asks, t.store.listener.hint())
	}
	return t.read(asks...)
}

// rollback ends a transaction that was not committed. If that cannot be done the
// connection is of no more use.
func (t *tx) rollback() { t.leave(t.ctx) }

// read asks, behind what was written so far.
func (t *tx) read(asks ...ask) error {
	if t.supposes() {
		return errUnlike
	}
	asks = append(t.pending, asks...)
	t.pending = nil
	return t.send(t.ctx, asks...)
}

func (t *tx) write(asks ...ask) {
	t.busy = t.busy || len(asks) > 0
	t.pending = append(t.pending, asks...)
}

// Load reads what the law needs, in one round trip.
func (t *tx) Load(n *rules.Need, w *rules.UnitOfWork) error {
	t.enter(w)
	var asks []ask
	add := func(more ...ask) { asks = append(asks, more...) }
	add(t.loadLeases(n.Leases, n.SkipLocked, w)...)
	add(t.loadWhole(n.FullJobs, w)...)
	add(t.loadNew(n.NewJobs, w)...)
	add(t.loadRetries(n.Retries, w)...)
	add(t.loadChains(n.Chains, w)...)
	add(t.loadKeys(n.Keys, w)...)
	add(t.loadPlans(n.Plans, w)...)
	add(t.loadTails(n.Tails, w)...)
	add(t.loadAudits(n.Audits, w)...)
	for _, p := range n.Order {
		add(t.loadOrder(p, w))
	}
	add(t.loadCompany(n, w)...)
	add(t.loadOrders(n, w)...)
	if len(asks) == 0 { // all is known
		return nil
	}
	if err := t.read(asks...); err != nil {
		return err
	}
	if err := t.loadHeadsAgain(n, w); err != nil {
		return err
	}
	return t.loadTailsAgain(n.Tails, w)
}

// LoadCached answers what bounds a claim, as far as it is known.
func (t *tx) LoadCached(n *rules.Need, w *rules.UnitOfWork) {
	t.enter(w)
	n.Types = slices.DeleteFunc(n.Types, func(name string) bool { return recall(t, classType, seat{name: name}, w.PutType) })
	n.Throttle = n.Throttle && !recall(t, classThrottle, seat{}, w.PutThrottle)
	n.Active = n.Active && !recall(t, classActive, seat{}, w.PutActive)
}

// enter notes that another world is under way: nothing of it is known yet.
func (t *tx) enter(w *rules.UnitOfWork) {
	if t.world == w {
		return
	}
	t.world, t.seen, t.unlooked, t.resent, t.merges = w, seen{}, nil, false, false
	t.passes++
}

// loadCompany reads what jobs have to do with others.
func (t *tx) loadCompany(n *rules.Need, w *rules.UnitOfWork) (asks []ask) {
	asks = append(asks, t.loadTypes(n.Types, w)...)
	asks = append(asks, t.loadTemplates(n.Templates, w)...)
	asks = append(asks, t.loadSchedules(n.Schedules, w)...)
	asks = append(asks, t.loadGroups(n.Groups, w)...)
	asks = append(asks, t.loadReservations(n.Reservations, w)...)
	asks = append(asks, t.loadRequests(n.Requests, w)...)
	asks = append(asks, t.loadBuckets(n.Buckets, w)...)
	if n.Throttle {
		asks = append(asks, t.loadThrottle(w)...)
	}
	if n.Webhooks {
		asks = append(asks, t.loadWebhooks(w))
	}
	if n.Active {
		asks = append(asks, t.loadActive(w)...)
	}
	asks = append(asks, each(n.JobsOf, w, t.loadJobsOf)...)
	asks = append(asks, each(n.Planned, w, t.loadPlanned)...)
	asks = append(asks, each(n.Members, w, t.loadMembers)...)
	asks = append(asks, each(n.Blocked, w, t.loadBlocked)...)
	asks = append(asks, each(n.OverlapWaiting, w, t.loadBehind)...)
	asks = append(asks, each(n.Latest, w, t.loadLatest)...)
	asks = append(asks, each(n.Dependents, w, t.loadDependents)...)
	asks = append(asks, each(n.Reach, w, t.loadReach)...)
	asks = append(asks, each(n.Using, w, t.loadUsing)...)
	asks = append(asks, each(n.KeyQueues, w, t.loadLane)...)
	asks = append(asks, each(n.Open, w, t.loadOpen)...)
	asks = append(asks, each(n.Redriven, w, t.loadRedriven)...)
	asks = append(asks, each(n.Attempts, w, t.loadAttempts)...)
	asks = append(asks, each(n.ExpiredWaits, w, t.loadWaits)...)
	asks = append(asks, each(n.Intents, w, t.loadIntents)...)
	asks = append(asks, each(n.ExpiredReservations, w, t.loadBygone)...)
	asks = append(asks, each(n.ExpiredRequests, w, t.loadLapsed)...)
	asks = append(asks, t.loadDropped(n.Dropped, w)...)
	return append(asks, each(n.DroppedJobs, w, t.loadRest)...)
}

// each asks one question after the other.
func each[Q any](questions []Q, w *rules.UnitOfWork, load func(Q, *rules.UnitOfWork) ask) (asks []ask) {
	for _, q := range questions {
		asks = append(asks, load(q, w))
	}
	return asks
}

func (t *tx) loadOrders(n *rules.Need, w *rules.UnitOfWork) (asks []ask) {
	asks = append(asks, t.loadClaim(n, w)...)
	asks = append(asks, ifAsked(n.Due, w, t.loadDue)...)
	asks = append(asks, ifAsked(n.Stale, w, t.loadStale)...)
	return append(asks, ifAsked(n.Unsettled, w, t.loadLeft)...)
}

func ifAsked[Q any](question *Q, w *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) ask) []ask {
	if question == nil {
		return nil
	}
	return []ask{load(question, w)}
}

// Write has what the law decided written.
func (t *tx) Write(c *rules.Changes) error {
	t.ready = t.ready || c.Wake
	t.claim = c.Claim
	t.defines = t.defines || len(c.Types)+len(c.Throttle)+len(c.Reservations) > 0
	if t.tells {
		t.events = append(t.events, rules.Events(c)) // when it is committed
		t.story.add(c)
	}
	writeEach(t, c.Groups, t.writeGroup)
	t.updateJobs(c.Jobs)
	moved, err := t.insertJobs(c.NewJobs, c.NewJobChanges)
	if err != nil {
		return err
	}
	t.updateJobs(moved)
	t.deleteJobs(c.RemovedJobs)
	writeEach(t, c.Groups, t.deleteGroup) // its members have gone
	t.writeKeys(c.Keys)
	writeEach(t, c.Types, t.writeType)
	writeEach(t, c.Templates, t.writeTemplate)
	t.writeSchedules(c.Schedules)
	writeEach(t, c.Throttle, t.writeThrottle)
	writeEach(t, c.Webhooks, t.writeWebhooks)
	writeEach(t, c.Reservations, t.endReservation)
	writeEach(t, c.Reservations, t.insertReservation) // the one before it has ended
	writeEach(t, c.Requests, t.writeRequest)
	writeEach(t, c.Buckets, t.writeBucket)
	writeEach(t, c.Intents, t.writeIntent)
	writeEach(t, c.Dropped, t.writeDropped)
	t.writeAudit(c.Audit)
	return nil
}

func writeEach[T any](t *tx, all []T, write func(T) []ask) {
	for _, one := range all {
		t.write(write(one)...)
	}
}
