package sqlite

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlInsertEdge = `
INSERT OR ROLLBACK INTO rota_edges (schedule, depends_on)
VALUES (?, ?)`
	sqlDeleteEdge = `
DELETE FROM rota_edges
WHERE schedule = ? AND depends_on = ?`
	sqlDependents = `
SELECT schedule
FROM rota_edges INDEXED BY rota_edges_back
WHERE depends_on = ?
ORDER BY schedule
LIMIT +?`
	sqlReach = `
WITH RECURSIVE reach (name) AS (
  SELECT ?
  UNION
  SELECT e.depends_on
  FROM reach JOIN rota_edges e ON e.schedule = reach.name
)
SELECT e.schedule, e.depends_on
FROM reach CROSS JOIN rota_edges e ON e.schedule = reach.name`
)

// writeEdges inserts and deletes the edges that differ.
func (w *writer) writeEdges(schedule string, was, is []string) error {
	edit := func(sql string, all, but []string) func() error {
		return each(all, func(name string) error {
			if slices.Contains(but, name) {
				return nil
			}
			return w.change(sql, func(s *sqlite.Stmt) {
				s.BindText(1, schedule)
				s.BindText(2, name)
			})
		})
	}
	return firstError(edit(sqlDeleteEdge, was, is), edit(sqlInsertEdge, is, was))
}

func (w *writer) loadDependents(q rules.Dependents, u *rules.UnitOfWork) error {
	return w.query(sqlDependents, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		s.BindInt64(2, rota.DependentsMax+1)
	}, func(s *sqlite.Stmt) error {
		rules.Append(rules.DependentsOf, u, q, s.ColumnText(0))
		return nil
	})
}

func (w *writer) loadReach(q rules.Reach, u *rules.UnitOfWork) error {
	return w.query(sqlReach, func(s *sqlite.Stmt) { s.BindText(1, q.Schedule) }, func(s *sqlite.Stmt) error {
		u.PutEdge(s.ColumnText(0), s.ColumnText(1))
		return nil
	})
}

const (
	sqlLatest = `
SELECT id
FROM rota_jobs INDEXED BY rota_jobs_counts
WHERE schedule = ? AND scope_kind IS ? AND scope_id IS ? AND counts_at > ? AND counts_at <= ? AND retry_of IS NULL
ORDER BY counts_at DESC, id DESC
LIMIT 1`
	sqlBlocked = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = ?1 AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold & 4
  AND (?5 OR j.scope_kind IS NULL OR (j.scope_kind = ?3 AND j.scope_id = ?4))
ORDER BY j.id
LIMIT +?2`
	sqlOverlapWaiting = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_live
WHERE j.schedule = ? AND j.sequel IS NULL AND j.status = 'QUEUED' AND j.hold & 8
ORDER BY j.id
LIMIT +?`
	sqlExpiredWaits = `
SELECT ` + queuedColumns + `
FROM rota_jobs j INDEXED BY rota_jobs_wait
WHERE j.status = 'QUEUED' AND j.hold & 4 AND j.wait_until <= ?
ORDER BY j.wait_until, j.id
LIMIT +?`
)

func (w *writer) loadLatest(q rules.Latest, u *rules.UnitOfWork) error {
	return w.query(sqlLatest, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		bindScope(s, 2, q.Scope)
		s.BindInt64(4, q.After)
		s.BindInt64(5, q.Until)
	}, func(s *sqlite.Stmt) error {
		rules.LatestJobs.Put(u, q, scanID(s, 0))
		return nil
	})
}

func (w *writer) loadBlocked(q rules.Blocked, u *rules.UnitOfWork) error {
	return w.query(sqlBlocked, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		s.BindInt64(2, rota.DependentsMax)
		bindScope(s, 3, q.Scope)
		s.BindBool(5, q.Every)
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.BlockedJobs, u, q, scanJob(s))
		return nil
	})
}

func (w *writer) loadOverlapWaiting(q rules.OverlapWaiting, u *rules.UnitOfWork) error {
	return w.query(sqlOverlapWaiting, func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		s.BindInt64(2, rota.DependentsMax)
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.WaitingJobs, u, q, scanJob(s))
		return nil
	})
}

func (w *writer) loadExpiredWaits(q rules.ExpiredWaits, u *rules.UnitOfWork) error {
	return w.query(sqlExpiredWaits, func(s *sqlite.Stmt) {
		s.BindInt64(1, q.Now)
		s.BindInt64(2, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.LateWaits, u, q, scanJob(s))
		return nil
	})
}

// bindScope binds kind and id; the global scope is two NULLs.
func bindScope(s *sqlite.Stmt, param int, scope rota.Scope) {
	bindText(s, param, scope.Kind)
	bindText(s, param+1, scope.ID)
}
