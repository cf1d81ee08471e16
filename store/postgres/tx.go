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

	unit               *rules.UnitOfWork     // current unit of work
	passes             int                   // how often the current run of commands was decided
	holdsRows          bool                  // has written or locked rows
	readSet            readSet               // rows that the current unit of work has read
	changesCachedRows  bool                  // has changed types, limits or reservations
	newUnread          []rota.ID             // ids of new jobs that were not read
	readsNew           bool                  // read new jobs as well
	held               locks                 // locks held
	verified           verifiedRows          // rows checked under those locks
	earlyLocks         locks                 // locks that earlier attempts needed
	lockedJobs         map[rota.ID]bool      // jobs locked by lockJobs
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
	unsent             unsentJobs
	loading            []statement // of the current Load

	hookState hooksState

	wakeup   rules.Wakeup   // whether to wake claims after the commit
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
	if now := time.UnixMicro(r.Int(0)).UTC(); now.After(t.now) { // the clock may have been set back
		t.now = now
	}
	t.answered = true
	t.hookState = hooksState{stamped: true, stamp: r.Text(1)}
	t.store.idlePath.observeClock(t.now, r.Text(1))
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
		if t.wakeup.Needed() {
			t.store.wake.WakeAll()
		}
	}}}
	if t.wakeup.Needed() && t.dialect.prepares && t.store.uses(JoinedNotify) && t.store.listener.beginNotify() {
		t.notified = true
		statements = append(statements, t.store.listener.notifyStatement())
	}
	return t.read(statements...)
}

// rollback ends a transaction that was not committed, or closes its connection if that fails.
func (t *tx) rollback() { t.endTransaction(t.ctx) }

// read executes statements after the pending writes.
func (t *tx) read(statements ...statement) error {
	if t.assumed != nil && !t.assumed.placed {
		return errAssumption
	}
	statements = append(t.pending, statements...)
	t.pending = nil
	for i := range statements {
		if late := statements[i].late; late != nil {
			statements[i] = late()
		}
	}
	return t.send(t.ctx, statements...)
}

func (t *tx) write(statements ...statement) {
	t.holdsRows = t.holdsRows || len(statements) > 0
	t.pending = append(t.pending, statements...)
}

// loaders load the rows that rules miss, in one round trip.
var loaders = []rules.Loader[*tx]{
	loadAll(rules.Retries, (*tx).loadRetries),
	loadAll(rules.Chains, (*tx).loadChains),
	loadAll(rules.UniqueKeys, (*tx).loadKeys),
	loadAll(rules.Plans, (*tx).loadPlans),
	loadAll(rules.Tails, (*tx).loadTails),
	loadAll(rules.Audits, (*tx).loadAudits),
	loadEach(rules.OrderPages, (*tx).loadOrder),
	loadAll(rules.Types, (*tx).loadTypes),
	loadAll(rules.Templates, (*tx).loadTemplates),
	loadAll(rules.Schedules, (*tx).loadSchedules),
	loadAll(rules.Groups, (*tx).loadGroups),
	loadAll(rules.Reservations, (*tx).loadReservations),
	loadAll(rules.Requests, (*tx).loadRequests),
	loadAll(rules.Buckets, (*tx).loadBuckets),
	loadAll(rules.Throttle, (*tx).loadThrottle),
	loadEach(rules.Webhooks, (*tx).loadWebhooks),
	loadAll(rules.Active, (*tx).loadActive),
	loadEach(rules.LiveJobs, (*tx).loadJobsOf),
	loadEach(rules.PlannedJobs, (*tx).loadPlanned),
	loadEach(rules.GroupMembers, (*tx).loadMembers),
	loadEach(rules.BlockedJobs, (*tx).loadBlocked),
	loadEach(rules.WaitingJobs, (*tx).loadOverlapWaiting),
	loadEach(rules.LatestJobs, (*tx).loadLatest),
	loadEach(rules.DependentsOf, (*tx).loadDependents),
	loadEach(rules.Dependencies, (*tx).loadReach),
	loadEach(rules.UsersOf, (*tx).loadUsing),
	loadEach(rules.KeyQueues, (*tx).loadKeyQueue),
	loadEach(rules.OpenCounts, (*tx).loadOpen),
	loadEach(rules.Redrives, (*tx).loadRedriven),
	loadEach(rules.AttemptsOf, (*tx).loadAttempts),
	loadEach(rules.LateWaits, (*tx).loadExpiredWaits),
	loadEach(rules.PendingIntents, (*tx).loadIntents),
	loadEach(rules.EndedReservations, (*tx).loadExpiredReservations),
	loadEach(rules.OldRequests, (*tx).loadExpiredRequests),
	loadAll(rules.DroppedSchedules, (*tx).loadDropped),
	loadEach(rules.DroppedJobsOf, (*tx).loadDroppedJobs),
}

// loadAll returns a loader with one statement for all keys.
func loadAll[K any](k rules.Kind[K], load func(*tx, []K, *rules.UnitOfWork) []statement) rules.Loader[*tx] {
	return rules.LoadAll(k, func(t *tx, keys []K, u *rules.UnitOfWork) error {
		t.loading = append(t.loading, load(t, keys, u)...)
		return nil
	})
}

// loadEach returns a loader with one statement for each key.
func loadEach[K any](k rules.Kind[K], load func(*tx, K, *rules.UnitOfWork) statement) rules.Loader[*tx] {
	return rules.LoadEach(k, func(t *tx, key K, u *rules.UnitOfWork) error {
		t.loading = append(t.loading, load(t, key, u))
		return nil
	})
}

// Load reads the rows that rules have missed, in one round trip.
func (t *tx) Load(u *rules.UnitOfWork) error {
	t.setUnit(u)
	t.loading = slices.Concat(
		t.loadLeases(u.MissingLeases(), u.SkipLocked, u),
		t.loadFullJobs(u.MissingJobs(), u),
		t.loadNew(u.MissingNewJobs(), u),
	)
	if err := rules.LoadMissing(t, u, loaders); err != nil {
		return err
	}
	orders := u.Orders()
	statements := append(t.loading, t.loadOrders(orders, u)...)
	if len(statements) == 0 { // everything is cached
		return nil
	}
	if err := t.read(append(statements, t.loadAnythingElse()...)...); err != nil {
		return err
	}
	return t.loadMoreHeads(orders, u)
}

// LoadCached loads what limits a claim from the row cache.
func (t *tx) LoadCached(u *rules.UnitOfWork) {
	t.setUnit(u)
	for _, name := range slices.Clone(rules.Types.Missing(u)) {
		if useCached(t, classType, rowKey{name: name}, rules.Types.Into(u)) {
			rules.Types.PutAbsent(u, name) // unless there is a row
		}
	}
	if len(rules.Throttle.Missing(u)) > 0 && useCached(t, classThrottle, rowKey{}, rules.Throttle.Into(u)) {
		rules.Throttle.PutAbsent(u, struct{}{})
	}
	if len(rules.Active.Missing(u)) > 0 && useCached(t, classActive, rowKey{}, u.PutActive) {
		u.PutNoActive()
	}
}

// setUnit makes a unit of work the current one, with an empty read set.
func (t *tx) setUnit(u *rules.UnitOfWork) {
	if t.unit == u {
		return
	}
	t.unit, t.readSet, t.newUnread, t.claimRepeated, t.mergesTypes = u, readSet{}, nil, false, false
	t.passes++
}

func (t *tx) loadOrders(n rules.Orders, u *rules.UnitOfWork) (statements []statement) {
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
	t.wakeup.Add(c)
	t.claimID = c.Claim
	t.changesCachedRows = t.changesCachedRows || rules.ChangesAny(c, rules.Types, rules.Throttle, rules.Reservations)
	if t.watched {
		t.events = append(t.events, rules.Events(c)) // published after the commit
		t.touched.add(c)
	}
	writeEach(t, rules.Groups.Changes(c), t.writeGroup)
	t.updateJobs(t.startUnsent(c))
	if !t.holdBack(c) {
		remaining, err := t.insertJobs(c.NewJobs, c.NewJobChanges)
		if err != nil {
			return err
		}
		t.updateJobs(remaining)
	}
	t.deleteJobs(c.RemovedJobs)
	writeEach(t, rules.Groups.Changes(c), t.deleteGroup) // after its members
	t.writeKeys(rules.UniqueKeys.Changes(c))
	writeEach(t, rules.Types.Changes(c), t.writeType)
	writeEach(t, rules.Templates.Changes(c), t.writeTemplate)
	t.writeSchedules(rules.Schedules.Changes(c))
	writeEach(t, rules.Throttle.Changes(c), t.writeThrottle)
	writeEach(t, rules.Webhooks.Changes(c), t.writeWebhooks)
	writeEach(t, rules.Reservations.Changes(c), t.endReservation)
	writeEach(t, rules.Reservations.Changes(c), t.insertReservation) // after the update that ends the previous one
	writeEach(t, rules.Requests.Changes(c), t.writeRequest)
	writeEach(t, rules.Buckets.Changes(c), t.writeBucket)
	writeEach(t, rules.IntentRecords.Changes(c), t.writeIntent)
	writeEach(t, rules.DroppedSchedules.Changes(c), t.writeDropped)
	t.writeAudit(c.Audit)
	return nil
}

func writeEach[T any](t *tx, all []T, write func(T) []statement) {
	for _, one := range all {
		t.write(write(one)...)
	}
}
