package wrap_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/buffertx"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

func openTxStore(t *testing.T) *buffertx.Store {
	t.Helper()
	file, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return buffertx.New(t, file, func(path string) (rota.Store, error) {
		return sqlite.OpenWith(path, sqlite.Config{AllowMoved: true})
	})
}

func enqueueOne() rota.Batch {
	return rota.Batch{Commands: []rota.Command{&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}}}}
}

func countJobs(t *testing.T, store rota.Store) int {
	t.Helper()
	jobs, err := store.Jobs(t.Context(), rota.JobQuery{Limit: rota.PageMax})
	if err != nil {
		t.Fatal(err)
	}
	return len(jobs)
}

func TestCoalescedStorePassesTransactionOn(t *testing.T) {
	store := openTxStore(t)
	tx := store.Begin()
	results, pending, err := rota.ApplyTx(t.Context(), wrap.Coalesce(wrap.Flaky(wrap.Coalesce(store), wrap.Fault{})), tx, enqueueOne())
	if err != nil || results[0].Err != nil {
		t.Fatal(results, err)
	}
	if n := countJobs(t, store); n != 0 || pending.Committed() {
		t.Errorf("%d jobs before the commit", n)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if <-pending.Done(); countJobs(t, store) != 1 || !pending.Committed() {
		t.Error("the job is missing after the commit")
	}
}

// A batch that fails before is not in the transaction; of one that fails after only the
// answer is lost.
func TestFlakyStoreFailsInTransaction(t *testing.T) {
	for want, fault := range []wrap.Fault{
		{Before: func(rota.Batch) error { return errLost }},
		{After: func(rota.Batch, []rota.Result) error { return errLost }},
	} {
		store := openTxStore(t)
		tx := store.Begin()
		results, pending, err := rota.ApplyTx(t.Context(), wrap.Flaky(store, fault), tx, enqueueOne())
		if !errors.Is(err, errLost) || results != nil || pending != nil {
			t.Errorf("%v, %v, %v", results, pending, err)
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if n := countJobs(t, store); n != want {
			t.Errorf("%d jobs, want %d", n, want)
		}
	}
}

// plainStore is a store without transactions of callers.
type plainStore struct{ rota.Store }

func TestWrapperOfStoreWithoutTransactionsRefusesThem(t *testing.T) {
	store := wrap.Coalesce(wrap.Flaky(plainStore{openTxStore(t)}, wrap.Fault{}))
	_, _, err := rota.ApplyTx(t.Context(), store, 7, enqueueOne())
	var e *rota.Error
	if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != "tx" {
		t.Errorf("%v, want Invalid of tx", err)
	}
}
