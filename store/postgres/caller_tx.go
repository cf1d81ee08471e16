package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var _ rota.TxStore = (*Store)(nil)

// ApplyTx applies a batch in a transaction of the caller on the store's database: a pgx.Tx, also
// one of a pool or a nested one, or a *sql.Tx of pgx's stdlib. The batch is applied in a savepoint,
// so that a refusal and an error with the code Busy leave the transaction as it was. Settings have
// their former values afterwards, and no prepared statement stays in the connection.
//
// The transaction should be READ COMMITTED. In REPEATABLE READ and SERIALIZABLE a command that
// reads sets of rows, such as a job under a limit of its concurrency key, is refused. A
// serialization failure or a deadlock is in the chain of the error, as a *pgconn.PgError.
func (s *Store) ApplyTx(ctx context.Context, callerTx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	if err := storekit.CheckTxBatch(b); err != nil {
		return nil, nil, err
	}
	if s.config.ReadOnly {
		return nil, nil, errReadOnlyStore("apply in a transaction")
	}
	if s.isClosed() {
		return nil, nil, errClosed()
	}
	if err := ctx.Err(); err != nil { // otherwise it would end between the savepoint and its rollback
		return nil, nil, err
	}
	var results []rota.Result
	var work *pendingWork
	err := connOf(ctx, callerTx, func(conn *pgx.Conn) (err error) {
		if err = checkCaller(conn); err != nil {
			return err
		}
		if results, work, err = s.applySimple(ctx, conn, b); err == errNotSimple {
			results, work, err = s.applyInCaller(ctx, conn, b)
		}
		return err
	})
	if err != nil {
		return nil, nil, fault("apply in the caller's transaction", err)
	}
	s.dispatched.forget(work.writer.changedJobs)
	return results, s.pending.add(work), nil
}

// applyInCaller applies a batch until no other transaction changes its rows in between.
func (s *Store) applyInCaller(ctx context.Context, conn *pgx.Conn, b rota.Batch) (results []rota.Result, work *pendingWork, err error) {
	earlyLocks := locks{}
	for try := range triesMax {
		t := s.callerTx(ctx, conn, b, try > 0, earlyLocks)
		results, err = t.applyInside(b)
		if err == nil {
			return results, t.pendingWork(), nil
		}
		if reason := t.caller.refusal; reason != nil {
			return nil, nil, reason
		}
		if !isRetryable(err) || stateOf(err) == stateDeadlock || t.caller.fixedSnapshot {
			break
		}
		s.rowCache.clear()
	}
	return nil, nil, err
}

// stateDeadlock is the SQLSTATE of a deadlock. The store passes it on, because a deadlock may
// involve rows of the caller, which only the end of its transaction unlocks.
const stateDeadlock = "40P01"

// callerState is what a tx knows of the caller's transaction that it is in.
type callerState struct {
	refusal       *rota.Error // why the transaction cannot be used
	fixedSnapshot bool        // REPEATABLE READ or SERIALIZABLE
	opened        bool        // the savepoint exists
	settings      []param     // values to restore

	wrote      bool    // the batch has changed something
	job, audit rota.ID // a row that it has written; zero: none of the kind
	xid        int64   // transaction id of the writes, with its epoch
}

func (s *Store) callerTx(ctx context.Context, conn *pgx.Conn, b rota.Batch, pessimistic bool, earlyLocks locks) *tx {
	return &tx{
		store: s, commands: b.Commands, pessimistic: pessimistic, caller: &callerState{},
		pipeline: pipeline{session: &session{conn: conn.PgConn(), dialect: s.callerDialect}, ctx: ctx},
		locks:    lockSet{held: locks{}, early: earlyLocks},
		writer:   writer{watched: s.watch.Any() || s.bus.forwarder.wanted()},
	}
}

// applyInside decides and writes a batch within the savepoint.
func (t *tx) applyInside(b rota.Batch) ([]rota.Result, error) {
	defer t.rollbackTo() // does nothing after the release
	t.beginInside()
	if t.store.config.Clock != nil {
		t.testClock = rules.Reading{Now: t.store.config.Clock(), ReadAt: time.Now()}
	}
	results, err := rules.Apply(t, b)
	if err != nil {
		return nil, err
	}
	return results, t.release()
}

const (
	sqlSavepoint = `
SAVEPOINT apply_of_rota`
	sqlReleaseSavepoint = `
RELEASE SAVEPOINT apply_of_rota`
	sqlRollbackToSavepoint = `
ROLLBACK TO SAVEPOINT apply_of_rota`
	// The settings that the store changes, and what it must know of the transaction.
	sqlCallerState = `
SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only') = 'on',
  current_setting('lock_timeout'), current_setting('enable_seqscan'), current_setting('enable_hashjoin'),
  current_setting('enable_mergejoin'), current_setting('jit')`
	sqlCallerSettings = `
SELECT set_config('lock_timeout', $1, true), set_config('enable_seqscan', $2, true),
  set_config('enable_hashjoin', $3, true), set_config('enable_mergejoin', $4, true), set_config('jit', $5, true)`
)

// callerLockTimeout is rota.TxLockWait as a setting.
var callerLockTimeout = itoa(int(rota.TxLockWait.Milliseconds())) + "ms"

// beginInside prepares the statements that open the savepoint, change the settings and read
// PostgreSQL's clock. They are sent with the first read.
func (t *tx) beginInside() {
	t.queue(statement{sql: sqlSavepoint, afterRows: func() { t.caller.opened = true }})
	t.identify()
	t.queue(
		statement{sql: sqlCallerState, eachRow: t.readCallerState},
		statement{sql: sqlCallerSettings, params: []param{textNotNull(callerLockTimeout), textNotNull("off"), textNotNull("off"), textNotNull("off"), textNotNull("off")}},
	)
	t.queue(t.lockEarly()...)
	t.queue(statement{sql: sqlClockAndHooks, eachRow: t.setClock})
}

// errCallerRefused ends a transaction whose callerState has a refusal.
var errCallerRefused = &rota.Error{Code: rota.Invalid, Field: "tx", Reason: "cannot be used"}

func (t *tx) readCallerState(r row) error {
	if isolation := r.Text(0); isolation == "repeatable read" || isolation == "serializable" {
		t.caller.fixedSnapshot = true
	}
	for i := 2; i < len(r); i++ {
		t.caller.settings = append(t.caller.settings, textNotNull(r.Text(i)))
	}
	if r.Bool(1) {
		t.caller.refusal = badTx("is read-only", "begin it without READ ONLY, on the primary server")
		return errCallerRefused
	}
	return nil
}

// mayAssumeRows reports whether rows of the caches may be used. With a fixed snapshot they may not: a
// row that the snapshot shows in another version fails the attempt, and there is no second one.
func (t *tx) mayAssumeRows() bool {
	return t.caller == nil || t.caller.settings != nil && !t.caller.fixedSnapshot
}

// DefersKeys reports whether new jobs of limited concurrency keys become ready after the commit:
// the lock of such a key would make the claims of its jobs wait for the caller.
func (t *tx) DefersKeys() bool { return t.caller != nil }

// checkSnapshot refuses commands that depend on sets of rows in a transaction whose snapshot does
// not show the changes of others: the sets would be incomplete.
func (t *tx) checkSnapshot(u *rules.UnitOfWork, l *rules.Locks) error {
	if t.caller == nil || !t.caller.fixedSnapshot || !l.PredicateReads && !u.Deferred() {
		return nil
	}
	t.caller.refusal = &rota.Error{
		Code: rota.Invalid, Field: "tx",
		Reason: "is REPEATABLE READ or SERIALIZABLE, and the command depends on a limit, a dependency or another set of rows, which others change meanwhile",
		Hint:   "begin the transaction as READ COMMITTED",
	}
	return errCallerRefused
}

// release restores the settings and releases the savepoint, together with the pending writes. If
// nothing was written, it rolls back to the savepoint, which also releases the locks.
func (t *tx) release() error {
	if !t.caller.wrote {
		return nil
	}
	if t.caller.settings == nil { // nothing was read
		if err := t.read(); err != nil {
			return err
		}
	}
	return t.read(append(t.caller.readXid(),
		statement{sql: sqlCallerSettings, params: t.caller.settings},
		statement{sql: sqlReleaseSavepoint, afterRows: func() { t.caller.opened = false }},
	)...)
}

// rollbackTo undoes the work of this attempt, and its settings, if the savepoint is still open.
func (t *tx) rollbackTo() {
	if t.caller.opened {
		t.rollbackToSavepoint(t.ctx)
	}
}

// rollbackToSavepoint undoes what follows the savepoint, if the connection still works.
func (s *session) rollbackToSavepoint(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), rollbackMax)
	defer done()
	if s.conn.IsClosed() || s.conn.TxStatus() == statusIdle {
		return
	}
	_ = s.send(ctx, statement{sql: sqlRollbackToSavepoint}, statement{sql: sqlReleaseSavepoint}) // a failure is seen by the next statement
}
