package postgres

var (
	sqlDependents = `
SELECT schedule
FROM rota_edges
WHERE depends_on = $1
ORDER BY schedule
LIMIT $2`
	sqlDependencies = `
WITH RECURSIVE reach (name) AS (
  SELECT $1 COLLATE "C"
  UNION
  SELECT e.depends_on
  FROM reach
  JOIN rota_edges e ON e.schedule = reach.name
)
SELECT e.schedule, e.depends_on
FROM reach
JOIN rota_edges e ON e.schedule = reach.name
ORDER BY e.schedule, e.depends_on`
	sqlLatestJobs = `
SELECT id
FROM rota_jobs
WHERE schedule = $1 AND coalesce(scope_kind, '') = $2 AND coalesce(scope_id, '') = $3
  AND counts_at > $4 AND counts_at <= $5 AND retry_of IS NULL
ORDER BY counts_at DESC, id DESC
LIMIT 1`
	sqlBlockedJobs = selectLive + queuedColumns + fromLive + `few.status = 'QUEUED' AND few.hold & 4 <> 0
  AND ($5 OR few.scope_kind IS NULL OR (few.scope_kind = $3 AND few.scope_id = $4))` + firstByID
	sqlWaitingJobs  = selectLive + queuedColumns + fromLive + `few.status = 'QUEUED' AND few.hold & 8 <> 0` + firstByID
	sqlExpiredWaits = `
SELECT ` + queuedColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold & 4 <> 0 AND j.wait_until <= $1
ORDER BY j.wait_until, j.id
LIMIT $2`
)
