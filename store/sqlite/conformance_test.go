package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/storetest"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func TestConformance(t *testing.T) { storetest.Run(t, harness()) }

func harness() storetest.Harness {
	return storetest.Harness{
		Open: func(t testing.TB) rota.Store { return openTest(t, Config{}) },
		Break: func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
			damage(t, s.(*Store).path, breakages[how], job)
		},
		Tamper: func(t testing.TB, s rota.Store) storetest.Tamper {
			conn := rawConn(t, s.(*Store).path)
			for _, name := range column(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name LIKE 'rota_audit%'`) {
				execute(t, conn, `DROP TRIGGER `+name)
			}
			execute(t, conn, `PRAGMA ignore_check_constraints = ON`)
			literal := func(b []byte) string { return fmt.Sprintf("x'%x'", b) }
			return storetest.Tamper{Exec: func(sql string) { execute(t, conn, sql) }, Bytes: literal, ID: func(id rota.ID) string { return literal(id[:]) }}
		},
		Pause: func(_ testing.TB, s rota.Store, at func([]rota.Command)) {
			store := s.(*Store)
			w := <-store.writer
			w.beforeWrite = at
			store.writer <- w
		},
	}
}

func openTest(t testing.TB, config Config) *Store {
	t.Helper()
	s, err := OpenWith(filepath.Join(memoryDir(t), "rota.db"), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// memoryDir returns a temporary directory on a file system in memory, if the machine has one with
// enough free space, because most tests take less time than the disk. Tests about durability use
// t.TempDir instead.
func memoryDir(t testing.TB) string {
	t.Helper()
	const shm, minFree = "/dev/shm", 1 << 30
	if freeBytes(shm) < minFree {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "rota-test-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// breakages are states that a crash could leave in a store without transactions. :job is the id of
// the job.
var breakages = map[storetest.Breakage][]string{
	storetest.BreakRun: {
		withoutRun(":job"),
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

// withoutRun returns the statement that removes the run of a job.
func withoutRun(job string) string {
	return `UPDATE rota_jobs SET token = NULL, runner = NULL, life = NULL, heartbeat_at = NULL, stale_after = NULL,
	outcome = NULL, ended_at = NULL, exit_code = NULL, error_code = NULL, error = NULL, rows_affected = NULL,
	cancel_at = NULL, cancel_by = NULL, cancel_reason = NULL, progress = NULL, log_path = NULL, artifacts = NULL,
	result = NULL WHERE id = ` + job
}

// damage drops the triggers, executes statements that they forbid, and creates them again.
func damage(t testing.TB, path string, statements []string, job rota.ID) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
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
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
