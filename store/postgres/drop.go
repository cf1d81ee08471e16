package postgres

import "github.com/rotajobs/rota/internal/rules"

var (
	liveDropped       = selectLive + fullColumns + fromLive + `few.created_at < $3`
	sqlDroppedRunning = liveDropped + ` AND few.runner IS NOT NULL AND few.outcome IS NULL AND few.cancel_at IS NULL` + firstByID
	sqlDroppedLive    = liveDropped + firstByID

	sqlDroppedQueued = liveDropped + ` AND few.status = 'QUEUED'
ORDER BY few.id DESC
LIMIT $2`
	sqlDroppedEnded = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.schedule = $1 AND j.sequel IS NOT NULL AND j.sequel <> 'retry' AND j.created_at < $3
ORDER BY j.schedule, j.id
LIMIT $2`
)

// droppedSQL holds the statements for the kinds of dropped jobs.
var droppedSQL = map[rules.DroppedKind]string{
	rules.DroppedRunning: sqlDroppedRunning, rules.DroppedQueued: sqlDroppedQueued, rules.DroppedLive: sqlDroppedLive, rules.DroppedEnded: sqlDroppedEnded,
}
