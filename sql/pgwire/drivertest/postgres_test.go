package drivertest

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// postgresWithTables returns a PostgreSQL server with the same tables, all empty. Rota must answer
// the same queries like this server. All tests share it and only read.
func postgresWithTables(t *testing.T, like *server) *server {
	t.Helper()
	cluster := pgtest.Shared(t)
	host, port, _ := strings.Cut(cluster.Addr(), ":")
	conn, err := pgx.Connect(t.Context(), cluster.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	s := &server{host: host, port: port, user: "admin", database: "rota", options: "-c search_path=sys"}
	tablesCreated.Lock()
	defer tablesCreated.Unlock()
	if tablesCreated.done {
		return s
	}
	for _, text := range []string{"CREATE ROLE admin SUPERUSER LOGIN", "CREATE DATABASE rota OWNER admin STRATEGY file_copy"} {
		if _, err := conn.Exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	s.exec(t, append(tablesOf(t, like), "ALTER SCHEMA public OWNER TO admin", "REVOKE ALL ON ALL TABLES IN SCHEMA sys FROM admin", "GRANT SELECT ON ALL TABLES IN SCHEMA sys TO admin, PUBLIC")...)
	tablesCreated.done = true
	return s
}

var tablesCreated struct {
	sync.Mutex
	done bool
}

// tablesOf returns the statements that create the tables of a server, read from its catalogue.
func tablesOf(t *testing.T, s *server) []string {
	t.Helper()
	rows, err := s.connect(t).Query(t.Context(), `
		SELECT 'CREATE TABLE sys.' || quote_ident(c.relname) || ' (' || string_agg(quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
				|| CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END, ', ' ORDER BY a.attnum)
			|| coalesce((SELECT ', CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(k.oid) FROM pg_constraint k WHERE k.conrelid = c.oid AND contype = 'p'), '') || ')'
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
		WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'r' GROUP BY c.oid, c.relname ORDER BY c.relname`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(list) < 11 {
		t.Fatal(list, err)
	}
	return append([]string{"CREATE SCHEMA sys"}, list...)
}

// The \d commands of psql print the same text for both servers, except \df and \da: Rota lists its functions in
// schema sys, so that these commands show them.
func TestPsqlDescribesTablesLikePostgres(t *testing.T) {
	s := startNode(t)
	of := postgresWithTables(t, s)
	var script strings.Builder
	for _, command := range []string{
		`\d`, `\dt`, `\dt sys.*`, `\dt sys.job*`, `\dt nothing`, `\di`, `\di sys.jobs*`, `\dv`, `\ds`, `\dm`, `\dE`, `\dT`, `\dT+`, `\dD`, `\do`, `\dc`,
		`\df pg_catalog.format*`, `\dp`, `\z jobs`, `\ddp`, `\dy`, `\dRp`, `\dRs`, `\des`, `\dew`, `\deu`, `\det`, `\dP`, `\dX`, `\dA`,
		`\dAc btree uuid`, `\dAf btree uuid`, `\dC uuid`, `\sf format_type`, `\d jobs_pkey`, `\d+ jobs_pkey`, `\d sys.nothing`, `\dn sys`,
		`\d information_schema.schemata`,
	} {
		script.WriteString(command + "\n")
	}
	for _, table := range strings.Fields("jobs job_runs job_dependencies executions templates schedules groups reservations nodes performance audit") {
		fmt.Fprintf(&script, "\\d sys.%s\n\\d+ sys.%s\n\\dp sys.%s\n", table, table, table)
	}
	got, _ := s.psql(t, script.String())
	want, _ := of.psql(t, script.String())
	compare(t, parseTranscript(got), parseTranscript(want), func(answer string) string { return answer })
}

// Lists whose rows differ between the servers have the same headings.
func TestPsqlListsHaveHeadingsOfPostgres(t *testing.T) {
	s := startNode(t)
	of := postgresWithTables(t, s)
	script, err := os.ReadFile("testdata/psql/meta.sql")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := s.psql(t, string(script))
	want, _ := of.psql(t, string(script))
	compare(t, parseTranscript(got), parseTranscript(want), func(answer string) string {
		lines := strings.Split(answer, "\n")
		for i, line := range lines {
			if strings.HasPrefix(line, "---") && i > 0 {
				return strings.Join(strings.Fields(lines[i-1]), " ")
			}
		}
		return ""
	})
}

type answered struct{ command, answer string }

// parseTranscript splits a transcript into commands and answers.
func parseTranscript(transcript string) (list []answered) {
	for line := range strings.Lines(transcript) {
		if strings.HasPrefix(line, `\`) {
			list = append(list, answered{command: strings.TrimSpace(line)})
		} else if len(list) > 0 {
			list[len(list)-1].answer += line
		}
	}
	return list
}

func compare(t *testing.T, got, want []answered, part func(string) string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d answers, want %d", len(got), len(want))
	}
	for i := range got {
		if a, b := part(got[i].answer), part(want[i].answer); a != b {
			t.Errorf("%s: got\n%s\nwant\n%s", got[i].command, a, b)
		}
	}
}

// Both servers report the same column and parameter types for a prepared query.
func TestQueryTypesEqualPostgres(t *testing.T) {
	s := startNode(t)
	ours, theirs := s.connect(t), postgresWithTables(t, s).connect(t)
	for _, expression := range []string{
		"count(*)", "count(priority)", "sum(priority)", "sum(interval_seconds::int)", "sum(1.5)", "sum(2::float8)", "sum(2::real)", "avg(priority)", "avg(2::float8)", "min(created_at_ts)", "max(job_name)",
		"array_agg(job_name)", "array_agg(priority)", "string_agg(job_name, ',')", "bool_and(priority > 0)", "jsonb_agg(params)", "json_agg(job_name)", "stddev(priority)",
		"percentile_cont(0.5) WITHIN GROUP (ORDER BY priority)",
	} {
		sameTypes(t, ours, theirs, "SELECT "+expression+" FROM sys.jobs")
	}
	for _, expression := range []string{
		"*", "job_uuid", "job_name", "priority", "created_at_ts", "params", "extract(epoch FROM created_at_ts)", "extract(year FROM created_at_ts)", "date_part('hour', created_at_ts)", "now() - created_at_ts",
		"created_at_ts - interval '1 day'", "created_at_ts::date", "created_at_ts::date - 1", "created_at_ts::date - date '2026-01-01'", "created_at_ts AT TIME ZONE 'UTC'", "age(created_at_ts)", "date_trunc('day', created_at_ts)", "priority::text",
		"job_name || 'a'", "job_name || priority", "CASE WHEN priority > 0 THEN 'a' ELSE 'b' END", "CASE WHEN true THEN 1 ELSE 2.5 END", "coalesce(priority, 0)", "coalesce(description, 'none')", "nullif(priority, 0)",
		"'a' = 'b'", "priority > 1", "$1::int", "$1::bigint + 1", "priority + $1", "priority = $1", "job_uuid = $1", "created_at_ts > $1", "job_name = ANY ($1)", "job_name LIKE $1", "params ->> $1", "$1", "$1 || job_name", "created_at_ts + $1", "now() - $1::interval",
		"'a'", "NULL", "1", "1.5", "10000000000", "true", "1 + 1", "1 / 2", "1 + 1.5", "1::smallint + 1::smallint", "priority * 2", "priority * 1.5", "priority / 2.0::float8", "-priority", "abs(priority)", "round(1.5)", "round(priority::numeric, 2)", "floor(1.5)", "sqrt(2)", "power(2, 3)", "mod(priority, 2)",
		"length(job_name)", "upper(job_name)", "lower(job_name)", "substring(job_name FROM 1 FOR 2)", "position('a' IN job_name)", "trim(job_name)", "replace(job_name, 'a', 'b')", "split_part(job_name, '_', 1)", "left(job_name, 2)", "concat(job_name, 1)", "format('%s', job_name)", "md5(job_name)", "to_char(created_at_ts, 'YYYY')",
		"params -> 'a'", "params ->> 'a'", "params ? 'a'", "params @> '{}'", "jsonb_typeof(params)", "jsonb_build_object('a', 1)", "to_jsonb(priority)", "row_to_json(j)", "jsonb_array_length(partition_shards)",
		"ARRAY[1, 2]", "ARRAY['a']", "ARRAY[priority]", "ARRAY[job_uuid]", "array_length(ARRAY[1], 1)", "ARRAY[1] || 2", "(ARRAY['a'])[1]", "string_to_array(job_name, ',')", "array_to_string(ARRAY[1], ',')", "cardinality(ARRAY[1])",
		"row_number() OVER ()", "rank() OVER (ORDER BY priority)", "lag(job_name) OVER (ORDER BY priority)", "sum(priority) OVER ()", "ntile(4) OVER (ORDER BY priority)", "first_value(created_at_ts) OVER ()",
		"(SELECT count(*) FROM sys.job_runs)", "EXISTS (SELECT 1)", "priority IN (1, 2)", "priority BETWEEN 1 AND 2", "description IS NULL", "NOT true", "greatest(priority, 1)", "least(created_at_ts, now())",
		"now()", "current_timestamp", "current_date", "localtimestamp", "clock_timestamp()", "current_user", "current_schema", "version()", "pg_backend_pid()", "current_setting('timezone')", "pg_typeof(priority)",
		"interval '1 hour'", "interval '1 hour' * 2", "make_interval(hours => 1)", "'sys.jobs'::regclass", "'1'::oid", "'x'::name", "'x'::varchar", "'x'::varchar(3)", "'x'::char(3)", "'x'::\"char\"", "date '2026-01-01'", "time '12:00'", "'\\x00'::bytea", "'{}'::json", "'{a}'::text[]", "ROW(1, 'a')", "job_name COLLATE \"C\"",
		"generate_series(1, 2)", "unnest(ARRAY['a'])", "tableoid", "j.job_name::varchar", "job_uuid::text", "octet_length(job_name)", "to_timestamp(0)", "encode('\\x00', 'hex')", "regexp_replace(job_name, 'a', 'b')", "job_name ~ 'a'", "starts_with(job_name, 'a')", "chr(65)", "ascii('a')", "reverse(job_name)", "repeat('a', 2)", "lpad('a', 2)", "initcap('a')",
	} {
		sameTypes(t, ours, theirs, "SELECT "+expression+" FROM sys.jobs j")
	}
	for _, text := range []string{
		"VALUES (1, 'a', NULL), (2.5, 'b', now())", "SELECT 1 UNION SELECT 2.5", "SELECT NULL UNION ALL SELECT 1", "SELECT 'a' UNION SELECT job_name FROM sys.jobs", "TABLE sys.nodes",
		"WITH a AS (SELECT priority AS p, job_name FROM sys.jobs) SELECT p, job_name FROM a", "SELECT n.node_name, a.* FROM sys.nodes n LEFT JOIN sys.audit a ON true", "SELECT * FROM generate_series(1, 3) g (n)",
		"SELECT key, value FROM jsonb_each('{}')", "SELECT * FROM unnest(ARRAY[1]) WITH ORDINALITY", "SELECT * FROM sys.jobs NATURAL JOIN sys.job_dependencies", "SELECT job_name FROM sys.jobs LIMIT $1 OFFSET $2",
		"SELECT relname, relkind, relacl, reltuples, oid FROM pg_class", "SELECT * FROM information_schema.columns", "SELECT * FROM pg_attribute", "SELECT * FROM pg_type", "SELECT * FROM pg_proc", "SELECT * FROM pg_settings", "SELECT * FROM pg_tables",
		"SELECT * FROM sys.jobs WHERE next_run_time < $1 AND job_uuid = $2 AND state = ANY ($3) AND created_at_ts BETWEEN $4 AND $5", "SELECT CASE WHEN $1 THEN 1 ELSE 2 END", "SELECT coalesce($1, 1)", "SELECT $1 = $2::uuid",
	} {
		sameTypes(t, ours, theirs, text)
	}
}

// described is the description of a prepared query.
type described struct {
	names    []string
	kinds    []uint32
	params   []uint32
	of       []uint16
	sizes    []int16
	sqlstate string
}

func describe(t *testing.T, conn *pgx.Conn, text string) (d described) {
	t.Helper()
	sd, err := conn.PgConn().Prepare(t.Context(), "", text, nil)
	if err != nil {
		return described{sqlstate: fmt.Sprint(stateOf(err), " ", err)}
	}
	for _, f := range sd.Fields {
		d.names, d.kinds, d.of, d.sizes = append(d.names, f.Name), append(d.kinds, f.DataTypeOID), append(d.of, f.TableAttributeNumber), append(d.sizes, f.DataTypeSize)
	}
	d.params = append(d.params, sd.ParamOIDs...)
	return d
}

func sameTypes(t *testing.T, ours, theirs *pgx.Conn, text string) {
	t.Helper()
	a, b := describe(t, ours, text), describe(t, theirs, text)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s:\n got %+v\nwant %+v", text, a, b)
	}
}
