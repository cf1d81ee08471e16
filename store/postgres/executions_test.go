package postgres

import (
	"maps"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// plannedSQL inserts a planned job with its own plan time.
func plannedSQL(id, plan string, more map[string]string) string {
	values := map[string]string{
		"id": id, "name": "'nightly'", "plan_time": "1700000000000000 + " + plan, "created_at": "1700000000000000", "max_attempts": "2",
	}
	maps.Copy(values, more)
	return insertJobSQL(values)
}

// startedSQL and endedSQL are what a claim and a finish write.
const (
	startedSQL = `UPDATE rota_jobs SET status = 'RUNNING', started_at = 1700000001000000, run_id = gen_random_uuid(), token = gen_random_uuid(), runner = 'node',
	  heartbeat_at = 1700000002000000, stale_after = 1700000032000000 WHERE id = `
	endedSQL = `UPDATE rota_jobs SET ended_at = 1700000003500000, finished_at = 1700000003500000, `
)

// TestExecutionsView reads the executions view as any SQL client does.
func TestExecutionsView(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	ids := insertGuardedRows(t, s) // none of these rows is both planned and started
	p := newRawConn(t, s, ids)
	for _, name := range []string{"waiting", "dropped", "open", "success", "nothing", "skipped", "stopped", "trying", "tried", "retry", "again", "unusual"} {
		ids[name] = rota.NewID()
	}
	retried := func(of string) map[string]string {
		return map[string]string{"retry_of": of, "execution_id": of, "attempt": "2", "run_at": "1700000060000000", "hold": "1", "queued_at": "NULL"}
	}
	for _, sql := range []string{
		plannedSQL(":waiting", "1", nil),
		plannedSQL(":dropped", "2", nil),
		`UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = :dropped`,
		plannedSQL(":open", "3", map[string]string{"scope_kind": "'shard'", "scope_id": "'7'"}),
		startedSQL + `:open`,
		plannedSQL(":success", "4", nil),
		startedSQL + `:success`,
		endedSQL + `outcome = 'COMPLETED', sequel = 'none', rows_affected = 5, result = '{"a":1}' WHERE id = :success`,
		plannedSQL(":nothing", "5", nil),
		startedSQL + `:nothing`,
		endedSQL + `outcome = 'SKIPPED', sequel = 'none' WHERE id = :nothing`,
		plannedSQL(":skipped", "6", nil),
		`UPDATE rota_jobs SET status = 'RUNNING', started_at = 1700000001000000, run_id = id, token = id, runner = '', heartbeat_at = 1700000001000000,
		  stale_after = 1700000001000000, outcome = 'SKIPPED', ended_at = 1700000001000000, finished_at = 1700000001000000, sequel = 'none',
		  error_code = 'overlap', error = 'it runs' WHERE id = :skipped`,
		plannedSQL(":stopped", "7", nil),
		startedSQL + `:stopped`,
		`UPDATE rota_jobs SET cancel_at = 1700000003000000, cancel_by = 'ada', cancel_reason = 'enough' WHERE id = :stopped`,
		endedSQL + `outcome = 'CANCELLED', sequel = 'none' WHERE id = :stopped`,
		plannedSQL(":trying", "8", nil),
		startedSQL + `:trying`,
		endedSQL + `outcome = 'FAILED', sequel = 'retry', error_code = 'E7', error = 'boom' WHERE id = :trying`,
		plannedSQL(":retry", "8", retried(":trying")),
		plannedSQL(":tried", "9", nil),
		startedSQL + `:tried`,
		endedSQL + `outcome = 'FAILED', sequel = 'retry', error = 'boom' WHERE id = :tried`,
		plannedSQL(":again", "9", retried(":tried")),
		startedSQL + `:again`,
		plannedSQL(":unusual", "10", nil),
		startedSQL + `:unusual`,
		endedSQL + `outcome = 'COMPLETED', sequel = 'none', result = '["\u0000", 1e999999]' WHERE id = :unusual`,
	} {
		p.must(sql)
	}
	const read = `SELECT concat_ws(' ', job_name, scope_kind, scope_id, to_char(plan_time, 'US')::int, status, attempt || '/' || max_attempts,
	  extract(epoch FROM next_retry_at)::int, coalesce(runner_id, '-'), coalesce(lease_token::text, 'no token'), duration_ms || 'ms',
	  rows_affected, result, error_code, error_msg, extract(epoch FROM updated_at - created_at)::numeric(9, 1))
	FROM rota_executions ORDER BY plan_time`
	got := strings.Join(p.column(read), "\n")
	if want := strings.TrimSpace(`
nightly shard 7 3 RUNNING 1/2 node no token {} 2.0
nightly global global 4 SUCCESS 1/2 node no token 2500ms 5 {"a": 1} 3.5
nightly global global 5 SUCCESS 1/2 node no token 2500ms {} 3.5
nightly global global 6 FAILED 1/2 - no token 0ms {} overlap it runs 1.0
nightly global global 7 FAILED 1/2 node no token 2500ms {} cancelled enough 3.5
nightly global global 8 FAILED 1/2 1700000060 node no token 2500ms {} E7 boom 3.5
nightly global global 9 RUNNING 2/2 node no token {} 2.0
nightly global global 10 SUCCESS 1/2 node no token 2500ms "[\"\\u0000\", 1e999999]" 3.5`); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if same := p.column(`SELECT count(*) FROM rota_executions e JOIN rota_jobs j ON j.id = e.id AND j.retry_of IS NULL AND j.plan_time IS NOT NULL`)[0]; same != "8" {
		t.Errorf("%s of 8 executions have the id of their first attempt", same)
	}
	times := p.column(`SELECT rota_time(253402300799999999) AT TIME ZONE 'UTC' || ', ' || rota_time(-1) AT TIME ZONE 'UTC'`)[0]
	if times != "9999-12-31 23:59:59.999999, 1969-12-31 23:59:59.999999" {
		t.Errorf("the times are %s", times)
	}
}
