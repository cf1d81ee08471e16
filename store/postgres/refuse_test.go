package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// attempt is a statement on the rows of insertGuardedRows, sent on a connection that does not use
// the store.
type attempt struct {
	name string
	sql  string
	says string // part of the error message, or the constraint name; empty for an allowed statement
}

// TestForbiddenStatementsAreRefused sends every forbidden statement.
func TestForbiddenStatementsAreRefused(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, insertGuardedRows(t, s))
	before := p.tables()
	for _, a := range forbidden() {
		t.Run(a.name, func(t *testing.T) {
			_, err := p.exec(a.sql)
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || !strings.Contains(pgErr.Message, a.says) && pgErr.ConstraintName != a.says {
				t.Errorf("got %v, want %q\n%s", err, a.says, a.sql)
			} else if !isConstraint(err) {
				t.Errorf("isConstraint is false for %v", err)
			}
		})
	}
	if after := p.tables(); after != before {
		t.Errorf("the refused statements changed the database; before:\n%s\nafter:\n%s", before, after)
	}
}

// TestAllowedStatementsPass sends statements that resemble the forbidden ones and must succeed.
func TestAllowedStatementsPass(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, insertGuardedRows(t, s))
	for _, a := range slices.Concat(allowed, allowedRelated, allowedAccess, allowedSecrets) {
		t.Run(a.name, func(t *testing.T) {
			p.must("BEGIN")
			defer p.must("ROLLBACK")
			if changed, err := p.exec(a.sql); err != nil || changed == 0 {
				t.Fatalf("got %v, changed %d rows\n%s", err, changed, a.sql)
			}
			p.must("SET CONSTRAINTS ALL IMMEDIATE")
		})
	}
	t.Run("dependencies leave with their schedule", func(t *testing.T) {
		p.must(`DELETE FROM rota_schedules WHERE name = 'weekly'`)
		if left := p.column(`SELECT schedule FROM rota_edges`); len(left) != 0 {
			t.Errorf("the edges of %v still exist", left)
		}
	})
}

// TestEveryColumnHasForbiddenUpdate fails for a new column that no forbidden update covers.
func TestEveryColumnHasForbiddenUpdate(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	for _, table := range []string{ // without keys, requests and audit, whose rows are guarded as a whole
		"jobs", "types", "templates", "schedules", "edges", "throttle", "buckets", "groups", "reservations", "intents", "webhooks", "dropped", "definitions", "secrets", "secret_keys",
	} {
		for _, name := range p.column(`SELECT column_name FROM information_schema.columns WHERE table_schema = 'rota' AND table_name = '` + table + `'`) {
			named := regexp.MustCompile(`UPDATE rota_` + table + ` SET ([^W]*, )?` + name + ` = `)
			if !slices.ContainsFunc(forbidden(), func(a attempt) bool { return named.MatchString(a.sql) }) {
				t.Errorf("no update of %s.%s is refused", table, name)
			}
		}
	}
}

// TestEveryGuardIsNeeded removes each trigger, constraint, unique index and term of a CHECK in
// turn. At least one forbidden statement must then pass.
func TestEveryGuardIsNeeded(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, insertGuardedRows(t, s))
	for _, g := range p.guards() {
		t.Run(g.name, func(t *testing.T) {
			p.must("BEGIN")
			defer p.must("ROLLBACK")
			p.must(g.weaken)
			for _, a := range forbidden() {
				if !strings.Contains(a.sql, "rota_"+g.table) {
					continue
				}
				p.must("SAVEPOINT before")
				changed, err := p.exec(a.sql)
				p.must("ROLLBACK TO before")
				if err == nil && changed > 0 {
					return
				}
			}
			t.Error("no forbidden statement passes without it: no case needs it")
		})
	}
}

// guard is an object that refuses statements, and the statement that removes it.
type guard struct{ name, table, weaken string }

const (
	sqlTriggers = `
SELECT c.relname || '.' || g.tgname
FROM pg_trigger g
JOIN pg_class c ON c.oid = g.tgrelid
WHERE NOT g.tgisinternal AND c.relnamespace = 'rota'::regnamespace AND g.tgname NOT IN ('audit_unseal', 'templates_secrets') -- they refuse nothing
ORDER BY 1`
	sqlUnique = `
SELECT t.relname || '.' || i.relname
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class t ON t.oid = x.indrelid
WHERE x.indisunique AND NOT x.indisprimary AND t.relnamespace = 'rota'::regnamespace
  AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.oid)
ORDER BY 1`
	sqlForeign = `
SELECT c.relname || '.' || k.conname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype = 'f' AND c.relnamespace = 'rota'::regnamespace
ORDER BY 1`
	sqlCheckTable = `
SELECT c.relname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
WHERE k.contype = 'c' AND c.relnamespace = 'rota'::regnamespace AND k.conname = '`
)

func (p *rawConn) guards() (all []guard) {
	add := func(list, weaken string) {
		for _, name := range p.column(list) {
			table, own, _ := strings.Cut(name, ".")
			all = append(all, guard{name, table, fmt.Sprintf(weaken, table, own)})
		}
	}
	add(sqlTriggers, "ALTER TABLE rota_%[1]s DISABLE TRIGGER %[2]s")
	add(sqlForeign, "ALTER TABLE rota_%[1]s DROP CONSTRAINT %[2]s")
	add(sqlUnique, "DROP INDEX rota_%[2]s")
	for _, c := range checks(p.t) {
		tables := p.column(sqlCheckTable + c.name + `'`)
		if len(tables) == 0 {
			continue // a later migration drops it
		}
		table := tables[0]
		for _, at := range checkTerm.FindAllStringIndex(c.text, -1) {
			term, always := c.text[at[0]:at[1]], "true"
			if term == "ELSE false" {
				always = "ELSE true"
			}
			all = append(all, guard{
				fmt.Sprintf("%s %s at %d", c.name, term, at[0]), table,
				fmt.Sprintf("ALTER TABLE rota_%s DROP CONSTRAINT %s, ADD CHECK (%s) NOT VALID", table, c.name, c.text[:at[0]]+always+c.text[at[1]:]),
			})
		}
	}
	return all
}

// check is a CHECK constraint of the migrations.
type check struct{ name, text string }

var (
	checkStart = regexp.MustCompile(`CONSTRAINT (\w+) CHECK \(`)
	checkTerm  = regexp.MustCompile(`\(\w+ IS NULL\) = \(\w+ IS NULL\)|num_nonnulls\([^)]*\) = 0|\w+ IS NOT DISTINCT FROM 'none'|` +
		`\w+ IS (?:NOT )?NULL|\w+ & \d+ = 0|length\(\w+\) (?:= \d+|BETWEEN \d+ AND \d+)|(?:\w+|substr\([^)]*\)) !~ '[^']*'|substr\([^)]*\) = .*'|\w+ (?:[<>=]+|IN) (?:\([^)]*\)|\w+|'\w*')|ELSE false`)
)

func checks(t testing.TB) (all []check) {
	t.Helper()
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	for _, step := range steps {
		script, err := migrations.ReadFile(step)
		must(t, err)
		for _, at := range checkStart.FindAllSubmatchIndex(script, -1) {
			end, open := at[1], 1
			for ; open > 0; end++ {
				open += map[byte]int{'(': 1, ')': -1}[script[end]]
			}
			all = append(all, check{string(script[at[2]:at[3]]), string(script[at[1] : end-1])})
		}
		if all := strings.Count(string(script), "CHECK ("); all != len(checkStart.FindAll(script, -1)) {
			t.Fatalf("some of %d checks in %s have no name", all, step)
		}
	}
	return all
}

// rawConn is a connection that does not use the store.
type rawConn struct {
	t    testing.TB
	conn *pgconn.PgConn
	text *dialect
	ids  map[string]rota.ID
}

func newRawConn(t testing.TB, s *Store, ids map[string]rota.ID) *rawConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), urlOf(s))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return &rawConn{t, conn, s.dialect, ids}
}

var placeholder = regexp.MustCompile(`:[a-z]+\b`)

// exec executes statements, replaces :name by the id of that name, and returns the number of rows
// that the last statement changed.
func (p *rawConn) exec(sql string) (changed int64, err error) {
	sql = placeholder.ReplaceAllStringFunc(sql, func(name string) string {
		if id, known := p.ids[name[1:]]; known {
			return "'" + id.String() + "'"
		}
		return name
	})
	results, err := p.conn.Exec(p.t.Context(), p.text.qualify(sql)).ReadAll()
	if len(results) == 0 {
		return 0, err
	}
	tag := results[len(results)-1].CommandTag
	if tag.String() == "TRUNCATE TABLE" { // TRUNCATE reports no row count
		return 1, err
	}
	return tag.RowsAffected(), err
}

func (p *rawConn) must(sql string) {
	p.t.Helper()
	if _, err := p.exec(sql); err != nil {
		p.t.Fatalf("%s: %v", sql, err)
	}
}

// column returns the first column of a statement's result.
func (p *rawConn) column(sql string) (all []string) {
	p.t.Helper()
	results, err := p.conn.Exec(p.t.Context(), p.text.qualify(sql)).ReadAll()
	must(p.t, err)
	for _, fields := range results[0].Rows {
		all = append(all, string(fields[0]))
	}
	return all
}

// tables returns every row of every table as text.
func (p *rawConn) tables() string {
	p.t.Helper()
	var all []string
	for _, table := range p.column(`SELECT relname FROM pg_class WHERE relnamespace = 'rota'::regnamespace AND relkind = 'r' ORDER BY relname`) {
		for _, row := range p.column(`SELECT r::text FROM rota_` + table + ` r ORDER BY 1`) {
			all = append(all, table+" "+row)
		}
	}
	return strings.Join(all, "\n")
}
