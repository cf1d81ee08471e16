package translate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// testDB is a SQLite database with rows of every kind, and a session with a time zone.
type testDB struct {
	conn *sqlite.Conn
	zone string
}

// catalogue is what its queries may ask for.
type catalogue struct{ zone string }

func (c catalogue) Zones() (written, shown string) { return c.zone, c.zone }

func (catalogue) Table(schema, name string) (*translate.Table, bool) {
	for _, t := range tables {
		if t.Name == name && (schema == "" || schema == t.Schema) {
			return t, true
		}
	}
	return nil, false
}

func (catalogue) Functions(name string) []translate.Signature {
	switch name {
	case "twice":
		return []translate.Signature{{Name: name, Args: []kind.Kind{kind.Int4}, Returns: kind.Int4, As: "rota_twice"}}
	case "current_user":
		return []translate.Signature{{Name: name, Returns: kind.Name, As: "rota_user"}}
	}
	return nil
}

func (catalogue) Tables() (names []string) {
	for _, t := range tables {
		names = append(names, t.Schema+"."+t.Name)
	}
	return names
}

var tables = []*translate.Table{
	{Schema: "sys", Name: "jobs", Columns: []translate.Column{
		{Name: "job_uuid", Kind: kind.UUID},
		{Name: "job_name", Kind: kind.Text},
		{Name: "description", Kind: kind.Text},
		{Name: "state", Kind: kind.Text},
		{Name: "priority", Kind: kind.Integer},
		{Name: "n", Kind: kind.Int4},
		{Name: "small", Kind: kind.Int2},
		{Name: "weight", Kind: kind.Float},
		{Name: "cost", Kind: kind.Numeric},
		{Name: "enabled", Kind: kind.Boolean},
		{Name: "next_run", Kind: kind.Timestamp},
		{Name: "local", Kind: kind.Local},
		{Name: "day", Kind: kind.Date},
		{Name: "clock", Kind: kind.Time},
		{Name: "took", Kind: kind.Interval},
		{Name: "params", Kind: kind.JSON},
		{Name: "doc", Kind: kind.PlainJSON},
		{Name: "tags", Kind: kind.Text.Array()},
		{Name: "nums", Kind: kind.Int4.Array()},
		{Name: "title", Kind: kind.Varchar},
	}},
	{Schema: "sys", Name: "runs", Columns: []translate.Column{
		{Name: "run_uuid", Kind: kind.UUID},
		{Name: "job_uuid", Kind: kind.UUID},
		{Name: "job_name", Kind: kind.Text},
		{Name: "state", Kind: kind.Text},
		{Name: "started", Kind: kind.Timestamp},
		{Name: "ended", Kind: kind.Timestamp},
		{Name: "ms", Kind: kind.Int4},
		{Name: "row_count", Kind: kind.Integer},
	}},
	{Schema: "sys", Name: "empty", Columns: []translate.Column{{Name: "a", Kind: kind.Int4}, {Name: "b", Kind: kind.Text}}},
}

// null is what the rows below call NULL.
const null = `\N`

// rows are those of the tables, as PostgreSQL reads them.
var rows = map[string][][]string{
	"jobs": {
		{"00000000-0000-0000-0000-00000000000a", "alpha", "The First", "ENABLED", "5", "1", "1", "1.5", "10.25", "t", "2026-03-01 12:00:00+00", "2026-03-01 12:00:00", "2026-03-01", "12:00:00", "1 day 02:00:00", `{"a": 1, "b": {"c": "x"}, "l": [1, 2, 3], "t": true}`, `{"k":"v"}`, "{red,green}", "{1,2,3}", "Alpha"},
		{"00000000-0000-0000-0000-00000000000b", "beta", null, "DISABLED", "0", "-2", "2", "-0.25", "3", "f", null, "2026-02-28 23:59:59.5", "2024-02-29", "00:00:01.25", "00:00:30", `{"a": "text", "n": null, "l": []}`, `[1,2]`, "{}", "{}", null},
		{"00000000-0000-0000-0000-00000000000c", "gamma", "third one", "PAUSED", "7", "3", "-3", "1e10", "0.1", null, "2026-03-05 06:30:15.123456+00", "2025-12-31 00:00:00", "2025-12-31", "23:59:59", "1 mon -1 days", `{}`, `{"x": [1, {"y": null}]}`, `{"a b",NULL,"q\"x"}`, "{4,NULL}", "Third"},
		{"00000000-0000-0000-0000-00000000000d", "delta", "The fourth", "ENABLED", null, null, null, null, null, "t", "2025-12-31 23:59:59+00", null, null, null, null, null, null, null, null, "delta"},
		{"00000000-0000-0000-0000-00000000000e", "Epsilon", "50% _off_", "ENABLED", "5", "0", "0", "0", "0", "f", "2026-03-01 12:00:00+00", "2026-03-01 12:00:00", "2026-03-02", "12:00:00", "24:00:00", `[1, "two", null]`, `"s"`, "{red}", "{3,2,1}", "E"},
	},
	"runs": {
		{"10000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-00000000000a", "alpha", "COMPLETED", "2026-02-01 00:00:00+00", "2026-02-01 00:00:10+00", "10000", "5"},
		{"10000000-0000-0000-0000-000000000002", "00000000-0000-0000-0000-00000000000a", "alpha", "FAILED", "2026-02-02 00:00:00+00", "2026-02-02 00:01:00+00", "60000", null},
		{"10000000-0000-0000-0000-000000000003", "00000000-0000-0000-0000-00000000000b", "beta", "COMPLETED", "2026-02-03 10:00:00+00", "2026-02-03 10:00:00.5+00", "500", "0"},
		{"10000000-0000-0000-0000-000000000004", "00000000-0000-0000-0000-00000000000c", "gamma", "RUNNING", "2026-03-01 11:00:00+00", null, null, null},
		{"10000000-0000-0000-0000-000000000005", null, null, "PENDING", null, null, null, null},
		{"10000000-0000-0000-0000-000000000006", "00000000-0000-0000-0000-00000000000a", "alpha", "COMPLETED", "2026-02-04 00:00:00+00", "2026-02-04 00:00:20+00", "20000", "7"},
	},
}

func openTestDB(t testing.TB) *testDB {
	t.Helper()
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &testDB{conn: conn}
	must(t, sqlitex.ExecuteTransient(conn, "ATTACH ':memory:' AS sys", nil))
	must(t, conn.SetCollation("ROTA_TIME", strings.Compare))
	for _, f := range append(hostFunctions, translate.Functions...) {
		must(t, conn.CreateFunction(f.Name, &sqlite.FunctionImpl{NArgs: f.Args, Deterministic: f.Name != "now", AllowIndirect: true, Scalar: d.scalar(f)}))
	}
	for _, table := range tables {
		d.fill(t, table)
	}
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// functionError is the error of a function: the package between loses it.
var functionError error

func (d *testDB) scalar(f translate.Function) func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
	return func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
		list := make([]any, len(args))
		for i, a := range args {
			switch a.Type() {
			case sqlite.TypeInteger:
				list[i] = a.Int64()
			case sqlite.TypeFloat:
				list[i] = a.Float()
			case sqlite.TypeText:
				list[i] = a.Text()
			case sqlite.TypeBlob:
				list[i] = append([]byte{}, a.Blob()...)
			}
		}
		v, err := f.Call(list)
		if err != nil {
			functionError = err
			return sqlite.Value{}, err
		}
		return toValue(v), nil
	}
}

func toValue(v any) sqlite.Value {
	switch v := v.(type) {
	case nil:
		return sqlite.Value{}
	case int64:
		return sqlite.IntegerValue(v)
	case float64:
		return sqlite.FloatValue(v)
	case string:
		return sqlite.TextValue(v)
	case []byte:
		return sqlite.BlobValue(v)
	}
	panic(fmt.Sprintf("a function gave a %T", v))
}

func (d *testDB) fill(t testing.TB, table *translate.Table) {
	var columns, marks []string
	for i, c := range table.Columns {
		as := "TEXT"
		switch {
		case c.Kind == kind.Float:
			as = "REAL"
		case c.Kind == kind.Numeric:
			as = "NUMERIC"
		case c.Kind.Number():
			as = "INTEGER"
		}
		columns = append(columns, c.Name+" "+as)
		marks = append(marks, "?"+strconv.Itoa(i+1))
	}
	must(t, sqlitex.ExecuteTransient(d.conn, "CREATE TABLE sys."+table.Name+" ("+strings.Join(columns, ", ")+")", nil))
	for _, row := range rows[table.Name] {
		args := make([]any, len(row))
		for i, text := range row {
			if text == null {
				continue
			}
			stored, err := translate.ParseValue(table.Columns[i].Kind, text)
			must(t, err)
			args[i] = stored
		}
		must(t, sqlitex.ExecuteTransient(d.conn, "INSERT INTO sys."+table.Name+" VALUES ("+strings.Join(marks, ", ")+")", &sqlitex.ExecOptions{Args: args}))
	}
}

// query answers a query with PostgreSQL's texts; NULL is nil.
func (d *testDB) query(text string, args []string) (*translate.Statement, [][]*string, error) {
	q, err := query.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	s, err := translate.Translate(q, catalogue{d.zone}, nil)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.run(s, s.Text, args)
	return s, found, err
}

func (d *testDB) run(s *translate.Statement, sql string, args []string) (found [][]*string, err error) {
	functionError = nil
	bound := map[string]any{}
	for i, a := range args {
		if i >= len(s.Params) {
			return nil, fmt.Errorf("there are %d parameters", len(s.Params))
		}
		stored, err := translate.ParseValueIn(d.zone, s.Params[i], a)
		if err != nil {
			return nil, err
		}
		bound["?"+strconv.Itoa(i+1)] = stored
	}
	err = sqlitex.ExecuteTransient(d.conn, sql, &sqlitex.ExecOptions{Named: bound, ResultFunc: func(stmt *sqlite.Stmt) error {
		if n := stmt.ColumnCount(); n != len(s.Columns) {
			return fmt.Errorf("%d columns, and %d are known", n, len(s.Columns))
		}
		found = append(found, d.rowOf(stmt, s.Columns))
		return nil
	}})
	if functionError != nil {
		return nil, functionError
	}
	if err != nil {
		return nil, fmt.Errorf("%w\n\t%s", err, sql)
	}
	return found, nil
}

func (d *testDB) rowOf(stmt *sqlite.Stmt, columns []translate.Column) []*string {
	row := make([]*string, len(columns))
	for i, c := range columns {
		var v any
		switch stmt.ColumnType(i) {
		case sqlite.TypeNull:
			continue
		case sqlite.TypeInteger:
			v = stmt.ColumnInt64(i)
		case sqlite.TypeFloat:
			v = stmt.ColumnFloat(i)
		case sqlite.TypeText:
			v = stmt.ColumnText(i)
		case sqlite.TypeBlob:
			b := make([]byte, stmt.ColumnLen(i))
			stmt.ColumnBytes(i, b)
			v = b
		}
		text := translate.FormatValueIn(d.zone, c.Kind, v)
		row[i] = &text
	}
	return row
}

// hostFunctions are the functions that stand beside those of the package.
var hostFunctions = []translate.Function{
	{Name: "now", Args: 0, Call: func([]any) (any, error) { return "2026-03-01T12:34:56.789012Z", nil }},
	{Name: "rota_twice", Args: 1, Call: strict(func(a []any) any { return a[0].(int64) * 2 })},
	{Name: "rota_user", Args: 0, Call: func([]any) (any, error) { return "postgres", nil }},
}

func strict(f func([]any) any) func([]any) (any, error) {
	return func(a []any) (any, error) {
		for _, v := range a {
			if v == nil {
				return nil, nil
			}
		}
		return f(a), nil
	}
}
