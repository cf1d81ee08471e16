package postgres

import "github.com/rotajobs/rota/internal/rules"

var (
	sqlLiveJobs = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.schedule = $1 AND coalesce(j.scope_kind, '') = $2 AND coalesce(j.scope_id, '') = $3
  AND j.sequel IS NULL AND (j.hold & 8 <> 0) = $4
ORDER BY j.id
LIMIT $5`
	sqlPlannedJobs = selectLive + leaseColumns + fromLive + `few.plan_time IS NOT NULL` + firstByID

	// The live jobs of a schedule are read by their partial index, and then filtered and sorted.
	// Without OFFSET 0 the planner may prefer to scan all jobs in another order.
	selectLive = `
SELECT few.*
FROM (
  SELECT `
	fromLive = rowVersion + `
  FROM rota_jobs j
  WHERE j.schedule = $1 AND j.sequel IS NULL
  OFFSET 0
) few
WHERE `
	firstByID = `
ORDER BY few.id
LIMIT $2`
)

// loadPlanned reads the live planned jobs of all scopes of a schedule. Mostly it finds only the job
// that is being finished, so it reads only the lease columns.
func (t *tx) loadPlanned(q rules.PlannedJobsQuery, u *rules.UnitOfWork) statement {
	return statement{sql: sqlPlannedJobs, params: []param{textNotNull(q.Schedule), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		rules.AppendLease(rules.PlannedJobs, u, q, t.scanLease(r))
		return nil
	}}
}
