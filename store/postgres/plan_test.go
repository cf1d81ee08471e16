package postgres

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// filtersRows matches a plan line that reads jobs and filters them by type or priority.
var filtersRows = regexp.MustCompile(`Filter:.*(type [<>=]+ (\$|queue)|priority [<>=])`)

// TestPlansUseIndexesOfTypeQueues checks that the statements of claims and maintenance use their
// index conditions for any statistics of the table, and filter no rows. PostgreSQL keeps a plan
// although the statistics change: a queue that was empty at planning may be full a second later.
func TestPlansUseIndexesOfTypeQueues(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	checkPlans := func(when string, tiny bool) {
		for _, one := range []struct{ name, sql, types, values, index string }{
			{"anything else", sqlAnythingElse, "uuid, text[]", "NULL, '{other}'", "jobs_claim"},
			{"single type", sqlSingleType, "text, text[], bigint, uuid", "'other', '{work}', 10, NULL", "jobs_claim"},
			{"heads", sqlHeadsLocked, "text[], int[], bigint, bigint, bigint", "'{other}', '{10}', 10, 10, 10", "jobs_claim"},
			{"read queue", sqlQueue, "bigint", "10", "jobs_claim"},
			{"read queue behind a job", sqlQueueAfter, "bigint, bigint, bigint, bigint, uuid", "10, 0, 0, 0, NULL", "jobs_claim"},
			{"read before", sqlBefore, "text, bigint, bigint, bigint, uuid, bigint", "'other', 0, 0, 0, NULL, 10", "jobs_claim"},
			{"due", sqlDue, "bigint, bigint", "0, 10", "jobs_due"},
			{"next due", sqlNextDue, "bigint", "0", "jobs_due"},
			{"next to expire", sqlNextDue, "bigint", "0", "jobs_wait"},
			{"tails", sqlTails, "int[], bigint", "'{0}', 10", "jobs_order"},
			{"check assumption", sqlCheckAssumption, "uuid, text[], text, bigint, bigint, int[]", "NULL, '{other}', '', 0, 0, '{0}'", "jobs_order"},
			{"lower priority", sqlLowerPriority, "int", "0", "jobs_order"},
			{"ahead", sqlOrderAhead, "int, uuid, bigint, bigint", "0, NULL, 10, 0", "jobs_order"},
			{"back", sqlOrderBack, "int, uuid, bigint, bigint", "0, NULL, 10, 0", "jobs_order"},
			{"stale", sqlStale, "bigint, uuid, bigint, bigint, bigint", "0, NULL, 0, 10, 1", "jobs_open"},
			{"unsettled", sqlUnsettled, "text, uuid, bigint", "'w', NULL, 10", "jobs_open"},
		} {
			plan, how := "", "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
			if strings.HasPrefix(one.name, "read ") { // not part of a transaction of the rules
				if tiny {
					continue // the planner scans a tiny table
				}
				how = ""
			}
			for _, line := range rows(t, s, how+`
SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+one.types+`) AS `+one.sql+`;
EXPLAIN EXECUTE e (`+one.values+`)`) {
				plan += line[0] + "\n"
				if filtersRows.MatchString(line[0]) {
					plan += "^ filters rows\n"
				}
			}
			if !strings.Contains(plan, one.index+" ") || strings.Contains(plan, "^") || one.index != "jobs_order" && strings.Contains(plan, "jobs_order") {
				t.Errorf("%s: %s is planned as\n%s", when, one.name, plan)
			}
		}
	}
	fill := func(n string) {
		rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_jobs (id, type, status, priority, position, max_attempts, backoff, timeout, params, created_at, queued_at)
SELECT gen_random_uuid(), 'work', 'QUEUED', 0, g, 1, 0, 0, '{}', 1, 1
FROM generate_series(1, `+n+`) g`)
	}
	start := func(which string) {
		rows(t, s, `
SET session_replication_role = replica;
UPDATE rota_jobs
SET status = 'RUNNING', started_at = 1, runner = 'w', token = id, run_id = id, heartbeat_at = 1, stale_after = 1
WHERE status = 'QUEUED' AND `+which)
	}
	end := func(which string) {
		start(which)
		rows(t, s, `
SET session_replication_role = replica;
UPDATE rota_jobs SET finished_at = 1, sequel = 'none', outcome = 'COMPLETED', ended_at = 1
WHERE status = 'RUNNING' AND outcome IS NULL AND `+which)
	}
	checkPlans("new", false)
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("new and analysed", true)
	fill("60000")
	checkPlans("full", false)
	rows(t, s, `ANALYZE rota_jobs`)
	checkPlans("full and analysed", false)
	end("position <= 45000")
	rows(t, s, `ANALYZE rota_jobs`)
	checkPlans("mostly done", false)
	start("position <= 54000")
	rows(t, s, `ANALYZE rota_jobs`)
	checkPlans("many running", false)
	end("true")
	for _, how := range []string{"", "ANALYZE", "VACUUM", "VACUUM ANALYZE"} {
		if how != "" {
			rows(t, s, how+` rota_jobs`)
		}
		checkPlans("all done "+how, false)
	}
	fill("1")
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("one of many", false)
	rows(t, s, `SET session_replication_role = replica; DELETE FROM rota_jobs WHERE outcome IS NOT NULL`)
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("the only one", true)
	rows(t, s, `SET session_replication_role = replica; DELETE FROM rota_jobs`)
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("none left", true)
}

// scannedJobs matches a plan line that reads jobs, with how many rows it returns how often.
var scannedJobs = regexp.MustCompile(`Scan .*jobs.*actual rows=([0-9.]+) loops=(\d+)`)

// TestPlansOfKeyQueuesReadFewJobs checks that the statements about a concurrency key read no more index
// entries than they have to, for any statistics of the table. The key k has 50,000 ready jobs of one
// type, and 10,000 held and 3 running ones of another; 2,000 other keys have one job each.
func TestPlansOfKeyQueuesReadFewJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	checkPlans := func(when string) {
		for _, one := range []struct {
			name, sql, types, values string
			atMost                   int
		}{
			{"queue of a type", sqlKeyQueueOfType, "text, bigint, boolean, text", "'k', 19, false, 'held'", 60},
			{"queue of a type without limit", sqlKeyQueueOfType, "text, bigint, boolean, text", "'k', 19, true, 'work'", 60},
			{"queue without limit", sqlKeyQueue, "text, bigint, boolean", "'k', 19, true", 60},
			{"open jobs of a key", sqlKeyQueueOpen, "text", "'k'", 3},
			{"open jobs of a key and a type", sqlKeyQueueOpenOf, "text, text", "'k', 'held'", 3},
			{"types", sqlKeyTypes, "text", "'k'", 20},
			{"live keys", sqlLiveKeys, "text, bigint", "'', 101", 120},
			{"live keys after one", sqlLiveKeys, "text, bigint", "'k', 101", 120},
		} {
			plan, read, ofJobs := "", 0.0, false
			for _, line := range rows(t, s, `
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+one.types+`) AS `+one.sql+`;
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) EXECUTE e (`+one.values+`)`) {
				plan += line[0] + "\n"
				if strings.Contains(line[0], "Scan ") {
					ofJobs = strings.Contains(line[0], " on jobs")
				}
				if ofJobs && strings.Contains(line[0], "Rows Removed") {
					plan += "^ filters jobs\n"
				}
				if strings.Contains(line[0], " on jobs") && !strings.Contains(line[0], "jobs_lane ") {
					plan += "^ uses another index\n"
				}
				if m := scannedJobs.FindStringSubmatch(line[0]); m != nil {
					each, _ := strconv.ParseFloat(m[1], 64)
					loops, _ := strconv.ParseFloat(m[2], 64)
					read += each * loops
				}
			}
			if strings.Contains(plan, "^") || read > float64(one.atMost) {
				t.Errorf("%s: %s reads %.0f jobs:\n%s", when, one.name, read, plan)
			}
		}
	}
	checkPlans("new")
	rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_jobs (id, type, status, hold, concurrency_key, priority, position, max_attempts, backoff, timeout, params, created_at, queued_at)
SELECT gen_random_uuid(), CASE WHEN g <= 50000 THEN 'work' ELSE 'held' END, 'QUEUED', CASE WHEN g BETWEEN 50001 AND 60000 THEN 16 ELSE 0 END,
  CASE WHEN g <= 60003 THEN 'k' ELSE 'x' || g END, 0, g, 1, 0, 0, '{}', 1, 1
FROM generate_series(1, 62003) g`)
	rows(t, s, `
SET session_replication_role = replica;
UPDATE rota_jobs
SET status = 'RUNNING', started_at = 1, runner = 'w', token = id, run_id = id, heartbeat_at = 1, stale_after = 1
WHERE position BETWEEN 60001 AND 60003`)
	checkPlans("full")
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("full and analysed")
}

// TestPlansLookUpRowsByKey checks that statements which join arrays with a table look up each row by
// its key, also if they were planned while the table was empty and analysed.
func TestPlansLookUpRowsByKey(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	position := storekit.ColumnsOf(rules.JobPosition)
	statements := []struct{ name, sql, types string }{
		{"update jobs", updateSQL(rules.JobPosition, position), "bigint, uuid[], xid[], bigint[]"},
		{"delete jobs", sqlDeleteJobs, "uuid[], xid[], bigint"},
		{"jobs unchanged", sqlUnchangedJobs, "uuid[], xid[], bigint"},
		{"plans", sqlPlans, "text[], text[], text[], bigint[]"},
		{"keys", sqlKeys, "text[], text[]"},
		{"delete keys", sqlDeleteKeys, "text[], text[], xid[], bigint"},
		{"update keys", sqlUpdateKeys, "text[], text[], uuid[], bigint[], boolean[], xid[], bigint"},
		{"keys unchanged", sqlUnchangedKeys, "text[], text[], xid[], bigint"},
		{"requests", sqlRequests, "text[], text[]"},
		{"requests unchanged", sqlUnchangedRequests, "text[], text[], xid[], bigint"},
		{"schedules unchanged", sqlUnchangedSchedules, "text[], xid[], bigint"},
		{"fire schedules", sqlFireSchedules, "text[], bigint[], bigint[], bigint[]"},
		{"groups unchanged", sqlUnchangedGroups, "uuid[], xid[], bigint"},
	}
	scans := regexp.MustCompile(`Scan .*on (jobs|keys|requests|schedules|groups) `)
	for _, when := range []string{"new", "VACUUM ANALYZE"} {
		if when != "new" {
			rows(t, s, when)
		}
		for _, one := range statements {
			var plan []string
			for _, line := range rows(t, s, `
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+one.types+`) AS `+one.sql+`;
EXPLAIN EXECUTE e (NULL`+strings.Repeat(", NULL", strings.Count(one.types, ","))+`)`) {
				plan = append(plan, line[0])
			}
			found := false
			for i, line := range plan {
				if scans.MatchString(line) {
					found = true
					if i+1 == len(plan) || !strings.Contains(plan[i+1], "Cond:") {
						t.Errorf("%s: %s reads a whole table:\n%s", when, one.name, strings.Join(plan, "\n"))
					}
				}
			}
			if !found {
				t.Errorf("%s: %s reads no table:\n%s", when, one.name, strings.Join(plan, "\n"))
			}
		}
	}
}

// TestPrunableLooksUpLastAttempts checks that a page of prunable executions does not join all jobs.
func TestPrunableLooksUpLastAttempts(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_jobs (id, type, status, priority, position, max_attempts, backoff, timeout, params, created_at, queued_at)
SELECT gen_random_uuid(), 'work', 'QUEUED', 0, g, 1, 0, 0, '{}', 1, 1
FROM generate_series(1, 60000) g`)
	rows(t, s, `ANALYZE rota_jobs`)
	for name, types := range map[string]string{"prunable oldest": "uuid, bigint, uuid", "prunable newest": "uuid, bigint"} {
		values := strings.NewReplacer("uuid", "'80000000-0000-0000-0000-000000000000'", "bigint", "1001").Replace(types)
		plan := ""
		for _, line := range rows(t, s, `
SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+types+`) AS `+storekit.Lookups()[name]+`;
EXPLAIN EXECUTE e (`+values+`)`) {
			plan += line[0] + "\n"
		}
		if strings.Contains(plan, "Hash Join") || strings.Contains(plan, "Merge Join") || !strings.Contains(plan, "jobs_pkey on jobs j") {
			t.Errorf("%s is planned as\n%s", name, plan)
		}
	}
}

// TestPlansOfAuditReadFewRows checks that each source of a page of the audit reads its index in order
// and stops at the limit, for any statistics: by time, by subject, by schedule and by execution. A
// filter by actor or act examines the rows of the page by time.
func TestPlansOfAuditReadFewRows(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	const page = "5000, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 0, 10"
	checkPlans := func(when string) {
		for name, one := range map[string]struct{ index, about, value string }{
			"audit":                       {"audit_at", "", ""},
			"created jobs":                {"jobs_created", "", ""},
			"finished jobs":               {"jobs_finished", "", ""},
			"audit of a subject":          {"audit_subject", ", text", ", 'schedule s7'"},
			"audit of a schedule":         {"audit_schedule", ", text", ", 's7'"},
			"finished jobs of a schedule": {"jobs_schedule_finished", ", text", ", 's7'"},
			"audit of an execution":       {"audit_execution", ", uuid", ", '00000000-0000-0000-0000-000000000007'"},
		} {
			plan := ""
			for _, line := range rows(t, s, `
SET enable_seqscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (bigint, uuid, bigint, bigint`+one.about+`) AS `+storekit.Lookups()[name]+`;
EXPLAIN EXECUTE e (`+page+one.value+`)`) {
				plan += line[0] + "\n"
			}
			if !strings.Contains(plan, "Index Scan Backward using "+one.index+" ") || strings.Contains(plan, "Sort") {
				t.Errorf("%s: %s is planned as\n%s", when, name, plan)
			}
		}
	}
	rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_audit (id, at, act, subject, schedule, execution_id)
SELECT gen_random_uuid(), g, 'JOB_EXECUTED', 'schedule s' || g % 50, 's' || g % 50, gen_random_uuid()
FROM generate_series(1, 20000) g;
INSERT INTO rota_jobs (id, type, status, priority, position, max_attempts, backoff, timeout, params, created_by, created_at, queued_at)
SELECT gen_random_uuid(), 'work', 'QUEUED', 0, g, 1, 0, 0, '{}', 'ada', g, 1
FROM generate_series(1, 20000) g;
UPDATE rota_jobs
SET status = 'RUNNING', started_at = 1, run_id = id, token = id, runner = 'w', heartbeat_at = 1, stale_after = 1,
  finished_at = created_at, sequel = 'none', outcome = 'COMPLETED', ended_at = 1, schedule = CASE WHEN position % 2 = 0 THEN 's' || position % 50 END
WHERE position <= 15000`)
	checkPlans("full")
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	rows(t, s, `VACUUM ANALYZE rota_audit`)
	checkPlans("full and analysed")
}

// TestPlansOfSearchesReadFewJobs checks that a search by name, key, scope or error reads its index in
// order, and that one without an index reads no more jobs than its bound allows.
func TestPlansOfSearchesReadFewJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	types := map[reflect.Type]string{reflect.TypeFor[string](): "text", reflect.TypeFor[int](): "bigint", reflect.TypeFor[rota.ID](): "uuid"}
	plan := func(sql string, args []any) (plan string) {
		var kinds, values []string
		for _, arg := range args {
			kinds, values = append(kinds, types[reflect.TypeOf(arg)]), append(values, "'"+fmt.Sprint(arg)+"'")
		}
		for _, line := range rows(t, s, `
SET enable_seqscan = off; SET enable_bitmapscan = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+strings.Join(kinds, ", ")+`) AS `+sql+`;
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) EXECUTE e (`+strings.Join(values, ", ")+`)`) {
			plan += line[0] + "\n"
		}
		return plan
	}
	checkPlans := func(when string) {
		for _, one := range []struct {
			index string
			query rota.JobQuery
		}{
			{"jobs_name", rota.JobQuery{Name: "n7"}},
			{"jobs_unique_key", rota.JobQuery{UniqueKey: "k7", Tails: true}},
			{"jobs_scope", rota.JobQuery{ScopeID: "s7", ScopeKind: "tenant"}},
			{"jobs_error_code", rota.JobQuery{ErrorCode: "e7", State: rota.StateFailed}},
			{"jobs_pkey", rota.JobQuery{Text: "nothing", State: rota.StateFailed}},
		} {
			bound, args := reads.BoundSQL(&one.query)
			for what, got := range map[string]string{"bound": plan(bound, args), "list": plan(reads.ListSQL(&one.query, 10))} {
				if !strings.Contains(got, "Backward using "+one.index+" ") || strings.Contains(got, "Sort") {
					t.Errorf("%s: the %s by %s is planned as\n%s", when, what, one.index, got)
				}
			}
		}
	}
	rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_jobs (id, type, status, priority, position, max_attempts, backoff, timeout, params, created_at, queued_at, name, unique_key, scope_kind, scope_id,
  started_at, run_id, token, runner, heartbeat_at, stale_after, finished_at, sequel, outcome, ended_at, error_code)
SELECT gen_random_uuid(), 'work', 'RUNNING', 0, g, 1, 0, 0, '{}', g, 1, 'n' || g % 50, 'k' || g, 'tenant', 's' || g % 500,
  1, gen_random_uuid(), gen_random_uuid(), 'w', 1, 1, g, 'dead', 'FAILED', 1, 'e' || g % 20
FROM generate_series(1, 20000) g`)
	checkPlans("full")
	rows(t, s, `VACUUM ANALYZE rota_jobs`)
	checkPlans("full and analysed")
}
