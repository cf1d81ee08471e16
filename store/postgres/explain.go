package postgres

var (
	// Jobs that wait for an overlap start in the order of their ids, when no other job is active.
	sqlAhead = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.schedule = $1 AND coalesce(j.scope_kind, '') = $2 AND coalesce(j.scope_id, '') = $3 AND j.sequel IS NULL
  AND j.id <> $4 AND (j.hold & 8 = 0 OR j.id < $4)
ORDER BY j.hold & 8, j.id
LIMIT $5`

	// Counts the ready jobs before a job in dispatch order, type by type: all jobs of a higher
	// priority and the first of its own. It counts at most as many as the answer reports.
	sqlBefore = readyTypes + `
SELECT
  (SELECT count(*)
  FROM (
    SELECT
    FROM (SELECT $1 AS type) queues
    CROSS JOIN LATERAL (` + before + `) b
    LIMIT $6) few),
  (SELECT count(*)
  FROM (
    SELECT
    FROM queues
    CROSS JOIN LATERAL (` + before + `) b
    LIMIT $6) few)`
	before = `
      SELECT
      FROM rota_jobs j
      WHERE j.type BETWEEN queues.type AND queues.type AND j.status = 'QUEUED' AND j.hold = 0 AND j.priority > $2
      UNION ALL
      SELECT
      FROM rota_jobs j
      WHERE j.type BETWEEN queues.type AND queues.type AND j.status = 'QUEUED' AND j.hold = 0
        AND j.priority = $2 AND (j.position, j.created_at, j.id) < ($3, $4, $5)`
)
