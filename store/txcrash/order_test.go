//go:build unix

package txcrash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rotajobs/rota"
)

// Task is the params of a job of an order.
type Task struct {
	Order  string `json:"order"`
	Number int    `json:"number"`           // differs within the order
	Undone bool   `json:"undone,omitempty"` // the program never commits it
	Chain  bool   `json:"chain,omitempty"`  // placed by a handler, together with the end of its run
}

// JobType names the type.
func (Task) JobType() string { return "task" }

// order is a row of a program, with the jobs that the program enqueues together with it.
type order struct {
	*process
	txn
	id        string
	story     string
	jobs      int    // jobs that the transaction commits
	duplicate string // job that an enqueue has answered with instead of creating one
}

// errRollBack ends a story whose transaction is to be rolled back.
var errRollBack = errors.New("to be rolled back")

// stories are what callers do in a transaction.
var stories = map[string]func(*order, context.Context) error{
	"one":           (*order).one,
	"one again":     (*order).one, // the usual case is more frequent
	"job first":     (*order).jobFirst,
	"many":          (*order).many,
	"unique":        (*order).unique,
	"unique twice":  (*order).uniqueTwice,
	"refused first": (*order).refusedFirst,
	"undone":        (*order).undone,
	"half undone":   (*order).halfUndone,
	"rolled back":   (*order).rolledBack,
}

var storyNames = keys(stories)

func keys[V any](m map[string]V) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	return names
}

// placeOrders places orders one after the other.
func (p *process) placeOrders(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(rand.N(10 * time.Millisecond)) {
		if p.full.Load() {
			continue
		}
		if tx, err := p.db.begin(ctx); err == nil {
			o := &order{process: p, txn: tx, id: rota.NewID().String(), story: storyNames[rand.IntN(len(storyNames))]}
			p.ledger.write("order", o.id, o.place(ctx))
		}
	}
}

// place runs a story and ends its transaction. It returns what the program then knows.
func (o *order) place(ctx context.Context) (outcome string) {
	err := stories[o.story](o, ctx)
	if err == nil {
		err = o.exec(ctx, "UPDATE orders SET jobs = $1, duplicate_of = $2 WHERE id = $3", o.jobs, o.duplicate, o.id)
	}
	if err != nil {
		_ = o.rollback()
		o.kill.pass(afterRollback)
		return rolledBack
	}
	return o.commitAt(ctx, o.txn)
}

// commitAt commits a transaction, and passes the points around the commit.
func (p *process) commitAt(ctx context.Context, tx txn) (outcome string) {
	p.kill.pass(beforeCommit)
	if err := tx.commit(ctx); err != nil {
		return unknown
	}
	p.kill.pass(afterCommit)
	return committed
}

func (o *order) insert(ctx context.Context) error {
	defer o.kill.pass(afterRow)
	return o.exec(ctx, "INSERT INTO orders (id, story, jobs) VALUES ($1, $2, 0)", o.id, o.story)
}

// enqueue enqueues one job, which counts unless it is a duplicate or to be undone.
func (o *order) enqueue(ctx context.Context, task Task, options ...rota.Option) error {
	task.Order = o.id
	defer o.kill.pass(afterEnqueue)
	submitted, err := o.client.SubmitTx(ctx, o.handle(), task, options...)
	switch {
	case err != nil:
		return err
	case submitted.Duplicate:
		o.duplicate = submitted.Job.ID.String()
	case !task.Undone:
		o.jobs++
	}
	return nil
}

func (o *order) one(ctx context.Context) error {
	return errors.Join(o.insert(ctx), o.enqueue(ctx, Task{}))
}

func (o *order) jobFirst(ctx context.Context) error {
	return errors.Join(o.enqueue(ctx, Task{}), o.insert(ctx))
}

func (o *order) many(ctx context.Context) error {
	var tasks []rota.Payload
	for i := range 2 + rand.IntN(4) {
		tasks = append(tasks, Task{Order: o.id, Number: i})
	}
	submitted, err := o.client.EnqueueManyTx(ctx, o.handle(), tasks)
	o.jobs = len(submitted)
	o.kill.pass(afterEnqueue)
	return errors.Join(err, o.insert(ctx))
}

// unique shares its keys with other callers.
func (o *order) unique(ctx context.Context) error {
	key := fmt.Sprint("key ", rand.IntN(4))
	return errors.Join(o.insert(ctx), o.enqueue(ctx, Task{}, rota.Unique(key), rota.UniqueFor(200*time.Millisecond)))
}

func (o *order) uniqueTwice(ctx context.Context) error {
	err := o.insert(ctx)
	for i := range 2 {
		err = errors.Join(err, o.enqueue(ctx, Task{Number: i}, rota.Unique(o.id)))
	}
	if err == nil && (o.jobs != 1 || o.duplicate == "") {
		panic("a second job with the same unique key in the same transaction is no duplicate")
	}
	return err
}

// refusedFirst goes on after a refusal.
func (o *order) refusedFirst(ctx context.Context) error {
	if err := o.insert(ctx); err != nil {
		return err
	}
	results, _, err := rota.ApplyTx(ctx, o.store, o.handle(), rota.Batch{Commands: []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{
			{Type: Task{}.JobType(), Params: fmt.Appendf(nil, `{"order": %q, "undone": true}`, o.id)},
			{Template: "missing"},
		}},
	}})
	if err != nil {
		return err
	}
	if rota.CodeOf(results[0].Err) != rota.NotFound {
		panic(fmt.Sprint("a job of a missing template is answered with ", results[0].Err))
	}
	return o.enqueue(ctx, Task{Number: 1})
}

func (o *order) rolledBack(ctx context.Context) error {
	return errors.Join(o.insert(ctx), o.enqueue(ctx, Task{Undone: true}), errRollBack)
}

// undone commits the row without a job.
func (o *order) undone(ctx context.Context) error {
	return errors.Join(o.insert(ctx), o.undo(ctx, func() error { return o.enqueue(ctx, Task{Undone: true}) }))
}

// halfUndone commits the jobs before and after a savepoint that it rolls back to.
func (o *order) halfUndone(ctx context.Context) error {
	return errors.Join(
		o.insert(ctx),
		o.enqueue(ctx, Task{}),
		o.undo(ctx, func() error { return o.enqueue(ctx, Task{Number: 1, Undone: true}) }),
		o.enqueue(ctx, Task{Number: 2}),
	)
}

// undo does something within a savepoint and rolls back to it.
func (o *order) undo(ctx context.Context, do func() error) error {
	return rollBackTo(ctx, o.process, o.txn, do)
}

func rollBackTo(ctx context.Context, p *process, tx txn, do func() error) error {
	err := tx.exec(ctx, "SAVEPOINT own")
	if err == nil {
		err = do()
	}
	err = errors.Join(err, tx.exec(ctx, "ROLLBACK TO SAVEPOINT own"))
	p.kill.pass(afterSavepoint)
	return errors.Join(err, tx.exec(ctx, "RELEASE SAVEPOINT own"))
}
