package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlJobsOf = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.schedule = $1 AND coalesce(j.scope_kind, '') = $2 AND coalesce(j.scope_id, '') = $3
  AND j.sequel IS NULL AND (j.hold & 8 <> 0) = $4
ORDER BY j.id
LIMIT $5`
	sqlPlanned = selectLive + leaseColumns + fromLive + `few.plan_time IS NOT NULL` + firstByID

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

func (t *tx) loadJobsOf(q rules.JobsOf, u *rules.UnitOfWork) statement {
	params := append(scopeParams(q.Schedule, q.Scope), boolParam(q.Waiting), intParam(int64(q.Limit())))
	return statement{sql: sqlJobsOf, params: params, eachRow: func(r row) error {
		rules.AppendJob(rules.LiveJobs, u, q, t.scanJob(r))
		return nil
	}}
}

// loadPlanned reads the live planned jobs of all scopes of a schedule. Mostly it finds only the job
// that is being finished, so it reads only the lease columns.
func (t *tx) loadPlanned(q rules.Planned, u *rules.UnitOfWork) statement {
	return statement{sql: sqlPlanned, params: []param{textNotNull(q.Schedule), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		rules.AppendJob(rules.PlannedJobs, u, q, t.scanLease(r))
		return nil
	}}
}

// scopeParams are a schedule and a scope. Both parts of the global scope are empty.
func scopeParams(schedule string, scope rota.Scope) []param {
	return []param{textNotNull(schedule), textNotNull(scope.Kind), textNotNull(scope.ID)}
}
