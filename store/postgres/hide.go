package postgres

// notDropped excludes the history of dropped schedules: ended jobs that were created before the
// drop. If nothing was dropped it costs a lookup in an empty table for each ended job of a
// schedule.
const notDropped = `(j.sequel IS NULL OR j.schedule IS NULL OR NOT EXISTS (
  SELECT
  FROM rota_dropped d
  WHERE d.schedule = j.schedule AND d.hidden_before > j.created_at))`

const (
	sqlShownJob = sqlJob + ` AND ` + notDropped
	// An execution is visible, with all its attempts, if its last attempt is.
	tailShown = `
WHERE EXISTS (
  SELECT
  FROM rota_jobs j
  WHERE j.id = (SELECT last.id FROM chain last ORDER BY last.n DESC LIMIT 1) AND ` + notDropped + `)`
	// Hidden jobs are subtracted from a count, because the index that the count uses need not
	// contain the time of creation.
	countHidden = `
FROM rota_dropped d
JOIN rota_jobs j ON j.schedule = d.schedule AND j.created_at < d.hidden_before
WHERE j.sequel IS NOT NULL AND `
)
