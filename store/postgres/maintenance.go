package postgres

// sqlStale reads every open run. There are never more of them than slots, and an index on
// stale_after would have to be updated by each heartbeat. All three skip jobs that other
// transactions have locked: the other transaction handles them, or the next call does.
var (
	sqlDue = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold & 1 <> 0 AND j.run_at <= $1
ORDER BY j.run_at, j.id
LIMIT $2
FOR UPDATE SKIP LOCKED`
	sqlStale = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
  AND ((j.stale_after < $1 AND j.life IS DISTINCT FROM $2) OR j.stale_after > $3
    OR (j.life IS NULL AND (j.cancel_at < $5 OR (j.timeout > 0 AND j.started_at + j.timeout < $5))))
ORDER BY j.stale_after, j.id
LIMIT $4
FOR UPDATE SKIP LOCKED`
	// Sorted by the bytes of the id: for ORDER BY id the planner may scan all jobs in that order to
	// find the few that run.
	sqlUnsettled = `
SELECT ` + leanColumns + rowVersion + `
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL
  AND (j.runner IS NULL OR j.outcome IS NOT NULL OR (j.runner = $1 AND j.life IS NOT NULL AND j.life <> $2))
ORDER BY uuid_send(j.id)
LIMIT $3
FOR UPDATE SKIP LOCKED`
)
