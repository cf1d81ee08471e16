package httpapi_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/rotajobs/rota/api"
)

// sql runs statements that must succeed.
func (s *server) sql(statement string, args ...any) api.SQLAnswer {
	s.Helper()
	return read[api.SQLAnswer](s.post("sql", map[string]any{"statement": statement, "args": args}).is(200))
}

// refused runs statements that must fail.
func (s *server) refused(statement string, status int, code, state string) api.Problem {
	s.Helper()
	p := s.post("sql", map[string]string{"statement": statement}).problem(status, code)
	if p.SQLState != state {
		s.Errorf("%s: the state is %s, not %s", statement, p.SQLState, state)
	}
	return p
}

// cells returns the rows as JSON.
func cells(t testing.TB, v api.SQLResult) string {
	t.Helper()
	text, err := json.Marshal(v.Rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestSQLCreatesScheduleSeenOverHTTP(t *testing.T) {
	s := newServerWithDefinitions(t)
	made := s.sql("CREATE JOB nightly SCHEDULE CRON '0 3 * * *' TIME ZONE 'Europe/Berlin' AS CALL a()")
	if made.Tag != "CREATE JOB" || len(made.Columns) != 0 || len(made.Rows) != 0 || made.Results != nil {
		t.Errorf("%+v", made)
	}
	shown := read[api.Schedule](s.get("schedules/nightly").is(200))
	if shown.Cron != "0 3 * * *" || shown.Timezone != "Europe/Berlin" {
		t.Errorf("%+v", shown)
	}
	found := s.sql("SELECT job_name, state FROM sys.jobs WHERE job_name = $1", "nightly")
	want := []api.SQLColumn{{Name: "job_name", Type: "text"}, {Name: "state", Type: "text"}}
	if found.Tag != "SELECT 1" || !reflect.DeepEqual(found.Columns, want) || cells(t, found.SQLResult) != `[["nightly","ENABLED"]]` {
		t.Errorf("%+v %s", found, cells(t, found.SQLResult))
	}
	if run := s.sql("EXECUTE JOB nightly"); len(run.Rows) != 1 || run.Columns[0].Type != "uuid" {
		t.Errorf("%+v", run)
	}
	if jobs := s.all("jobs?schedule=nightly", 10); len(jobs) != 1 {
		t.Errorf("there are %d jobs", len(jobs))
	}
}

func TestSQLValuesAreExact(t *testing.T) {
	s := newServer(t)
	for _, test := range []struct {
		expression, want, kind string
		args                   []any
	}{
		{"9007199254740993", "9007199254740993", "bigint", nil},
		{"-9223372036854775807 - 1", "-9223372036854775808", "bigint", nil},
		{"0.1", "0.1", "numeric", nil},
		{"0.1::float8", "0.1", "double precision", nil},
		{"'it''s <b>'", `"it's <b>"`, "text", nil},
		{"NULL", "null", "text", nil},
		{"'\\x00ff'::bytea", `"\\x00ff"`, "bytea", nil},
		{"'Infinity'::float8", `"Infinity"`, "double precision", nil},
		{"$1", "9007199254740993", "bigint", []any{json.Number("9007199254740993")}},
		{"$1", "1.5", "double precision", []any{1.5}},
		{"$1", `"$2; DROP JOB s"`, "text", []any{"$2; DROP JOB s"}},
		{"$1 IS NULL", "true", "boolean", []any{nil}},
	} {
		got := s.post("sql", map[string]any{"statement": "SELECT " + test.expression + " AS v", "args": test.args}).is(200)
		v := read[api.SQLAnswer](got)
		if !strings.Contains(got.text, `"rows":[[`+test.want+`]]`) || v.Columns[0] != (api.SQLColumn{Name: "v", Type: test.kind}) {
			t.Errorf("%s: %s", test.expression, got.text)
		}
	}
	if nodes := s.sql("SELECT is_leader FROM sys.nodes"); nodes.Columns[0].Type != "boolean" {
		t.Errorf("%+v", nodes)
	}
	mixed := s.sql("SELECT 1 AS n, 'y' AS m UNION ALL SELECT 2.5, 'x'")
	if mixed.Columns[0].Type != "numeric" || mixed.Columns[1].Type != "text" {
		t.Errorf("%+v", mixed.Columns)
	}
}

func TestSQLStatementsOfOneRequestAreOneTransaction(t *testing.T) {
	s := newServerWithDefinitions(t)
	both := s.sql("CREATE JOB a1 SCHEDULE EVERY 1 HOUR AS CALL a(); CREATE JOB a2 SCHEDULE EVERY 1 HOUR AS CALL a() DEPENDS ON a1; SELECT 1 AS one")
	if len(both.Results) != 3 || both.Results[0].Tag != "CREATE JOB" || both.Tag != "SELECT 1" || both.Columns[0].Name != "one" {
		t.Errorf("%+v", both)
	}
	before := s.dump()
	s.refused("DROP JOB a2; DROP JOB a1; DROP JOB nobody", 404, "not_found", "42704")
	if s.dump() != before {
		t.Error("a part was applied")
	}
	open := s.sql("BEGIN; DROP JOB a2")
	if n := len(open.Notices); n == 0 || !strings.Contains(open.Notices[n-1], "it was rolled back") || s.dump() != before {
		t.Errorf("%+v", open)
	}
	s.sql("BEGIN; DROP JOB a2; DROP JOB a1; ROLLBACK")
	if s.dump() != before {
		t.Error("the rollback had no effect")
	}
	if done := s.sql("BEGIN; DROP JOB a2; DROP JOB a1; COMMIT"); done.Tag != "COMMIT" {
		t.Errorf("%+v", done)
	}
	s.get("schedules/a1").is(404)
	if nothing := s.sql("-- a remark"); nothing.Tag != "" || nothing.Columns == nil || nothing.Rows == nil || nothing.Notices == nil {
		t.Errorf("%+v", nothing)
	}
}

func TestSQLErrors(t *testing.T) {
	s := newServerWithDefinitions(t)
	p := s.refused("CREATE JOB x\n  SHEDULE EVERY 1 HOUR AS CALL a()", 422, "invalid", "42601")
	if p.Line != 2 || p.Column != 3 || p.Position != 16 || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	s.refused("SELECT * FROM sys.nobody", 422, "invalid", "42P01")
	s.refused("EXECUTE JOB nobody", 404, "not_found", "42704")
	s.refused("CREATE JOB s SCHEDULE EVERY 1 HOUR AS CALL a()", 409, "conflict", "42710")
	s.refused("CREATE JOB n SCHEDULE EVERY 1 HOUR AS CALL a() MAX_RETRIES = 100000", 422, "invalid", "22023")
	for body, field := range map[string]string{
		`{}`:                                       "statement",
		`{"statement": ""}`:                        "statement",
		`{"statement": 5}`:                         "statement",
		`{"statement": "SHOW JOBS", "arg": []}`:    "arg",
		`{"statement": "SHOW JOBS", "args": 5}`:    "args",
		`{"statement": "SELECT $1", "args": [[]]}`: "args[0]",
		`{"statement": "` + strings.Repeat("-", 1<<20+1) + `"}`: "statement",
	} {
		if p := s.post("sql", body).problem(422, "invalid"); len(p.Errors) != 1 || p.Errors[0].Field != field {
			t.Errorf("%.60s: %+v", body, p)
		}
	}
	if p := s.post("sql", `{"statement": "SELECT $1"}`).problem(422, "invalid"); p.SQLState != "08P01" {
		t.Errorf("%+v", p)
	}
}

// TestSQLRepeatedWithKeyAppliesOnce checks that a refused request leaves its key free, that a repeated
// write returns its result even if the data changed since, and that a query runs each time.
func TestSQLRepeatedWithKeyAppliesOnce(t *testing.T) {
	s := newServerWithDefinitions(t)
	key := []string{"Idempotency-Key", "k"}
	drop := map[string]string{"statement": "DROP JOB later"}
	s.post("sql", drop, key...).problem(404, "not_found")
	create := map[string]string{"statement": "CREATE JOB later SCHEDULE EVERY 1 HOUR AS CALL a()"}
	s.post("sql", create, "Idempotency-Key", "c").is(200)
	s.sql("ALTER JOB later SET PRIORITY = 7")
	before := s.dump()
	s.post("sql", create, "Idempotency-Key", "c").is(200)
	if s.dump() != before {
		t.Error("it was created again")
	}
	s.post("sql", drop, key...).is(200)
	s.sql("CREATE JOB later SCHEDULE EVERY 1 HOUR AS CALL a()")
	before = s.dump()
	s.post("sql", drop, key...).is(200)
	if s.dump() != before {
		t.Error("it was dropped again")
	}
	s.post("sql", create, key...).problem(409, "conflict")
	query := map[string]string{"statement": "SELECT count(*) FROM sys.jobs"}
	first := s.post("sql", query, "Idempotency-Key", "q").is(200)
	s.sql("DROP JOB later")
	if second := s.post("sql", query, "Idempotency-Key", "q").is(200); second.text == first.text {
		t.Error("the query was not run")
	}
}
