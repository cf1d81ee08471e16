package sqlite

import "github.com/rotajobs/rota/internal/storekit"

// The parts of the global scope are empty texts in a query, and NULL in a row.
var (
	sqlDependents = `
SELECT schedule
FROM rota_edges INDEXED BY rota_edges_back
WHERE depends_on = $1
ORDER BY schedule
LIMIT $2`
	sqlDependencies = `
WITH RECURSIVE reach (name) AS (
  SELECT $1
  UNION
  SELECT e.depends_on
  FROM reach JOIN rota_edges e ON e.schedule = reach.name
)
SELECT e.schedule, e.depends_on
FROM reach CROSS JOIN rota_edges e ON e.schedule = reach.name`
	sqlLatestJobs = `
SELECT id
FROM rota_jobs INDEXED BY rota_jobs_counts
WHERE schedule = $1 AND scope_kind IS nullif($2, '') AND scope_id IS nullif($3, '')
  AND counts_at > $4 AND counts_at <= $5 AND retry_of IS NULL
ORDER BY counts_at DESC, id DESC
LIMIT 1`
	sqlBlockedJobs = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = $1 AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold & 4
  AND ($5 OR j.scope_kind IS NULL OR (j.scope_kind = $3 AND j.scope_id = $4))
ORDER BY j.id
LIMIT $2`
	sqlWaitingJobs = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = $1 AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold & 8
ORDER BY j.id
LIMIT $2`
	sqlExpiredWaits = `
SELECT ` + storekit.QueuedJob + `
FROM rota_jobs j INDEXED BY rota_jobs_wait
WHERE j.status = 'QUEUED' AND j.hold & 4 AND j.wait_until <= $1
ORDER BY j.wait_until, j.id
LIMIT $2`
)
