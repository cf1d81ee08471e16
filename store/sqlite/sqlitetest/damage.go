// Package sqlitetest changes files of SQLite stores for tests, past the triggers and constraints.
package sqlitetest

import (
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// breakages are states that a crash could leave in a store without transactions. :job is the id of
// the job.
var breakages = map[storetest.Breakage][]string{
	storetest.BreakRun: {
		WithoutRun(":job"),
		`UPDATE rota_jobs SET run_id = NULL WHERE id = :job`,
	},
	storetest.BreakClose: {
		`DELETE FROM rota_jobs WHERE retry_of = :job`,
		`UPDATE rota_jobs SET finished_at = NULL, sequel = NULL WHERE id = :job`,
	},
	storetest.BreakRetry: {
		`DELETE FROM rota_jobs WHERE retry_of = :job`,
		`UPDATE rota_jobs SET sequel = NULL WHERE id = :job`,
	},
	storetest.BreakSequel: {
		`UPDATE rota_jobs SET sequel = NULL WHERE id = :job`,
	},
	storetest.BreakJob: {
		`DELETE FROM rota_jobs WHERE id = :job`,
	},
}

// WithoutRun returns the statement that removes the run of a job.
func WithoutRun(job string) string {
	return `UPDATE rota_jobs SET token = NULL, runner = NULL, life = NULL, heartbeat_at = NULL, stale_after = NULL,
	outcome = NULL, ended_at = NULL, exit_code = NULL, error_code = NULL, error = NULL, rows_affected = NULL,
	cancel_at = NULL, cancel_by = NULL, cancel_reason = NULL, progress = NULL, log_path = NULL, artifacts = NULL,
	result = NULL WHERE id = ` + job
}

// Break damages a job in a file, as Harness.Break describes it.
func Break(t testing.TB, path string, job rota.ID, how storetest.Breakage) {
	t.Helper()
	Damage(t, path, breakages[how], job)
}

// Damage drops the triggers, executes statements that they forbid, and creates them again.
func Damage(t testing.TB, path string, statements []string, job rota.ID) {
	t.Helper()
	conn := open(t, path)
	triggers := map[string]string{}
	must(t, sqlitex.Execute(conn, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			triggers[s.ColumnText(0)] = s.ColumnText(1)
			return nil
		},
	}))
	for name := range triggers {
		must(t, sqlitex.ExecuteTransient(conn, "DROP TRIGGER "+name, nil))
	}
	for _, sql := range statements {
		must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: map[string]any{":job": job[:]}}))
	}
	for _, sql := range triggers {
		must(t, sqlitex.ExecuteTransient(conn, sql, nil))
	}
	must(t, conn.Close())
}

// Tamper gives access to the audit in a file, without its triggers.
func Tamper(t testing.TB, path string) storetest.Tamper {
	t.Helper()
	conn := open(t, path)
	t.Cleanup(func() { _ = conn.Close() })
	execute := func(sql string) {
		t.Helper()
		must(t, sqlitex.ExecuteTransient(conn, sql, nil))
	}
	var triggers []string
	must(t, sqlitex.Execute(conn, `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'rota_audit%'`, &sqlitex.ExecOptions{
		ResultFunc: func(s *sqlite.Stmt) error {
			triggers = append(triggers, s.ColumnText(0))
			return nil
		},
	}))
	for _, name := range triggers {
		execute(`DROP TRIGGER ` + name)
	}
	execute(`PRAGMA ignore_check_constraints = ON`)
	literal := func(b []byte) string { return fmt.Sprintf("x'%x'", b) }
	return storetest.Tamper{Exec: execute, Bytes: literal, ID: func(id rota.ID) string { return literal(id[:]) }}
}

func open(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	return conn
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
