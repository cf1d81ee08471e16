package postgres

import "github.com/rotajobs/rota/internal/storekit"

// Each count uses a partial index without ended jobs. One statement sees one snapshot.
var sqlStats = `
SELECT 0, NULL, NULL::bigint, ` + clockHere + `
UNION ALL
SELECT 1, j.type, count(*), min(j.queued_at)
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold = 0
GROUP BY j.type
UNION ALL
SELECT 2, j.type, count(*), count(*) FILTER (WHERE j.hold & 1 <> 0)
FROM rota_jobs j
WHERE j.status = 'QUEUED' AND j.hold <> 0
GROUP BY j.type
UNION ALL
SELECT 3, j.type, count(*), NULL
FROM rota_jobs j
WHERE j.status = 'RUNNING' AND j.sequel IS NULL AND j.outcome IS NULL
GROUP BY j.type
UNION ALL
SELECT 4, NULL, count(*), NULL
FROM rota_jobs j
WHERE ` + isDead + ` AND ` + storekit.NotInternal + ` AND ` + storekit.NotDropped + `
UNION ALL
SELECT 5, NULL, count(*), NULL
FROM rota_schedules
WHERE state = 'ENABLED'`
