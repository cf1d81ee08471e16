package sqlite

import "github.com/rotajobs/rota/internal/storekit"

var (
	// Jobs that wait for an overlap start in the order of their ids, when no other job is active.
	sqlAhead = `
SELECT ` + storekit.LeanJob + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = $1 AND j.scope_kind IS nullif($2, '') AND j.scope_id IS nullif($3, '') AND j.sequel IS NULL
  AND j.id <> $4 AND (j.hold & 8 = 0 OR j.id < $4)
ORDER BY j.hold & 8, j.id
LIMIT $5`

	// Counts the ready jobs before a job in dispatch order, type by type: all jobs of a higher
	// priority and the first of its own. It counts at most as many as the answer reports.
	sqlBefore = `
WITH RECURSIVE queues (type) AS (
  SELECT min(type)
  FROM rota_jobs INDEXED BY rota_jobs_claim
  WHERE status = 'QUEUED' AND hold = 0
  UNION ALL
  SELECT (
    SELECT min(type)
    FROM rota_jobs INDEXED BY rota_jobs_claim
    WHERE status = 'QUEUED' AND hold = 0 AND type > queues.type)
  FROM queues
  WHERE queues.type IS NOT NULL
)
SELECT (SELECT count(*) FROM (` + before(`(SELECT $1 AS type)`) + `)), (SELECT count(*) FROM (` + before(`queues`) + `))`
)

func before(queues string) string {
	return `
  SELECT 1
  FROM ` + queues + ` q CROSS JOIN rota_jobs j INDEXED BY rota_jobs_claim
  WHERE j.type = q.type AND j.status = 'QUEUED' AND j.hold = 0 AND j.priority > $2
  UNION ALL
  SELECT 1
  FROM ` + queues + ` q CROSS JOIN rota_jobs j INDEXED BY rota_jobs_claim
  WHERE j.type = q.type AND j.status = 'QUEUED' AND j.hold = 0
    AND j.priority = $2 AND (j.position, j.created_at, j.id) < ($3, $4, $5)
  LIMIT $6`
}
