package translate_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// postgresCatalogue is a catalogue with all tables and functions that a PostgreSQL has itself.
type postgresCatalogue struct {
	tables    map[string]*translate.Table
	functions map[string][]translate.Signature
}

func (l *postgresCatalogue) Table(schema, name string) (*translate.Table, bool) {
	if schema == "" {
		schema = "pg_catalog"
	}
	t, found := l.tables[schema+"."+name]
	return t, found
}

func (l *postgresCatalogue) Functions(name string) []translate.Signature { return l.functions[name] }

func (l *postgresCatalogue) Zones() (written, shown string) { return "", "" }

func (l *postgresCatalogue) Tables() (names []string) {
	for name := range l.tables {
		names = append(names, name)
	}
	return names
}

// domains are the types of the information schema.
var domains = map[string]kind.Kind{"sql_identifier": kind.Name, "character_data": kind.Varchar, "yes_or_no": kind.Varchar, "cardinal_number": kind.Int4, "time_stamp": kind.Timestamp}

func readCatalogue(t *testing.T, conn *pgconn.PgConn) *postgresCatalogue {
	t.Helper()
	l := &postgresCatalogue{map[string]*translate.Table{}, map[string][]translate.Signature{}}
	columns := conn.ExecParams(context.Background(), `SELECT n.nspname, c.relname, a.attname, a.atttypid, t.typname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
		WHERE n.nspname IN ('pg_catalog', 'information_schema') AND a.attnum > 0 AND c.relkind IN ('r', 'v') ORDER BY c.oid, a.attnum`, nil, nil, nil, nil).Read()
	must(t, columns.Err)
	for _, row := range columns.Rows {
		name := string(row[0]) + "." + string(row[1])
		if l.tables[name] == nil {
			l.tables[name] = &translate.Table{Schema: string(row[0]), Name: string(row[1]), OID: int64(16384 + len(l.tables))}
		}
		l.tables[name].Columns = append(l.tables[name].Columns, translate.Column{Name: string(row[2]), Kind: kindNumbered(string(row[3]), string(row[4]))})
	}
	functions := conn.ExecParams(context.Background(), `SELECT proname, prorettype, array_to_string(proargtypes::oid[], ' '), pronargdefaults, proretset FROM pg_proc WHERE prokind = 'f'
		AND (proname LIKE 'pg\_%' OR proname LIKE '%\_description' OR proname LIKE 'has\_%' OR proname LIKE 'current\_%' OR proname LIKE 'acl%' OR proname LIKE '%privil%' OR proname IN ('format_type', 'version', 'session_user', 'array_in', 'set_config', 'txid_current', 'getdatabaseencoding'))`, nil, nil, nil, nil).Read()
	must(t, functions.Err)
	for _, row := range functions.Rows {
		s := translate.Signature{Name: string(row[0]), As: "stub", Returns: kindNumbered(string(row[1]), "")}
		for _, oid := range strings.Fields(string(row[2])) {
			s.Args = append(s.Args, kindNumbered(oid, ""))
		}
		s.Optional, _ = strconv.Atoi(string(row[3]))
		s.Set = string(row[4]) == "t"
		l.functions[s.Name] = append(l.functions[s.Name], s)
	}
	return l
}

func kindNumbered(oid, name string) kind.Kind {
	n, _ := strconv.Atoi(oid)
	if k, known := kind.OfOID(uint32(n)); known {
		return k
	}
	if k, known := domains[name]; known {
		return k
	}
	return kind.Text
}

// For the queries of psql and drivers, on empty tables, both servers return the same columns
// and SQLite accepts the text.
func TestClientQueriesMatchPostgres(t *testing.T) {
	conn := postgres(t)
	_, err := conn.Exec(context.Background(), "SET search_path = pg_catalog").ReadAll()
	must(t, err)
	l, d := readCatalogue(t, conn), openTestDB(t)
	for _, schema := range []string{"pg_catalog", "information_schema"} {
		must(t, sqlitex.ExecuteTransient(d.conn, "ATTACH ':memory:' AS "+schema, nil))
	}
	stub := func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) { return sqlite.Value{}, nil }
	for _, name := range []string{"stub", "rota_regclass", "rota_regproc", "rota_regtype", "rota_regnamespace", "rota_regrole", "rota_regclass_text", "rota_regproc_text", "rota_regtype_text", "rota_regnamespace_text", "rota_regrole_text"} {
		must(t, d.conn.CreateFunction(name, &sqlite.FunctionImpl{NArgs: -1, Deterministic: true, AllowIndirect: true, Scalar: stub}))
	}
	for _, table := range l.tables {
		names := make([]string, len(table.Columns))
		for i, c := range table.Columns {
			names[i] = `"` + c.Name + `"`
		}
		must(t, sqlitex.ExecuteTransient(d.conn, "CREATE TABLE "+table.Schema+"."+table.Name+" ("+strings.Join(names, ", ")+")", nil))
	}
	text, err := os.ReadFile("testdata/clients.sql")
	must(t, err)
	for i, sql := range strings.Split(string(text), "\n;;\n") {
		t.Run(strconv.Itoa(i+1), func(t *testing.T) { compareColumns(t, d, conn, l, sql) })
	}
}

func compareColumns(t *testing.T, d *testDB, conn *pgconn.PgConn, l *postgresCatalogue, sql string) {
	q, err := query.Parse(sql)
	if err != nil {
		t.Fatalf("%s\n\t%v", sql, err)
	}
	s, err := translate.Translate(q, l, nil)
	if err != nil {
		t.Fatalf("%s\n\t%v", sql, err)
	}
	prepared, err := conn.Prepare(context.Background(), "", sql, nil)
	if err != nil {
		t.Fatalf("%s\n\tPostgreSQL: %v", sql, err)
	}
	for i, f := range prepared.Fields {
		c := s.Columns[i]
		if want := kindNumbered(strconv.Itoa(int(f.DataTypeOID)), ""); c.Name != f.Name || c.Kind != want {
			t.Errorf("%s\n\tcolumn %d is %s %s, want %s %s", sql, i+1, c.Name, c.Kind, f.Name, want)
		}
	}
	for i, oid := range prepared.ParamOIDs {
		if s.Params[i].OID() != oid {
			t.Errorf("%s\n\t$%d is %s, want %s", sql, i+1, s.Params[i], kindOf(oid))
		}
	}
	stmt, _, err := d.conn.PrepareTransient(s.Text)
	if err != nil {
		t.Fatalf("%s\n\t%s\n\t%v", sql, s.Text, err)
	}
	must(t, stmt.Finalize())
}
