package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

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
