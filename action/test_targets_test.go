package action

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// testTarget is a database that the tests of all dialects run on.
type testTarget struct {
	name             string
	target           Target
	query            func(t *testing.T, text string) [][]string
	activeStatements func(t *testing.T) int // number of statements of runs that the server executes
	slowStatement    string                 // a statement that does not end by itself
	slowRunning      func(t *testing.T) int // number of slow statements that the server executes
	syntaxErrorCode  string                 // error code of a syntax error
	duplicateKeyCode string                 // error code of a duplicate key
}

func newSQLiteTarget(t *testing.T) *testTarget {
	path := filepath.Join(t.TempDir(), "target.db")
	return &testTarget{
		name: "SQLite", target: Target{URL: "sqlite:" + path},
		query:            func(t *testing.T, text string) [][]string { return querySQLite(t, path, text) },
		activeStatements: func(t *testing.T) int { return sqliteWriters(t, path) },
		slowRunning:      func(t *testing.T) int { return sqliteWriters(t, path) },
		slowStatement:    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c", syntaxErrorCode: "SQLITE_ERROR", duplicateKeyCode: "SQLITE_CONSTRAINT_PRIMARYKEY",
	}
}

func newPostgresTarget(t *testing.T) *testTarget {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	return &testTarget{
		name: "PostgreSQL", target: Target{URL: url},
		query: func(t *testing.T, text string) [][]string { return pgtest.Query(t, url, text) },
		activeStatements: func(t *testing.T) int {
			return len(pgtest.Query(t, url, `SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'`))
		},
		slowRunning: func(t *testing.T) int {
			return len(pgtest.Query(t, url, `SELECT pid FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%pg_sleep(600)%'`))
		},
		slowStatement: "SELECT pg_sleep(600)", syntaxErrorCode: "42601", duplicateKeyCode: "23505",
	}
}

// onEachTarget runs a test on every kind of target.
func onEachTarget(t *testing.T, test func(t *testing.T, g *testTarget)) {
	for _, newTarget := range []func(*testing.T) *testTarget{newSQLiteTarget, newPostgresTarget, newMariaTarget} {
		g := newTarget(t)
		t.Run(g.name, func(t *testing.T) { test(t, g) })
	}
}

// querySQLite queries a SQLite file through its own connection.
func querySQLite(t *testing.T, path, text string) (rows [][]string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = sqlitex.ExecuteTransient(conn, text, &sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
		row := make([]string, stmt.ColumnCount())
		for i := range row {
			row[i] = stmt.ColumnText(i)
		}
		rows = append(rows, row)
		return nil
	}})
	if err != nil {
		t.Fatalf("%v, of %s", err, text)
	}
	return rows
}

// sqliteWriters is 1 if another connection holds the write lock of a file, else 0.
func sqliteWriters(t *testing.T, path string) int {
	t.Helper()
	conn, err := sqlite.OpenConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetBusyTimeout(0)
	switch err := sqlitex.ExecuteTransient(conn, "BEGIN IMMEDIATE", nil); {
	case err == nil:
		return 0
	case sqlite.ErrCode(err).ToPrimary() == sqlite.ResultBusy:
		return 1
	default:
		t.Fatal(err)
		return 0
	}
}

// queryValue returns the only value of a query.
func (g *testTarget) queryValue(t *testing.T, text string) string {
	t.Helper()
	rows := g.query(t, text)
	if len(rows) != 1 || len(rows[0]) != 1 {
		t.Fatalf("%s: %q", text, rows)
	}
	return rows[0][0]
}

// newEnv starts an engine with the target "t".
func (g *testTarget) newEnv(t *testing.T, middleware ...engine.Middleware) *testEnv {
	t.Helper()
	return newTestEnv(t, g.register(middleware...))
}

func (g *testTarget) register(middleware ...engine.Middleware) func(*engine.Registry, rota.Store) {
	return func(reg *engine.Registry, _ rota.Store) {
		reg.Use(middleware...)
		Register(reg, Config{Targets: map[string]Target{"t": g.target}})
	}
}

// statement is a job of type sql on the target "t".
func statement(text string, args ...any) rota.NewJob {
	return job(SQL{Statement: fmt.Sprintf(text, args...), Target: "t"})
}

func job(p rota.Payload) rota.NewJob {
	params, err := json.Marshal(p)
	if err != nil {
		panic(err)
	}
	return rota.NewJob{Type: p.JobType(), Params: params, MaxRetries: new(0)}
}

// mustComplete runs a job and requires that it completes.
func (w *testEnv) mustComplete(j rota.NewJob) *rota.Job {
	w.Helper()
	done := w.waitEnded(w.enqueue(j))
	if done.Run.Outcome != rota.OutcomeCompleted {
		w.Fatalf("%s: %s: %s (%s)", j.Params, done.Run.Outcome, done.Run.Error, done.Run.ErrorCode)
	}
	return done
}

// mustFail runs a job and requires that it fails with a code and texts in its error.
func (w *testEnv) mustFail(j rota.NewJob, code string, texts ...string) *rota.Job {
	w.Helper()
	done := w.waitEnded(w.enqueue(j))
	if done.Run.Outcome != rota.OutcomeFailed || done.Run.ErrorCode != code {
		w.Fatalf("%s: %s: %s (%s), want %s", j.Params, done.Run.Outcome, done.Run.Error, done.Run.ErrorCode, code)
	}
	for _, text := range texts {
		if !strings.Contains(done.Run.Error, text) {
			w.Errorf("%s: the error does not contain %q: %s", j.Params, text, done.Run.Error)
		}
	}
	return done
}

// waitFor waits until a condition is true.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitMax); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("timeout while waiting until " + what)
		}
	}
}
