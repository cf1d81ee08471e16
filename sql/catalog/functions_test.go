package catalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// functionNamed finds a function by its name and how many arguments it is given.
func functionNamed(t *testing.T, name string, args int) Function {
	t.Helper()
	for _, f := range Functions() {
		if f.Name == name && takes(f, args) {
			return f
		}
	}
	t.Fatalf("there is no function %s of %d arguments", name, args)
	return Function{}
}

func takes(f Function, args int) bool {
	return args >= len(f.Args)-f.Optional && (args <= len(f.Args) || f.Variadic)
}

// callResult is what a call gives, as PostgreSQL writes it, or the state of its error.
func callResult(t *testing.T, c *Catalog, name string, args ...any) string {
	t.Helper()
	f := functionNamed(t, name, len(args))
	answer, err := f.Call(env, c, args)
	if err != nil {
		return "error " + state(err)
	}
	return formatValue(f.Returns, answer)
}

// server is a real PostgreSQL that is asked for many things.
type server struct{ *pgconn.PgConn }

func connect(t *testing.T) server {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), createTables(t))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return server{conn}
}

// outcome is what an expression gives, or the state of its error.
func (s server) outcome(t *testing.T, expression string) string {
	t.Helper()
	results, err := s.Exec(t.Context(), "SELECT "+expression).ReadAll()
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return "error " + refused.Code
	}
	must(t, err)
	return string(results[0].Rows[0][0])
}

// literal is an argument as a statement has it.
func literal(arg any) string {
	switch v := arg.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	}
	return fmt.Sprint(arg)
}

func literals(args []any) string {
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = literal(arg)
	}
	return strings.Join(texts, ", ")
}

// The functions return the same results as PostgreSQL for objects that both have.
func TestFunctionResultsEqualPostgres(t *testing.T) {
	real, c := connect(t), New(subject)
	for _, call := range sameCalls() {
		got := callResult(t, c, call.name, call.args...)
		expression := call.name + "(" + literals(call.args) + ")"
		if call.name == "pg_size_pretty" {
			expression = strings.Replace(expression, ")", "::bigint)", 1)
			expression = strings.Replace(expression, "(-", "(0-", 1)
		}
		if want := real.outcome(t, expression); got != want {
			t.Errorf("%s is %q, and %q in PostgreSQL", expression, got, want)
		}
	}
}

type sameCall struct {
	name string
	args []any
}

func sameCalls() (all []sameCall) {
	add := func(name string, args ...any) { all = append(all, sameCall{name, args}) }
	mods := []any{nil, int64(-1), int64(0), int64(3), int64(5), int64(24), int64(10<<16 | 2 + 4), int64(5<<16 | 0x7fe + 4)}
	plain := len(mods)
	for _, bits := range []int64{1 << 2, 1 << 1, 1 << 3, 1 << 10, 1 << 11, 1 << 12, 1<<2 | 1<<1, 1<<3 | 1<<10 | 1<<11, 1<<10 | 1<<11 | 1<<12, 0x7fff} { // fields of intervals
		mods = append(mods, bits<<16|0xffff, bits<<16|3)
	}
	for i, typ := range allTypes().all {
		if typ.oid > 10000 {
			continue
		}
		for j, mod := range mods {
			switch time := strings.HasSuffix(typ.name, "interval"); {
			case time && (j < 2 || j >= plain), !time && (j < 3 || i < 60 && j < 6 || typ.name == "numeric" && j < plain):
				add("format_type", typ.oid, mod)
			}
		}
	}
	add("format_type", int64(0), nil)
	add("format_type", int64(99), nil)
	add("format_type", nil, int64(3))
	for n := int64(-2); n < 45; n++ {
		add("pg_encoding_to_char", n)
	}
	for _, name := range append([]string{"utf-8", "Utf_8", "unicode", "iso88595", "none", ""}, encodings...) {
		add("pg_char_to_encoding", name)
	}
	for _, n := range []int64{0, 1, 1023, 10239, 10240, 10241, 20479, 1 << 20, 10<<20 - 1, 10 << 20, 12345678, 1 << 30, 1 << 40, 9 << 50, -10239, -10240, -12345678, 10485247, 10485248} {
		add("pg_size_pretty", n)
	}
	for _, name := range []string{"sys.jobs", "SYS.Jobs", ` sys . "jobs" `, "jobs", `"Odd One"`, `sys."Odd One"`, "pg_class", "pg_catalog.pg_class", "information_schema.tables", "no.thing", ".", "", `"`, "a b", "x.y.z", "a.b.c.d"} {
		add("has_table_privilege", name, "SELECT")
	}
	for _, args := range [][]any{
		{"sys.jobs", "LOOK"}, {int64(7), "SELECT"}, {"nobody", "sys.jobs", "SELECT"}, {"postgres", "sys.jobs", "SELECT"}, {nil, "SELECT"}, {"public", "pg_class", "select"},
	} {
		add("has_table_privilege", args...)
	}
	add("has_schema_privilege", "sys", "USAGE")
	add("has_schema_privilege", "none", "USAGE")
	add("has_schema_privilege", int64(7), "USAGE")
	add("has_type_privilege", "integer", "USAGE")
	add("pg_has_role", "postgres", "MEMBER")
	add("pg_has_role", "nobody", "MEMBER")
	add("pg_has_role", "postgres", "LOOK")
	add("current_setting", "none")
	add("current_setting", "none", true)
	add("current_setting", "standard_conforming_strings")
	add("current_setting", "DATESTYLE")
	add("current_schema")
	add("current_schemas", true)
	add("current_schemas", false)
	add("pg_get_userbyid", int64(10))
	add("pg_get_userbyid", int64(11))
	add("obj_description", int64(7), "pg_class")
	add("pg_get_viewdef", int64(7))
	return all
}

// Names are quoted as PostgreSQL quotes them.
func TestQuotedNamesEqualPostgres(t *testing.T) {
	names := []string{"", "a", "A", "a b", "1a", "a1", "_a", "a$", `a"b`, "ä", "jobs", "sys"}
	for _, r := range readData("keywords").rows {
		names = append(names, r.text("word"))
	}
	for real := connect(t); len(names) > 0; names = names[1:] {
		if got, want := query.QuoteIdent(names[0]), real.outcome(t, "quote_ident("+literal(names[0])+")"); got != want {
			t.Errorf("%q is quoted as %s, and as %s in PostgreSQL", names[0], got, want)
		}
	}
}

// Casts to and from regclass and similar types give the same results as PostgreSQL.
func TestRegTypesParseAndFormatLikePostgres(t *testing.T) {
	real, c := connect(t), New(subject)
	for reg, texts := range map[string][]string{
		"regclass": {"sys.jobs", "sys.Jobs", "jobs", `sys."Odd One"`, "pg_class", "pg_catalog.pg_class", "information_schema.columns", "sys.jobs_pkey", "-", "1259", "77", "none", "none.none", `"x`, "a.b.c.d"},
		"regtype": {
			"int", "integer", "int4", "INT8", "pg_catalog.int4", "char", `"char"`, "character varying", "varchar(20)", "numeric(10, 2)", "timestamp with time zone",
			"timestamp (3) with time zone", "timestamptz", "time", "text[]", "int[3]", "_text", "double  precision", "information_schema.sql_identifier", "sql_identifier", "bit", "nothing",
			"25", "-", "uuid", "oidvector", "bpchar", "interval", "record", "pg_catalog.none",
		},
		"regproc":      {"version", "pg_catalog.version", "abs", "none", "array_in", "1242", "-", "sys.version"},
		"regnamespace": {"sys", "pg_catalog", "none", "11", "SYS", "-"},
		"regrole":      {"postgres", "nobody", "10", "-", "Postgres"},
	} {
		for _, text := range texts {
			got := callResult(t, c, "rota_"+reg, text)
			if !strings.HasPrefix(got, "error") {
				got = callResult(t, c, "rota_"+reg+"_text", got)
			}
			if want := real.outcome(t, literal(text)+"::"+reg); got != want {
				t.Errorf("%q as %s is %q, and %q in PostgreSQL", text, reg, got, want)
			}
			got = callResult(t, c, "to_"+reg, text)
			if got != "" {
				got = callResult(t, c, "rota_"+reg+"_text", got)
			}
			if want := real.outcome(t, "to_"+reg+"("+literal(text)+")"); got != want && !strings.HasPrefix(want, "error") {
				t.Errorf("to_%s of %q is %q, and %q in PostgreSQL", reg, text, got, want)
			}
		}
	}
}

// The definitions of indexes, keys and functions equal those of PostgreSQL.
func TestDefinitionsEqualPostgres(t *testing.T) {
	real, c := connect(t), New(subject)
	for _, name := range []string{"sys.jobs_pkey", "sys.job_dependencies_pkey", `sys."Odd One_pkey"`} {
		index := parseNumber(callResult(t, c, "rota_regclass", name))
		for got, want := range map[string]string{
			callResult(t, c, "pg_get_indexdef", index):                               "pg_get_indexdef(%s)",
			callResult(t, c, "pg_get_indexdef", index, int64(2), int64(1)):           "pg_get_indexdef(%s, 2, true)",
			callResult(t, c, "pg_get_constraintdef", c.classByOID[index].constraint): "pg_get_constraintdef((SELECT oid FROM pg_constraint WHERE conindid = %s))",
		} {
			if want := real.outcome(t, fmt.Sprintf(want, literal(name)+"::regclass")); got != want {
				t.Errorf("%s is %q, and %q in PostgreSQL", name, got, want)
			}
		}
	}
	for _, row := range pgtest.Query(t, createTables(t), `
		SELECT oid, pg_get_function_arguments(oid), pg_get_function_result(oid), pg_get_function_identity_arguments(oid)
		FROM pg_proc WHERE proargnames IS NULL AND oid < 10000`) {
		oid := parseNumber(row[0])
		if allProcs().byOID[oid] == nil {
			continue
		}
		for i, name := range []string{"pg_get_function_arguments", "pg_get_function_result", "pg_get_function_identity_arguments"} {
			if got := callResult(t, c, name, oid); got != row[i+1] {
				t.Errorf("%s of %s is %q, and %q in PostgreSQL", name, allProcs().byOID[oid].name, got, row[i+1])
			}
		}
	}
}

// Name and number of arguments of a function are unique, and the result has the kind of
// PostgreSQL's function.
func TestFunctionSignaturesAreUnique(t *testing.T) {
	real := map[string]map[string]bool{}
	for _, row := range pgtest.Query(t, createTables(t), "SELECT proname, pronargs, pronargdefaults, prorettype::regtype FROM pg_proc") {
		for n := parseNumber(row[1]) - parseNumber(row[2]); n <= parseNumber(row[1]); n++ {
			key := fmt.Sprint(row[0], "/", n)
			if real[key] == nil {
				real[key] = map[string]bool{}
			}
			real[key][row[3]] = true
		}
	}
	seen := map[string]bool{}
	for _, f := range Functions() {
		for n := len(f.Args) - f.Optional; n <= len(f.Args); n++ {
			if key := fmt.Sprint(sqliteName(f), "/", n); seen[key] {
				t.Errorf("%s is there twice", key)
			} else {
				seen[key] = true
			}
			kinds := real[fmt.Sprint(f.Name, "/", n)]
			if kinds != nil && !kinds[format(f.Returns)] && f.Returns != kind.Void && !f.Set && !kinds["xid8"] { // which is no kind here
				t.Errorf("%s/%d gives %s, and %v in PostgreSQL", f.Name, n, f.Returns, kinds)
			}
		}
	}
}

func format(k kind.Kind) string { return allTypes().format(int64(k.OID()), nil, nil) }
