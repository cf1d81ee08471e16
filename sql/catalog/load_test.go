package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// load has SQLite hold the catalogue, as sql/system does.
func load(t testing.TB, c *Catalog) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
	must(t, err)
	t.Cleanup(func() { must(t, conn.Close()) })
	for _, schema := range []string{catalogSchema, standardSchema} {
		must(t, sqlitex.ExecuteTransient(conn, "ATTACH ':memory:' AS "+schema, nil))
	}
	for _, f := range Functions() {
		for n := len(f.Args) - f.Optional; n <= len(f.Args); n++ {
			must(t, conn.CreateFunction(sqliteName(f), &sqlite.FunctionImpl{NArgs: n, Scalar: scalar(c, f)}))
		}
	}
	for _, r := range c.Relations() {
		must(t, fill(conn, r))
	}
	return conn
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sqliteName(f Function) string {
	if f.As != "" {
		return f.As
	}
	return f.Name
}

func scalar(c *Catalog, f Function) func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
	return func(_ sqlite.Context, values []sqlite.Value) (sqlite.Value, error) {
		args := make([]any, len(values))
		for i, v := range values {
			switch v.Type() {
			case sqlite.TypeInteger:
				args[i] = v.Int64()
			case sqlite.TypeText:
				args[i] = v.Text()
			}
		}
		answer, err := f.Call(env, c, args)
		switch v := answer.(type) {
		case int64:
			return sqlite.IntegerValue(v), err
		case float64:
			return sqlite.FloatValue(v), err
		case string:
			return sqlite.TextValue(v), err
		}
		return sqlite.Value{}, err
	}
}

func fill(conn *sqlite.Conn, r Relation) (err error) {
	var columns, marks []string
	for _, c := range r.Columns {
		affinity := "TEXT"
		if c.Kind.Number() {
			affinity = "NUMERIC"
		}
		if c.Kind == kind.Float || c.Kind == kind.Float4 {
			affinity = "REAL"
		}
		columns, marks = append(columns, `"`+c.Name+`" `+affinity), append(marks, "?")
	}
	name := r.Schema + `."` + r.Name + `"`
	if err := sqlitex.ExecuteTransient(conn, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+")", nil); err != nil {
		return err
	}
	for _, row := range r.Rows {
		if err := sqlitex.Execute(conn, "INSERT INTO "+name+" VALUES ("+strings.Join(marks, ", ")+")", &sqlitex.ExecOptions{Args: row}); err != nil {
			return err
		}
	}
	for _, column := range r.Index {
		sql := fmt.Sprintf(`CREATE INDEX %s."%s_%s" ON "%s" ("%s")`, r.Schema, r.Name, column, r.Name, column)
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

// queryRows is the rows of a query, with | between the values.
func queryRows(t *testing.T, conn *sqlite.Conn, sql string) (rows []string) {
	t.Helper()
	err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		values := make([]string, s.ColumnCount())
		for i := range values {
			values[i] = s.ColumnText(i)
		}
		rows = append(rows, strings.Join(values, "|"))
		return nil
	}})
	if err != nil {
		t.Fatalf("%v, of:\n%s", err, sql)
	}
	return rows
}

// The queries of tools, as the dialect translates them, return rows.
func TestToolQueriesReturnRows(t *testing.T) {
	conn := load(t, New(subject))
	jobs := queryRows(t, conn, "SELECT rota_regclass('sys.jobs')")[0]
	for _, test := range []struct {
		what, sql string
		want      []string
	}{
		{
			"psql: dt sys.*", `
			SELECT n.nspname, c.relname, c.relkind, pg_get_userbyid(c.relowner) FROM pg_catalog.pg_class c
			LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam
			WHERE c.relkind IN ('r','p','t','s','') AND n.nspname = 'sys' ORDER BY 1, 2`,
			[]string{"sys|Odd One|r|postgres", "sys|job_dependencies|r|postgres", "sys|jobs|r|postgres", "sys|nodes|r|postgres", "sys|performance|r|postgres"},
		},
		{"psql: d sys.jobs, the table", `
			SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.relrowsecurity, c.relispartition, c.relpersistence, am.amname
			FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class tc ON c.reltoastrelid = tc.oid LEFT JOIN pg_catalog.pg_am am ON c.relam = am.oid
			WHERE c.oid = ` + jobs, []string{"0|r|1|0|0|0|0|p|heap"}},
		{
			"psql: d sys.jobs, the columns", `
			SELECT a.attname, format_type(a.atttypid, a.atttypmod), (SELECT pg_get_expr(d.adbin, d.adrelid, 1) FROM pg_catalog.pg_attrdef d
			WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, (SELECT c.collname FROM pg_catalog.pg_collation c,
			pg_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation), a.attidentity, a.attgenerated,
			col_description(a.attrelid, a.attnum)
			FROM pg_catalog.pg_attribute a WHERE a.attrelid = ` + jobs + ` AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum LIMIT 5`,
			[]string{
				"job_uuid|uuid||1||||jobs are job_uuid", "job_name|text||1||||jobs are job_name", "priority|bigint||0||||jobs are priority",
				"next_at|bigint||0||||jobs are next_at", "next_at_ts|timestamp with time zone||0||||jobs are next_at_ts",
			},
		},
		{
			"psql: d sys.jobs, the indexes", `
			SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_get_indexdef(i.indexrelid, 0, 1),
			pg_get_constraintdef(con.oid, 1), contype, condeferrable, condeferred, i.indisreplident, c2.reltablespace
			FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i LEFT JOIN pg_catalog.pg_constraint con
			ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p','u','x'))
			WHERE c.oid = ` + jobs + ` AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY 2 DESC, 1`,
			[]string{"jobs_pkey|1|1|0|1|CREATE UNIQUE INDEX jobs_pkey ON sys.jobs USING btree (job_uuid)|PRIMARY KEY (job_uuid)|p|0|0|0|0"},
		},
		{
			"psql: dn", "SELECT nspname, pg_get_userbyid(nspowner) FROM pg_catalog.pg_namespace WHERE substr(nspname, 1, 3) <> 'pg_' ORDER BY 1",
			[]string{"information_schema|postgres", "public|postgres", "sys|postgres"},
		},
		{
			"psql: l", "SELECT datname, pg_get_userbyid(datdba), pg_encoding_to_char(encoding), datcollate, pg_database_size(datname) FROM pg_catalog.pg_database",
			[]string{"rota|postgres|UTF8|C.UTF-8|0"},
		},
		{"psql: du", "SELECT rolname, rolsuper, rolcanlogin, rolpassword FROM pg_catalog.pg_roles", []string{"postgres|1|1|********"}},
		{"no password", "SELECT rolpassword IS NULL, (SELECT passwd = '********' FROM pg_catalog.pg_user) FROM pg_catalog.pg_authid", []string{"1|1"}},
		{
			"psql: df version", `
			SELECT n.nspname, p.proname, pg_get_function_result(p.oid), pg_get_function_arguments(p.oid), p.prokind FROM pg_catalog.pg_proc p
			LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.proname = 'version' AND pg_function_is_visible(p.oid)`,
			[]string{"pg_catalog|version|text||f"},
		},
		{
			"psql: di sys.*", `
			SELECT c.relname, c2.relname FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid LEFT JOIN pg_catalog.pg_class c2 ON i.indrelid = c2.oid
			WHERE c.relkind IN ('i','I','') AND n.nspname = 'sys' ORDER BY 1`,
			[]string{"Odd One_pkey|Odd One", "job_dependencies_pkey|job_dependencies", "jobs_pkey|jobs", "nodes_pkey|nodes"},
		},
		{
			"JDBC: getPrimaryKeys", `
			SELECT n.nspname, ct.relname, a.attname, k.key + 1, ci.relname FROM pg_catalog.pg_class ct
			JOIN pg_catalog.pg_attribute a ON ct.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON ct.relnamespace = n.oid
			JOIN pg_catalog.pg_index i ON ct.oid = i.indrelid JOIN pg_catalog.pg_class ci ON ci.oid = i.indexrelid
			JOIN json_each(i.indkey) k ON k.value = a.attnum WHERE i.indisprimary AND ct.relname = 'job_dependencies' ORDER BY 4`,
			[]string{"sys|job_dependencies|job_uuid|1|job_dependencies_pkey", "sys|job_dependencies|depends_on_job_uuid|2|job_dependencies_pkey"},
		},
		{
			"JDBC: getTables", `
			SELECT c.relname, d.description FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_description d
			ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = rota_regclass('pg_class') WHERE c.relnamespace = n.oid AND c.relname = 'jobs'`,
			[]string{"jobs|jobs are"},
		},
		{
			"psycopg: TypeInfo.fetch", `
			SELECT typname, oid, typarray, rota_regtype_text(oid), typdelim FROM pg_catalog.pg_type t WHERE t.oid = to_regtype('timestamp with time zone')`,
			[]string{"timestamptz|1184|1185|timestamp with time zone|,"},
		},
		{"Npgsql: arrays", `
			SELECT count(*) > 60 FROM pg_catalog.pg_type t JOIN pg_catalog.pg_proc p ON p.oid = t.typreceive WHERE p.proname = 'array_recv'`, []string{"1"}},
		{
			"information_schema", "SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'nodes' ORDER BY ordinal_position",
			[]string{"node_name|text|NO", "is_leader|boolean|YES"},
		},
		{"settings", "SELECT setting, current_setting('Server_Version_Num') FROM pg_catalog.pg_settings WHERE name = 'server_version_num'", []string{"150000|150000"}},
	} {
		if got := queryRows(t, conn, test.sql); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n\t%s\nand not\n\t%s", test.what, strings.Join(got, "\n\t"), strings.Join(test.want, "\n\t"))
		}
	}
}

// OIDs are unique per relation, and referenced OIDs exist.
func TestOIDsAreUnique(t *testing.T) {
	conn := load(t, New(subject))
	for _, table := range strings.Fields("pg_class pg_namespace pg_type pg_proc pg_operator pg_cast pg_constraint pg_opclass pg_opfamily pg_am pg_collation") {
		if got := queryRows(t, conn, "SELECT oid FROM pg_catalog."+table+" GROUP BY oid HAVING count(*) > 1 OR oid = 0"); len(got) > 0 {
			t.Errorf("%s has twice, or is 0: %v", table, got)
		}
	}
	for _, link := range []string{
		"pg_class.relnamespace pg_namespace", "pg_attribute.attrelid pg_class", "pg_attribute.atttypid pg_type", "pg_index.indrelid pg_class",
		"pg_index.indexrelid pg_class", "pg_constraint.conindid pg_class", "pg_type.typelem pg_type", "pg_type.typarray pg_type",
		"pg_type.typbasetype pg_type", "pg_proc.prorettype pg_type", "pg_proc.prolang pg_language", "pg_class.relam pg_am",
		"pg_opclass.opcfamily pg_opfamily", "pg_operator.oprresult pg_type", "pg_type.typnamespace pg_namespace",
	} {
		from, to, _ := strings.Cut(link, " ")
		table, column, _ := strings.Cut(from, ".")
		sql := fmt.Sprintf("SELECT DISTINCT %[1]s FROM pg_catalog.%[2]s WHERE %[1]s <> 0 AND %[1]s NOT IN (SELECT oid FROM pg_catalog.%[3]s)", column, table, to)
		if got := queryRows(t, conn, sql); len(got) > 0 {
			t.Errorf("%s speaks of what %s has not: %v", from, to, got)
		}
	}
}

// The OIDs of a table do not change when other tables are added.
func TestOIDsStayWhenTablesAreAdded(t *testing.T) {
	fewer := subject
	fewer.Tables = subject.Tables[:1]
	for _, text := range []string{"sys.jobs", "sys.jobs_pkey"} {
		few, err := New(fewer).readClass(env, text)
		must(t, err)
		many, err := New(subject).readClass(env, text)
		must(t, err)
		if few != many || few < firstOwn {
			t.Errorf("%s is %d, and %d among others", text, few, many)
		}
	}
}

// state is that of an error.
func state(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.State
	}
	return ""
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(subject)
	}
}

func BenchmarkLoad(b *testing.B) {
	c := New(subject)
	for b.Loop() {
		load(b, c)
	}
}

// BenchmarkDeserialize is what a connection costs that is given what another has loaded.
func BenchmarkDeserialize(b *testing.B) {
	conn := load(b, New(subject))
	image, err := conn.Serialize(catalogSchema)
	must(b, err)
	standard, err := conn.Serialize(standardSchema)
	must(b, err)
	b.ReportMetric(float64(len(image)+len(standard)), "bytes")
	for b.Loop() {
		conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenCreate|sqlite.OpenMemory)
		must(b, err)
		for schema, data := range map[string][]byte{catalogSchema: image, standardSchema: standard} {
			must(b, sqlitex.ExecuteTransient(conn, "ATTACH ':memory:' AS "+schema, nil))
			must(b, conn.Deserialize(schema, data))
		}
		must(b, conn.Close())
	}
}
