package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// Several jobs share an insert, because a statement opens each index of the table once, however
// many rows it inserts.
const (
	sqlInsertJob = `
INSERT OR ROLLBACK INTO rota_jobs (
  id, execution_id, retry_of, type, hold, priority, position, attempt, max_attempts,
  backoff, backoff_max, jitter, timeout, created_at, queued_at, run_at, plan_time,
  scope_kind, scope_id, name, unique_key, unique_for, created_by, params,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of,
  trace)
VALUES ` + jobValues
	jobValues = `(
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	jobsPerStatement = 16
)

var (
	sqlInsertJobs = sqlInsertJob + strings.Repeat(", "+jobValues, jobsPerStatement-1)
	jobParamCount = strings.Count(jobValues, "?")
)

// paramsInline is the maximal length of params in the row of their job. Longer ones would need
// overflow pages, which SQLite rewrites each time the job changes.
const paramsInline = 512

const (
	sqlInsertParams = `
INSERT OR ROLLBACK INTO rota_params (params, job_id)
VALUES (?, ?)`
	sqlUpdateParams = `
UPDATE OR ROLLBACK rota_params
SET params = ?
WHERE job_id = ?`
	sqlUpdateInline = `
UPDATE OR ROLLBACK rota_jobs
SET params = ?
WHERE id = ? AND params IS NOT NULL`
)

// updateParams replaces params in the table that holds them.
func (w *writer) updateParams(j *rota.Job) error {
	if err := w.writeParams(sqlUpdateInline, j); err != nil || w.conn.Changes() > 0 {
		return err
	}
	return w.writeParams(sqlUpdateParams, j)
}

func (w *writer) writeParams(sql string, j *rota.Job) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	s.BindText(1, string(j.Params))
	s.BindBytes(2, j.ID[:])
	return w.write(s)
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
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	for i, j := range jobs {
		bindJob(s, i*jobParamCount, j)
	}
	if err := w.write(s); err != nil {
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

// bindJob binds a job to the parameters after at.
func bindJob(s *sqlite.Stmt, at int, j *rota.Job) {
	bindID(s, at+1, j.ID)
	if !j.RetryOf.IsZero() {
		bindID(s, at+2, j.ExecutionID)
		bindID(s, at+3, j.RetryOf)
	}
	s.BindText(at+4, j.Type)
	s.BindInt64(at+5, int64(j.Hold))
	s.BindInt64(at+6, int64(j.Priority))
	s.BindInt64(at+7, j.Position)
	s.BindInt64(at+8, int64(j.Attempt))
	s.BindInt64(at+9, int64(j.Policy.MaxAttempts))
	s.BindInt64(at+10, j.Policy.Backoff.Microseconds())
	bindDuration(s, at+11, j.Policy.BackoffMax)
	if j.Policy.Jitter != 0 {
		s.BindFloat(at+12, j.Policy.Jitter)
	}
	s.BindInt64(at+13, j.Policy.Timeout.Microseconds())
	bindTime(s, at+14, j.CreatedAt)
	bindTime(s, at+15, j.QueuedAt)
	bindTime(s, at+16, j.RunAt)
	bindTime(s, at+17, j.PlanTime)
	bindText(s, at+18, j.ScopeKind)
	bindText(s, at+19, j.ScopeID)
	bindText(s, at+20, j.Name)
	bindText(s, at+21, j.UniqueKey)
	bindDuration(s, at+22, j.UniqueFor)
	bindText(s, at+23, j.CreatedBy)
	bindRelations(s, at+25, j)
	if len(j.Params) <= paramsInline {
		s.BindText(at+24, string(j.Params))
	}
}

func bindRelations(s *sqlite.Stmt, p int, j *rota.Job) {
	bindText(s, p, j.Template)
	bindText(s, p+1, j.Schedule)
	if !j.GroupID.IsZero() {
		bindID(s, p+2, j.GroupID)
		s.BindInt64(p+3, int64(j.GroupPosition))
	}
	bindText(s, p+4, j.ConcurrencyKey)
	bindTime(s, p+5, j.CountsAt)
	bindTime(s, p+6, j.WaitFrom)
	bindTime(s, p+7, j.WaitUntil)
	bindID(s, p+8, j.RedriveOf)
	bindText(s, p+9, j.Trace)
}

const (
	sqlKeyGet = `
SELECT execution_id, free_at, ended
FROM rota_keys
WHERE type = ? AND key = ?`
	sqlKeyPut = `
INSERT OR ROLLBACK INTO rota_keys (type, key, execution_id, free_at, ended)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (type, key) DO UPDATE
SET execution_id = excluded.execution_id, free_at = excluded.free_at, ended = excluded.ended`
	sqlKeyDelete = `
DELETE FROM rota_keys
WHERE type = ? AND key = ?`
	sqlPlan = `
SELECT id
FROM rota_jobs
WHERE coalesce(name, type) = ? AND coalesce(scope_kind, 'global') = ? AND coalesce(scope_id, 'global') = ?
  AND plan_time = ? AND plan_time IS NOT NULL AND retry_of IS NULL`
)

func (w *writer) loadKey(k rules.UniqueKey, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlKeyGet)
	if err != nil {
		return err
	}
	s.BindText(1, k.Type)
	s.BindText(2, k.Key)
	return rows(s, func(s *sqlite.Stmt) error {
		rules.UniqueKeys.Put(u, &rules.UniqueKeyRecord{
			Key: k, ExecutionID: scanID(s, 0), FreeAt: s.ColumnInt64(1), Ended: s.ColumnInt64(2) == 1,
		})
		return nil
	})
}

func (w *writer) writeKey(c rules.Change[rules.UniqueKey, rules.UniqueKeyRecord]) error {
	sql := sqlKeyPut
	if c.Is == nil {
		sql = sqlKeyDelete
	}
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	s.BindText(1, c.Key.Type)
	s.BindText(2, c.Key.Key)
	if c.Is != nil {
		bindID(s, 3, c.Is.ExecutionID)
		if c.Is.FreeAt != 0 {
			s.BindInt64(4, c.Is.FreeAt)
		}
		s.BindBool(5, c.Is.Ended)
	}
	return w.write(s)
}

func (w *writer) loadPlan(p rules.Plan, u *rules.UnitOfWork) error {
	s, err := w.stmt(sqlPlan)
	if err != nil {
		return err
	}
	s.BindText(1, p.Name)
	s.BindText(2, p.ScopeKind)
	s.BindText(3, p.ScopeID)
	s.BindInt64(4, p.Time)
	return rows(s, func(s *sqlite.Stmt) error {
		rules.Plans.Put(u, p, scanID(s, 0))
		return nil
	})
}
