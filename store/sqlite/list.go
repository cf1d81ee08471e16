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
	if q.GroupID.IsZero() && (q.Dead || !storekit.IsLive(q.State)) {
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

// listIndex returns the most selective index for a query, or "" for the table itself.
func listIndex(q *rota.JobQuery) string {
	live := storekit.IsLive(q.State)
	switch {
	case !q.GroupID.IsZero():
		return "rota_jobs_group"
	case q.Dead:
		return "rota_jobs_dead"
	case live && q.Schedule != "":
		return "rota_jobs_live"
	case q.State == rota.StateRunning:
		return "rota_jobs_open"
	case q.State == rota.StateQueued:
		return "rota_jobs_claim"
	case live:
		return "rota_jobs_held"
	case q.Schedule != "":
		return "rota_jobs_schedule"
	}
	return ""
}

func indexedBy(index string) string {
	if index == "" {
		return ""
	}
	return " INDEXED BY " + index
}
