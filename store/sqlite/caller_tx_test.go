package sqlite

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	_ "modernc.org/sqlite"
)

// openCaller opens the file of a store as its user does, with a table of the user.
func openCaller(t testing.TB, s *Store, query string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.path+query)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = db.Exec(`CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, text TEXT)`)
	must(t, err)
	return db
}

func beginTx(t testing.TB, db *sql.DB) *sql.Tx {
	t.Helper()
	tx, err := db.Begin()
	must(t, err)
	t.Cleanup(func() { _ = tx.Rollback() })
	return tx
}

func execTx(t testing.TB, tx *sql.Tx, text string, args ...any) {
	t.Helper()
	if _, err := tx.Exec(text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// applyTx applies commands in a transaction. They must be applied.
func applyTx(t testing.TB, s *Store, tx *sql.Tx, commands ...rota.Command) *rota.PendingTx {
	t.Helper()
	results, pending, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: commands})
	must(t, err)
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	return pending
}

// wantEnd waits until the store knows what became of work.
func wantEnd(t testing.TB, pending *rota.PendingTx, committed bool) {
	t.Helper()
	select {
	case <-pending.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the work is still pending")
	}
	if pending.Committed() != committed {
		t.Errorf("committed is %v, not %v", pending.Committed(), committed)
	}
}

// wantSound checks the whole file, also the tables of the user.
func wantSound(t testing.TB, s *Store) {
	t.Helper()
	verifyClean(t, s)
	if got := column(t, rawConn(t, s.path), `PRAGMA integrity_check`); len(got) != 1 || got[0] != "ok" {
		t.Errorf("integrity_check: %v", got)
	}
}

// wantRows checks how many jobs and how many rows of the user there are.
func wantRows(t testing.TB, s *Store, jobs, orders string) {
	t.Helper()
	conn := rawConn(t, s.path)
	defer conn.Close()
	got := column(t, conn, `SELECT (SELECT count(*) FROM rota_jobs) || ' ' || (SELECT count(*) FROM orders)`)[0]
	if got != jobs+" "+orders {
		t.Errorf("jobs and orders: %s, want %s %s", got, jobs, orders)
	}
}

// typesOfEvents returns the types of the jobs whose events are published from now on.
func typesOfEvents(t testing.TB, s *Store) func() []string {
	t.Helper()
	var mu sync.Mutex
	var types []string
	t.Cleanup(s.Watch(func(events []rota.Event) {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			types = append(types, e.Type)
		}
	}))
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(types)
	}
}

const insertOrder = `INSERT INTO orders (text) VALUES ('one')`

func mail() *rota.Enqueue { return enqueue(rota.NewJob{Type: "mail"}) }

func TestCommitOfCallerCommitsJob(t *testing.T) {
	s := openTest(t, Config{})
	tx := beginTx(t, openCaller(t, s, ""))
	execTx(t, tx, insertOrder)
	pending := applyTx(t, s, tx, mail())
	wantRows(t, s, "0", "0")
	must(t, tx.Commit())
	wantEnd(t, pending, true)
	wantRows(t, s, "1", "1")
	apply(t, s, at(0, claim(1)))
	wantSound(t, s)
}

func TestRollbackOfCallerUndoesJob(t *testing.T) {
	s := openTest(t, Config{})
	defer s.Watch(func(events []rota.Event) { t.Errorf("published %v", events) })()
	tx := beginTx(t, openCaller(t, s, ""))
	execTx(t, tx, insertOrder)
	pending := applyTx(t, s, tx, mail())
	must(t, tx.Rollback())
	wantEnd(t, pending, false)
	wantRows(t, s, "0", "0")
	wantSound(t, s)
}

func TestRollbackToSavepointUndoesOnlyLaterJobs(t *testing.T) {
	s := openTest(t, Config{})
	published := typesOfEvents(t, s)
	tx := beginTx(t, openCaller(t, s, ""))
	a := applyTx(t, s, tx, enqueue(rota.NewJob{Type: "first"}))
	execTx(t, tx, `SAVEPOINT mine`)
	b := applyTx(t, s, tx, enqueue(rota.NewJob{Type: "undone"}))
	execTx(t, tx, `ROLLBACK TO mine`)
	c := applyTx(t, s, tx, enqueue(rota.NewJob{Type: "last"}))
	execTx(t, tx, insertOrder)
	must(t, tx.Commit())
	wantEnd(t, c, true)
	wantEnd(t, a, true)
	wantEnd(t, b, false)
	if got := published(); !slices.Equal(got, []string{"first", "last"}) {
		t.Errorf("published events of %v", got)
	}
	wantRows(t, s, "2", "1")
	wantSound(t, s)
}

func TestOnlyJobRolledBackToSavepoint(t *testing.T) {
	s := openTest(t, Config{})
	defer s.Watch(func(events []rota.Event) { t.Errorf("published %v", events) })()
	tx := beginTx(t, openCaller(t, s, ""))
	execTx(t, tx, `SAVEPOINT mine`)
	pending := applyTx(t, s, tx, mail())
	execTx(t, tx, `ROLLBACK TO mine`)
	execTx(t, tx, insertOrder)
	must(t, tx.Commit())
	wantEnd(t, pending, false)
	wantRows(t, s, "0", "1")
	wantSound(t, s)
}

func TestRefusedCommandLeavesTransactionUsable(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	tx := beginTx(t, db)
	results, pending, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{
		&rota.Cancel{Meta: rota.NewMeta("ada"), JobID: rota.NewID()}, enqueue(rota.NewJob{}),
	}})
	must(t, err)
	if rota.CodeOf(results[0].Err) != rota.NotFound || rota.CodeOf(results[1].Err) != rota.Invalid {
		t.Fatalf("answered with %+v", results)
	}
	wantEnd(t, pending, true)
	execTx(t, tx, insertOrder)
	must(t, tx.Commit())
	wantRows(t, s, "0", "1")
	wantSound(t, s)
}

func TestWakeUpFollowsCommitOfCaller(t *testing.T) {
	s := openTest(t, Config{})
	wake, stop := s.Wake()
	defer stop()
	tx := beginTx(t, openCaller(t, s, ""))
	pending := applyTx(t, s, tx, mail())
	select {
	case <-wake:
		t.Error("woken before the commit")
	case <-pending.Done():
		t.Error("ended before the commit")
	default:
	}
	must(t, tx.Commit())
	select {
	case <-wake:
	case <-time.After(10 * time.Second):
		t.Error("not woken after the commit")
	}
}

// TestEventsFollowOrderOfCommits commits a transaction of the caller and a batch right after it.
func TestEventsFollowOrderOfCommits(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	published := typesOfEvents(t, s)
	var want []string
	for range 50 {
		tx := beginTx(t, db)
		applyTx(t, s, tx, enqueue(rota.NewJob{Type: "first"}))
		must(t, tx.Commit())
		apply(t, s, rota.Batch{Commands: []rota.Command{enqueue(rota.NewJob{Type: "second"})}})
		want = append(want, "first", "second")
	}
	if got := published(); !slices.Equal(got, want) {
		t.Errorf("the events are not in the order of the commits: %v", got)
	}
}

func TestCallersShareUniqueKey(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	unique := func() *rota.Enqueue { return enqueue(rota.NewJob{Type: "mail", UniqueKey: "one"}) }
	first, second := beginTx(t, db), beginTx(t, db)
	applyTx(t, s, first, unique())
	batch := rota.Batch{Commands: []rota.Command{unique()}}
	if _, _, err := s.ApplyTx(context.Background(), second, batch); rota.CodeOf(err) != rota.Busy || !isBusy(err) {
		t.Errorf("the second caller got %v", err)
	}
	must(t, first.Commit())
	results, pending, err := s.ApplyTx(context.Background(), second, batch)
	must(t, err)
	if results[0].Err != nil || !results[0].Reply.(*rota.Enqueued).Jobs[0].Duplicate {
		t.Errorf("the second caller got %+v", results[0])
	}
	execTx(t, second, insertOrder)
	must(t, second.Commit())
	wantEnd(t, pending, true)
	wantRows(t, s, "1", "1")
	wantSound(t, s)
}

func TestOpenTransactionOfCallerDelaysBatches(t *testing.T) {
	s := openTest(t, Config{})
	w := <-s.writer
	w.maxWait = 20 * time.Millisecond
	s.writer <- w
	tx := beginTx(t, openCaller(t, s, ""))
	pending := applyTx(t, s, tx, mail())
	batch := rota.Batch{Commands: []rota.Command{mail()}}
	if _, err := s.Apply(context.Background(), batch); rota.CodeOf(err) != rota.Busy || !isBusy(err) {
		t.Errorf("the batch got %v", err)
	}
	must(t, tx.Commit())
	apply(t, s, batch)
	wantEnd(t, pending, true)
	wantRows(t, s, "2", "0")
	wantSound(t, s)
}
