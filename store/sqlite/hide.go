package sqlite

import (
	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// notDropped excludes the history of dropped schedules: ended jobs that were created before the
// drop. If nothing was dropped it costs a lookup in an empty table for each ended job of a
// schedule.
const notDropped = ` AND (j.sequel IS NULL OR j.schedule IS NULL OR NOT EXISTS (
    SELECT 1
    FROM rota_dropped d
    WHERE d.schedule = j.schedule AND d.hidden_before > j.created_at))`

const (
	sqlShownJob = sqlFullJob + notDropped
	sqlIsShown  = `
SELECT 1
FROM rota_jobs j
WHERE j.id = ?` + notDropped
)

// sqlCountHidden begins a count of hidden jobs, which is subtracted from the count of ended jobs:
// the index of that count does not have the time of creation.
const sqlCountHidden = `
SELECT -count(*)
FROM rota_dropped d
CROSS JOIN rota_jobs j INDEXED BY rota_jobs_schedule
WHERE j.schedule = d.schedule AND j.created_at < d.hidden_before AND j.sequel IS NOT NULL`

// isShown reports whether a job exists and is not hidden. An execution is hidden if its last
// attempt is.
func isShown(conn *sqlite.Conn, id rota.ID) (shown bool, err error) {
	err = query(conn, sqlIsShown, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) },
		func(*sqlite.Stmt) { shown = true })
	return shown, err
}
