package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func TestTransactionsThatStoreCannotUseAreRefusedByName(t *testing.T) {
	s := openTest(t, Config{})
	db := openCaller(t, s, "")
	over := beginTx(t, db)
	must(t, over.Commit())
	rolledBack := beginTx(t, db)
	must(t, rolledBack.Rollback())
	cancelled, cancel := context.WithCancel(context.Background())
	ended, err := db.BeginTx(cancelled, nil)
	must(t, err)
	cancel()
	readOnlyStore, err := OpenWith(closedStore(t), Config{ReadOnly: true})
	must(t, err)
	defer readOnlyStore.Close()
	closed := openTest(t, Config{})
	closedTx := beginTx(t, openCaller(t, closed, ""))
	must(t, closed.Close())
	execute(t, rawConn(t, s.path), `PRAGMA wal_checkpoint`)
	link := filepath.Join(filepath.Dir(s.path), "link.db")
	must(t, os.Link(s.path, link))
	for _, c := range []struct {
		name   string
		store  *Store
		tx     any
		reason string
	}{
		{"nil", s, nil, "is nil"},
		{"a nil *sql.Tx", s, (*sql.Tx)(nil), "is a nil *sql.Tx"},
		{"another type", s, db, "is a *sql.DB"},
		{"after commit", s, over, "is over"},
		{"after rollback", s, rolledBack, "is over"},
		{"after its context", s, ended, "is over"},
		{"another file", s, beginTx(t, openCaller(t, openTest(t, Config{}), "")), "the file of the store is"},
		{"a hard link", s, rawTx(t, "sqlite", link), "a second name (a hard link)"},
		{"a memory database", s, rawTx(t, "sqlite", ":memory:"), "in memory"},
		{"query_only", s, beginTx(t, openCaller(t, s, "?_pragma=query_only(1)")), "read-only transaction"},
		{"mode=ro", s, rawTx(t, "sqlite", "file:"+s.path+"?mode=ro"), "read-only transaction"},
		{"PostgreSQL", s, rawTx(t, "fake", "postgres"), "another database than SQLite"},
		{"another driver", s, rawTx(t, "fake", "mattn"), "another driver than modernc.org/sqlite"},
		{"a read-only store", readOnlyStore, beginTx(t, db), "open read-only"},
		{"a closed store", closed, closedTx, "store that is closed"},
	} {
		_, pending, err := c.store.ApplyTx(context.Background(), c.tx, rota.Batch{Commands: []rota.Command{mail()}})
		var refused *rota.Error
		if !errors.As(err, &refused) || refused.Code != rota.Invalid || refused.Field != "tx" || refused.Hint == "" || pending != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !strings.Contains(refused.Reason, c.reason) {
			t.Errorf("%s: the reason is %q", c.name, refused.Reason)
		}
	}
	must(t, os.Remove(link))
	wantRows(t, s, "0", "0")
	wantSound(t, s)
}

// closedStore returns the path of a store that was closed.
func closedStore(t *testing.T) string {
	s := openTest(t, Config{})
	must(t, s.Close())
	return s.path
}

func rawTx(t *testing.T, driver, source string) *sql.Tx {
	db, err := sql.Open(driver, source)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return beginTx(t, db)
}

func TestSymbolicLinkToFileOfStoreIsAccepted(t *testing.T) {
	s := openTest(t, Config{})
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(s.path, link))
	tx := rawTx(t, "sqlite", link)
	pending := applyTx(t, s, tx, mail())
	must(t, tx.Commit())
	wantEnd(t, pending, true)
}

// TestLockIsWaitedForBriefly lets a transaction hold the write lock: ApplyTx waits for a short time, whatever
// the busy timeout of the caller is, and leaves that timeout as it was.
func TestLockIsWaitedForBriefly(t *testing.T) {
	for _, timeout := range []string{"0", "100", "60000"} {
		s := openTest(t, Config{})
		holder := beginTx(t, openCaller(t, s, "?_txlock=immediate"))
		tx := beginTx(t, openUsed(t, s, "?_pragma=busy_timeout("+timeout+")"))
		start := time.Now()
		_, _, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{mail()}})
		if took := time.Since(start); took < rota.TxLockWait || took > 20*rota.TxLockWait {
			t.Errorf("timeout %s: ApplyTx took %v", timeout, took)
		}
		if rota.CodeOf(err) != rota.Busy || !isBusy(err) {
			t.Errorf("timeout %s: %v", timeout, err)
		}
		wantTimeout(t, tx, timeout)
		must(t, holder.Rollback())
		pending := applyTx(t, s, tx, mail())
		wantTimeout(t, tx, timeout)
		must(t, tx.Commit())
		wantEnd(t, pending, true)
		wantRows(t, s, "1", "0")
		wantSound(t, s)
	}
}

// openUsed opens a file that already has the table of the user.
func openUsed(t *testing.T, s *Store, query string) *sql.DB {
	db, err := sql.Open("sqlite", "file:"+s.path+query)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func wantTimeout(t *testing.T, tx *sql.Tx, want string) {
	t.Helper()
	var got string
	must(t, tx.QueryRow(`PRAGMA busy_timeout`).Scan(&got))
	if got != want {
		t.Errorf("busy_timeout is %s, want %s", got, want)
	}
}

func TestTransactionThatReadBeforeAnotherWroteIsBusy(t *testing.T) {
	s := openTest(t, Config{})
	tx := beginTx(t, openCaller(t, s, ""))
	read := func() (n int) {
		must(t, tx.QueryRow(`SELECT count(*) FROM orders`).Scan(&n))
		return n
	}
	read()
	apply(t, s, rota.Batch{Commands: []rota.Command{mail()}})
	_, _, err := s.ApplyTx(context.Background(), tx, rota.Batch{Commands: []rota.Command{mail()}})
	if rota.CodeOf(err) != rota.Busy || !strings.Contains(err.Error(), "since this one first read") {
		t.Errorf("got %v", err)
	}
	if read() != 0 {
		t.Error("the transaction is not usable")
	}
	wantSound(t, s)
}

// fakeDriver answers a query as PostgreSQL or as another driver of SQLite does.
type fakeDriver struct{}

func init() { sql.Register("fake", fakeDriver{}) }

func (fakeDriver) Open(name string) (driver.Conn, error) { return fakeConn(name), nil }

type fakeConn string

func (c fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not prepared") }
func (c fakeConn) Close() error                        { return nil }
func (c fakeConn) Begin() (driver.Tx, error)           { return c, nil }
func (c fakeConn) Commit() error                       { return nil }
func (c fakeConn) Rollback() error                     { return nil }

func (c fakeConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if c == "mattn" {
		return nil, errors.New("no such function: rota_connection_file")
	}
	return &fakeRows{}, nil
}

type fakeRows struct{ read bool }

func (r *fakeRows) Columns() []string { return []string{""} }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(values []driver.Value) error {
	if r.read {
		return io.EOF
	}
	r.read, values[0] = true, ""
	return nil
}
