package sqlite

import "github.com/rotajobs/rota/internal/storekit"

// sqlStale reads every open run. There are never more of them than slots, and an index on
// stale_after would have to be updated by each heartbeat.
var (
	sqlDue = `
SELECT ` + storekit.QueuedLean + `
FROM rota_jobs j INDEXED BY rota_jobs_due
WHERE j.status = 'QUEUED' AND j.hold & 1 AND j.run_at <= $1
ORDER BY j.run_at, j.id
LIMIT $2`
	sqlStale = `
SELECT ` + storekit.LeanJob + `
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
  AND ((j.stale_after < $1 AND j.life IS NOT $2) OR j.stale_after > $3
    OR (j.life IS NULL AND (j.cancel_at < $5 OR (j.timeout > 0 AND j.started_at + j.timeout < $5))))
ORDER BY j.stale_after, j.id
LIMIT $4`
	sqlUnsettled = `
SELECT ` + storekit.LeanJob + `
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL
  AND (j.runner IS NULL OR j.outcome IS NOT NULL OR (j.runner = $1 AND j.life IS NOT NULL AND j.life <> $2))
ORDER BY j.id
LIMIT $3`
)
