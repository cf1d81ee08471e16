package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	scheduleColumns = `
SELECT name, state, reason, anchor, next_fire, last_fire, version, created_by, created_at, updated_at, spec, moved_at
FROM rota_schedules`
	sqlSchedule = scheduleColumns + `
WHERE name = ?`
	sqlSchedules = scheduleColumns + `
WHERE name > ?1 AND (?3 IS NULL OR state = ?3) AND (?4 IS NULL OR template = ?4) AND (?5 IS NULL OR moved_at > ?5)
  AND (?6 IS NULL OR next_fire IS NULL)
ORDER BY name
LIMIT +?2`
	sqlSchedulesOf = scheduleColumns + ` INDEXED BY rota_schedules_template
WHERE name > ?1 AND (?3 IS NULL OR state = ?3) AND template = ?4 AND (?5 IS NULL OR moved_at > ?5)
  AND (?6 IS NULL OR next_fire IS NULL)
ORDER BY name
LIMIT +?2`
	sqlDueSchedules = scheduleColumns + ` INDEXED BY rota_schedules_due
WHERE state = 'ENABLED' AND next_fire <= ?
ORDER BY next_fire, name
LIMIT +?`
	sqlUsing = `
SELECT name
FROM rota_schedules INDEXED BY rota_schedules_template
WHERE template = ? AND (? OR state <> 'DISABLED')
ORDER BY name
LIMIT +?`
	sqlInsertSchedule = `
INSERT OR ROLLBACK INTO rota_schedules (
  name, next_fire, last_fire, moved_at, template, state, reason, anchor, version, updated_at, spec, created_by, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlUpdateSchedule = `
UPDATE OR ROLLBACK rota_schedules
SET next_fire = ?2, last_fire = ?3, moved_at = ?4, template = ?5, state = ?6, reason = ?7, anchor = ?8, version = ?9,
  updated_at = ?10, spec = ?11
WHERE name = ?1`
	sqlFireSchedule = `
UPDATE OR ROLLBACK rota_schedules
SET next_fire = ?2, last_fire = ?3, moved_at = ?4
WHERE name = ?1`
	sqlDeleteSchedule = `
DELETE FROM rota_schedules
WHERE name = ?`
)

func scanSchedule(s *sqlite.Stmt) (*rota.Schedule, error) {
	one := &rota.Schedule{
		Name: s.ColumnText(0), State: rota.ScheduleState(s.ColumnText(1)), Reason: s.ColumnText(2), Anchor: scanTime(s, 3),
		NextFire: scanTime(s, 4), LastFire: scanTime(s, 5), Version: scanID(s, 6), CreatedBy: s.ColumnText(7),
		CreatedAt: scanTime(s, 8), UpdatedAt: scanTime(s, 9), MovedAt: scanTime(s, 11),
	}
	return one, scanSpec(s, 10, &one.Spec, "schedule "+one.Name)
}

func (w *writer) loadSchedule(name string, u *rules.UnitOfWork) error {
	return w.query(sqlSchedule, func(s *sqlite.Stmt) { s.BindText(1, name) }, scanInto(scanSchedule, rules.Schedules.Into(u)))
}

func (w *writer) loadUsing(q rules.Using, u *rules.UnitOfWork) error {
	return w.query(sqlUsing, func(s *sqlite.Stmt) {
		s.BindText(1, q.Template)
		s.BindBool(2, q.Disabled)
		s.BindInt64(3, int64(q.Limit))
	}, func(s *sqlite.Stmt) error {
		rules.Append(rules.UsersOf, u, q, s.ColumnText(0))
		return nil
	})
}

// writeSchedule writes a schedule, and its edges if they differ. A trigger deletes the edges of a
// deleted schedule.
func (w *writer) writeSchedule(c rules.Change[string, rota.Schedule]) error {
	if !sameOrigin(c.Was, c.Is) {
		if err := w.writeScheduleRow(rules.Change[string, rota.Schedule]{Key: c.Key, Was: c.Was}); err != nil {
			return err
		}
		c.Was = nil
	}
	if err := w.writeScheduleRow(c); err != nil || c.Is == nil || onlyFired(c.Was, c.Is) {
		return err
	}
	var was []string
	if c.Was != nil {
		was = c.Was.Spec.DependsOn
	} else if err := w.writeDefinition(c.Key); err != nil {
		return err
	}
	return w.writeEdges(c.Key, was, c.Is.Spec.DependsOn)
}

func (w *writer) writeScheduleRow(c rules.Change[string, rota.Schedule]) error {
	fired := onlyFired(c.Was, c.Is)
	sql := changeSQL(c.Was == nil, c.Is == nil, sqlInsertSchedule, sqlUpdateSchedule, sqlDeleteSchedule)
	if fired {
		sql = sqlFireSchedule
	}
	return w.change(sql, func(s *sqlite.Stmt) {
		s.BindText(1, c.Key)
		if c.Is == nil {
			return
		}
		bindTime(s, 2, c.Is.NextFire)
		bindTime(s, 3, c.Is.LastFire)
		bindTime(s, 4, c.Is.MovedAt)
		if fired {
			return
		}
		s.BindText(5, c.Is.Spec.Template)
		s.BindText(6, string(c.Is.State))
		bindText(s, 7, c.Is.Reason)
		bindTime(s, 8, c.Is.Anchor)
		bindID(s, 9, c.Is.Version)
		bindTime(s, 10, c.Is.UpdatedAt)
		bindSpec(s, 11, c.Is.Spec)
		if c.Was == nil {
			bindText(s, 12, c.Is.CreatedBy)
			bindTime(s, 13, c.Is.CreatedAt)
		}
	})
}

// onlyFired reports whether only the times of a schedule differ. Every change of its spec also
// changes its version.
func onlyFired(was, is *rota.Schedule) bool {
	return was != nil && is != nil && was.Version == is.Version && was.State == is.State && was.Reason == is.Reason
}

// Schedule returns a schedule by its name.
func (s *reader) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	return readOne(ctx, s, "schedule", name, sqlSchedule, func(stmt *sqlite.Stmt) { stmt.BindText(1, name) }, scanSchedule)
}

// Schedules lists schedules by name, or by their next fire.
func (s *reader) Schedules(ctx context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.ByNext {
		return s.schedulesByNext(ctx, &q, limit)
	}
	sql := sqlSchedules
	if q.Template != "" {
		sql = sqlSchedulesOf
	}
	return readAll(ctx, s, "schedules", sql, func(stmt *sqlite.Stmt) {
		stmt.BindText(1, q.After)
		stmt.BindInt64(2, limit)
		bindText(stmt, 3, string(q.State))
		bindText(stmt, 4, q.Template)
		bindTime(stmt, 5, q.Ahead)
		if q.Idle {
			stmt.BindInt64(6, 1)
		}
	}, scanSchedule)
}

// DueSchedules lists the schedules that are due to fire by the store's clock.
func (s *Store) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	most, err := pageLimit(limit)
	if err != nil {
		return rota.DuePage{}, err
	}
	now := s.now()
	due, err := readAll(ctx, &s.reader, "due schedules", sqlDueSchedules, func(stmt *sqlite.Stmt) {
		stmt.BindInt64(1, now.UnixMicro())
		stmt.BindInt64(2, most)
	}, scanSchedule)
	return rota.DuePage{Now: now, Schedules: due}, err
}
