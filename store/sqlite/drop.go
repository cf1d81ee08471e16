package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The subquery sorts only ids, not whole rows.
var (
	selectDropped = `
SELECT ` + storekit.FullJob + `
FROM (
  SELECT j.id
  FROM rota_jobs j INDEXED BY `
	droppedWhere = `
  WHERE j.schedule = $1 AND j.created_at < $3 AND `
	droppedFirst = `
  ORDER BY j.id
  LIMIT $2
) one
JOIN rota_jobs j ON j.id = one.id`
	droppedLast = `
  ORDER BY j.id DESC
  LIMIT $2
) one
JOIN rota_jobs j ON j.id = one.id`

	sqlDroppedRunning = selectDropped + `rota_jobs_live` + droppedWhere +
		`j.sequel IS NULL AND j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL` + droppedFirst
	sqlDroppedQueued = selectDropped + `rota_jobs_live` + droppedWhere + `j.sequel IS NULL AND j.status = 'QUEUED'` + droppedLast
	sqlDroppedLive   = selectDropped + `rota_jobs_live` + droppedWhere + `j.sequel IS NULL` + droppedFirst
	sqlDroppedEnded  = selectDropped + `rota_jobs_schedule` + droppedWhere + `j.sequel IS NOT NULL AND j.sequel <> 'retry'` + droppedFirst
)

// droppedSQL holds the statements for the kinds of dropped jobs.
var droppedSQL = map[rules.DroppedKind]string{
	rules.DroppedRunning: sqlDroppedRunning, rules.DroppedQueued: sqlDroppedQueued,
	rules.DroppedLive: sqlDroppedLive, rules.DroppedEnded: sqlDroppedEnded,
}
