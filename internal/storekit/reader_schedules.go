package storekit

import (
	"context"
	"math"

	"github.com/rotajobs/rota"
)

var (
	sqlSchedules = Schedules.Select() + `
WHERE name > $1` + scheduleFilters + `
ORDER BY name
LIMIT $2`
	scheduleFilters = ` AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR moved_at > $4) AND (NOT $5 OR next_fire IS NULL)`
	sqlSchedulesOf  = Schedules.Select() + `
WHERE template = $6 AND name > $1` + scheduleFilters + `
ORDER BY template, name
LIMIT $2`
)

// Schedules lists schedules by name, or by their next fire.
func (s *Reader) Schedules(ctx context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := PageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	if q.ByNext {
		return s.schedulesByNext(ctx, &q, limit)
	}
	sql, args := sqlSchedules, []any{q.After, limit, OptionalText(q.State), q.Ahead, q.Idle}
	if q.Template != "" {
		sql, args = sqlSchedulesOf, append(args, q.Template)
	}
	return readAll(ctx, s, Schedules, "schedules", sql, args...)
}

// schedulesByNext lists schedules by their next fire. DISABLED schedules have none.
func (s *Reader) schedulesByNext(ctx context.Context, q *rota.ScheduleQuery, limit int) ([]*rota.Schedule, error) {
	if q.State == rota.ScheduleDisabled {
		return nil, nil
	}
	sql, args := s.on.Reads.SchedulesNext, nextArgs(q, limit)
	switch {
	case q.Template != "":
		sql, args = s.on.Reads.SchedulesNextOf, append(args, q.Template, OptionalText(q.State))
	case q.State == rota.ScheduleEnabled:
		sql = s.on.Reads.SchedulesNextEnabled
	case q.State == rota.SchedulePaused:
		sql = s.on.Reads.SchedulesNextPaused
	}
	return readAll(ctx, s, Schedules, "schedules", sql, args...)
}

// nextArgs are the beginning and the end of a page. It begins after the previous page or at
// NextFrom. Names are not empty, so all schedules of that time come after an empty name.
func nextArgs(q *rota.ScheduleQuery, limit int) []any {
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
	return []any{after, limit, from, until}
}

// DueSchedules lists the schedules that are due to fire by the store's clock.
func (s *Reader) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	most, err := PageLimit(limit)
	if err != nil {
		return rota.DuePage{}, err
	}
	page := rota.DuePage{Now: s.on.Now()}
	put := ScanInto(Schedules, func(one *rota.Schedule) { page.Schedules = append(page.Schedules, one) })
	err = s.on.Query(ctx, "due schedules", s.on.Reads.DueSchedules, func(r Row) error {
		if page.Now.IsZero() {
			page.Now = r.Time(r.Len() - 1)
		}
		if r.Null(0) {
			return nil
		}
		return put(r)
	}, page.Now, most)
	if err != nil {
		return rota.DuePage{}, err
	}
	return page, nil
}

// NextDue returns the times of the next maintenance of each kind.
func (s *Reader) NextDue(ctx context.Context) (due rota.Due, err error) {
	err = s.on.Query(ctx, "next due", s.on.Reads.NextDue, func(r Row) error {
		due = rota.Due{Now: r.Time(0), Ready: r.Time(1), Fire: r.Time(2), Expire: r.Time(3), Sweep: r.Bool(5)}
		if ends := r.Time(4); due.Expire.IsZero() || !ends.IsZero() && ends.Before(due.Expire) {
			due.Expire = ends
		}
		return nil
	}, s.on.Now())
	return due, err
}
