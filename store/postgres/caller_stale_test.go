package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

func mailJob(job rota.NewJob) rota.Batch {
	job.Type = "mail"
	return rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{job}}}}
}

// warm has the store know the database of the caller's connections, and cache the type.
func (d *callerDatabase) warm() {
	d.Helper()
	tx := d.begin(pgx.TxOptions{})
	d.enqueue(tx, rota.NewJob{})
	d.enqueue(tx, rota.NewJob{})
	must(d, tx.Commit(d.Context()))
}

// TestFixedSnapshotUsesNoCachedRow: another process has changed the type, or the transaction itself
// has declared it. A failure would repeat in each transaction that the caller begins again.
func TestFixedSnapshotUsesNoCachedRow(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	other := openAt(t, d.url, Config{})
	done[*rota.TypePut](t, other, &rota.PutType{Meta: rota.NewMeta("test"), Name: "mail", Spec: rota.TypeSpec{Description: "changed"}})
	for _, level := range []pgx.TxIsoLevel{pgx.RepeatableRead, pgx.Serializable} {
		tx := d.begin(pgx.TxOptions{IsoLevel: level})
		d.enqueue(tx, rota.NewJob{})
		d.apply(tx, &rota.PutType{Meta: rota.NewMeta("test"), Name: "inside", Mode: rota.PutCreate})
		for range 2 {
			result, _ := d.apply(tx, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "inside"}}})
			if result.Err != nil {
				t.Fatal(result.Err)
			}
		}
		must(t, tx.Rollback(t.Context()))
	}
}

// TestStaleDispatchedJobIsReadInFixedSnapshot ends a job that another process has changed since this
// one has dispatched it.
func TestStaleDispatchedJobIsReadInFixedSnapshot(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	done[*rota.Enqueued](t, d.store, mailJob(rota.NewJob{}).Commands[0])
	claimed := done[*rota.Claimed](t, d.store, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	lease := claimed.Jobs[0].Lease()
	other := openAt(t, d.url, Config{})
	done[*rota.Extended](t, other, &rota.Extend{Meta: rota.NewMeta(""), Lease: time.Minute, Items: []rota.ExtendItem{{LeaseRef: lease}}})
	tx := d.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	d.apply(tx, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: lease, Outcome: rota.OutcomeCompleted}}})
	must(t, tx.Commit(t.Context()))
	d.clean()
}

// TestChosenIDInTwoCallers enqueues one job in two transactions: the second one stays usable, and
// gets the job of the first.
func TestChosenIDInTwoCallers(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	id := rota.NewID()
	first, second := d.begin(pgx.TxOptions{}), d.begin(pgx.TxOptions{})
	d.enqueue(second, rota.NewJob{})
	d.enqueue(first, rota.NewJob{ID: id})
	_, _, err := d.store.ApplyTx(t.Context(), second, mailJob(rota.NewJob{ID: id}))
	if rota.CodeOf(err) != rota.Busy {
		t.Errorf("got %v, want Busy", err)
	}
	must(t, first.Commit(t.Context()))
	if got, _ := d.enqueue(second, rota.NewJob{ID: id}); got.Job.ID != id {
		t.Errorf("got %+v", got)
	}
	must(t, second.Commit(t.Context()))
	d.clean()
}

func TestCancelledContextLeavesCallersTransactionUsable(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	d.warm()
	tx := d.begin(pgx.TxOptions{})
	d.enqueue(tx, rota.NewJob{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, key := range []string{"", "key"} {
		if _, _, err := d.store.ApplyTx(ctx, tx, mailJob(rota.NewJob{UniqueKey: key})); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	d.order(tx, 1)
	must(t, tx.Commit(t.Context()))
}

// TestEnqueueDoesNotWaitForPool: the only connection of the pool waits for a row of the caller.
func TestEnqueueDoesNotWaitForPool(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{Conns: 1})
	d.warm()
	tx := d.begin(pgx.TxOptions{})
	d.enqueue(tx, rota.NewJob{})
	conn, err := d.store.pool.Acquire(t.Context())
	must(t, err)
	defer conn.Release()
	began := time.Now()
	result, _ := d.apply(tx, &rota.Enqueue{Meta: rota.NewMeta("test"), Jobs: []rota.NewJob{{Type: "unknown"}}})
	if took := time.Since(began); result.Err != nil || took > 5*time.Second {
		t.Errorf("%v after %s", result.Err, took)
	}
	must(t, tx.Commit(t.Context()))
}

// TestJobIsClaimedThoughStoreCannotAsk: the server refuses the connection for the questions. The
// job of the caller is claimed all the same.
func TestJobIsClaimedThoughStoreCannotAsk(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	defer d.store.Watch(func([]rota.Event) {})()
	d.store.pending.config.Host, d.store.pending.config.Port, d.store.pending.config.Fallbacks = "127.0.0.1", 1, nil
	tx := d.begin(pgx.TxOptions{})
	d.enqueue(tx, rota.NewJob{})
	must(t, tx.Commit(t.Context()))
	claimed := make(chan struct{})
	go func() {
		defer close(claimed)
		done[*rota.Claimed](t, d.store, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	}()
	select {
	case <-claimed:
	case <-time.After(20 * time.Second):
		t.Fatal("the claim waits for the end of a transaction that is over")
	}
}

// TestKeyTakenOverInOpenTransactionIsBusyAlone: the key of a job that has ended is free, and an open
// transaction has taken it over.
func TestKeyTakenOverInOpenTransactionIsBusyAlone(t *testing.T) {
	t.Parallel()
	d := openCaller(t, Config{})
	const held = time.Second
	done[*rota.Enqueued](t, d.store, mailJob(rota.NewJob{UniqueKey: "key", UniqueFor: held}).Commands[0])
	claimed := done[*rota.Claimed](t, d.store, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"mail"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	done[*rota.Finished](t, d.store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: claimed.Jobs[0].Lease(), Outcome: rota.OutcomeCompleted}}})
	time.Sleep(held)
	tx := d.begin(pgx.TxOptions{})
	taken, _ := d.enqueue(tx, rota.NewJob{UniqueKey: "key"})
	began := time.Now()
	results, err := d.store.Apply(t.Context(), rota.Batch{Commands: append(enqueueKey("key").Commands, enqueueKey("free").Commands...)})
	must(t, err)
	if took := time.Since(began); taken.Duplicate || rota.CodeOf(results[0].Err) != rota.Busy || results[1].Err != nil || took > 5*time.Second {
		t.Errorf("got %v and %v after %s, want Busy for the held key alone", results[0].Err, results[1].Err, took)
	}
	must(t, tx.Commit(t.Context()))
	again := done[*rota.Enqueued](t, d.store, enqueueKey("key").Commands[0])
	if got := again.Jobs[0]; !got.Duplicate || got.Job.ID != taken.Job.ID {
		t.Errorf("got %+v", got)
	}
	d.clean()
}
