package sqlite

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// writer is the one connection that writes. Whoever holds it is alone.
type writer struct {
	conn        *sqlite.Conn
	stmts       statements
	maxWait     time.Duration // for other connections, before it gives up
	injectFault func(statement int) error
	writes      int  // statements that wrote, for fault injection
	wake        bool // something became ready since the last wake-up

	watch   *fanout.Watchers
	watched bool           // somebody watches the transaction under way
	events  [][]rota.Event // what it does, step by step

	limits     limitsCache     // as they were read last
	hooks      hooksCache      // the webhooks in force, as they were read last
	dispatched dispatchedCache // what it dispatched last
	walPadding walPadding

	beforeWrite func([]rota.Command) // for tests: called when a step is decided and not yet written
	commands    []rota.Command       // under way
}

// applySplitting applies a batch, or its halves if the database refuses it.
func (w *writer) applySplitting(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := w.apply(ctx, b)
	switch {
	case !isConstraint(err):
		return results, err
	case len(b.Commands) == 1:
		return []rota.Result{{Err: err.(*rota.Error)}}, nil
	}
	half := len(b.Commands) / 2
	left, err := w.applySplitting(ctx, rota.Batch{Now: b.Now, Commands: b.Commands[:half]})
	if err != nil {
		return nil, err
	}
	right, err := w.applySplitting(ctx, rota.Batch{Now: b.Now, Commands: b.Commands[half:]})
	if err != nil {
		return nil, err
	}
	return append(left, right...), nil
}

// apply applies a batch in one transaction. Whatever happens in between, a
// panic too, none is left open.
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
	if err := w.dropStaleCaches(); err != nil {
		return nil, fault("apply", err)
	}
	w.walPadding.extend()
	results, err := rules.Apply(w, b)
	if err == nil {
		err = w.exec(sqlCommit)
	}
	if err != nil {
		return nil, fault("apply", err)
	}
	committed = true
	for _, events := range w.events {
		w.watch.Publish(events)
	}
	return results, nil
}

// begin waits for other connections as long as the caller does, but not for
// ever. Once the transaction has begun it is seen through.
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
		return &rota.Error{Code: e.code, Act: "sqlite: begin", Reason: e.reason, Hint: e.hint, Err: err}
	}
	return fault("begin", err)
}

// rollback ends a transaction that was not committed, unless SQLite has ended
// it already. What was remembered of it never was.
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

// Lock has nothing to do: there is one writer.
func (w *writer) Lock(*rules.UnitOfWork) (bool, error) {
	if w.beforeWrite != nil {
		w.beforeWrite(w.commands)
	}
	return false, nil
}

func (w *writer) close() error {
	w.walPadding.close()
	w.stmts.finalize()
	return w.conn.Close()
}
