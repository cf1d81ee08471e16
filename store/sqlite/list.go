package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// isDead excludes a dead letter while a redrive of it exists that was not cancelled.
var isDead = `j.sequel = 'dead' AND NOT EXISTS (
    WITH RECURSIVE chain (id) AS (
      SELECT a.id
      FROM rota_jobs a INDEXED BY rota_jobs_redrive
      WHERE a.redrive_of = coalesce(j.execution_id, j.id)
      UNION ALL
      SELECT n.id
      FROM chain JOIN rota_jobs n ON n.retry_of = chain.id
    )
    SELECT 1
    FROM chain
    JOIN rota_jobs t ON t.id = chain.id
    WHERE t.sequel IS NOT 'retry' AND ` + storekit.NotCancelled("t") + `)`

// listSQL returns the statement of a list. Jobs are listed by id, and most filters are checked row
// by row. The index of dead letters and that of a schedule are in this order. The members of a group
// and live jobs have partial indexes that hold nothing else, however many jobs have ended. They are
// few enough to be sorted, by id only. SQLite reads an index in either direction.
func listSQL(q *rota.JobQuery, condition, limit string) string {
	page := `
FROM rota_jobs j` + indexedBy(listIndex(q)) + `
WHERE ` + condition + `
ORDER BY j.id DESC
LIMIT ` + limit
	if storekit.PathOf(q).ByID() {
		return `
SELECT ` + storekit.FullJob + page
	}
	return `
SELECT ` + storekit.FullJob + `
FROM (
  SELECT j.id` + page + `
) one
JOIN rota_jobs j ON j.id = one.id
ORDER BY j.id DESC`
}

// indexes are the indexes of the paths; the table itself has none.
var indexes = map[storekit.Path]string{
	storekit.PathUniqueKey: "rota_jobs_unique_key", storekit.PathGroup: "rota_jobs_group", storekit.PathDead: "rota_jobs_dead",
	storekit.PathLiveOfSchedule: "rota_jobs_live", storekit.PathRunning: "rota_jobs_open", storekit.PathQueued: "rota_jobs_claim",
	storekit.PathHeld: "rota_jobs_held", storekit.PathScope: "rota_jobs_scope", storekit.PathErrorCode: "rota_jobs_error_code",
	storekit.PathName: "rota_jobs_name", storekit.PathSchedule: "rota_jobs_schedule",
}

// listIndex returns the most selective index for a query, or "" for the table itself.
func listIndex(q *rota.JobQuery) string { return indexes[storekit.PathOf(q)] }

func indexedBy(index string) string {
	if index == "" {
		return ""
	}
	return " INDEXED BY " + index
}
