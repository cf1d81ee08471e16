package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/rotajobs/rota"
)

// TestGuardEndsTransactionVisibly lets a trigger of the file refuse a job with RAISE(ROLLBACK), as the
// triggers of the store do. What the caller does next must not commit by itself.
func TestGuardEndsTransactionVisibly(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	execute(t, rawConn(t, s.path), `CREATE TRIGGER poison BEFORE INSERT ON rota_jobs WHEN NEW.type = 'poison' BEGIN
  SELECT RAISE(ROLLBACK, 'no poison'); END`)
	tx := beginTx(t, db)
	execTx(t, tx, insertOrder)
	first := applyTx(t, s, tx, mail())
	_, pending, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{mail(), enqueue(rota.NewJob{Type: "poison"})}})
	var lost *rota.Error
	if !errors.As(err, &lost) || lost.Code != rota.Internal || lost.Reason != "the whole transaction of the caller was rolled back" || pending != nil {
		t.Errorf("got %v", err)
	}
	if _, err := tx.Exec(insertOrder); !errors.Is(err, sql.ErrTxDone) {
		t.Errorf("the next statement got %v", err)
	}
	wantEnd(t, first, false)
	wantRows(t, s, "0", "0")
	must(t, openUsed(t, s, "").Ping())
	execute(t, rawConn(t, s.path), `DROP TRIGGER poison`)
	wantSound(t, s)
}

// TestConstraintRefusesOnlyItsCommand lets a constraint refuse a job, which leaves the transaction open.
func TestConstraintRefusesOnlyItsCommand(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	execute(t, rawConn(t, s.path), `CREATE TRIGGER poison BEFORE INSERT ON rota_jobs WHEN NEW.type = 'poison' BEGIN
  SELECT RAISE(ABORT, 'no poison'); END`)
	published := typesOfEvents(t, s)
	tx := beginTx(t, db)
	execTx(t, tx, insertOrder)
	results, pending, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{
		mail(), enqueue(rota.NewJob{Type: "poison"}), mail(),
	}})
	must(t, err)
	if results[0].Err != nil || results[2].Err != nil || rota.CodeOf(results[1].Err) != rota.Internal {
		t.Errorf("answered with %+v", results)
	}
	must(t, tx.Commit())
	wantEnd(t, pending, true)
	if got := published(); len(got) != 2 || got[0] != "mail" || got[1] != "mail" {
		t.Errorf("published events of %v", got)
	}
	wantRows(t, s, "2", "1")
	execute(t, rawConn(t, s.path), `DROP TRIGGER poison`)
	wantSound(t, s)
}

// TestFailedStatementLeavesTransactionWhole lets each statement of a batch fail in turn.
func TestFailedStatementLeavesTransactionWhole(t *testing.T) {
	broken := errors.New("broken on purpose")
	failAt := 0
	s := openTest(t, Config{injectFault: func(statement int) error {
		if statement == failAt {
			return broken
		}
		return nil
	}})
	db := openCaller(t, s, "")
	batch := rota.Batch{Commands: []rota.Command{
		enqueue(rota.NewJob{Type: "mail", UniqueKey: "one"}), &rota.PutType{Meta: rota.NewMeta("ada"), Name: "web"},
	}}
	for failAt = 1; ; failAt++ {
		tx := beginTx(t, db)
		execTx(t, tx, insertOrder)
		_, pending, err := s.ApplyTx(context.Background(), tx, batch)
		if err == nil {
			must(t, tx.Rollback())
			wantEnd(t, pending, false)
			break
		}
		if !errors.Is(err, broken) {
			t.Fatal(err)
		}
		execTx(t, tx, `DELETE FROM orders`)
		execTx(t, tx, insertOrder)
		must(t, tx.Commit())
		wantRows(t, s, "0", "1")
	}
	if failAt < 5 {
		t.Errorf("only %d statements failed", failAt-1)
	}
	wantSound(t, s)
}

// TestFinishSeesChangesOfCaller finishes a job in a transaction of the caller that the store's writer has
// cached.
func TestFinishSeesChangesOfCaller(t *testing.T) {
	s := openTest(t, Config{})
	jobs := running(t, s, 2)
	finish := func(j *rota.Job) *rota.Finish {
		return &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: lease(j), Outcome: rota.OutcomeFailed}}}
	}
	tx := beginTx(t, openCaller(t, s, ""))
	pending := applyTx(t, s, tx, finish(jobs[0]), finish(jobs[1]))
	must(t, tx.Rollback())
	wantEnd(t, pending, false)
	tx = beginTx(t, openCaller(t, s, ""))
	pending = applyTx(t, s, tx, finish(jobs[0]))
	must(t, tx.Commit())
	for i, want := range []rota.Code{rota.LeaseLost, ""} {
		other := finish(jobs[i])
		other.Items[0].Outcome = rota.OutcomeCompleted
		if got := apply(t, s, rota.Batch{Commands: []rota.Command{other}})[0].Reply.(*rota.Finished).Items[0].Code; got != want {
			t.Errorf("job %d: %q, want %q", i, got, want)
		}
	}
	wantEnd(t, pending, true)
	wantSound(t, s)
}

func TestCallsOfOneTransactionRunOneAfterTheOther(t *testing.T) {
	s := openTest(t, Config{})
	tx := beginTx(t, openCaller(t, s, ""))
	var all sync.WaitGroup
	pending := make([]*rota.PendingTx, 8)
	for i := range pending {
		all.Go(func() {
			var err error
			if _, pending[i], err = s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{mail()}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	must(t, tx.Commit())
	for _, one := range pending {
		wantEnd(t, one, true)
	}
	wantRows(t, s, "8", "0")
	wantSound(t, s)
}

func TestCloseEndsPendingWork(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	committed := beginTx(t, db)
	first := applyTx(t, s, committed, mail())
	must(t, committed.Commit())
	open := beginTx(t, db)
	second := applyTx(t, s, open, mail())
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	wantEnd(t, first, true)
	must(t, open.Rollback())
	wantEnd(t, second, false)
	must(t, <-closed)
}

// TestTransactionEndedByStatement ends a transaction with SQL, which database/sql does not notice.
func TestTransactionEndedByStatement(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	for _, c := range []struct {
		end       string
		committed bool
	}{{"COMMIT", true}, {"ROLLBACK", false}} {
		tx := beginTx(t, db)
		pending := applyTx(t, s, tx, mail())
		execTx(t, tx, c.end)
		wantEnd(t, pending, c.committed)
		_ = tx.Rollback()
	}
	wantRows(t, s, "1", "0")
	wantSound(t, s)
}
