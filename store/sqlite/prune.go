package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	sqlDeleteJob = `
DELETE FROM rota_jobs
WHERE id = $1`

	// One row for each execution: the id of its first attempt and the state of its last. Most
	// executions have one attempt.
	selectFirst = `
SELECT first.id, ` + storekit.AttemptJob + `
FROM (
  SELECT f.id, f.sequel
  FROM rota_jobs f
  WHERE f.retry_of IS NULL AND f.id `
	joinLast = `
) first
JOIN rota_jobs j ON j.id = CASE first.sequel WHEN 'retry' THEN (
  WITH RECURSIVE chain (id, n) AS (
    SELECT first.id, 1
    UNION ALL
    SELECT a.id, chain.n + 1
    FROM chain JOIN rota_jobs a ON a.retry_of = chain.id
  )
  SELECT id
  FROM chain
  ORDER BY n DESC
  LIMIT 1) ELSE first.id END
ORDER BY first.id`
	sqlPrunableOldest = selectFirst + `> $1 AND f.id <= $3
  ORDER BY f.id
  LIMIT $2` + joinLast
	sqlPrunableNewest = selectFirst + `< $1
  ORDER BY f.id DESC
  LIMIT $2` + joinLast + ` DESC`
)

// deleteJob deletes a job. A trigger deletes its params.
func (w *writer) deleteJob(j *rota.Job) error { return w.change(sqlDeleteJob, j.ID) }
