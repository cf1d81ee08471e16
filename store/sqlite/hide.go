package sqlite

import (
	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// notDropped passes over the history of what was dropped: jobs that have ended and
// were made before that. Where nothing was, it is a look into an empty table for
// each job of a schedule that has ended.
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

// sqlCountHidden begins a count of what is hidden, to be taken off that of what has
// ended: the index by which that is counted does not say when it was made.
const sqlCountHidden = `
SELECT -count(*)
FROM rota_dropped d
CROSS JOIN rota_jobs j INDEXED BY rota_jobs_schedule
WHERE j.schedule = d.schedule AND j.created_at < d.hidden_before AND j.sequel IS NOT NULL`

// isShown says whether a job is there and not hidden. An execution is shown as long
// as its last attempt is, with those before it.
func isShown(conn *sqlite.Conn, id rota.ID) (shown bool, err error) {
	err = query(conn, sqlIsShown, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) },
		func(*sqlite.Stmt) { shown = true })
	return shown, err
}
