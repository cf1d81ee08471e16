package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/system"
)

// end claims one job and finishes it.
func (b *fixture) end(item rota.FinishItem) {
	b.Helper()
	claim := &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"sql", "noop", "report"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()}
	jobs := do[*rota.Claimed](b, claim).Jobs
	if len(jobs) != 1 {
		b.Fatalf("claimed %d jobs, want 1", len(jobs))
	}
	item.LeaseRef = jobs[0].Lease()
	do[*rota.Finished](b, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
}

// value returns the single value that a query returns.
func (b *fixture) value(query string) any {
	b.Helper()
	answers, err := b.session.Answers(context.Background(), query)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	if rows := answers[0].Rows; len(rows) != 1 || len(rows[0]) != 1 {
		b.Fatalf("%s: %v, want one value", query, rows)
	}
	return answers[0].Rows[0][0]
}

// TestColumnsHaveTypesOfTheDocuments compares the types of sys with document 002 §6 and document 003. VARCHAR is text.
// exit_code, which they lack, holds what a remote worker sends: Windows has exit codes above the range of integer.
func TestColumnsHaveTypesOfTheDocuments(t *testing.T) {
	for table, columns := range map[string]string{
		"jobs": `job_uuid uuid, job_name text, description text, job_class text, job_type text, job_sql text, procedure_uuid uuid,
			external_command text, schedule_kind text, cron_expression text, interval_seconds bigint, starts_at bigint, ends_at bigint,
			schedule_tz text, next_run_time bigint, on_completion text, partition_strategy text, partition_shard_uuid uuid,
			partition_expression text, max_retries integer, retry_backoff_seconds integer, timeout_seconds integer,
			created_by_user_uuid uuid, run_as_role_uuid uuid, created_at bigint, state text, priority integer`,
		"job_runs": `job_run_uuid uuid, job_uuid uuid, assigned_node_uuid uuid, shard_uuid uuid, scheduled_time bigint, started_at bigint,
			completed_at bigint, state text, retry_count integer, result_message text, rows_affected bigint, result_data bytea,
			error_code integer, error_name text, result_json jsonb, priority integer, exit_code bigint`,
		"job_dependencies": `job_uuid uuid, depends_on_job_uuid uuid`,
		"executions": `id uuid, job_name text, scope_kind text, scope_id text, plan_time timestamptz, status text, attempt integer,
			max_attempts integer, next_retry_at timestamptz, runner_id text, lease_token uuid, heartbeat_at timestamptz,
			stale_after timestamptz, started_at timestamptz, finished_at timestamptz, duration_ms integer, rows_affected bigint,
			result jsonb, error_code text, error_msg text, created_at timestamptz, updated_at timestamptz`,
		"schedules": "priority integer",
		"templates": "priority integer, max_retries integer",
	} {
		got := map[string]kind.Kind{}
		for _, c := range system.Tables()[table] {
			got[c.Name] = c.Kind
		}
		for _, column := range strings.Split(columns, ",") {
			name, want, _ := strings.Cut(strings.TrimSpace(column), " ")
			if string(got[name]) != want {
				t.Errorf("sys.%s.%s is %q, want %s", table, name, got[name], want)
			}
		}
	}
}

// TestErrorCodeOfARunIsANumberAndItsNameAText ends runs with codes that are numbers and codes that are not.
func TestErrorCodeOfARunIsANumberAndItsNameAText(t *testing.T) {
	for code, want := range map[string]any{
		"1064": int64(1064), "-7": int64(-7), "23505": int64(23505),
		"timeout": nil, "08006": nil, "40P01": nil, "2147483648": nil, "1.5": nil,
	} {
		b := newFixture(t)
		b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR MAX_RETRIES = 0 AS CALL noop(); EXECUTE JOB n")
		b.end(rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no", ErrorCode: code})
		if got := b.value("SELECT error_code FROM sys.job_runs"); got != want {
			t.Errorf("code %s: error_code %v, want %v", code, got, want)
		}
		if got := b.value("SELECT error_name FROM sys.job_runs"); got != code {
			t.Errorf("code %s: error_name %v", code, got)
		}
		if got := b.value("SELECT error_code FROM sys.executions"); got != code {
			t.Errorf("code %s: sys.executions.error_code %v", code, got)
		}
	}
}

func TestResultOfARunIsBytesAndJSON(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop(); EXECUTE JOB n")
	b.has("SELECT result_data IS NULL AS a, result_json IS NULL AS b FROM sys.job_runs", "true | true")
	b.end(rota.FinishItem{Outcome: rota.OutcomeCompleted, Result: []byte(`{"sum":7}`)})
	if got, is := b.value("SELECT result_data FROM sys.job_runs").([]byte); !is || string(got) != `{"sum":7}` {
		t.Errorf("result_data %v", got)
	}
	b.has("SELECT result_json->>'sum' AS sum FROM sys.job_runs WHERE result_json @> '{\"sum\": 7}'", "\n7\n")
	b.has("SELECT convert_from(result_data, 'UTF8') AS t FROM sys.job_runs", `{"sum":7}`)
	b.has("SELECT encode(result_data, 'hex') AS h FROM sys.job_runs", fmt.Sprintf("\n%x\n", `{"sum":7}`))
}

// TestRunThatWaitsForItsRetryShowsTheLastFailure reads a run between two attempts, and after the last.
func TestRunThatWaitsForItsRetryShowsTheLastFailure(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR MAX_RETRIES = 1 RETRY_BACKOFF = 10 MINUTES AS CALL noop()")
	b.run("EXECUTE JOB n")
	b.clock.move(time.Minute)
	b.end(rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "first", ErrorCode: "17", ExitCode: new(3)})
	const query = "SELECT state, retry_count, result_message, error_code, error_name, exit_code, started_at_ts, completed_at_ts, created_at_ts, scheduled_time_ts FROM sys.job_runs"
	b.has(query, "PENDING | 1 | first | 17 | 17 | 3 | 2026-03-01T12:01:00.000000Z |  | 2026-03-01T12:00:00.000000Z | 2026-03-01T12:00:00.000000Z")
	b.has("SELECT status, attempt, error_msg, error_code FROM sys.executions", "FAILED | 1 | first | 17")
	b.clock.move(20 * time.Minute)
	b.fire()
	b.end(rota.FinishItem{Outcome: rota.OutcomeCompleted})
	b.has(query, "COMPLETED | 1 |  |  |  |  | 2026-03-01T12:21:00.000000Z | 2026-03-01T12:21:00.000000Z | 2026-03-01T12:00:00.000000Z | 2026-03-01T12:00:00.000000Z")
}

// TestScheduledTimeOfARetriedRunIsTheFirstAttempts uses runs without a plan time: one with a delay and one without.
func TestScheduledTimeOfARetriedRunIsTheFirstAttempts(t *testing.T) {
	b := newFixture(t)
	for _, at := range []time.Time{{}, began.Add(5 * time.Minute)} {
		do[*rota.Enqueued](b, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "noop", RunAt: at, MaxRetries: new(3)}}})
	}
	b.clock.move(10 * time.Minute)
	b.fire()
	for range 2 {
		b.end(rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no"})
	}
	b.has("SELECT scheduled_time_ts, created_at_ts, retry_count FROM sys.job_runs ORDER BY scheduled_time",
		"2026-03-01T12:00:00.000000Z | 2026-03-01T12:00:00.000000Z | 1\n2026-03-01T12:05:00.000000Z | 2026-03-01T12:00:00.000000Z | 1")
}

// TestJobUUIDOfARunIsNeverNull covers runs of a schedule, of a dropped one, of a template and of a type.
func TestJobUUIDOfARunIsNeverNull(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOB gone SCHEDULE = EVERY 1 HOUR AS CALL noop(); EXECUTE JOB n; EXECUTE JOB gone")
	b.template("mail", rota.TemplateSpec{Type: "report"})
	b.template("noop", rota.TemplateSpec{Type: "noop"}) // the name of a type
	for _, job := range []rota.NewJob{{Template: "mail"}, {Template: "noop"}, {Type: "noop"}, {Type: "noop", Name: "n"}} {
		do[*rota.Enqueued](b, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{job}})
	}
	b.runJobs(rota.OutcomeCompleted)
	uuidOf := "SELECT job_uuid FROM sys.jobs WHERE job_name = "
	dropped := b.value(uuidOf + "'gone'")
	b.has("DROP JOB gone KEEP HISTORY", "DROP JOB")
	b.sweep()
	b.has("SELECT count(*) FROM sys.job_runs", "\n6\n")
	b.has("SELECT count(*) FROM sys.job_runs WHERE job_uuid IS NULL", "\n0\n")
	b.has("SELECT count(DISTINCT job_uuid) FROM sys.job_runs", "\n5\n")
	b.has("SELECT job_name FROM sys.job_runs WHERE job_uuid = ("+uuidOf+"'n')", "job_name\nn\nSELECT 1")
	b.has(fmt.Sprintf("SELECT job_name FROM sys.job_runs WHERE job_uuid = '%s'", dropped), "job_name\ngone\nSELECT 1")
	b.has("SELECT count(*) FROM sys.jobs j JOIN sys.job_runs r ON r.job_uuid = j.job_uuid", "\n1\n")
	b.has("SELECT a.job_run_uuid = b.job_run_uuid AS same, b.template FROM sys.job_runs a JOIN sys.job_runs b ON b.job_uuid = a.job_uuid WHERE a.template = 'mail'", "true | mail\nSELECT 1")
	b.has("SELECT count(*) FROM sys.job_runs a JOIN sys.job_runs b ON b.job_uuid = a.job_uuid WHERE a.template IS NULL", "\n4\n")
}

// TestScheduleTZIsAsDeclared declares a zone with each kind of schedule.
func TestScheduleTZIsAsDeclared(t *testing.T) {
	b := newFixture(t)
	for _, test := range []struct{ schedule, zone, tz, first string }{
		{"CRON '0 3 * * *'", "TIME ZONE 'Europe/Berlin'", "Europe/Berlin", "2026-03-02T02:00:00.000000Z"},
		{"CRON '0 3 * * *'", "TIME ZONE 'Etc/UTC'", "Etc/UTC", "2026-03-02T03:00:00.000000Z"},
		{"CRON '0 3 * * *'", "", "UTC", "2026-03-02T03:00:00.000000Z"},
		{"AT '2026-03-02 09:00'", "TIME ZONE 'Asia/Tokyo'", "Asia/Tokyo", "2026-03-02T00:00:00.000000Z"},
		{"AT '2026-03-02 09:00+02'", "TIME ZONE 'Asia/Tokyo'", "Asia/Tokyo", "2026-03-02T07:00:00.000000Z"},
		{"AT '2026-03-03'", "TIME ZONE 'America/New_York'", "America/New_York", "2026-03-03T05:00:00.000000Z"},
		{"AT '2026-03-03'", "", "UTC", "2026-03-03T00:00:00.000000Z"},
		{"EVERY INTERVAL '5' MINUTE", "TIME ZONE 'Asia/Tokyo'", "Asia/Tokyo", "2026-03-01T12:05:00.000000Z"},
		{"EVERY 1 HOUR STARTS '2026-03-04'", "TIME ZONE 'Asia/Tokyo'", "Asia/Tokyo", "2026-03-03T15:00:00.000000Z"},
	} {
		b.has("RECREATE JOB n SCHEDULE = "+test.schedule+" "+test.zone+" AS CALL noop()", "RECREATE JOB")
		b.has("SELECT schedule_tz, next_run_time_ts FROM sys.jobs", test.tz+" | "+test.first)
		again := b.created("n")
		b.has(strings.Replace(again, "CREATE JOB", "RECREATE JOB", 1), "RECREATE JOB")
		if got := b.created("n"); got != again {
			t.Errorf("created again, the job is\n%s\nand was\n%s", got, again)
		}
	}
	b.has("ALTER JOB n SET SCHEDULE = AT '2026-03-05'", "ALTER JOB") // in the zone that the job has
	b.has("SELECT schedule_tz, next_run_time_ts FROM sys.jobs", "Asia/Tokyo | 2026-03-04T15:00:00.000000Z")
	b.has("ALTER JOB n SET TIME ZONE 'Europe/Paris'", "ALTER JOB") // the instant stays
	b.has("SELECT schedule_tz, next_run_time_ts FROM sys.jobs", "Europe/Paris | 2026-03-04T15:00:00.000000Z")
	b.has("CREATE JOB bad SCHEDULE = EVERY 1 HOUR TIME ZONE 'Mars/Olympus' AS CALL noop()", "ERROR: line 1, column 50: TIME ZONE", "22023")
}

// TestExecutionsShowDispatchedAndEndedOnly follows executions through the three statuses of document 003.
func TestExecutionsShowDispatchedAndEndedOnly(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB n SCHEDULE = EVERY 1 HOUR MAX_RETRIES = 1 AS CALL noop()")
	wants := func(rows ...string) {
		t.Helper()
		b.has("SELECT status, attempt, result FROM sys.executions ORDER BY id", strings.Join(append([]string{"result"}, rows...), "\n")+fmt.Sprintf("\nSELECT %d\n", len(rows)))
		b.has("SELECT count(*) FROM sys.executions", fmt.Sprintf("\n%d\n", len(rows)))
		b.has("SELECT count(*) FROM sys.executions WHERE schedule = 'n'", fmt.Sprintf("\n%d\n", len(rows)))
		b.has("SELECT count(*) FROM sys.executions WHERE status NOT IN ('RUNNING', 'SUCCESS', 'FAILED') OR result IS NULL", "\n0\n")
	}
	run := strings.Split(b.run("EXECUTE JOB n"), "\n")[1]
	wants()
	b.has("SELECT count(*) FROM sys.executions WHERE id = '"+run+"'", "\n0\n")
	do[*rota.Claimed](b, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"noop"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	wants("RUNNING | 1 | {}")
	b.has("SELECT count(*) FROM sys.executions WHERE id = '"+run+"'", "\n1\n")
	b.run("EXECUTE JOB n")
	wants("RUNNING | 1 | {}")
	b.end(rota.FinishItem{Outcome: rota.OutcomeFailed, Error: "no", Result: []byte(`{"n":1}`)})
	wants("RUNNING | 1 | {}", `FAILED | 1 | {"n":1}`) // it waits for its retry
	b.clock.move(2 * time.Minute)
	b.fire()
	b.end(rota.FinishItem{Outcome: rota.OutcomeCompleted})
	wants("RUNNING | 1 | {}", "SUCCESS | 2 | {}")
	cancelled := strings.Split(b.run("EXECUTE JOB n"), "\n")[1]
	b.has("CANCEL JOB RUN "+cancelled, "CANCEL JOB RUN")
	wants("RUNNING | 1 | {}", "SUCCESS | 2 | {}", "FAILED | 1 | {}")
}
