package sqlite

import (
	"context"
	"database/sql"
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

func TestEnqueueInTransactionOfCaller(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	tx := beginTx(t, db)
	execTx(t, tx, `INSERT INTO orders (text) VALUES ('one')`)
	pending := applyTx(t, s, tx, enqueue(rota.NewJob{Type: "mail"}))
	must(t, tx.Commit())
	wantEnd(t, pending, true)
	jobs, err := s.Queue(context.Background(), rota.ID{}, 10)
	must(t, err)
	if len(jobs) != 1 {
		t.Errorf("%d jobs are queued", len(jobs))
	}
	verifyClean(t, s)
}
