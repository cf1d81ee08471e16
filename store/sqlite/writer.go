package sqlite

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// writer applies batches. The store has one that holds the only connection that writes; the goroutine
// that has taken it from Store.writer uses it alone. ApplyTx has one for each call, in the transaction
// of its caller.
type writer struct {
	conn        *sqlite.Conn
	stmts       statements
	caller      *callerConn   // transaction of the caller that ApplyTx uses in place of conn; nil in the store's writer
	maxWait     time.Duration // maximal wait for other connections
	injectFault func(statement int) error
	writes      int           // statements that have written, for injectFault
	wakeup      rules.Wakeup  // of the current batch
	clock       rules.Reading // of the current batch, unless it has its own time

	pending *pendingTxs // work of ApplyTx that may have been committed before the current transaction
	watch   *fanout.Watchers
	watched bool           // there are watchers of the current transaction
	events  [][]rota.Event // events of the current transaction, by step

	audit []rota.AuditEntry // written in the current transaction

	limits     limitsCache
	hooks      hooksCache
	dispatched dispatchedCache

	replica *replicaState // of a replica; nil in a store of its own
	track   bool          // a replica notes which executions change
	trying  bool          // decides a batch that is not to be written
	preview bool          // writes a batch that is rolled back
	created []*rota.Job   // by the batch of a preview
	entry   *entryStep    // work on the entry that is applied now; nil: none

	beforeWrite func([]rota.Command) // for tests: called after a step is decided and before it is written
	commands    []rota.Command       // of the current batch
}

// apply applies a batch in one transaction. However it ends, also by a panic, no transaction stays
// open.
func (w *writer) apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	committed := false
	defer func() {
		if !committed {
			w.rollback()
		}
	}()
	w.commands, w.watched, w.events = b.Commands, w.watch.Any(), w.events[:0]
	w.audit = w.audit[:0]
	if err := firstError(w.dropStaleCaches, w.settlePending); err != nil {
		return nil, fault("apply", err)
	}
	results, err := rules.Apply(w, b)
	if err == nil {
		err = w.sealAudit()
	}
	if err == nil && w.preview {
		return results, nil
	}
	if err == nil {
		err = w.storePosition(results)
	}
	if err == nil {
		err = w.commit()
		committed = err == nil
	}
	if err != nil {
		return nil, fault("apply", err)
	}
	return results, nil
}

// settlePending publishes what ApplyTx has written in transactions that were committed before this one.
func (w *writer) settlePending() error { return w.pending.settleBefore(w) }

// commit commits the transaction and publishes its events before those of a later one.
func (w *writer) commit() error {
	w.pending.order.Lock()
	defer w.pending.order.Unlock()
	if err := w.exec(sqlCommit); err != nil {
		return err
	}
	w.positionStored()
	for _, events := range w.events {
		w.watch.Publish(events)
	}
	return nil
}

// Checked reports whether the commands were validated before: those of a log were.
func (w *writer) Checked() bool { return w.entry != nil || w.trying || w.preview }

// begin waits for other connections until ctx ends, but at most maxWait. After the transaction has
// begun, the end of ctx no longer interrupts it.
func (w *writer) begin(ctx context.Context) error {
	err := w.exec(sqlBegin)
	if isBusy(err) {
		return w.beginWaiting(ctx)
	}
	return fault("begin", err)
}

func (w *writer) beginWaiting(ctx context.Context) error {
	waiting, done := context.WithTimeout(ctx, w.maxWait)
	defer done()
	w.conn.SetInterrupt(waiting.Done())
	w.conn.SetBlockOnBusy()
	err := w.exec(sqlBegin)
	w.conn.SetBusyTimeout(0)
	w.conn.SetInterrupt(nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case waiting.Err() != nil:
		e := faults[sqlite.ResultBusy]
		return &rota.Error{Code: rota.Busy, Act: "sqlite: begin", Reason: e.reason, Hint: e.hint, Err: err}
	}
	return fault("begin", err)
}

// rollback ends a transaction that was not committed, unless SQLite has ended it already, and drops
// what was cached during it.
func (w *writer) rollback() {
	w.dispatched.clear()
	w.hooks = hooksCache{}
	if !w.conn.AutocommitEnabled() {
		_ = w.exec(sqlRollback)
	}
}

const (
	sqlBegin    = `BEGIN IMMEDIATE`
	sqlCommit   = `COMMIT`
	sqlRollback = `ROLLBACK`
)

// Now returns the time when the batch got the writer.
func (w *writer) Now() (rules.Reading, error) { return w.clock, nil }

// Lock does nothing, because there is only one writer.
func (w *writer) Lock(*rules.UnitOfWork) (bool, error) {
	if w.beforeWrite != nil {
		w.beforeWrite(w.commands)
	}
	return false, nil
}

func (w *writer) close() error {
	w.stmts.finalize()
	return w.conn.Close()
}
