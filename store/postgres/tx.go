package postgres

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

var (
	_ rules.Tx       = (*tx)(nil)
	_ rules.Clock    = (*tx)(nil)
	_ rules.RowCache = (*tx)(nil)
)

// tx is the transaction of one batch. It implements rules.Tx: for each step of the batch the rules
// load rows, decide, lock what they have read, and write. Writes are held back until the next read
// or the end, so that the last writes and the COMMIT are one round trip.
type tx struct {
	store       *Store
	commands    []rota.Command
	pessimistic bool          // a retry: lock before reading
	assumed     *assumption   // of the idle path; nil without
	testClock   rules.Reading // of Config.Clock; zero without one
	caller      *callerState  // of a transaction of the caller; nil in one of the store

	pipeline
	readSet readSet
	locks   lockSet
	writer  writer
	claim   claimState
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
	t.queue(statement{sql: sqlBegin})
	ahead := t.lockEarly()
	if t.assumed != nil {
		t.queue(statement{sql: sqlSettings, params: params})
		t.queue(ahead...)
		t.readSet.hooks = hooksState{stamped: true, stamp: t.assumed.hooksStamp}
		return
	}
	if len(ahead) == 0 {
		t.queue(statement{sql: sqlSettingsAndClock, params: params, eachRow: t.setClock})
		return
	}
	t.queue(statement{sql: sqlSettings, params: params}) // on its own, because the timeout of a statement counts from its start
	t.queue(ahead...)
	t.queue(statement{sql: sqlClockAndHooks, eachRow: t.setClock})
}

// setClock reads the time and the stamp of the webhooks in force.
func (t *tx) setClock(r row) error {
	r = r[len(r)-2:]
	if now := time.UnixMicro(r.Int(0)).UTC(); now.After(t.clock.Now) { // the clock may have been set back
		t.clock.Now = now
	}
	t.clock.ReadAt = time.Now()
	t.answered = true
	t.readSet.hooks = hooksState{stamped: true, stamp: r.Text(1)}
	t.store.idlePath.observeClock(t.clock.Now, r.Text(1))
	return nil
}

// Now returns the time when the transaction began, or when it got the locks under which it decides
// again. An assumed time is slightly earlier than the server's.
func (t *tx) Now() (rules.Reading, error) {
	if !t.testClock.Now.IsZero() {
		return t.testClock, nil
	}
	var err error
	if t.clock.Now.IsZero() && !t.assumeNow() {
		err = t.read()
	}
	return t.clock, err
}

// commit sends the pending writes and the COMMIT. It wakes the claims of this process before other
// processes are notified.
func (t *tx) commit() error {
	commit := statement{sql: sqlCommit, afterRows: func() {
		if t.writer.wakeup.Needed() {
			t.store.wake.WakeAll()
		}
	}}
	return t.read(append([]statement{commit}, t.joinNotify()...)...)
}

// read executes statements after the pending writes.
func (t *tx) read(statements ...statement) error {
	if t.assumed != nil && !t.assumed.placed {
		return errAssumption
	}
	return t.flush(statements...)
}

// write adds statements that write or lock rows.
func (t *tx) write(statements ...statement) {
	t.locks.holdsRows = t.locks.holdsRows || len(statements) > 0
	t.queue(statements...)
}
