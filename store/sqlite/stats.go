package sqlite

import "github.com/rotajobs/rota/internal/storekit"

// Each count uses a partial index without ended jobs.
var sqlStats = `
SELECT 0, NULL, NULL, $1
UNION ALL
SELECT 1, type, count(*), min(queued_at)
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE status = 'QUEUED' AND hold = 0
GROUP BY type
UNION ALL
SELECT 2, type, count(*), sum(hold & 1)
FROM rota_jobs INDEXED BY rota_jobs_held
WHERE status = 'QUEUED' AND hold <> 0
GROUP BY type
UNION ALL
SELECT 3, j.type, count(*), NULL
FROM rota_jobs j INDEXED BY rota_jobs_open
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
GROUP BY j.type
UNION ALL
SELECT 4, NULL, count(*), NULL
FROM rota_jobs j INDEXED BY rota_jobs_dead
WHERE ` + isDead + ` AND ` + storekit.NotInternal + ` AND ` + storekit.NotDropped + `
UNION ALL
SELECT 5, NULL, count(*), NULL
FROM rota_schedules INDEXED BY rota_schedules_enabled
WHERE state = 'ENABLED'`
