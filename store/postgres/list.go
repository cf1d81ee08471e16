package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

const (
	// A dead letter is handled while a redrive exists that was not cancelled, which mostly shows in
	// the redrive's first attempt. OFFSET 0 has it looked up for each dead letter on its own.
	isDead = `j.sequel = 'dead' AND NOT EXISTS (
  SELECT
  FROM rota_jobs a
  WHERE a.redrive_of = coalesce(j.execution_id, j.id) AND CASE a.sequel
    WHEN 'retry' THEN EXISTS (
      WITH RECURSIVE chain (id, sequel, status, outcome) AS (
        SELECT a.id, a.sequel, a.status, a.outcome
        UNION ALL
        SELECT n.id, n.sequel, n.status, n.outcome
        FROM chain
        JOIN rota_jobs n ON n.retry_of = chain.id
        WHERE chain.sequel = 'retry'
      )
      SELECT
      FROM chain
      WHERE sequel IS DISTINCT FROM 'retry' AND status <> 'CANCELLED' AND outcome IS DISTINCT FROM 'CANCELLED')
    ELSE a.status <> 'CANCELLED' AND a.outcome IS DISTINCT FROM 'CANCELLED' END
  OFFSET 0)`
)

// listSQL returns the statement of a list. Jobs are listed by id, and a statement contains only the
// requested filters, so that the planner finds the index that fits. Dead letters and schedules have
// indexes in this order. Live jobs and group members have partial indexes in another order. OFFSET 0
// forces the planner to read those and to sort the ids. It may otherwise prefer to scan from the
// newest job, and reads everything if few jobs match.
func listSQL(q *rota.JobQuery, condition, limit string) string {
	if !storekit.IsLive(q.State) && q.GroupID.IsZero() {
		return `
SELECT ` + fullColumns + `
FROM rota_jobs j
WHERE ` + condition + `
ORDER BY j.id DESC
LIMIT ` + limit
	}
	return `
SELECT ` + fullColumns + `
FROM (
  SELECT few.id
  FROM (
    SELECT j.id
    FROM rota_jobs j
    WHERE ` + condition + `
    OFFSET 0
  ) few
  ORDER BY few.id DESC
  LIMIT ` + limit + `
) page
JOIN rota_jobs j ON j.id = page.id
ORDER BY j.id DESC`
}

// countSQL returns the statement of a count. Hidden jobs are subtracted, because the index that the
// count uses need not contain the time of creation.
func countSQL(q *rota.JobQuery) []storekit.Statement {
	f := storekit.FilterOf(q, isDead)
	return []storekit.Statement{{SQL: `
SELECT (
  SELECT count(*)
  FROM rota_jobs j
  WHERE ` + f.SQL() + `) - (
  SELECT count(*)
  FROM rota_dropped d
  JOIN rota_jobs j ON j.schedule = d.schedule AND j.created_at < d.hidden_before
  WHERE j.sequel IS NOT NULL AND ` + f.SQL() + `)`, Args: f.Args()}}
}

// Each count uses a partial index without ended jobs. One statement sees one snapshot.
const sqlStats = `
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
