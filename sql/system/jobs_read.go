package system

import (
	"math"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Estimated numbers of rows. They make a path with a key cheaper than a full scan.
const (
	schedulesEstimate = 100_000
	runsEstimate      = 1_000_000
	someEstimate      = 1_000
)

var jobWays = []accessPath[job]{
	{key: "job_name", rows: 1, read: func(q *query, w readRequest) pages[job] { return jobNamed(q, w.equal["job_name"].Text()) }},
	{key: "job_uuid", rows: 1, read: func(q *query, w readRequest) pages[job] {
		return jobNamed(q, q.definitionName(w.equal["job_uuid"].Text()))
	}},
	{filters: []string{"state", "template"}, order: []orderTerm{{column: "job_name"}}, rows: schedulesEstimate, read: jobsByName},
	{
		rangeColumn: "next_run_time", filters: []string{"state", "template"}, order: []orderTerm{{column: nextRunKey}}, orderFirstOnly: true,
		rows: schedulesEstimate, read: jobsByNext,
	},
}

func (q *query) job(s *rota.Schedule) job { return job{s, q} }

func jobNamed(q *query, name string) pages[job] {
	if name == "" {
		return noRows[job]
	}
	return singleRow(q, func(v rota.View) (*rota.Schedule, error) { return v.Schedule(q.ctx, name) }, q.job)
}

func jobsByName(q *query, w readRequest) pages[job] { return schedulesBy(q, w, false) }

// schedulesBy lists schedules by name; with idle, only those without a next fire.
func schedulesBy(q *query, w readRequest, idle bool) pages[job] {
	return paged(q, w, func(v rota.View, limit int, last **rota.Schedule) ([]*rota.Schedule, error) {
		ask := w.schedules(limit)
		ask.Idle = idle
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Schedules(q.ctx, ask)
	}, q.job)
}

// jobsByNext lists the jobs by their next run. Jobs without one come last, unless the query restricts the time.
func jobsByNext(q *query, w readRequest) pages[job] {
	timed := paged(q, w, func(v rota.View, limit int, last **rota.Schedule) ([]*rota.Schedule, error) {
		ask := w.schedules(limit)
		ask.ByNext = true
		ask.NextFrom, ask.NextUntil = w.times("next_run_time")
		if last != nil {
			ask.NextAfter, ask.After = (*last).NextFire, (*last).Name
		}
		return v.Schedules(q.ctx, ask)
	}, q.job)
	if w.hasBounds("next_run_time") {
		return timed
	}
	return concat(timed, schedulesBy(q, w, true))
}

// schedules builds the query of a store. An unknown state is left out; SQLite then filters all rows.
func (w readRequest) schedules(limit int) rota.ScheduleQuery {
	ask := rota.ScheduleQuery{Limit: limit, Template: w.equal["template"].Text()}
	switch state := rota.ScheduleState(w.equal["state"].Text()); state {
	case rota.ScheduleEnabled, rota.ScheduleDisabled, rota.SchedulePaused:
		ask.State = state
	}
	return ask
}

// hasBounds reports whether a column has a value or bounds.
func (w readRequest) hasBounds(column string) bool {
	_, is := w.equal[column]
	return is || w.from.Type() != sqlite.TypeNull || w.to.Type() != sqlite.TypeNull
}

// times returns the bounds of a column of milliseconds as times of the store, which have microseconds.
func (w readRequest) times(column string) (from, to time.Time) {
	least, most := w.numbers(column)
	if least > millisMin {
		from = time.UnixMilli(min(least, millisMax))
	}
	if most < millisMax {
		to = time.UnixMilli(max(most, millisMin)).Add(time.Millisecond - time.Microsecond)
	}
	return from, to
}

// The range of times that a store supports.
var (
	millisMin = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	millisMax = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()
)

// numbers are the bounds of a column of numbers.
func (w readRequest) numbers(column string) (from, to int64) {
	if v, is := w.equal[column]; is {
		return v.Int64(), v.Int64()
	}
	from, to = math.MinInt64, math.MaxInt64
	if w.from.Type() != sqlite.TypeNull {
		from = w.from.Int64()
	}
	if w.to.Type() != sqlite.TypeNull {
		to = w.to.Int64()
	}
	return from, to
}

// definitionName is the name of the definition with an id, or empty. An error ends
// the query.
func (q *query) definitionName(id string) string {
	parsed, err := rota.ParseID(id)
	if err != nil {
		return ""
	}
	view, err := q.store()
	if err != nil {
		_ = q.fail(err)
		return ""
	}
	q.reads++
	name, err := view.Definition(q.ctx, parsed)
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		_ = q.fail(err)
	}
	return name
}
