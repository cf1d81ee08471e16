package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlJobsOf = `
SELECT ` + fullColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = ? AND j.scope_kind IS ? AND j.scope_id IS ? AND j.sequel IS NULL AND (j.hold & 8 <> 0) = ?
ORDER BY j.id
LIMIT +?`
	sqlPlanned = `
SELECT j.id
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = ? AND j.sequel IS NULL AND j.plan_time IS NOT NULL
ORDER BY j.id
LIMIT +?`
)

func (w *writer) loadJobsOf(q rules.JobsOf, u *rules.UnitOfWork) error {
	return w.query(sqlJobsOf, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		bindScope(s, 2, q.Scope)
		s.BindBool(4, q.Waiting)
		s.BindInt64(5, int64(q.Limit()))
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.LiveJobs, u, q, scanJob(s))
		return nil
	})
}

// loadPlanned reads the live planned jobs of all scopes of a schedule and sorts them: a schedule
// that fires once has one execution for each scope. Mostly it finds only the job that is being
// finished, so it reads only the lease columns.
func (w *writer) loadPlanned(q rules.Planned, u *rules.UnitOfWork) error {
	var ids []rota.ID
	err := w.query(sqlPlanned, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		s.BindInt64(2, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		ids = append(ids, scanID(s, 0))
		return nil
	})
	if err != nil {
		return err
	}
	return w.loadLeases(ids, func(j *rota.Job) { rules.AppendJob(rules.PlannedJobs, u, q, j) })
}
