package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlDropped = `
SELECT schedule, made_before, hidden_before, dropped_by
FROM rota_dropped
WHERE schedule = ?`
	sqlInsertDropped = `
INSERT OR ROLLBACK INTO rota_dropped (schedule, made_before, hidden_before, dropped_by)
VALUES (?, ?, ?, ?)`
	sqlUpdateDropped = `
UPDATE OR ROLLBACK rota_dropped
SET made_before = ?2, hidden_before = ?3, dropped_by = ?4
WHERE schedule = ?1`
	sqlDeleteDropped = `
DELETE FROM rota_dropped
WHERE schedule = ?`

	// The subquery sorts only ids, not whole rows.
	selectDropped = `
SELECT ` + fullColumns + `
FROM (
  SELECT j.id
  FROM rota_jobs j INDEXED BY `
	droppedWhere = `
  WHERE j.schedule = ?1 AND j.created_at < ?2 AND `
	droppedFirst = `
  ORDER BY j.id
  LIMIT +?3
) one
JOIN rota_jobs j ON j.id = one.id`
	droppedLast = `
  ORDER BY j.id DESC
  LIMIT +?3
) one
JOIN rota_jobs j ON j.id = one.id`

	sqlDroppedRunning = selectDropped + `rota_jobs_live` + droppedWhere +
		`j.sequel IS NULL AND j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL` + droppedFirst
	sqlDroppedQueued = selectDropped + `rota_jobs_live` + droppedWhere + `j.sequel IS NULL AND j.status = 'QUEUED'` + droppedLast
	sqlDroppedLive   = selectDropped + `rota_jobs_live` + droppedWhere + `j.sequel IS NULL` + droppedFirst
	sqlDroppedEnded  = selectDropped + `rota_jobs_schedule` + droppedWhere + `j.sequel IS NOT NULL AND j.sequel <> 'retry'` + droppedFirst
)

// droppedSQL holds the statements for the kinds of dropped jobs.
var droppedSQL = map[rules.DroppedKind]string{
	rules.DroppedRunning: sqlDroppedRunning, rules.DroppedQueued: sqlDroppedQueued, rules.DroppedLive: sqlDroppedLive, rules.DroppedEnded: sqlDroppedEnded,
}

func (w *writer) loadDropped(schedule string, u *rules.UnitOfWork) error {
	return w.query(sqlDropped, func(s *sqlite.Stmt) { s.BindText(1, schedule) }, func(s *sqlite.Stmt) error {
		rules.DroppedSchedules.Put(u, &rules.Dropped{
			Schedule: s.ColumnText(0), Before: s.ColumnInt64(1), Hidden: s.ColumnInt64(2), By: s.ColumnText(3),
		})
		return nil
	})
}

func (w *writer) loadDroppedJobs(q rules.DroppedJobs, u *rules.UnitOfWork) error {
	return w.query(droppedSQL[q.Kind], func(s *sqlite.Stmt) {
		s.BindText(1, q.Schedule)
		s.BindInt64(2, q.Before)
		s.BindInt64(3, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		rules.AppendJob(rules.DroppedJobsOf, u, q, scanJob(s))
		return nil
	})
}

func (w *writer) writeDropped(c rules.Change[string, rules.Dropped]) error {
	return w.change(changeSQL(c.Was == nil, c.Is == nil, sqlInsertDropped, sqlUpdateDropped, sqlDeleteDropped), func(s *sqlite.Stmt) {
		s.BindText(1, c.Key)
		if c.Is == nil {
			return
		}
		s.BindInt64(2, c.Is.Before)
		if c.Is.Hidden != 0 {
			s.BindInt64(3, c.Is.Hidden)
		}
		bindText(s, 4, c.Is.By)
	})
}

// sameOrigin reports whether a schedule was not recreated: the creator and the time of creation of
// a row never change.
func sameOrigin(was, is *rota.Schedule) bool {
	return was == nil || is == nil || was.CreatedBy == is.CreatedBy && was.CreatedAt.Equal(is.CreatedAt)
}
