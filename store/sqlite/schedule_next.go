package sqlite

import (
	"context"
	"math"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Schedules by their next fire. ENABLED and PAUSED schedules each have an index in this order, and
// SQLite merges the two as far as the page needs. DISABLED schedules have no next fire. The
// schedules of a template are few and are sorted.
const (
	selectNextEnabled = scheduleColumns + ` INDEXED BY rota_schedules_due
WHERE state = 'ENABLED' AND next_fire IS NOT NULL` + andNextBetween
	selectNextPaused = scheduleColumns + ` INDEXED BY rota_schedules_paused
WHERE state = 'PAUSED' AND next_fire IS NOT NULL` + andNextBetween
	andNextBetween  = ` AND (next_fire, name) > (?3, ?1) AND next_fire <= ?4`
	firstByNextFire = `
ORDER BY next_fire, name
LIMIT +?2`

	sqlSchedulesNextEnabled = selectNextEnabled + firstByNextFire
	sqlSchedulesNextPaused  = selectNextPaused + firstByNextFire
	sqlSchedulesNext        = selectNextEnabled + `
UNION ALL` + selectNextPaused + firstByNextFire
	sqlSchedulesNextOf = scheduleColumns + ` INDEXED BY rota_schedules_template
WHERE template = ?5 AND (?6 IS NULL OR state = ?6) AND next_fire IS NOT NULL` + andNextBetween + firstByNextFire
)

func (s *reader) schedulesByNext(ctx context.Context, q *rota.ScheduleQuery, limit int64) ([]*rota.Schedule, error) {
	if q.State == rota.ScheduleDisabled {
		return nil, nil
	}
	sql := sqlSchedulesNext
	switch {
	case q.Template != "":
		sql = sqlSchedulesNextOf
	case q.State == rota.ScheduleEnabled:
		sql = sqlSchedulesNextEnabled
	case q.State == rota.SchedulePaused:
		sql = sqlSchedulesNextPaused
	}
	return readAll(ctx, s, "schedules", sql, func(stmt *sqlite.Stmt) {
		stmt.BindInt64(2, limit)
		bindNext(stmt, q)
		if q.Template != "" {
			stmt.BindText(5, q.Template)
			bindText(stmt, 6, string(q.State))
		}
	}, scanSchedule)
}

// bindNext binds the beginning and the end of a page. It begins after the previous page or at
// NextFrom. Names are not empty, so all schedules of that time come after an empty name.
func bindNext(stmt *sqlite.Stmt, q *rota.ScheduleQuery) {
	from, after, until := int64(math.MinInt64), "", int64(math.MaxInt64)
	if !q.NextFrom.IsZero() {
		from = q.NextFrom.UnixMicro()
	}
	if !q.NextAfter.IsZero() && q.NextAfter.UnixMicro() >= from {
		from, after = q.NextAfter.UnixMicro(), q.After
	}
	if !q.NextUntil.IsZero() {
		until = q.NextUntil.UnixMicro()
	}
	stmt.BindText(1, after)
	stmt.BindInt64(3, from)
	stmt.BindInt64(4, until)
}
