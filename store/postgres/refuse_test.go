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

// attempt is a statement from a connection that knows nothing of Rota, on the
// rows that refuseCast makes.
type attempt struct {
	name string
	sql  string
	says string // what the refusal says, or the constraint it names; empty: there is none
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
				t.Errorf("answered with %v, want %q\n%s", err, a.says, a.sql)
			} else if !isConstraint(err) {
				t.Errorf("%v is not seen as a refusal", err)
			}
		})
	}
	if after := p.tables(); after != before {
		t.Errorf("changed the database; before:\n%s\nafter:\n%s", before, after)
	}
}

// TestAllowedStatementsPass sends the neighbours of the forbidden statements, which pass.
func TestAllowedStatementsPass(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, insertGuardedRows(t, s))
	for _, a := range slices.Concat(allowed, allowedRelated) {
		t.Run(a.name, func(t *testing.T) {
			p.must("BEGIN")
			defer p.must("ROLLBACK")
			if changed, err := p.exec(a.sql); err != nil || changed == 0 {
				t.Fatalf("answered with %v, changed %d\n%s", err, changed, a.sql)
			}
			p.must("SET CONSTRAINTS ALL IMMEDIATE")
		})
	}
	t.Run("dependencies leave with their schedule", func(t *testing.T) {
		p.must(`DELETE FROM rota_schedules WHERE name = 'weekly'`)
		if left := p.column(`SELECT schedule FROM rota_edges`); len(left) != 0 {
			t.Errorf("%v depend on something", left)
		}
	})
}

// TestEveryColumnHasForbiddenUpdate: a column that no forbidden update names is one
// that somebody added and nobody thought about.
func TestEveryColumnHasForbiddenUpdate(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	for _, table := range []string{ // of keys, requests and the audit nothing stands by itself
		"jobs", "types", "templates", "schedules", "edges", "throttle", "buckets", "groups", "reservations", "intents", "webhooks", "dropped", "definitions",
	} {
		for _, name := range p.column(`SELECT column_name FROM information_schema.columns WHERE table_schema = 'rota' AND table_name = '` + table + `'`) {
			named := regexp.MustCompile(`UPDATE rota_` + table + ` SET ([^W]*, )?` + name + ` = `)
			if !slices.ContainsFunc(forbidden(), func(a attempt) bool { return named.MatchString(a.sql) }) {
				t.Errorf("no update of %s.%s is refused", table, name)
			}
		}
	}
}

// TestEveryGuardIsNeeded takes away each trigger, each constraint, each unique
// index and each term of each CHECK in turn: some forbidden statement must then
// pass.
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
			t.Error("without it nothing more is allowed: no case needs it")
		})
	}
}

// guard is something that refuses, and a statement that takes it away.
type guard struct{ name, table, weaken string }

const (
	sqlTriggers = `
SELECT c.relname || '.' || g.tgname
FROM pg_trigger g
JOIN pg_class c ON c.oid = g.tgrelid
WHERE NOT g.tgisinternal AND c.relnamespace = 'rota'::regnamespace AND g.tgname <> 'audit_number' -- which refuses nothing
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
		table := p.column(sqlCheckTable + c.name + `'`)[0]
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

// check is a CHECK of the migrations.
type check struct{ name, text string }

var (
	checkStart = regexp.MustCompile(`CONSTRAINT (\w+) CHECK \(`)
	checkTerm  = regexp.MustCompile(`\(\w+ IS NULL\) = \(\w+ IS NULL\)|num_nonnulls\([^)]*\) = 0|\w+ IS NOT DISTINCT FROM 'none'|` +
		`\w+ IS (?:NOT )?NULL|\w+ & \d+ = 0|length\(\w+\) = \d+|\w+ (?:[<>=]+|IN) (?:\([^)]*\)|\w+|'\w*')|ELSE false`)
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

// rawConn is a connection as any program opens one.
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

// exec runs statements, in which :name is the id of that name, and says how many
// rows the last of them has changed.
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
	if tag.String() == "TRUNCATE TABLE" { // which does not count
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

// column is the first column of what a statement answers with.
func (p *rawConn) column(sql string) (all []string) {
	p.t.Helper()
	results, err := p.conn.Exec(p.t.Context(), p.text.qualify(sql)).ReadAll()
	must(p.t, err)
	for _, fields := range results[0].Rows {
		all = append(all, string(fields[0]))
	}
	return all
}

// tables writes down every row of every table.
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
