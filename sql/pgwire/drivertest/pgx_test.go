package drivertest

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// modes are all query modes of pgx.
var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// everyMode runs a test in every mode, each on a connection of its own.
func everyMode(t *testing.T, s *server, test func(t *testing.T, conn *pgx.Conn)) {
	t.Helper()
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			config, err := pgx.ParseConfig(s.url())
			if err != nil {
				t.Fatal(err)
			}
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(t.Context())
			test(t, conn)
		})
	}
}

func stateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func TestPgxScansIntoGoTypes(t *testing.T) {
	s := startWithHistory(t)
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		var (
			id, procedure    pgtype.UUID
			raw              [16]byte
			idText           string
			name             string
			description      *string
			priority         int64
			priority32       int32
			interval, starts *int64
			paused           bool
			created          time.Time
			next, ends       *time.Time
			params           map[string]any
			document         json.RawMessage
			average          float64
			list             []string
			numbers          []int64
			sum              pgtype.Numeric
			span             pgtype.Interval
			spent            time.Duration
			day              time.Time
			class            uint32
			mixed            any
			nothing          pgtype.Text
		)
		err := conn.QueryRow(t.Context(), `
			SELECT job_uuid, job_uuid, job_uuid::text, procedure_uuid, job_name, description, priority, priority, interval_seconds, starts_at,
				state = 'PAUSED', created_at_ts, next_run_time_ts, ends_at_ts, params, params,
				(SELECT avg(priority)::float8 FROM sys.jobs), ARRAY[job_name, 'b'], ARRAY[1, 2]::bigint[], (SELECT sum(priority) FROM sys.jobs),
				interval '1 month 2 days 3 seconds', interval '90 seconds', date '2026-02-03', 'sys.jobs'::regclass::oid, priority, NULL::text
			FROM sys.jobs WHERE job_name = 'tick'`).Scan(
			&id, &raw, &idText, &procedure, &name, &description, &priority, &priority32, &interval, &starts,
			&paused, &created, &next, &ends, &params, &document,
			&average, &list, &numbers, &sum,
			&span, &spent, &day, &class, &mixed, &nothing,
		)
		if err != nil {
			t.Fatal(err)
		}
		if !id.Valid || id.Bytes != raw || id.String() != idText || procedure.Valid {
			t.Errorf("the ids are %v, %x, %s, %v", id, raw, idText, procedure)
		}
		if name != "tick" || description != nil || priority != 7 || priority32 != 7 || interval == nil || *interval != 3600 || starts != nil || paused {
			t.Error(name, description, priority, priority32, interval, starts, paused)
		}
		if time.Since(created).Abs() > time.Minute || next == nil || time.Until(*next) < 50*time.Minute || ends != nil {
			t.Error(created, next, ends)
		}
		if params == nil || string(document) != "{}" || average != 1.4 {
			t.Error(params, string(document), average)
		}
		if !reflect.DeepEqual(list, []string{"tick", "b"}) || !reflect.DeepEqual(numbers, []int64{1, 2}) {
			t.Error(list, numbers)
		}
		if f, _ := sum.Float64Value(); f.Float64 != 7 {
			t.Error(sum)
		}
		if span.Months != 1 || span.Days != 2 || span.Microseconds != 3e6 || spent != 90*time.Second || day.Format(time.DateOnly) != "2026-02-03" {
			t.Error(span, spent, day)
		}
		if class == 0 || mixed != int32(7) || nothing.Valid {
			t.Errorf("%d %T %v", class, mixed, nothing)
		}
	})
}

// The types of columns and parameters are known before the query runs.
func TestPgxPrepareReportsTypes(t *testing.T) {
	s := startNode(t)
	conn := s.connect(t)
	d, err := conn.Prepare(t.Context(), "typed", `
		SELECT job_run_uuid, job_name, retry_count, started_at_ts, result_data, state = 'RUNNING', now() - started_at_ts, avg(rows_affected) OVER ()
		FROM sys.job_runs WHERE job_run_uuid = $1 AND started_at_ts > $2 AND retry_count < $3 AND state = ANY ($4) AND params @> $5 LIMIT $6`)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint32
	for _, f := range d.Fields {
		got = append(got, f.DataTypeOID)
	}
	want := []uint32{pgtype.UUIDOID, pgtype.TextOID, pgtype.Int4OID, pgtype.TimestamptzOID, pgtype.ByteaOID, pgtype.BoolOID, pgtype.IntervalOID, pgtype.NumericOID}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the columns are %v, want %v", got, want)
	}
	params := []uint32{pgtype.UUIDOID, pgtype.TimestamptzOID, pgtype.Int4OID, pgtype.TextArrayOID, pgtype.JSONBOID, pgtype.Int8OID}
	if !reflect.DeepEqual(d.ParamOIDs, params) {
		t.Errorf("the parameters are %v, want %v", d.ParamOIDs, params)
	}
}

func TestPgxParameters(t *testing.T) {
	s := startWithHistory(t)
	conn := s.connect(t)
	var id pgtype.UUID
	var next int64
	if err := conn.QueryRow(t.Context(), "SELECT job_uuid, next_run_time FROM sys.jobs WHERE job_name = 'tick'").Scan(&id, &next); err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		for _, test := range []struct {
			where string
			args  []any
			want  int
		}{
			{"sys.jobs WHERE job_uuid = $1", []any{id}, 1},
			{"sys.jobs WHERE job_uuid = $1", []any{id.String()}, 1},
			{"sys.jobs WHERE job_uuid <> $1 AND job_name <> $2", []any{id, "long"}, 3},
			{"sys.job_runs WHERE started_at_ts > $1", []any{hour}, 5},
			{"sys.job_runs WHERE started_at_ts < $1", []any{hour}, 0},
			{"sys.job_runs WHERE started_at_ts > now() - $1::interval", []any{"1 hour"}, 5},
			{"sys.job_runs WHERE started_at_ts > now() - $1::interval", []any{time.Hour}, 5},
			{"sys.jobs WHERE next_run_time = $1", []any{next}, 1},
			{"sys.jobs WHERE next_run_time < $1", []any{next}, 0},
			{"sys.job_runs WHERE state = ANY($1)", []any{[]string{"COMPLETED", "FAILED"}}, 4},
			{"sys.job_runs WHERE NOT state = ALL($1::text[])", []any{[]string{"COMPLETED", "FAILED"}}, 5},
			{"sys.jobs WHERE priority = ANY($1::bigint[])", []any{[]int64{7, 8}}, 1},
			{"sys.jobs WHERE job_uuid = ANY($1::uuid[])", []any{[]string{id.String()}}, 1},
			{"sys.nodes WHERE is_leader = $1", []any{true}, 1},
			{"sys.nodes WHERE is_leader = $1", []any{false}, 0},
			{"sys.jobs WHERE job_name ILIKE $1", []any{"T%"}, 1},
			{"sys.jobs WHERE job_name ~* $1", []any{"^t"}, 1},
			{"sys.jobs WHERE job_name IN ($1, $2)", []any{"tick", "once"}, 2},
			{"sys.jobs WHERE description IS NOT DISTINCT FROM $1::text", []any{nil}, 4},
			{"sys.jobs WHERE priority BETWEEN $1 AND $2", []any{1, 10}, 1},
			{"sys.jobs WHERE priority * 1.5 > $1::float8", []any{10.4}, 1},
			{"sys.jobs WHERE priority = $1::numeric", []any{pgtype.Numeric{Int: bigOf(7), Valid: true}}, 1},
			{"sys.jobs WHERE params ->> 'for' = $1", []any{"1h"}, 1},
			{"sys.jobs WHERE params = $1::jsonb", []any{"{}"}, 1},
			{"(SELECT job_name FROM sys.jobs ORDER BY 1 LIMIT $1 OFFSET $2) j", []any{2, 1}, 2},
			{"sys.jobs WHERE coalesce($1, job_name) = $2", []any{nil, "tick"}, 1},
			{"sys.jobs WHERE next_run_time_ts::date >= $1::date", []any{time.Now().UTC()}, 4}, // pgx sends the date in the zone of the time
			{"unnest($1::text[]) u WHERE u = $2", []any{[]string{"a", "b"}, "b"}, 1},
		} {
			var got int
			if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+test.where, test.args...).Scan(&got); err != nil || got != test.want {
				t.Errorf("%s %v: got %d, %v; want %d", test.where, test.args, got, err, test.want)
			}
		}
	})
}

func TestPgxCollectsRows(t *testing.T) {
	s := startWithHistory(t)
	type run struct {
		ID      pgtype.UUID `db:"job_run_uuid"`
		Name    string      `db:"job_name"`
		State   string
		Retries int64      `db:"retry_count"`
		Started *time.Time `db:"started_at_ts"`
		Params  struct {
			For string `json:"for"`
		}
		Worker *string `db:"assigned_node"`
	}
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		rows, err := conn.Query(t.Context(), "SELECT job_run_uuid, job_name, state, retry_count, started_at_ts, params, assigned_node FROM sys.job_runs ORDER BY job_name")
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByName[run])
		if err != nil || len(list) != 5 {
			t.Fatal(len(list), err)
		}
		if r := list[1]; r.Name != "long" || r.State != "RUNNING" || r.Params.For != "1h" || r.Started == nil || r.Worker == nil || !r.ID.Valid {
			t.Errorf("%+v", r)
		}
		rows, _ = conn.Query(t.Context(), "SELECT job_name, priority FROM sys.jobs ORDER BY priority DESC, job_name LIMIT 2")
		maps, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil || maps[0]["job_name"] != "tick" || maps[0]["priority"] != int32(7) {
			t.Errorf("%v, %v", maps, err)
		}
		var none string
		if err := conn.QueryRow(t.Context(), "SELECT job_name FROM sys.jobs WHERE job_name = $1", "nothing").Scan(&none); !errors.Is(err, pgx.ErrNoRows) {
			t.Error(err)
		}
	})
}

// In each mode an error has its state, position and hint, and the connection stays usable.
func TestPgxErrorsHaveStateAndPosition(t *testing.T) {
	s := startWithHistory(t)
	everyMode(t, s, func(t *testing.T, conn *pgx.Conn) {
		for _, test := range []struct {
			text, state string
			position    int32
			hint        bool
		}{
			{"SELECT job_name, stat FROM sys.jobs", "42703", 18, true},
			{"SELECT * FROM sys.jbos", "42P01", 15, true},
			{"SELEC 1", "42601", 1, true},
			{"SELECT 'é', nothing(1)", "42883", 13, false},
			{"DROP JOB nothing", "42704", 10, true},
			{"CREATE JOB tick SCHEDULE EVERY 1 HOUR AS 'SELECT 1'", "42710", 12, true},
			{"CREATE JOB bad SCHEDULE CRON '61 * * * *' AS 'SELECT 1'", "22023", 30, false},
			{"CREATE JOB bad SCHEDULE CRON '@daily' TIME ZONE 'Mars/Olympus' AS 'SELECT 1'", "22023", 49, true},
			{"CREATE JOB bad SCHEDULE AT '2020-01-01' AS 'SELECT 1'", "22023", 28, true},
			{"SELECT 'x'::uuid", "22P02", 8, true},
			{"SELECT 1 / (SELECT 0)", "22012", 0, true},
			{"LISTEN something", "0A000", 1, true},
			{"INSERT INTO sys.jobs VALUES (1)", "0A000", 1, true},
			{"COPY sys.jobs TO STDOUT", "0A000", 1, true},
			{"SET timezone = 'Mars/Olympus'", "22023", 0, true},
		} {
			_, err := conn.Exec(t.Context(), test.text)
			var e *pgconn.PgError
			if !errors.As(err, &e) || e.Code != test.state || e.Position != test.position || (e.Hint != "") != test.hint || e.Severity != "ERROR" || e.SeverityUnlocalized != "ERROR" || e.Message == "" {
				t.Errorf("%s: got %+v, %v", test.text, e, err)
			}
		}
		var one int
		if err := conn.QueryRow(t.Context(), "SELECT 1").Scan(&one); err != nil || one != 1 {
			t.Error(one, err)
		}
		if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{"sys", "jobs"}, []string{"job_name"}, pgx.CopyFromRows([][]any{{"a"}})); stateOf(err) != "0A000" {
			t.Error("COPY:", err)
		}
		if err := conn.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
