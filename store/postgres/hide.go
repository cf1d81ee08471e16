package postgres

// notDropped passes over the history of what was dropped: jobs that have ended and
// were made before that. Where nothing was, it is a look into an empty table for
// each job of a schedule that has ended.
const notDropped = `(j.sequel IS NULL OR j.schedule IS NULL OR NOT EXISTS (
  SELECT
  FROM rota_dropped d
  WHERE d.schedule = j.schedule AND d.hidden_before > j.created_at))`

const (
	sqlShownJob = sqlJob + ` AND ` + notDropped
	// An execution is shown as long as its last attempt is, with those before it.
	tailShown = `
WHERE EXISTS (
  SELECT
  FROM rota_jobs j
  WHERE j.id = (SELECT last.id FROM chain last ORDER BY last.n DESC LIMIT 1) AND ` + notDropped + `)`
	// What is hidden is taken off a count: the index by which that is made need not
	// say when a job was made.
	countHidden = `
FROM rota_dropped d
JOIN rota_jobs j ON j.schedule = d.schedule AND j.created_at < d.hidden_before
WHERE j.sequel IS NOT NULL AND `
)
