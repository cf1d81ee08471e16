package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	scheduleColumns = `
SELECT name, state, reason, anchor, next_fire, last_fire, version, created_by, created_at, updated_at, spec, moved_at, xmin
FROM rota_schedules`
	sqlSchedule = scheduleColumns + `
WHERE name = ANY ($1)`
	sqlSchedules = scheduleColumns + `
WHERE name > $1 AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR moved_at > $4) AND (NOT $5 OR next_fire IS NULL)
ORDER BY name
LIMIT $2`
	sqlSchedulesOf = scheduleColumns + `
WHERE name > $1 AND ($3 IS NULL OR state = $3) AND ($4 IS NULL OR moved_at > $4) AND (NOT $5 OR next_fire IS NULL)
  AND template = $6
ORDER BY template, name
LIMIT $2`
	// Every row contains the clock's time, and a row of its own if nothing is due, so that both are
	// of one reading of the clock.
	sqlDueSchedules = `
SELECT s.*, c.now
FROM (SELECT coalesce($1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS now) c
LEFT JOIN LATERAL (` + scheduleColumns + `
  WHERE state = 'ENABLED' AND next_fire <= c.now
  ORDER BY next_fire, name
  LIMIT $2
) s ON true
ORDER BY s.next_fire, s.name`
	sqlUsing = `
SELECT name
FROM rota_schedules
WHERE template = $1 AND ($2 OR state <> 'DISABLED')
ORDER BY name
LIMIT $3`
	sqlInsertSchedule = `
INSERT INTO rota_schedules (
  name, next_fire, last_fire, moved_at, template, state, reason, anchor, version, updated_at, spec, created_by, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`
	sqlUpdateSchedule = `
UPDATE rota_schedules
SET next_fire = $2, last_fire = $3, moved_at = $4, template = $5, state = $6, reason = $7, anchor = $8, version = $9,
  updated_at = $10, spec = $11
WHERE name = $1`
	sqlFireSchedules = `
UPDATE rota_schedules s
SET next_fire = v.next_fire, last_fire = v.last_fire, moved_at = v.moved_at
FROM unnest($1, $2, $3, $4) AS v (name, next_fire, last_fire, moved_at)
WHERE s.name = v.name`
	sqlDeleteSchedule = `
DELETE FROM rota_schedules
WHERE name = $1`
)

func scanSchedule(r row) (*rota.Schedule, error) {
	one := &rota.Schedule{
		Name: r.Text(0), State: rota.ScheduleState(r.Text(1)), Reason: r.Text(2), Anchor: r.Time(3),
		NextFire: r.Time(4), LastFire: r.Time(5), Version: r.ID(6), CreatedBy: r.Text(7),
		CreatedAt: r.Time(8), UpdatedAt: r.Time(9), MovedAt: r.Time(11),
	}
	return one, scanSpec(r, 10, &one.Spec, "schedule "+one.Name)
}

func (t *tx) loadSchedules(names []string, u *rules.UnitOfWork) []statement {
	return loadNamed(t, classSchedule, sqlSchedule, names, scanSchedule, rules.Schedules.Into(u))
}

func (t *tx) loadUsing(q rules.Using, u *rules.UnitOfWork) statement {
	params := []param{textNotNull(q.Template), boolParam(q.Disabled), intParam(int64(q.Limit))}
	return statement{sql: sqlUsing, params: params, eachRow: func(r row) error {
		rules.Append(rules.UsersOf, u, q, r.Text(0))
		return nil
	}}
}

// writeSchedules writes the schedules that only fired, which mostly are many, in one statement, and
// then the others with their changed edges.
func (t *tx) writeSchedules(all []rules.Change[string, rota.Schedule]) {
	names, nexts := newColumn(oidTexts, len(all)), newColumn(oidInts, len(all))
	lasts, moved := newColumn(oidInts, len(all)), newColumn(oidInts, len(all))
	var others []statement
	for _, c := range all {
		if !onlyFired(c.Was, c.Is) {
			others = append(others, writeSchedule(c)...)
			continue
		}
		names.textNotNull(c.Key)
		nexts.time(c.Is.NextFire)
		lasts.time(c.Is.LastFire)
		moved.time(c.Is.MovedAt)
	}
	if names.count > 0 {
		t.write(statement{sql: sqlFireSchedules, params: []param{names.param(), nexts.param(), lasts.param(), moved.param()}})
	}
	t.write(others...)
}

// writeSchedule writes a schedule and its edges. PostgreSQL deletes the edges of a deleted
// schedule.
func writeSchedule(c rules.Change[string, rota.Schedule]) []statement {
	params := []param{textNotNull(c.Key)}
	if c.Is == nil {
		return []statement{{sql: sqlDeleteSchedule, params: params}}
	}
	if !sameOrigin(c.Was, c.Is) {
		recreated := writeSchedule(rules.Change[string, rota.Schedule]{Key: c.Key, Is: c.Is})
		return append([]statement{{sql: sqlDeleteSchedule, params: params}}, recreated...)
	}
	params = append(params, timeParam(c.Is.NextFire), timeParam(c.Is.LastFire), timeParam(c.Is.MovedAt),
		textNotNull(c.Is.Spec.Template), textNotNull(string(c.Is.State)), textParam(c.Is.Reason), timeParam(c.Is.Anchor),
		idParam(c.Is.Version), timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec))
	if c.Was == nil {
		params = append(params, textParam(c.Is.CreatedBy), timeParam(c.Is.CreatedAt))
		return append([]statement{{sql: sqlInsertSchedule, params: params}, writeDefinition(c.Key)}, writeEdges(c.Key, nil, c.Is.Spec.DependsOn)...)
	}
	return append([]statement{{sql: sqlUpdateSchedule, params: params}}, writeEdges(c.Key, c.Was.Spec.DependsOn, c.Is.Spec.DependsOn)...)
}

// onlyFired reports whether only the times of a schedule differ. Every change of its spec also
// changes its version.
func onlyFired(was, is *rota.Schedule) bool {
	return was != nil && is != nil && was.Version == is.Version && was.State == is.State && was.Reason == is.Reason
}

// Schedule returns a schedule by its name.
func (s *reader) Schedule(ctx context.Context, name string) (*rota.Schedule, error) {
	return readOne(ctx, s, "schedule", name, scanSchedule, sqlSchedule)
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
	sql, params := sqlSchedules, []param{
		textNotNull(q.After), intParam(limit), textParam(string(q.State)), timeParam(q.Ahead), boolParam(q.Idle),
	}
	if q.Template != "" {
		sql, params = sqlSchedulesOf, append(params, textNotNull(q.Template))
	}
	return readAll(ctx, s, "schedules", scanSchedule, sql, params...)
}

// DueSchedules lists the schedules that are due to fire by the store's clock.
func (s *Store) DueSchedules(ctx context.Context, limit int) (page rota.DuePage, err error) {
	most, err := pageLimit(limit)
	if err != nil {
		return rota.DuePage{}, err
	}
	due := scanInto(scanSchedule, func(one *rota.Schedule) { page.Schedules = append(page.Schedules, one) })
	err = s.query(ctx, "due schedules", statement{
		sql: sqlDueSchedules, params: []param{s.clockParam(ctx), intParam(most)},
		eachRow: func(r row) error {
			page.Now = r.Time(len(r) - 1)
			if r.Null(0) {
				return nil
			}
			return due(r)
		},
	})
	if err != nil {
		return rota.DuePage{}, err
	}
	return page, nil
}
