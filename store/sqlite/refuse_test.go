package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestForbiddenStatementsAreRefused executes every forbidden statement on a connection without the
// rules, while the store is open and after it is closed.
func TestForbiddenStatementsAreRefused(t *testing.T) {
	s := openTest(t, Config{})
	jobs := insertGuardedRows(t, s)
	for _, when := range []string{"open", "closed"} {
		if when == "closed" {
			must(t, s.Close())
		}
		conn := rawConn(t, s.path)
		before := tables(t, conn)
		for _, a := range forbidden() {
			t.Run(when+"/"+a.name, func(t *testing.T) {
				err := sqlitex.ExecuteTransient(conn, a.sql, &sqlitex.ExecOptions{Named: namedIn(a.sql, jobs)})
				if err == nil || !strings.Contains(err.Error(), a.says) {
					t.Errorf("answered with %v, want %q\n%s", err, a.says, a.sql)
				}
				if after := tables(t, conn); after != before {
					t.Fatalf("changed the database; before:\n%s\nafter:\n%s", before, after)
				}
			})
		}
		must(t, conn.Close())
	}
}

// TestAllowedStatementsPass executes statements that are similar to forbidden ones.
func TestAllowedStatementsPass(t *testing.T) {
	s := openTest(t, Config{})
	jobs := insertGuardedRows(t, s)
	conn := rawConn(t, s.path)
	for _, a := range slices.Concat(allowed, allowedRelated, allowedAccess, allowedSecrets) {
		t.Run(a.name, func(t *testing.T) {
			if changed, err := tryStatement(t, conn, a, jobs); err != nil || !changed {
				t.Errorf("answered with %v, changed %t\n%s", err, changed, a.sql)
			}
		})
	}
	t.Run("dependencies leave with their schedule", func(t *testing.T) {
		execute(t, conn, "BEGIN")
		defer execute(t, conn, "ROLLBACK")
		execute(t, conn, `DELETE FROM rota_schedules WHERE name = 'weekly'`)
		if left := column(t, conn, `SELECT schedule FROM rota_edges`); len(left) != 0 {
			t.Errorf("these edges are left: %v", left)
		}
	})
}

// TestRefusalRollsBackTransaction checks that a forbidden statement also undoes the statements
// before it.
func TestRefusalRollsBackTransaction(t *testing.T) {
	s := openTest(t, Config{})
	insertGuardedRows(t, s)
	conn := rawConn(t, s.path)
	before := tables(t, conn)
	execute(t, conn, `BEGIN`)
	execute(t, conn, `DELETE FROM rota_keys`)
	err := sqlitex.ExecuteTransient(conn, `DELETE FROM rota_audit`, nil)
	if err == nil || !conn.AutocommitEnabled() || tables(t, conn) != before {
		t.Errorf("answered with %v, and part of the transaction was kept", err)
	}
}

// TestEveryColumnHasForbiddenUpdate finds columns, such as new ones, that no forbidden update
// names.
func TestEveryColumnHasForbiddenUpdate(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	for _, table := range []string{ // the audit's trigger refuses all columns at once
		"rota_jobs", "rota_types", "rota_templates", "rota_schedules", "rota_edges", "rota_throttle", "rota_buckets",
		"rota_groups", "rota_reservations", "rota_intents", "rota_webhooks", "rota_definitions", "rota_dropped",
		"rota_principals", "rota_access_tokens", "rota_access_state", "rota_secrets", "rota_secret_keys",
	} {
		for _, name := range column(t, conn, `SELECT name FROM pragma_table_info('`+table+`')`) {
			named := regexp.MustCompile(`UPDATE (OR \w+ )?` + table + ` SET ([^W]*, )?` + name + ` = `)
			found := false
			for _, a := range forbidden() {
				found = found || named.MatchString(a.sql)
			}
			if !found {
				t.Errorf("no update of %s.%s is refused", table, name)
			}
		}
	}
}

// TestEveryGuardIsNeeded removes in turn each trigger, each refusal of a trigger of jobs and each
// term of each CHECK. Some forbidden statement must then pass.
func TestEveryGuardIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{})
	jobs := insertGuardedRows(t, s)
	image := copyOfFile(t, s)
	without := func(t *testing.T, table, mutate string, args ...any) {
		conn := openWeakened(t, image, mutate, args...)
		for _, a := range forbidden() {
			if !strings.Contains(a.sql, table) {
				continue
			}
			if changed, err := tryStatement(t, conn, a, jobs); err == nil && changed {
				return
			}
		}
		t.Error("without this guard no further statement passes: no case tests it")
	}
	conn := rawConn(t, s.path)
	for _, name := range column(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'trigger'`) {
		if name == "rota_jobs_left" || name == "rota_schedules_left" {
			continue // they refuse nothing; TestAllowedStatementsPass tests them
		}
		table := column(t, conn, `SELECT tbl_name FROM sqlite_schema WHERE name = '`+name+`'`)[0]
		t.Run(name, func(t *testing.T) { without(t, table, `DELETE FROM sqlite_schema WHERE name = ?`, name) })
		if table != "rota_jobs" {
			continue // another guard may refuse the same statement
		}
		for _, refusal := range refusals.FindAllString(column(t, conn, `SELECT sql FROM sqlite_schema WHERE name = '`+name+`'`)[0], -1) {
			t.Run(name+" "+refusal, func(t *testing.T) {
				without(t, table, `UPDATE sqlite_schema SET sql = replace(sql, ?, '1') WHERE name = ?`, refusal, name)
			})
		}
	}
	for _, check := range checks(t, conn) {
		for _, at := range checkTerm.FindAllStringIndex(check, -1) {
			term := check[at[0]:at[1]]
			always := "1"
			if term == "ELSE 0" {
				always = "ELSE 1"
			}
			weaker := check[:at[0]] + always + check[at[1]:]
			t.Run(fmt.Sprintf("%s at %d of %.30s", term, at[0], check), func(t *testing.T) {
				without(t, "rota_", `UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE type = 'table'`, check, weaker)
			})
		}
	}
}

// checks returns the CHECK clauses of all migrations, except those of tables that no longer exist.
func checks(t *testing.T, conn *sqlite.Conn) (all []string) {
	t.Helper()
	schema := strings.Join(column(t, conn, `SELECT sql FROM sqlite_schema WHERE type = 'table'`), "\n")
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	for _, step := range steps {
		script, err := migrations.ReadFile(step)
		must(t, err)
		found := checkClause.FindAllString(string(script), -1)
		if count := strings.Count(string(script), "CHECK ("); len(found) != count {
			t.Fatalf("found %d of %d checks in %s", len(found), count, step)
		}
		all = append(all, slices.DeleteFunc(found, func(check string) bool { return !strings.Contains(schema, strings.TrimSpace(check)) })...)
	}
	return all
}

var (
	refusals    = regexp.MustCompile(`RAISE\(ROLLBACK, '[^']*'\)`)
	checkClause = regexp.MustCompile(`(?m)^  CHECK \((?:.*\n    )*.*\)`)
	checkTerm   = regexp.MustCompile(`\(\w+ IS NULL\) = \(\w+ IS NULL\)|\w+ IS (?:NOT )?(?:NULL|'none')|\w+ & \d+ = 0|` +
		`length\(\w+\) (?:= \d+|BETWEEN \d+ AND \d+)|(?:\w+|substr\([^)]*\)) NOT GLOB '[^']*'|substr\([^)]*\) = .*'|\w+ (?:[<>=]+|IN) (?:\([^)]*\)|\w+|'\w*')|ELSE 0`)
)

// tryStatement executes a statement, reports whether it changed rows, and rolls it back.
func tryStatement(t *testing.T, conn *sqlite.Conn, a attempt, jobs map[string]rota.ID) (changed bool, err error) {
	t.Helper()
	changes := func() string { return column(t, conn, `SELECT total_changes()`)[0] }
	execute(t, conn, "BEGIN")
	before := changes()
	err = sqlitex.ExecuteTransient(conn, a.sql, &sqlitex.ExecOptions{Named: namedIn(a.sql, jobs)})
	changed = changes() != before
	if !conn.AutocommitEnabled() {
		execute(t, conn, "ROLLBACK")
	}
	return changed, err
}

// insertGuardedRows is fillJobs with further rows: a run with all columns set, and one with a
// cancel request.
func insertGuardedRows(t testing.TB, s *Store) map[string]rota.ID {
	t.Helper()
	asked := running(t, s, 1)[0]
	apply(t, s, at(time.Second, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: asked.ID, Reason: "no"}))
	apply(t, s, at(time.Second, &rota.Note{Meta: rota.NewMeta(""), Items: []rota.NoteItem{{LeaseRef: lease(asked), LogPath: "log"}}}))
	jobs := fillJobs(t, s)
	jobs["asked"] = asked.ID
	conn := rawConn(t, s.path)
	defer conn.Close()
	sql := `UPDATE rota_jobs SET exit_code = 3, error = 'e', artifacts = '"a.txt"' || char(10) || '"b.txt"' || char(10) WHERE id = :kept`
	must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, jobs)}))
	sql = `UPDATE rota_jobs SET outcome = 'FAILED', ended_at = 7 WHERE id = :longrun`
	must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, jobs)}))
	insertRelatedRows(t, s.path, jobs)
	return jobs
}

// tables returns all rows of all tables as text.
func tables(t testing.TB, conn *sqlite.Conn) string {
	t.Helper()
	var b strings.Builder
	for _, table := range column(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`) {
		columns := column(t, conn, `SELECT 'quote(' || name || ')' FROM pragma_table_info('`+table+`')`)
		for _, row := range column(t, conn, `SELECT `+strings.Join(columns, ` || ' ' || `)+` FROM `+table) {
			fmt.Fprintln(&b, table, row)
		}
	}
	return b.String()
}

// copyOfFile returns the file of a store, including the content of its log.
func copyOfFile(t *testing.T, s *Store) []byte {
	t.Helper()
	conn := rawConn(t, s.path)
	copied := filepath.Join(t.TempDir(), "copy.db")
	must(t, sqlitex.ExecuteTransient(conn, "VACUUM INTO ?", &sqlitex.ExecOptions{Args: []any{copied}}))
	must(t, conn.Close())
	image, err := os.ReadFile(copied)
	must(t, err)
	return image
}

// openWeakened opens a copy of the file in memory and changes its schema.
func openWeakened(t *testing.T, image []byte, mutate string, args ...any) *sqlite.Conn {
	t.Helper()
	for range 2 { // twice, because SQLite reads the schema when it opens a file
		conn := rawConn(t, ":memory:")
		must(t, conn.Deserialize("main", image))
		if mutate == "" {
			return conn
		}
		execute(t, conn, "PRAGMA writable_schema = ON")
		must(t, sqlitex.ExecuteTransient(conn, mutate, &sqlitex.ExecOptions{Args: args}))
		if conn.Changes() == 0 {
			t.Fatal("there is no such guard")
		}
		var err error
		image, err = conn.Serialize("main")
		must(t, err)
		mutate = ""
	}
	return nil
}
