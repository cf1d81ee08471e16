package sys

import (
	"math"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// How many rows there may be is a guess, made so that a way which is given a name
// beats one that walks.
const (
	schedulesGuess = 100_000
	runsGuess      = 1_000_000
	someGuess      = 1_000
)

var jobWays = []way[job]{
	{by: "job_name", rows: 1, read: func(q *query, w want) pages[job] { return jobNamed(q, w.is["job_name"].Text()) }},
	{by: "job_uuid", rows: 1, read: func(q *query, w want) pages[job] { return jobNamed(q, q.named(w.is["job_uuid"].Text())) }},
	{also: []string{"state", "template"}, order: []term{{column: "job_name"}}, rows: schedulesGuess, read: jobsByName},
	{
		span: "next_run_time", also: []string{"state", "template"}, order: []term{{column: "next_run_time"}}, alone: true,
		rows: schedulesGuess, read: jobsByNext,
	},
}

func (q *query) job(s *rota.Schedule) job { return job{s, q} }

func jobNamed(q *query, name string) pages[job] {
	if name == "" {
		return nothing[job]
	}
	return one(q, func(v rota.View) (*rota.Schedule, error) { return v.Schedule(q.ctx, name) }, q.job)
}

func jobsByName(q *query, w want) pages[job] { return schedulesBy(q, w, false) }

// schedulesBy lists schedules by name, only those that have no next fire if they are
// to be idle.
func schedulesBy(q *query, w want, idle bool) pages[job] {
	return paged(q, w, func(v rota.View, limit int, last **rota.Schedule) ([]*rota.Schedule, error) {
		ask := w.schedules(limit)
		ask.Idle = idle
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Schedules(q.ctx, ask)
	}, q.job)
}

// jobsByNext lists the jobs by their next run, and those that have none behind
// them, as long as nobody asks for a time.
func jobsByNext(q *query, w want) pages[job] {
	timed := paged(q, w, func(v rota.View, limit int, last **rota.Schedule) ([]*rota.Schedule, error) {
		ask := w.schedules(limit)
		ask.ByNext = true
		ask.NextFrom, ask.NextUntil = w.times("next_run_time")
		if last != nil {
			ask.NextAfter, ask.After = (*last).NextFire, (*last).Name
		}
		return v.Schedules(q.ctx, ask)
	}, q.job)
	if w.bounded("next_run_time") {
		return timed
	}
	return behind(timed, schedulesBy(q, w, true))
}

// schedules is the query for those that are wanted. A state that there is not
// picks nothing, which SQLite sees by itself.
func (w want) schedules(limit int) rota.ScheduleQuery {
	ask := rota.ScheduleQuery{Limit: limit, Template: w.is["template"].Text()}
	switch state := rota.ScheduleState(w.is["state"].Text()); state {
	case rota.ScheduleEnabled, rota.ScheduleDisabled, rota.SchedulePaused:
		ask.State = state
	}
	return ask
}

// bounded says whether a column was given a value, or bounds.
func (w want) bounded(column string) bool {
	_, is := w.is[column]
	return is || w.from.Type() != sqlite.TypeNull || w.to.Type() != sqlite.TypeNull
}

// times are the bounds of a column of milliseconds, in which a store finds the
// times that are shown so.
func (w want) times(column string) (from, to time.Time) {
	least, most := w.numbers(column)
	if least > millisLeast {
		from = time.UnixMilli(min(least, millisMost))
	}
	if most < millisMost {
		to = time.UnixMilli(max(most, millisLeast)).Add(time.Millisecond - time.Microsecond)
	}
	return from, to
}

// The years that a store can tell: beyond them there is nothing to find.
var (
	millisLeast = time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
	millisMost  = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli()
)

// numbers are the bounds of a column of numbers.
func (w want) numbers(column string) (from, to int64) {
	if v, is := w.is[column]; is {
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

// named is the name of the definition with an id, or empty. What goes wrong ends
// the query.
func (q *query) named(id string) string {
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
