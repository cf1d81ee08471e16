package postgres

import (
	"context"
	"math"

	"github.com/rotajobs/rota"
)

// Schedules by their next fire. ENABLED and PAUSED schedules each have an index in this order, and
// a page merges them. DISABLED schedules have no next fire. A template has few schedules, which are
// sorted.
const (
	nextEnabled = scheduleColumns + `
WHERE state = 'ENABLED' AND next_fire IS NOT NULL` + nextIn
	nextPaused = scheduleColumns + `
WHERE state = 'PAUSED' AND next_fire IS NOT NULL` + nextIn
	nextIn    = ` AND (next_fire, name) > ($3, $1) AND next_fire <= $4`
	nextFirst = `
ORDER BY next_fire, name
LIMIT $2`

	sqlSchedulesNextEnabled = nextEnabled + nextFirst
	sqlSchedulesNextPaused  = nextPaused + nextFirst
	sqlSchedulesNext        = `
(` + nextEnabled + nextFirst + `
) UNION ALL (` + nextPaused + nextFirst + `
)` + nextFirst
	sqlSchedulesNextOf = scheduleColumns + `
WHERE template = $5 AND ($6 IS NULL OR state = $6) AND next_fire IS NOT NULL` + nextIn + nextFirst
)

func (s *reader) schedulesByNext(ctx context.Context, q *rota.ScheduleQuery, limit int64) ([]*rota.Schedule, error) {
	if q.State == rota.ScheduleDisabled {
		return nil, nil
	}
	sql, params := sqlSchedulesNext, nextParams(q, limit)
	switch {
	case q.Template != "":
		sql, params = sqlSchedulesNextOf, append(params, textNotNull(q.Template), textParam(string(q.State)))
	case q.State == rota.ScheduleEnabled:
		sql = sqlSchedulesNextEnabled
	case q.State == rota.SchedulePaused:
		sql = sqlSchedulesNextPaused
	}
	return readAll(ctx, s, "schedules", scanSchedule, sql, params...)
}

// nextParams are the start of the page, which is after the last page or the requested time, and its
// end. Names are never empty, so an empty name comes before all of the same time.
func nextParams(q *rota.ScheduleQuery, limit int64) []param {
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
	return []param{textNotNull(after), intParam(limit), intParam(from), intParam(until)}
}
