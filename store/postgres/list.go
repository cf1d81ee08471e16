package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// A dead letter is handled while a redrive exists that was not cancelled, which mostly shows in
// the redrive's first attempt. OFFSET 0 has it looked up for each dead letter on its own.
var isDead = `j.sequel = 'dead' AND NOT EXISTS (
  SELECT
  FROM rota_jobs a
  WHERE a.redrive_of = coalesce(j.execution_id, j.id) AND CASE a.sequel
    WHEN 'retry' THEN EXISTS (
      WITH RECURSIVE chain (id, sequel, status, outcome, error_code, cancel_at) AS (
        SELECT a.id, a.sequel, a.status, a.outcome, a.error_code, a.cancel_at
        UNION ALL
        SELECT n.id, n.sequel, n.status, n.outcome, n.error_code, n.cancel_at
        FROM chain
        JOIN rota_jobs n ON n.retry_of = chain.id
        WHERE chain.sequel = 'retry'
      )
      SELECT
      FROM chain
      WHERE chain.sequel IS DISTINCT FROM 'retry' AND ` + storekit.NotCancelled("chain") + `)
    ELSE ` + storekit.NotCancelled("a") + ` END
  OFFSET 0)`

// listSQL returns the statement of a list. Jobs are listed by id, and a statement contains only the
// requested filters, so that the planner finds the index that fits. Dead letters and schedules have
// indexes in this order. Live jobs and group members have partial indexes in another order. OFFSET 0
// forces the planner to read those and to sort the ids. It may otherwise prefer to scan from the
// newest job, and reads everything if few jobs match.
func listSQL(q *rota.JobQuery, condition, limit string) string {
	if storekit.PathOf(q).ByID() {
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
