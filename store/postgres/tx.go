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

// tx is the transaction of one batch. It implements rules.Tx: the rules load rows, decide and
// write. Writes are held back until the next read or the end, so that the last writes and the
// COMMIT are one round trip.
type tx struct {
	*session
	store       *Store
	ctx         context.Context
	commands    []rota.Command
	pessimistic bool        // a retry: lock before reading
	now         time.Time   // time of the batch; zero until it is read
	answered    bool        // the server has answered
	assumed     *assumption // of the idle path; nil without

	unit               *rules.UnitOfWork // current unit of work
	passes             int               // how often the current run of commands was decided
	holdsRows          bool              // has written or locked rows
	readSet            readSet           // rows that the current unit of work has read
	changesCachedRows  bool              // has changed types, limits or reservations
	newUnread          []rota.ID         // ids of new jobs that were not read
	readsNew           bool              // read new jobs as well
	held               locks             // locks held
	verified           verifiedRows      // rows checked under those locks
	earlyLocks         locks             // locks that earlier attempts needed
	lockedJobs         map[rota.ID]bool  // jobs locked by lockJobs
	tails              map[int]tailOffer
	claimID            rota.ID               // claim of the jobs that start
	claimDemand        int64                 // limit of the claim, counted in the store's claimDemand
	exceedsAnswerBytes bool                  // the jobs of a claim do not fit into an answer
	readFurther        bool                  // other transactions hold all jobs that were read
	lockedHeads        bool                  // has locked jobs that it may not take
	claimRepeated      bool                  // the claim has taken jobs before
	mergesTypes        bool                  // the single type had no job: merge the type queues
	changedJobs        map[rota.ID]*rota.Job // new states of changed jobs
	xid                uint32
	pending            []statement

	hookState hooksState

	ready    bool           // a job became ready
	watched  bool           // the store has watchers
	notified bool           // a notification goes with the COMMIT
	events   [][]rota.Event // published after the commit
	touched  touchedRows    // rows of the events
}

// The timeouts have the server end a transaction that waits too long or does nothing, so that a
// process that has stopped does not block the others. The settings end with the transaction, so
// that nothing stays in a connection of a pooler. The planner settings force index scans: a cached
// plan that was made while a table was small would scan it whole, and planning each statement again
// costs more than most statements.
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
	sqlSettingsAndClock = sqlSettings + `, ` + clockAndHooks // if no lock is taken in between
	sqlCommit           = `COMMIT`
	sqlRollback         = `ROLLBACK`
)

// begin prepares the statements that begin the transaction and read PostgreSQL's clock, unless the
// time is assumed. They are sent with the first read. Early locks are taken before anything is
// read.
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
	t.pending = append(t.pending, statement{sql: sqlSettings, params: params}) // on its own, because the timeout of a statement counts from its start
	t.pending = append(t.pending, ahead...)
	t.pending = append(t.pending, statement{sql: sqlClockAndHooks, eachRow: t.setClock})
}

// setClock reads the time and the stamp of the webhooks in force.
func (t *tx) setClock(r row) error {
	r = r[len(r)-2:]
	if now := time.UnixMicro(r.int(0)).UTC(); now.After(t.now) { // the clock may have been set back
		t.now = now
	}
	t.answered = true
	t.hookState = hooksState{stamped: true, stamp: r.text(1)}
	t.store.idlePath.observeClock(t.now, r.text(1))
	return nil
}

// Now returns the time when the transaction began, or when it got the locks under which it decides
// again. An assumed time is slightly earlier than the server's.
func (t *tx) Now() (time.Time, error) {
	var err error
	if t.now.IsZero() && !t.assumeNow() {
		err = t.read()
	}
	return t.now, err
}

// commit sends the pending writes and the COMMIT. It wakes the claims of this process before other
// processes are notified.
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

// rollback ends a transaction that was not committed, or closes its connection if that fails.
func (t *tx) rollback() { t.endTransaction(t.ctx) }

// read executes statements after the pending writes.
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

// Load reads the rows that the rules need, in one round trip.
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
	if len(statements) == 0 { // everything is cached
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

// LoadCached loads what limits a claim from the row cache, and removes it from the need.
func (t *tx) LoadCached(n *rules.Need, u *rules.UnitOfWork) {
	t.setUnit(u)
	n.Types = slices.DeleteFunc(n.Types, func(name string) bool { return useCached(t, classType, rowKey{name: name}, u.PutType) })
	n.Throttle = n.Throttle && !useCached(t, classThrottle, rowKey{}, u.PutThrottle)
	n.Active = n.Active && !useCached(t, classActive, rowKey{}, u.PutActive)
}

// setUnit makes a unit of work the current one, with an empty read set.
func (t *tx) setUnit(u *rules.UnitOfWork) {
	if t.unit == u {
		return
	}
	t.unit, t.readSet, t.newUnread, t.claimRepeated, t.mergesTypes = u, readSet{}, nil, false, false
	t.passes++
}

// loadRelated reads definitions and the rows related to jobs.
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

// loadEach returns one statement for each query.
func loadEach[Q any](queries []Q, u *rules.UnitOfWork, load func(Q, *rules.UnitOfWork) statement) (statements []statement) {
	for _, q := range queries {
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

func ifNeeded[Q any](query *Q, u *rules.UnitOfWork, load func(*Q, *rules.UnitOfWork) statement) []statement {
	if query == nil {
		return nil
	}
	return []statement{load(query, u)}
}

// Write adds the changes that the rules decided to the pending writes.
func (t *tx) Write(c *rules.Changes) error {
	t.ready = t.ready || c.Wake
	t.claimID = c.Claim
	t.changesCachedRows = t.changesCachedRows || len(c.Types)+len(c.Throttle)+len(c.Reservations) > 0
	if t.watched {
		t.events = append(t.events, rules.Events(c)) // published after the commit
		t.touched.add(c)
	}
	writeEach(t, c.Groups, t.writeGroup)
	t.updateJobs(c.Jobs)
	remaining, err := t.insertJobs(c.NewJobs, c.NewJobChanges)
	if err != nil {
		return err
	}
	t.updateJobs(remaining)
	t.deleteJobs(c.RemovedJobs)
	writeEach(t, c.Groups, t.deleteGroup) // after its members
	t.writeKeys(c.Keys)
	writeEach(t, c.Types, t.writeType)
	writeEach(t, c.Templates, t.writeTemplate)
	t.writeSchedules(c.Schedules)
	writeEach(t, c.Throttle, t.writeThrottle)
	writeEach(t, c.Webhooks, t.writeWebhooks)
	writeEach(t, c.Reservations, t.endReservation)
	writeEach(t, c.Reservations, t.insertReservation) // after the update that ends the previous one
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
