package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	sqlLiveJobs = `
SELECT ` + storekit.FullJob + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = $1 AND j.scope_kind IS nullif($2, '') AND j.scope_id IS nullif($3, '') AND j.sequel IS NULL
  AND (j.hold & 8 <> 0) = $4
ORDER BY j.id
LIMIT $5`
	sqlPlannedJobs = `
SELECT j.id
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = $1 AND j.sequel IS NULL AND j.plan_time IS NOT NULL
ORDER BY j.id
LIMIT $2`
)

// loadPlanned reads the live planned jobs of all scopes of a schedule and sorts them: a schedule
// that fires once has one execution for each scope. Mostly it finds only the job that is being
// finished, so it reads only the lease columns.
func (w *writer) loadPlanned(q rules.PlannedJobsQuery, u *rules.UnitOfWork) error {
	var ids []rota.ID
	err := w.Read(sqlPlannedJobs, func(r storekit.Row) error {
		ids = append(ids, r.ID(0))
		return nil
	}, q.Schedule, q.Limit)
	if err != nil {
		return err
	}
	return w.loadLeases(ids, func(j *rota.Job) { rules.AppendLease(rules.PlannedJobs, u, q, j) })
}
