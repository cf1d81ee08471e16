package rota_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/buffertx"
	"github.com/rotajobs/rota/store/sqlite"
)

// openTxStore opens a store whose transactions the test controls.
func openTxStore(t *testing.T) *buffertx.Store {
	t.Helper()
	return buffertx.New(t, openStore(t), func(path string) (rota.Store, error) {
		return sqlite.OpenWith(path, sqlite.Config{AllowMoved: true})
	})
}

func countJobs(t *testing.T, store rota.Store) int {
	t.Helper()
	jobs, err := store.Jobs(context.Background(), rota.JobQuery{Limit: rota.PageMax})
	if err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

// wantType fails if a type is declared, or if it is not.
func wantType(t *testing.T, store rota.Store, name string, declared bool) {
	t.Helper()
	if _, err := store.Type(context.Background(), name); (err == nil) != declared {
		t.Errorf("type %s: %v; want it declared: %v", name, err, declared)
	}
}

func TestEnqueueTxTakesEffectWithCommit(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client, tx := rota.New(store, rota.WithActor("ada")), store.Begin()
	job, err := client.EnqueueTx(ctx, tx, mail{"a"}, rota.Priority(3))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Job(ctx, job.ID); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("before the commit: %v, want NotFound", err)
	}
	wantType(t, store, "mail", false)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	stored, err := client.Job(ctx, job.ID)
	if err != nil || stored.Priority != 3 || stored.CreatedBy != "ada" || string(stored.Params) != `{"to":"a"}` {
		t.Errorf("after the commit: %+v, %v", stored, err)
	}
	wantType(t, store, "mail", true)
}

// The first call declares the type in its transaction and does not rely on that later.
func TestTypeOfRolledBackTransactionIsDeclaredAgain(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client := rota.New(store)
	for _, commit := range []bool{false, true} {
		tx := store.Begin()
		for range 2 { // the second time the type exists in the transaction alone
			if _, err := client.EnqueueTx(ctx, tx, mail{"a"}); err != nil {
				t.Fatal(err)
			}
		}
		if !commit {
			tx.Rollback()
		} else if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		wantType(t, store, "mail", commit)
	}
	if n := countJobs(t, store); n != 2 {
		t.Errorf("there are %d jobs, want the 2 of the second transaction", n)
	}
	declared, err := store.Type(ctx, "mail")
	if err != nil || len(declared.Spec.Schema) == 0 {
		t.Errorf("%+v, %v; want a schema", declared, err)
	}
}

func TestEnqueueTxAddsMissingSchema(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	put := &rota.PutType{Meta: rota.NewMeta(""), Name: "mail", Spec: rota.TypeSpec{Description: "kept"}}
	if _, err := rota.Do[*rota.TypePut](ctx, store, put); err != nil {
		t.Fatal(err)
	}
	client, tx := rota.New(store), store.Begin()
	if _, err := client.EnqueueTx(ctx, tx, mail{"a"}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	declared, err := store.Type(ctx, "mail")
	if err != nil || len(declared.Spec.Schema) == 0 || declared.Spec.Description != "kept" {
		t.Errorf("%+v, %v", declared, err)
	}
}

// A type that was declared before costs no command, also for a client that has not seen it.
func TestEnqueueTxOfDeclaredTypeSendsOneCommand(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	if _, err := rota.New(store).Enqueue(ctx, mail{"a"}); err != nil {
		t.Fatal(err)
	}
	counted := &countingTx{Store: store}
	client, tx := rota.New(counted), store.Begin()
	if _, err := client.EnqueueManyTx(ctx, tx, []rota.Payload{mail{"a"}, mail{"b"}, mail{"c"}}); err != nil || counted.commands != 1 {
		t.Errorf("%d commands, want 1: %v", counted.commands, err)
	}
}

// countingTx counts commands of transactions.
type countingTx struct {
	*buffertx.Store
	commands int
}

func (c *countingTx) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	c.commands += len(b.Commands)
	return c.Store.ApplyTx(ctx, tx, b)
}

func TestSubmitTxFindsDuplicates(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client, tx := rota.New(store), store.Begin()
	first, err := client.SubmitTx(ctx, tx, mail{"a"}, rota.Unique("k"))
	if err != nil || first.Duplicate {
		t.Fatal(first, err)
	}
	again, err := client.SubmitTx(ctx, tx, mail{"b"}, rota.Unique("k"))
	if err != nil || !again.Duplicate || again.Job.ID != first.Job.ID {
		t.Errorf("in the same transaction: %+v, %v", again, err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	after, err := client.SubmitTx(ctx, store.Begin(), mail{"c"}, rota.Unique("k"))
	if err != nil || !after.Duplicate || after.Job.ID != first.Job.ID {
		t.Errorf("in a later transaction: %+v, %v", after, err)
	}
}

func TestEnqueueManyTxIsAllOrNothing(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client, tx := rota.New(store), store.Begin()
	if jobs, err := client.EnqueueManyTx(ctx, tx, nil); err != nil || jobs != nil {
		t.Errorf("without payloads: %v, %v", jobs, err)
	}
	jobs, err := client.EnqueueManyTx(ctx, tx, []rota.Payload{mail{"a"}, spelled{"text", "{}"}, mail{"b"}}, rota.Name("n"))
	if err != nil || len(jobs) != 3 || jobs[1].Job.Type != "text" {
		t.Fatal(jobs, err)
	}
	_, err = client.EnqueueManyTx(ctx, tx, []rota.Payload{mail{"a"}, spelled{"text", "[]"}})
	wantInvalid(t, err, "jobs[1].params", "params are a JSON object")
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := countJobs(t, store); n != 3 {
		t.Errorf("there are %d jobs, want 3", n)
	}
}

func TestScheduleTxTakesEffectWithCommit(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client := rota.New(store)
	declare := func(commit bool, options ...rota.Option) error {
		tx := store.Begin()
		defer tx.Rollback()
		err := client.ScheduleTx(ctx, tx, "nightly", mail{"a"}, options...)
		if err == nil && commit {
			err = tx.Commit()
		}
		return err
	}
	if err := declare(false, rota.Cron("0 3 * * *", "UTC")); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Schedule(ctx, "nightly"); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("after a rollback: %v, want NotFound", err)
	}
	if err := declare(true, rota.Cron("0 3 * * *", "UTC"), rota.Retries(4)); err != nil {
		t.Fatal(err)
	}
	template, err := store.Template(ctx, "nightly")
	if err != nil || template.Spec.Policy.MaxRetries == nil || *template.Spec.Policy.MaxRetries != 4 {
		t.Errorf("%+v, %v", template, err)
	}
	if s, err := store.Schedule(ctx, "nightly"); err != nil || s.NextFire.IsZero() {
		t.Errorf("%+v, %v", s, err)
	}
	wantInvalid(t, declare(true), "cron", "none of cron, at and every")
}

// The errors are those of the calls without a transaction.
func TestTxCallsHaveErrorsOfPlainCalls(t *testing.T) {
	ctx, store := context.Background(), openTxStore(t)
	client, tx := rota.New(store, rota.WithChecker(addressed{})), store.Begin()
	if err := client.Schedule(ctx, "old", mail{"a@b"}, rota.Every(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := rota.Do[*rota.TemplatePut](ctx, store, &rota.Archive{Meta: rota.NewMeta(""), Name: "old"}); err != nil {
		t.Fatal(err)
	}
	for name, calls := range map[string][2]func() error{
		"a payload that is refused": {
			func() error { _, err := client.Enqueue(ctx, mail{"a"}); return err },
			func() error { _, err := client.EnqueueTx(ctx, tx, mail{"a"}); return err },
		},
		"an option of another call": {
			func() error { _, err := client.Submit(ctx, mail{"a@b"}, rota.Cron("0 3 * * *", "UTC")); return err },
			func() error {
				_, err := client.SubmitTx(ctx, tx, mail{"a@b"}, rota.Cron("0 3 * * *", "UTC"))
				return err
			},
		},
		"one key for two jobs": {
			func() error {
				_, err := client.EnqueueMany(ctx, []rota.Payload{mail{"a@b"}, mail{"a@b"}}, rota.Unique("k"))
				return err
			},
			func() error {
				_, err := client.EnqueueManyTx(ctx, tx, []rota.Payload{mail{"a@b"}, mail{"a@b"}}, rota.Unique("k"))
				return err
			},
		},
		"a schedule of an archived template": {
			func() error { return client.Schedule(ctx, "old", mail{"a@b"}, rota.Every(time.Hour)) },
			func() error { return client.ScheduleTx(ctx, tx, "old", mail{"a@b"}, rota.Every(time.Hour)) },
		},
		"a schedule with an unknown dependency": {
			func() error {
				return client.Schedule(ctx, "new", mail{"a@b"}, rota.Every(time.Hour), rota.DependsOn("nobody"))
			},
			func() error {
				return client.ScheduleTx(ctx, tx, "new", mail{"a@b"}, rota.Every(time.Hour), rota.DependsOn("nobody"))
			},
		},
	} {
		plain, inTx := calls[0](), calls[1]()
		if fmt.Sprint(plain) != fmt.Sprint(inTx) || rota.CodeOf(plain) != rota.CodeOf(inTx) || plain == nil {
			t.Errorf("%s: %v (%s), in a transaction %v (%s)", name, plain, rota.CodeOf(plain), inTx, rota.CodeOf(inTx))
		}
	}
}

// txCalls are the methods that take a transaction.
var txCalls = map[string]func(context.Context, *rota.Client, any) error{
	"EnqueueTx": func(ctx context.Context, c *rota.Client, tx any) error {
		_, err := c.EnqueueTx(ctx, tx, mail{"a"})
		return err
	},
	"SubmitTx": func(ctx context.Context, c *rota.Client, tx any) error {
		_, err := c.SubmitTx(ctx, tx, mail{"a"})
		return err
	},
	"EnqueueManyTx": func(ctx context.Context, c *rota.Client, tx any) error {
		_, err := c.EnqueueManyTx(ctx, tx, []rota.Payload{mail{"a"}})
		return err
	},
	"ScheduleTx": func(ctx context.Context, c *rota.Client, tx any) error {
		return c.ScheduleTx(ctx, tx, "nightly", mail{"a"}, rota.Every(time.Hour))
	},
}

func TestTxCallsRefuseWhatIsNoTransaction(t *testing.T) {
	store := openTxStore(t)
	for name, call := range txCalls {
		t.Run(name, func(t *testing.T) {
			wantInvalid(t, call(t.Context(), rota.New(store), nil), "tx", "is nil")
			wantInvalid(t, call(t.Context(), rota.New(store), 7), "tx", "int")
			wantInvalid(t, call(t.Context(), rota.New(plainStore{store.Store}), 7), "tx", "plainStore")
		})
	}
	wantType(t, store, "mail", false)
}

// plainStore is a store without transactions of callers.
type plainStore struct{ rota.Store }

// errDropped is the error of a connection that was lost.
var errDropped = rota.Errorf(rota.Unavailable, "apply", "the connection was lost")

// droppedTx loses the connection of each transaction.
type droppedTx struct {
	*buffertx.Store
	calls int
}

func (d *droppedTx) ApplyTx(context.Context, any, rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	d.calls++
	return nil, nil, errDropped
}

func TestTxCallsRepeatNothing(t *testing.T) {
	store := openTxStore(t)
	for name, call := range txCalls {
		dropped := &droppedTx{Store: store}
		if err := call(t.Context(), rota.New(dropped), store.Begin()); !errors.Is(err, errDropped) || dropped.calls != 1 {
			t.Errorf("%s: %d calls, %v", name, dropped.calls, err)
		}
	}
}

// refusingTypes refuses the declaration of types in transactions.
type refusingTypes struct{ *buffertx.Store }

func (r refusingTypes) ApplyTx(ctx context.Context, tx any, b rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	if b.Commands[0].Verb() == rota.VerbPutType {
		return []rota.Result{{Err: &rota.Error{Code: rota.Denied, Reason: "no right"}}}, rota.NewPendingTx(), nil
	}
	return r.Store.ApplyTx(ctx, tx, b)
}

// The caller may commit the rest of its transaction.
func TestEnqueueTxWithRefusedTypeEnqueuesNothing(t *testing.T) {
	store := openTxStore(t)
	tx := store.Begin()
	if _, err := rota.New(refusingTypes{store}).EnqueueTx(t.Context(), tx, mail{"a"}); rota.CodeOf(err) != rota.Denied {
		t.Errorf("%v, want Denied", err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := countJobs(t, store); n != 0 {
		t.Errorf("there are %d jobs, want none", n)
	}
}

// StoreAs finds the store behind wrappers.
func TestWrappedStorePassesTransactionOn(t *testing.T) {
	store := openTxStore(t)
	tx := store.Begin()
	wrapped := unwrapping{plainStore{store}, store}
	if _, err := rota.New(wrapped).EnqueueTx(t.Context(), tx, mail{"a"}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := countJobs(t, store); n != 1 {
		t.Errorf("there are %d jobs, want 1", n)
	}
}

// unwrapping is a wrapper that passes everything on.
type unwrapping struct {
	plainStore
	inner rota.Store
}

func (u unwrapping) Unwrap() rota.Store { return u.inner }

func TestPendingTxEndsOnce(t *testing.T) {
	p := rota.NewPendingTx()
	if p.Committed() {
		t.Error("it is committed before its end")
	}
	p.End(true)
	p.End(false)
	<-p.Done()
	if !p.Committed() {
		t.Error("the first end does not count")
	}
}
