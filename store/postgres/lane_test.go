package postgres

import (
	"strings"
	"testing"
)

// TestAnEmptyLaneIsSeenWithoutWalkingTheQueue, whatever PostgreSQL knows of the table:
// the order of the whole queue is a smaller index, and would do for a type that is
// the same in all rows.
func TestAnEmptyLaneIsSeenWithoutWalkingTheQueue(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	look := func(when string) {
		for _, one := range []struct{ name, sql, types, values string }{
			{"else", sqlElse, "uuid, text[]", "NULL, '{other}'"},
			{"stream", sqlStream, "text, text[], bigint, uuid", "'other', '{work}', 10, NULL"},
			{"queue", sqlQueue, "bigint", "10"},
			{"queue behind a job", sqlQueueAfter, "bigint, bigint, bigint, bigint, uuid", "10, 0, 0, 0, NULL"},
			{"before", sqlBefore, "text, bigint, bigint, bigint, uuid, bigint", "'other', 0, 0, 0, NULL, 10"},
			{"heads", sqlHeadsLocked, "text[], int[], bigint, bigint, bigint", "'{other}', '{10}', 10, 10, 10"},
		} {
			plan := ""
			for _, line := range rows(t, s, `
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
PREPARE e (`+one.types+`) AS `+one.sql+`;
EXPLAIN EXECUTE e (`+one.values+`)`) {
				plan += line[0] + "\n"
			}
			if !strings.Contains(plan, "jobs_claim ") || strings.Contains(plan, "jobs_order") {
				t.Errorf("%s: %s is planned as\n%s", when, one.name, plan)
			}
		}
	}
	look("empty")
	rows(t, s, `
SET session_replication_role = replica;
INSERT INTO rota_jobs (id, type, status, priority, position, max_attempts, backoff, timeout, params, created_at, queued_at)
SELECT gen_random_uuid(), 'work', 'QUEUED', 0, g, 1, 0, 0, '{}', 1, 1
FROM generate_series(1, 20000) g`)
	look("full")
	rows(t, s, `ANALYZE rota_jobs`)
	look("full and analysed")
	rows(t, s, `
SET session_replication_role = replica;
UPDATE rota_jobs SET status = 'RUNNING', started_at = 1, finished_at = 1, sequel = 'none', runner = 'w', token = id, heartbeat_at = 1, stale_after = 1, outcome = 'COMPLETED', ended_at = 1
WHERE position <= 15000`)
	rows(t, s, `ANALYZE rota_jobs`)
	look("mostly done")
}
