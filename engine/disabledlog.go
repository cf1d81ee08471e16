package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// disabledLog logs the times at which a schedule did not fire because it is DISABLED.
// The store has no next fire of such a schedule, so that it is never due; disabledLog
// computes its times.
type disabledLog struct {
	e     *Engine
	until time.Time // times up to here are logged, by the clock of the store
}

const (
	disabledEvery = time.Minute
	skippedMax    = 1_000 // times of one schedule that one line counts
	disabledShare = 100   // a check waits for this many times as long as the last one took
)

func newDisabledLog(e *Engine) *disabledLog { return &disabledLog{e: e} }

// run logs one line per schedule and check. If there are so many schedules that a check
// takes long, the next one waits longer; it then covers the time since the last one.
func (d *disabledLog) run(ctx context.Context) {
	for {
		began := time.Now()
		if d.e.membership.leads() {
			d.check(ctx)
		} else {
			d.until = time.Time{}
		}
		if !pause(ctx, max(disabledEvery, disabledShare*time.Since(began))) {
			return
		}
	}
}

// check logs the times since the last check. The first check only notes the time.
func (d *disabledLog) check(ctx context.Context) {
	due, err := d.e.store.NextDue(ctx)
	if err != nil {
		return // the due checker logs it; the next check covers this one
	}
	from := d.until
	if from.IsZero() || due.Now.Before(from) {
		d.until = due.Now
		return
	}
	query := rota.ScheduleQuery{State: rota.ScheduleDisabled, Limit: rota.PageMax}
	for {
		schedules, err := d.e.store.Schedules(ctx, query)
		if err != nil {
			if ctx.Err() == nil {
				d.e.config.Logger.Warn("the disabled schedules could not be read; retrying", "error", err)
			}
			return
		}
		for _, s := range schedules {
			d.logSkipped(s, from, due.Now)
		}
		if len(schedules) < rota.PageMax {
			d.until = due.Now
			return
		}
		query.After = schedules[len(schedules)-1].Name
	}
}

// logSkipped logs the times of a schedule in (from, until] that are later than its last
// fire and its last change, which may have disabled it.
func (d *disabledLog) logSkipped(s *rota.Schedule, from, until time.Time) {
	for _, later := range []time.Time{s.UpdatedAt, s.LastFire} {
		if later.After(from) {
			from = later
		}
	}
	table, err := s.Timetable()
	if err != nil || !until.After(from) {
		return // this machine does not know its time zone, for example; when it is enabled, the firer logs it
	}
	times, _ := cron.Latest(table, from, until, skippedMax)
	if len(times) == 0 {
		return
	}
	d.e.config.Logger.Info("a schedule did not fire: it is DISABLED",
		"schedule", s.Name, "time", times[len(times)-1].UTC(), "first", times[0].UTC(), "times", len(times), "reason", s.Reason)
}
