//go:build unix

package txcrash

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// attempt is a run of a handler.
type attempt struct {
	*process
	job       *rota.Job
	behaviour string
	task      Task
	outcome   string // what the program knows of the transaction that completes the run; empty: there was none
}

var errHandler = errors.New("failed, as the behaviour requests")

// behaviours are what handlers do with the transaction that completes their run.
var behaviours = map[string]func(*attempt, context.Context) error{
	"commit":                           (*attempt).commit,
	"commit again":                     (*attempt).commit, // the usual case is more frequent
	"commit once more":                 (*attempt).commit,
	"commit with an order":             (*attempt).commitOrder,
	"commit, then an error":            (*attempt).commitThenError,
	"commit, then a panic":             (*attempt).commitThenPanic,
	"commit after a rollback":          (*attempt).commitAfterRollback,
	"roll back":                        (*attempt).rollBack,
	"roll back, then an error":         (*attempt).rollBackThenError,
	"roll back to a savepoint":         (*attempt).rollBackToSavepoint,
	"leave the transaction open":       (*attempt).leaveOpen,
	"panic in the transaction":         (*attempt).panicInside,
	"error before the run is complete": (*attempt).errorBefore,
}

var behaviourNames = keys(behaviours)

// fulfil is the handler. It records what it knows of its transaction before it returns.
func (p *process) fulfil(ctx context.Context, task Task) error {
	a := &attempt{process: p, job: engine.Job(ctx), task: task, behaviour: behaviourNames[rand.IntN(len(behaviourNames))]}
	defer func() {
		if a.outcome != "" {
			p.ledger.write("run", a.job.ID.String(), a.outcome)
		}
	}()
	return behaviours[a.behaviour](a, ctx)
}

// complete begins a transaction with a row of the program and the end of the run. On an error it has rolled back.
func (a *attempt) complete(ctx context.Context) (txn, error) {
	tx, err := a.db.begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.completeIn(ctx, tx); err != nil {
		_ = tx.rollback()
		return nil, err
	}
	return tx, nil
}

func (a *attempt) completeIn(ctx context.Context, tx txn) error {
	if err := tx.exec(ctx, "INSERT INTO effects (execution, job, behaviour) VALUES ($1, $2, $3)", a.job.ExecutionID.String(), a.job.ID.String(), a.behaviour); err != nil {
		return err
	}
	a.kill.pass(afterRow)
	if err := engine.CompleteTx(ctx, tx.handle(), a.behaviour); err != nil {
		return err
	}
	a.kill.pass(afterComplete)
	return nil
}

// errUnknown is the error of a handler whose commit was answered with an error.
var errUnknown = errors.New("the answer of the commit is lost")

func (a *attempt) commitTxn(ctx context.Context, tx txn) error {
	if a.outcome = a.commitAt(ctx, tx); a.outcome == unknown {
		return errUnknown
	}
	return nil
}

func (a *attempt) rollbackTxn(tx txn) {
	_ = tx.rollback()
	a.outcome = rolledBack
	a.kill.pass(afterRollback)
}

func (a *attempt) commit(ctx context.Context) error {
	tx, err := a.complete(ctx)
	if err != nil {
		return err
	}
	return a.commitTxn(ctx, tx)
}

// commitOrder places an order in the transaction that completes the run.
func (a *attempt) commitOrder(ctx context.Context) error {
	if a.task.Chain {
		return a.commit(ctx) // so that orders do not go on for ever
	}
	tx, err := a.complete(ctx)
	if err != nil {
		return err
	}
	o := &order{process: a.process, txn: tx, id: rota.NewID().String(), story: "chain"}
	err = errors.Join(o.insert(ctx), o.enqueue(ctx, Task{Chain: true}))
	if err == nil {
		err = tx.exec(ctx, "UPDATE orders SET jobs = $1 WHERE id = $2", o.jobs, o.id)
	}
	if err != nil {
		a.rollbackTxn(tx)
		return err
	}
	err = a.commitTxn(ctx, tx)
	a.ledger.write("order", o.id, a.outcome)
	return err
}

func (a *attempt) commitThenError(ctx context.Context) error {
	return errors.Join(a.commit(ctx), errHandler)
}

func (a *attempt) commitThenPanic(ctx context.Context) error {
	if err := a.commit(ctx); err != nil {
		return err
	}
	panic("as the behaviour requests")
}

func (a *attempt) commitAfterRollback(ctx context.Context) error {
	if err := a.rollBack(ctx); err != nil {
		return err
	}
	return a.commit(ctx)
}

func (a *attempt) rollBack(ctx context.Context) error {
	tx, err := a.complete(ctx)
	if err == nil {
		a.rollbackTxn(tx)
	}
	return err
}

func (a *attempt) rollBackThenError(ctx context.Context) error {
	return errors.Join(a.rollBack(ctx), errHandler)
}

// rollBackToSavepoint commits a transaction without the row and the end of the run.
func (a *attempt) rollBackToSavepoint(ctx context.Context) error {
	tx, err := a.db.begin(ctx)
	if err != nil {
		return err
	}
	completes := false
	err = rollBackTo(ctx, a.process, tx, func() error {
		err := a.completeIn(ctx, tx)
		completes = err == nil
		return err
	})
	if completes {
		a.outcome = rolledBack
	}
	if err != nil {
		_ = tx.rollback()
		return err
	}
	_ = tx.commit(ctx)
	return nil
}

// leaveOpen leaves the rollback to the end of the context. The end of a context does not roll a pgx.Tx
// back: that is left to a goroutine.
func (a *attempt) leaveOpen(ctx context.Context) error {
	tx, err := a.complete(ctx)
	if err != nil {
		return err
	}
	a.outcome = rolledBack
	if _, is := tx.(pgxTxn); is {
		time.AfterFunc(time.Duration(rand.IntN(50))*time.Millisecond, func() { _ = tx.rollback() })
	}
	return nil
}

func (a *attempt) panicInside(ctx context.Context) error {
	tx, err := a.complete(ctx)
	if err != nil {
		return err
	}
	defer a.rollbackTxn(tx)
	panic("as the behaviour requests")
}

func (a *attempt) errorBefore(ctx context.Context) error {
	tx, err := a.db.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.rollback()
	return errors.Join(errHandler, tx.exec(ctx, "INSERT INTO effects (execution, job, behaviour) VALUES ('', '', 'never committed')"))
}
