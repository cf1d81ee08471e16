package system_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/system"
	"github.com/rotajobs/rota/store/sqlite"
	driver "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// testedColumns are columns that access paths use, and some that they do not.
var testedColumns = map[string][]string{
	"jobs":             {"job_name", "job_uuid", "next_run_time", "state", "template", "priority", "description"},
	"job_runs":         {"job_run_uuid", "job_uuid", "job_name", "state", "type", "template", "params", "started_at"},
	"executions":       {"id", "schedule", "type", "template", "status", "result"},
	"schedules":        {"schedule_name", "schedule_uuid", "state", "template", "next_fire"},
	"templates":        {"template_name", "state", "type", "priority"},
	"audit":            {"job_run_uuid", "job_uuid", "at", "event_type", "job_name", "user_name", "subject", "outcome"},
	"job_dependencies": {"job_uuid", "job_name", "depends_on_job_name"},
	"users":            {"name", "certificate", "created_by"},
	"roles":            {"name", "created_by"},
	"role_members":     {"role", "member", "member_kind"},
	"grants":           {"grantee", "privilege", "job"},
	"tokens":           {"id", "user_name", "scope", "job"},
	"secrets":          {"template", "key", "created_by"},
}

// newUsedCatalogue returns the catalogue of a store with rows in every table of testedColumns.
func newUsedCatalogue(t *testing.T) catalogue {
	t.Helper()
	now := began
	store, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: func() time.Time { now = now.Add(time.Second); return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	send := func(c rota.Command) rota.Reply {
		reply, err := rota.Do[rota.Reply](context.Background(), store, c)
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	for i, name := range []string{"a", "b", "C", "5", "dd", "f"} {
		send(&rota.PutTemplate{Meta: rota.NewMeta("ada"), Name: name, Spec: rota.TemplateSpec{Type: []string{"noop", "sql"}[i%2], Params: []byte(`{"i":1}`)}})
		spec := rota.ScheduleSpec{Template: name, Every: time.Duration(i+1) * time.Hour, Description: []string{"", "x"}[i%2]}
		if i > 2 {
			spec.DependsOn = []string{"a", "b"}
		}
		put, err := rota.Declare(rota.NewMeta("ada"), name, spec, now)
		if err != nil {
			t.Fatal(err)
		}
		put.State = []rota.ScheduleState{"", rota.ScheduleDisabled, rota.SchedulePaused}[i%3]
		send(put)
		for range i {
			send(&rota.Trigger{Meta: rota.NewMeta("bob"), Schedule: name})
		}
	}
	send(&rota.Enqueue{Meta: rota.NewMeta("bob"), Jobs: []rota.NewJob{{Type: "noop"}, {Type: "other"}}})
	for i := range 8 {
		claimed := send(&rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"noop", "sql"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken()}).(*rota.Claimed)
		if i == 7 || len(claimed.Jobs) == 0 {
			break // one job stays running
		}
		end := rota.FinishItem{LeaseRef: claimed.Jobs[0].Lease(), Outcome: rota.OutcomeCompleted, Result: []byte(`{"n":2}`)}
		if i%2 == 1 {
			end.Outcome, end.Error, end.Permanent = rota.OutcomeFailed, "no", i%4 == 1
		}
		send(&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{end}})
	}
	putPrincipals(send)
	c := catalogue{system.New(system.Config{}), store}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// putPrincipals creates users, roles, grants and tokens.
func putPrincipals(send func(rota.Command) rota.Reply) {
	meta := func() rota.Meta { return rota.NewMeta("ada") }
	for i, name := range []string{"u1", "u2", "u3", "u4", "r1", "r2", "r3"} {
		put := &rota.PutPrincipal{Meta: meta(), Name: name, Kind: rota.KindUser}
		switch {
		case i >= 4:
			put.Kind = rota.KindRole
		case i%2 == 1:
			put.Certificate = new(name + ".example")
		}
		send(put)
	}
	for _, g := range []rota.GrantPrivileges{
		{To: []string{"u1", "r1"}, Privileges: []rota.Privilege{rota.CreateJob, rota.ExecuteJob}},
		{To: []string{"u1", "u2", "r2"}, Privileges: []rota.Privilege{rota.ExecuteJob, rota.AlterJob}, Job: "a"},
		{To: []string{"r3"}, Privileges: []rota.Privilege{rota.Admin}},
		{To: []string{"u2", "u3", "r1"}, Role: "r2"},
		{To: []string{"u3", "r2"}, Role: "r3"},
	} {
		g.Meta = meta()
		send(&g)
	}
	for i, user := range []string{"u1", "u1", "u2", rota.AdminUser} {
		id := fmt.Sprintf("token%03d", i)
		send(&rota.PutToken{Meta: meta(), TokenID: id, User: user, Scope: rota.TokenScopes[i%3], Hash: strings.Repeat(fmt.Sprint(i), 64)})
		if i == 1 {
			send(&rota.RevokeToken{Meta: meta(), TokenID: id})
		}
	}
	for i, template := range []string{"secret1", "secret1", "secret2"} {
		send(&rota.PutTemplate{Meta: meta(), Name: template, Spec: rota.TemplateSpec{Type: "a"}})
		send(&rota.PutSecret{Meta: meta(), Template: template, Key: fmt.Sprintf("KEY_%d", i), Sealed: rota.FormatSealed("0123456789abcdef", []byte("x"))})
	}
	send(&rota.DropPrincipal{Meta: meta(), Name: "u4", Kind: rota.KindUser})
}

// ordinaryTables holds the same rows in ordinary SQLite tables.
type ordinaryTables struct {
	conn   *driver.Conn
	values map[string][]string // by table.column

	booleans map[string]bool // names of columns that hold booleans, in any table
}

func newOrdinaryTables(t *testing.T, c catalogue) *ordinaryTables {
	t.Helper()
	conn, err := driver.OpenConn(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	w := &ordinaryTables{conn: conn, values: map[string][]string{}, booleans: map[string]bool{}}
	if err := sqlitex.ExecuteTransient(conn, "ATTACH ':memory:' AS sys", nil); err != nil {
		t.Fatal(err)
	}
	for name := range testedColumns {
		w.copy(t, c, name)
	}
	return w
}

func (w *ordinaryTables) copy(t *testing.T, c catalogue, name string) {
	t.Helper()
	columns := system.Tables()[name]
	var defs []string
	for _, one := range columns {
		w.booleans[one.Name] = w.booleans[one.Name] || one.Kind == system.Boolean
		defs = append(defs, one.Name+map[system.Kind]string{system.Integer: " INTEGER", system.Int4: " INTEGER", system.Bytea: " BLOB", system.Boolean: " INTEGER", system.Float: " REAL", system.UUID: " TEXT COLLATE NOCASE"}[one.Kind])
		if !strings.Contains(defs[len(defs)-1], " ") {
			defs[len(defs)-1] += " TEXT"
		}
	}
	if err := sqlitex.ExecuteTransient(w.conn, "CREATE TABLE sys."+name+" ("+strings.Join(defs, ", ")+")", nil); err != nil {
		t.Fatal(err)
	}
	insert := "INSERT INTO sys." + name + " VALUES (" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	_, err := selectRows(c, "SELECT * FROM sys."+name, nil, func(row []any) error {
		for i, v := range row {
			key := name + "." + columns[i].Name
			switch v := v.(type) {
			case nil:
			case string:
				w.values[key] = append(w.values[key], "'"+strings.ReplaceAll(v, "'", "''")+"'")
			case []byte:
				w.values[key] = append(w.values[key], fmt.Sprintf("'\\x%x'", v))
			default:
				w.values[key] = append(w.values[key], fmt.Sprint(v))
			}
		}
		return sqlitex.ExecuteTransient(w.conn, insert, &sqlitex.ExecOptions{Args: row})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *ordinaryTables) ask(query string) (rows []string, err error) {
	err = sqlitex.ExecuteTransient(w.conn, query, &sqlitex.ExecOptions{ResultFunc: func(s *driver.Stmt) error {
		row := make([]any, s.ColumnCount())
		for i := range row {
			switch s.ColumnType(i) {
			case driver.TypeInteger:
				row[i] = s.ColumnInt64(i)
			case driver.TypeFloat:
				row[i] = s.ColumnFloat(i)
			case driver.TypeText:
				row[i] = s.ColumnText(i)
			case driver.TypeBlob:
				value := make([]byte, s.ColumnLen(i))
				s.ColumnBytes(i, value)
				row[i] = value
			}
		}
		for i := range row {
			if w.booleans[s.ColumnName(i)] && row[i] != nil {
				row[i] = row[i] == int64(1)
			}
		}
		rows = append(rows, strings.TrimSuffix(fmt.Sprintln(row...), "\n"))
		return nil
	}})
	return rows, err
}

func pick[T any](from ...T) T { return from[rand.IntN(len(from))] }

// literal is a value that a column may have, or not.
func (w *ordinaryTables) literal(table, column string) string {
	switch all := w.values[table+"."+column]; {
	case rand.IntN(8) == 0 || len(all) == 0:
		return pick("NULL", "''", "'zzz'", "'ENABLED'", "5", "'5'", "-3", "9300000000000000", "'my job'")
	case rand.IntN(10) == 0:
		return strings.ToUpper(pick(all...))
	default:
		return pick(all...)
	}
}

func (w *ordinaryTables) condition(table, alias string, depth int) string {
	column := pick(testedColumns[table]...)
	name := alias + "." + column
	if depth > 0 {
		switch rand.IntN(5) {
		case 0:
			return "(" + w.condition(table, alias, depth-1) + pick(" OR ", " AND ") + w.condition(table, alias, depth-1) + ")"
		case 1:
			return name + " IN (SELECT x." + column + " FROM sys." + table + " x WHERE " + w.condition(table, "x", depth-1) + ")"
		case 2:
			return "NOT (" + w.condition(table, alias, depth-1) + ")"
		}
	}
	switch rand.IntN(6) {
	case 0:
		return name + " IN (" + w.literal(table, column) + ", " + w.literal(table, column) + ", " + w.literal(table, column) + ")"
	case 1:
		return name + pick(" < ", " <= ", " > ", " >= ") + w.literal(table, column)
	case 2:
		return name + pick(" IS NULL", " IS NOT NULL")
	}
	return name + " = " + w.literal(table, column)
}

// query returns a random query whose result does not depend on the order of rows.
func (w *ordinaryTables) query() string {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range testedColumns {
			if !yield(name) {
				return
			}
		}
	})
	one, two := pick(names...), pick(names...)
	column := pick(testedColumns[one]...)
	where := " WHERE " + w.condition(one, "a", 2)
	switch rand.IntN(6) {
	case 0:
		return "SELECT count(*) FROM sys." + one + " a" + where
	case 1:
		return "SELECT a." + column + " p, count(*) n FROM sys." + one + " a" + where + " GROUP BY 1"
	case 2:
		return "SELECT a." + column + " p, b." + pick(testedColumns[two]...) + " q FROM sys." + one + " a " + pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN") + " sys." + two +
			" b ON a." + column + " = b." + pick(testedColumns[two]...) + pick("", " AND "+w.condition(two, "b", 1)) + pick("", where)
	case 3:
		return "SELECT a." + column + " p, (SELECT count(*) FROM sys.job_runs b WHERE b." + pick(testedColumns["job_runs"]...) + " = a." + column + ") n FROM sys." + one + " a" + where
	case 4:
		return "SELECT DISTINCT a." + column + " p FROM sys." + one + " a" + where + " UNION ALL SELECT b." + pick(testedColumns[two]...) + " FROM sys." + two + " b WHERE " + w.condition(two, "b", 1)
	}
	return "SELECT * FROM sys." + one + " a" + where
}

// TestRandomQueriesMatchOrdinaryTables runs random queries on the catalogue and on ordinary tables with the
// same rows.
func TestRandomQueriesMatchOrdinaryTables(t *testing.T) {
	c := newUsedCatalogue(t)
	w := newOrdinaryTables(t, c)
	compared := 0
	for range 6000 {
		query := w.query()
		got, _, err := runQuery(c, query)
		if isTypeError(err) {
			continue
		}
		compared++
		want, wantErr := w.ask(query)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s\ngives %v, plain tables %v", query, err, wantErr)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\ngives %d rows, plain tables %d:\n%.2000q\n%.2000q", query, len(got), len(want), got, want)
		}
	}
	if compared < 2000 {
		t.Errorf("only %d queries were compared", compared)
	}
}

// isTypeError reports whether a query compares types that cannot be compared; SQLite compares them anyway.
func isTypeError(err error) bool {
	var of *system.Error
	return errors.As(err, &of) && slices.Contains([]string{"42883", "42804", "22P02", "0A000"}, of.State)
}

// TestOrderAndLimitMatchOrdinaryTables runs queries with ORDER BY and LIMIT.
func TestOrderAndLimitMatchOrdinaryTables(t *testing.T) {
	c := newUsedCatalogue(t)
	w := newOrdinaryTables(t, c)
	for table, columns := range testedColumns {
		for _, column := range columns {
			for _, limit := range []string{"", " LIMIT 3", " LIMIT 2 OFFSET 1", " OFFSET 2"} {
				for _, way := range []string{" ASC", " DESC"} {
					select1 := "SELECT " + column + " FROM sys." + table + " ORDER BY " + column + way
					got, _, err := runQuery(c, select1+limit)
					if isTypeError(err) { // documents have no order
						continue
					}
					plain := strings.Replace(limit, " OFFSET 2", " LIMIT -1 OFFSET 2", 1) // SQLite requires a LIMIT before OFFSET
					want, wantErr := w.ask(select1 + map[string]string{" ASC": " NULLS LAST", " DESC": " NULLS FIRST"}[way] + plain)
					if err != nil || wantErr != nil || !slices.Equal(got, want) {
						t.Errorf("%s%s\ngives %q, %v, plain tables %q, %v", select1, limit, got, err, want, wantErr)
					}
				}
			}
		}
	}
}
