package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	driver "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// The raw engine opens its file with the same pragmas as the store's writer. The test reads those from the source of
// the store, and replaces constants by their values.
func TestRawPragmasEqualTheStores(t *testing.T) {
	source, err := os.ReadFile("../store/sqlite/open.go")
	if err != nil {
		t.Fatal(err)
	}
	body := regexp.MustCompile(`(?s)func openWriter\(.*?\n}\n`).FindString(string(source))
	constants := map[string]string{}
	for _, m := range regexp.MustCompile(`(\w+)\s*= "?(-?\d+)"?`).FindAllStringSubmatch(string(source), -1) {
		constants[m[1]] = m[2]
	}
	returned := regexp.MustCompile(`(?s)func synchronous\([^}]*}[^}]*return "(\w+)"\n}\n`).FindStringSubmatch(string(source))
	if returned == nil {
		t.Fatal("the function synchronous of the store is gone; adapt this test")
	}
	constants["synchronous"] = returned[1] // the last one is that of a store of its own
	var pragmas []string
	for _, m := range regexp.MustCompile(`"(PRAGMA [^"]*)"( \+ (?:strconv\.Itoa\()?(\w+))?`).FindAllStringSubmatch(body, -1) {
		pragmas = append(pragmas, m[1]+constants[m[3]])
	}
	if got, want := strings.Join(rawPragmas, "; "), strings.Join(pragmas, "; "); got != want {
		t.Errorf("raw opens with\n%s\nthe store with\n%s", got, want)
	}
}

// The raw engine writes the same values as Rota, except generated ids and times.
func TestRawWritesSameRowsAsRota(t *testing.T) {
	rota, raw := rowsAfterWork(t, openRotaBatchQueue), rowsAfterWork(t, openRawBatchQueue)
	if rota != raw {
		t.Errorf("rota wrote\n%s\nraw wrote\n%s", rota, raw)
	}
	if !strings.Contains(rota, "COMPLETED") || !strings.Contains(rota, "QUEUED") {
		t.Errorf("rota wrote\n%s", rota)
	}
}

// rowsAfterWork enqueues three jobs, completes one, and returns the rows.
func rowsAfterWork(t *testing.T, open opener) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	e, err := open(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.enqueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.claimAndFinish(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := e.close(); err != nil {
		t.Fatal(err)
	}
	return dump(t, path, jobRows)
}

const (
	jobRows      = `SELECT * FROM rota_jobs ORDER BY position`
	scheduleRows = `SELECT * FROM rota_schedules ORDER BY name`
	templateRows = `SELECT * FROM rota_templates ORDER BY name`
	auditRows    = `SELECT * FROM rota_audit ORDER BY seq`
)

// dump returns the rows of some queries as text. For generated ids and times it shows only whether there is a value.
func dump(t *testing.T, path string, queries ...string) string {
	t.Helper()
	conn, err := driver.OpenConn(path, driver.OpenReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	generated := regexp.MustCompile(`^(id|job_id|run_id|token|life|version|\w+_at|stale_after)$`)
	var text strings.Builder
	for _, sql := range queries {
		err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(s *driver.Stmt) error {
			for col := range s.ColumnCount() {
				name, value := s.ColumnName(col), s.ColumnText(col)
				if s.ColumnIsNull(col) {
					value = "NULL"
				} else if generated.MatchString(name) {
					value = "some"
				}
				text.WriteString(name + "=" + value + " ")
			}
			text.WriteByte('\n')
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// A file without the expected jobs is an error.
func TestAuditRefusesMissingJobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "short.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	if err := audit(t.Context(), path, counts{}); err != nil {
		t.Error(err)
	}
	if err := audit(t.Context(), path, counts{queued: 1}); err == nil {
		t.Error("a missing job is accepted")
	}
}

// Steps are counted for the statements of traced connections.
func TestStepsGrowWithRows(t *testing.T) {
	var conn *driver.Conn
	machine, err := traceSteps(func() (err error) {
		conn, err = driver.OpenConn(filepath.Join(t.TempDir(), "steps.db"), driver.OpenReadWrite|driver.OpenCreate)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer machine.close()
	defer conn.Close()
	const sql = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT max(i) FROM n`
	counted := func(n int) int64 {
		machine.take()
		if err := sqlitex.Execute(conn, sql, &sqlitex.ExecOptions{Args: []any{n}}); err != nil {
			t.Fatal(err)
		}
		return machine.take()[sql]
	}
	few, many := counted(10), counted(1000)
	if few == 0 || many < 50*few {
		t.Errorf("10 rows took %d steps, 1000 took %d", few, many)
	}
}
