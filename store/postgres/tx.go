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
	store       *Store
	ctx         context.Context
	commands    []rota.Command
	pessimistic bool        // it was tried before, and somebody moved its rows
	now         time.Time   // when it began; zero: it has not
	answered    bool        // PostgreSQL has answered
	assumed     *assumption // nil: nothing is

	unit               *rules.UnitOfWork // under way
	passes             int               // how often the run of commands under way was decided
	holdsRows          bool              // it has written, or locked rows
	readSet            readSet           // what of the store the world under way has looked at
	changesCachedRows  bool              // it has changed types, limits or reservations
	newUnread          []rota.ID         // jobs that it is to make, and has not looked for
	readsNew           bool              // after all
	held               locks             // until the end of the transaction
	verified           verifiedRows      // what was seen to be so under them
	earlyLocks         locks             // what it needed when it was tried before
	lockedJobs         map[rota.ID]bool  // jobs, likewise
	tails              map[int]tailOffer
	claimID            rota.ID               // whose jobs start
	claimDemand        int64                 // jobs that it asks for
	exceedsAnswerBytes bool                  // what a claim found does not fit into an answer
	readFurther        bool                  // others hold all that a claim has looked at
	lockedHeads        bool                  // it has locked jobs that it may not take
	claimRepeated      bool                  // the claim took jobs when it was sent before
	mergesTypes        bool                  // there was nothing in the lane that was known
	changedJobs        map[rota.ID]*rota.Job // as it leaves them
	xid                uint32
	pending            []statement

	hookState hooksState

	ready    bool           // something became ready
	watched  bool           // somebody watches
	notified bool           // other processes hear of it with the commit
	events   [][]rota.Event // what it does, step by step
	touched  touchedRows    // which rows that is about
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
	sqlSettings = `
SELECT ` + txSettings
	txSettings = `set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true),
  set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)`
	sqlClockAndHooks = `
SELECT ` + clockAndHooks
	clockAndHooks       = clockNow + `, (` + sqlHooksStamp + `)`
	sqlSettingsAndClock = sqlSettings + `, ` + clockAndHooks // where nothing is locked in between
	sqlCommit           = `COMMIT`
	sqlRollback         = `ROLLBACK`
)

// begin begins the transaction, with the first that is read, and asks what time
// it is by PostgreSQL's clock, or supposes it. What the commands are sure to lock is
// locked before anything is read.
func (t *tx) begin() {
	params := []param{textNotNull(lockTimeout), textNotNull(statementTimeout), textNotNull(idleTimeout)}
	t.pending = []statement{{sql: sqlBegin}}
	ahead := t.lockEarly()
	if t.assumed != nil {
		t.pending = append(t.pending, statement{sql: sqlSettings, params: params})
		t.pending = append(t.pending, ahead...)
		t.hookState = hooksState{stamped: true, stamp: t.assumed.hooksStamp}
		return
	}
	if len(ahead) == 0 {
		t.pending = append(t.pending, statement{sql: sqlSettingsAndClock, params: params, eachRow: t.setClock})
		return
	}
	t.pending = append(t.pending, statement{sql: sqlSettings, params: params}) // by itself: the time of a statement counts from its start
	t.pending = append(t.pending, ahead...)
	t.pending = append(t.pending, statement{sql: sqlClockAndHooks, eachRow: t.setClock})
}

// setClock hears what time it is, and which webhooks are in force.
func (t *tx) setClock(r row) error {
	r = r[len(r)-2:]
	if now := time.UnixMicro(r.int(0)).UTC(); now.After(t.now) { // a clock may be set back
		t.now = now
	}
	t.answered = true
	t.hookState = hooksState{stamped: true, stamp: r.text(1)}
	t.store.idlePath.observeClock(t.now, r.text(1))
	return nil
}

// Now is what time it was when the transaction began, or when it had waited for
// the locks under which it decides again. One that is supposed lies a little before.
func (t *tx) Now() (time.Time, error) {
	var err error
	if t.now.IsZero() && !t.assumeNow() {
		err = t.read()
	}
	return t.now, err
}

// commit sends what is left to write, and ends the transaction. Who waits in this
// process hears of what is ready before the others are told.
func (t *tx) commit() error {
	statements := []statement{{sql: sqlCommit, afterRows: func() {
		if t.ready {
			t.store.wake.WakeAll()
		}
	}}}
	if t.ready && t.dialect.prepares && t.store.listener.beginNotify() {
		t.notified = true
		statements = append(statements, t.store.listener.notifyStatement())
	}
	return t.read(statements...)
}

// rollback ends a transaction that was not committed. If that cannot be done the
// connection is of no more use.
func (t *tx) rollback() { t.endTransaction(t.ctx) }

// read asks, behind what was written so far.
func (t *tx) read(statements ...statement) error {
	if t.mayAssume() {
		return errAssumption
	}
	statements = append(t.pending, statements...)
	t.pending = nil
	return t.send(t.ctx, statements...)
}

func (t *tx) write(statements ...statement) {
	t.holdsRows = t.holdsRows || len(statements) > 0
	t.pending = append(t.pending, statements...)
}

// Load reads what the law needs, in one round trip.
func (t *tx) Load(n *rules.Need, u *rules.UnitOfWork) error {
	t.setUnit(u)
	var statements []statement
	add := func(more ...statement) { statements = append(statements, more...) }
	add(t.loadLeases(n.Leases, n.SkipLocked, u)...)
	add(t.loadFullJobs(n.FullJobs, u)...)
	add(t.loadNew(n.NewJobs, u)...)
	add(t.loadRetries(n.Retries, u)...)
	add(t.loadChains(n.Chains, u)...)
	add(t.loadKeys(n.Keys, u)...)
	add(t.loadPlans(n.Plans, u)...)
	add(t.loadTails(n.Tails, u)...)
	add(t.loadAudits(n.Audits, u)...)
	for _, p := range n.Order {
		add(t.loadOrder(p, u))
	}
	add(t.loadRelated(n, u)...)
	add(t.loadOrders(n, u)...)
	if len(statements) == 0 { // all is known
		return nil
	}
	if err := t.read(statements...); err != nil {
		return err
	}
	if err := t.loadMoreHeads(n, u); err != nil {
		return err
	}
	return t.loadMoreTails(n.Tails, u)
}

// LoadCached answers what bounds a claim, as far as it is known.
func (t *tx) LoadCached(n *rules.Need, u *rules.UnitOfWork) {
	t.setUnit(u)
	n.Types = slices.DeleteFunc(n.Types, func(name string) bool { return useCached(t, classType, rowKey{name: name}, u.PutType) })
	n.Throttle = n.Throttle && !useCached(t, classThrottle, rowKey{}, u.PutThrottle)
	n.Active = n.Active && !useCached(t, classActive, rowKey{}, u.PutActive)
}

// setUnit notes that another world is under way: nothing of it is known yet.
func (t *tx) setUnit(u *rules.UnitOfWork) {
	if t.unit == u {
		return
	}
	t.unit, t.readSet, t.newUnread, t.claimRepeated, t.mergesTypes = u, readSet{}, nil, false, false
	t.passes++
}

// loadRelated reads what jobs have to do with others.
func (t *tx) loadRelated(n *rules.Need, u *rules.UnitOfWork) (statements []statement) {
	statements = append(statements, t.loadTypes(n.Types, u)...)
	statements = append(statements, t.loadTemplates(n.Templates, u)...)
	statements = append(statements, t.loadSchedules(n.Schedules, u)...)
	statements = append(statements, t.loadGroups(n.Groups, u)...)
	statements = append(statements, t.loadReservations(n.Reservations, u)...)
	statements = append(statements, t.loadRequests(n.Requests, u)...)
	statements = append(statements, t.loadBuckets(n.Buckets, u)...)
	if n.Throttle {
		statements = append(statements, t.loadThrottle(u)...)
	}
	if n.Webhooks {
		statements = append(statements, t.loadWebhooks(u))
	}
	if n.Active {
		statements = append(statements, t.loadActive(u)...)
	}
	statements = append(statements, loadEach(n.JobsOf, u, t.loadJobsOf)...)
	statements = append(statements, loadEach(n.Planned, u, t.loadPlanned)...)
	statements = append(statements, loadEach(n.Members, u, t.loadMembers)...)
	statements = append(statements, loadEach(n.Blocked, u, t.loadBlocked)...)
	statements = append(statements, loadEach(n.OverlapWaiting, u, t.loadOverlapWaiting)...)
	statements = append(statements, loadEach(n.Latest, u, t.loadLatest)...)
	statements = append(statements, loadEach(n.Dependents, u, t.loadDependents)...)
	statements = append(statements, loadEach(n.Reach, u, t.loadReach)...)
	statements = append(statements, loadEach(n.Using, u, t.loadUsing)...)
	statements = append(statements, loadEach(n.KeyQueues, u, t.loadKeyQueue)...)
	statements = append(statements, loadEach(n.Open, u, t.loadOpen)...)
	statements = append(statements, loadEach(n.Redriven, u, t.loadRedriven)...)
	statements = append(statements, loadEach(n.Attempts, u, t.loadAttempts)...)
	statements = append(statements, loadEach(n.ExpiredWaits, u, t.loadExpiredWaits)...)
	statements = append(statements, loadEach(n.Intents, u, t.loadIntents)...)
	statements = append(statements, loadEach(n.ExpiredReservations, u, t.loadExpiredReservations)...)
	statements = append(statements, loadEach(n.ExpiredRequests, u, t.loadExpiredRequests)...)
	statements = append(statements, t.loadDropped(n.Dropped, u)...)
	return append(statements, loadEach(n.DroppedJobs, u, t.loadDroppedJobs)...)
}

// loadEach asks one question after the other.
func loadEach[Q any](questions []Q, u *rules.UnitOfWork, load func(Q, *rules.UnitOfWork) statement) (statements []statement) {
	for _, q := range questions {
		statements = append(statements, load(q, u))
	}
	return statements
}

func (t *tx) loadOrders(n *rules.Need, u *rules.UnitOfWork) (statements []statement) {
	statements = append(statements, t.loadClaim(n, u)...)
	statements = append(statements, ifNeeded(n.Due, u, t.loadDue)...)
	statements = append(statements, ifNeeded(n.Stale, u, t.loadStale)...)
	return append(statements, ifNeeded(n.Unsettled, u, t.loadUnsettled)...)
}

func ifNeeded[Q any](question *Q, u *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) statement) []statement {
	if question == nil {
		return nil
	}
	return []statement{load(question, u)}
}

// Write has what the law decided written.
func (t *tx) Write(c *rules.Changes) error {
	t.ready = t.ready || c.Wake
	t.claimID = c.Claim
	t.changesCachedRows = t.changesCachedRows || len(c.Types)+len(c.Throttle)+len(c.Reservations) > 0
	if t.watched {
		t.events = append(t.events, rules.Events(c)) // when it is committed
		t.touched.add(c)
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

func writeEach[T any](t *tx, all []T, write func(T) []statement) {
	for _, one := range all {
		t.write(write(one)...)
	}
}
