package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// Several jobs share an insert, because a statement opens each index of the table once, however
// many rows it inserts.
const jobsPerStatement = 16

var (
	newJob        = storekit.NewJob()
	sqlInsertJob  = insertJobsSQL(1)
	sqlInsertJobs = insertJobsSQL(jobsPerStatement)
)

func insertJobsSQL(rows int) string {
	names, places := make([]string, len(newJob)), make([]string, len(newJob))
	for i, c := range newJob {
		names[i], places[i] = c.Name, "?"
	}
	row := "(" + strings.Join(places, ", ") + ")"
	return "\nINSERT INTO rota_jobs (" + strings.Join(names, ", ") + ")\nVALUES " + row + strings.Repeat(", "+row, rows-1)
}

// paramsInline is the maximal length of params in the row of their job. Longer ones would need
// overflow pages, which SQLite rewrites each time the job changes.
const paramsInline = 512

const (
	sqlInsertParams = `
INSERT INTO rota_params (params, job_id)
VALUES ($1, $2)`
	sqlUpdateParams = `
UPDATE rota_params
SET params = $1
WHERE job_id = $2`
	sqlUpdateInline = `
UPDATE rota_jobs
SET params = $1
WHERE id = $2 AND params IS NOT NULL`
)

// updateParams replaces params in the table that holds them.
func (w *writer) updateParams(j *rota.Job) error {
	if err := w.writeParams(sqlUpdateInline, j); err != nil || w.changed() > 0 {
		return err
	}
	return w.writeParams(sqlUpdateParams, j)
}

func (w *writer) writeParams(sql string, j *rota.Job) error {
	return w.change(sql, string(j.Params), j.ID)
}

func (w *writer) insertJobs(jobs []*rota.Job) error {
	for len(jobs) > 0 {
		sql, n := sqlInsertJobs, jobsPerStatement
		if len(jobs) < n {
			sql, n = sqlInsertJob, 1
		}
		if err := w.insertRows(sql, jobs[:n]); err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

func (w *writer) insertRows(sql string, jobs []*rota.Job) error {
	err := w.changeRows(sql, func(p storekit.Param) {
		for _, j := range jobs {
			bindNewJob(p, j)
		}
	})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if len(j.Params) > paramsInline {
			if err := w.writeParams(sqlInsertParams, j); err != nil {
				return err
			}
		}
	}
	return nil
}

// bindNewJob binds the columns of a new job. Long params go to a table of their own.
func bindNewJob(p storekit.Param, j *rota.Job) {
	for _, c := range newJob {
		if c.Name == "params" && len(j.Params) > paramsInline {
			p.Null()
			continue
		}
		c.Write(p, j)
	}
}

const sqlPlan = `
SELECT id
FROM rota_jobs
WHERE coalesce(name, type) = $1 AND coalesce(scope_kind, 'global') = $2 AND coalesce(scope_id, 'global') = $3
  AND plan_time = $4 AND plan_time IS NOT NULL AND retry_of IS NULL`

func (w *writer) loadPlan(p rules.Plan, u *rules.UnitOfWork) error {
	return w.Read(sqlPlan, func(r storekit.Row) error {
		rules.Plans.Put(u, p, r.ID(0))
		return nil
	}, p.Name, p.ScopeKind, p.ScopeID, p.Time)
}
