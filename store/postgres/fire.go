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

	// What lives of a schedule is found by the index that holds nothing else, and
	// then picked and sorted. Without OFFSET 0 it may seem less to PostgreSQL to walk
	// all jobs there are in another order until enough have been met.
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
		u.PutJobsOf(q, t.scanJob(r))
		return nil
	}}
}

// loadPlanned sorts what lives of all scopes: a schedule that fires once has one
// execution for each. Mostly it finds the very one that ends; to see that it has
// not takes no more of a job than to end it.
func (t *tx) loadPlanned(q rules.Planned, u *rules.UnitOfWork) statement {
	return statement{sql: sqlPlanned, params: []param{textNotNull(q.Schedule), intParam(int64(q.Limit))}, eachRow: func(r row) error {
		u.PutPlanned(q, t.scanLease(r))
		return nil
	}}
}

// scopeParams are a schedule and a scope; of the global one both parts are empty.
func scopeParams(schedule string, scope rota.Scope) []param {
	return []param{textNotNull(schedule), textNotNull(scope.Kind), textNotNull(scope.ID)}
}
