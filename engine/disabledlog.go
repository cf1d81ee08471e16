package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

// disabledLog logs the times at which a schedule did not fire because it is DISABLED.
// The store has no next fire of such a schedule, so that it is never due; disabledLog
// computes its times. The first time gets a line at once. After that a schedule has at
// most one line a minute, which counts the times since the last one. What is left is
// logged when the schedule is enabled or changed.
type disabledLog struct {
	e         *Engine
	checked   time.Time // of the last check, by the clock of the store; zero: none
	schedules map[string]*disabledSchedule
}

// disabledSchedule is a DISABLED schedule and the times that no line has yet.
type disabledSchedule struct {
	*rota.Schedule
	table       cron.Timetable // nil: this machine does not know its time zone, for example
	until       time.Time      // times up to here are counted
	next        time.Time      // the first time after that; zero: there is none
	times       int            // counted and not logged
	first, last time.Time      // of these
	logged      time.Time      // when its last line was written; zero: never
}

const (
	disabledEvery     = 5 * time.Second // how often it looks for schedules that were disabled or changed
	disabledLineEvery = time.Minute     // between two lines of a schedule
	skippedMax        = 1_000           // times of one schedule that one check counts
	disabledShare     = 100             // a check waits for this many times as long as the last one took
)

func newDisabledLog(e *Engine) *disabledLog { return &disabledLog{e: e} }

// run checks every few seconds, and when a disabled schedule would fire. If there are so
// many schedules that a check takes long, the next one waits longer.
func (d *disabledLog) run(ctx context.Context) {
	defer d.end()
	for {
		began, wait := time.Now(), disabledEvery
		if d.e.membership.leads() {
			wait = d.check(ctx)
		} else {
			d.end()
		}
		if !pause(ctx, max(wait, disabledShare*time.Since(began))) {
			return
		}
	}
}

// end logs what is left. Another process takes over, or none.
func (d *disabledLog) end() {
	for _, s := range d.schedules {
		d.log(s, d.checked)
	}
	d.schedules, d.checked = nil, time.Time{}
}

// check counts and logs the times since the last check, and returns how long to wait for
// the next one. The first check counts nothing.
func (d *disabledLog) check(ctx context.Context) time.Duration {
	due, err := d.e.store.NextDue(ctx)
	if err != nil {
		return disabledEvery // the due checker logs it; the next check covers this one
	}
	disabled, err := d.read(ctx)
	if err != nil {
		if ctx.Err() == nil {
			d.e.config.Logger.Warn("the disabled schedules could not be read; retrying", "error", err)
		}
		return disabledEvery
	}
	for name, s := range d.schedules {
		if now := disabled[name]; now == nil || now.Version != s.Version {
			d.changed(ctx, s, due.Now)
		}
	}
	wait, schedules := disabledEvery, make(map[string]*disabledSchedule, len(disabled))
	for name, now := range disabled {
		s := d.schedules[name]
		if s == nil || now.Version != s.Version {
			s = d.newSchedule(now, due.Now)
		}
		schedules[name] = s
		s.count(due.Now)
		if s.logged.IsZero() || due.Now.Sub(s.logged) >= disabledLineEvery {
			d.log(s, due.Now)
		}
		if in := s.next.Sub(due.Now); s.logged.IsZero() && in > 0 {
			wait = min(wait, in)
		}
	}
	d.schedules, d.checked = schedules, due.Now
	return wait
}

// read returns the DISABLED schedules.
func (d *disabledLog) read(ctx context.Context) (map[string]*rota.Schedule, error) {
	disabled := map[string]*rota.Schedule{}
	query := rota.ScheduleQuery{State: rota.ScheduleDisabled, Limit: rota.PageMax}
	for {
		page, err := d.e.store.Schedules(ctx, query)
		if err != nil {
			return nil, err
		}
		for _, s := range page {
			disabled[s.Name] = s
			query.After = s.Name
		}
		if len(page) < rota.PageMax {
			return disabled, nil
		}
	}
}

// newSchedule returns a schedule that was DISABLED or changed since the last check. Its
// times count from then.
func (d *disabledLog) newSchedule(now *rota.Schedule, at time.Time) *disabledSchedule {
	s := &disabledSchedule{Schedule: now, until: d.checked}
	if d.checked.IsZero() {
		s.until = at
	}
	for _, later := range []time.Time{now.UpdatedAt, now.LastFire} {
		if later.After(s.until) {
			s.until = later
		}
	}
	if table, err := now.Timetable(); err == nil { // when it is enabled, the firer logs the error
		s.table = table
		s.next, _ = table.Next(s.until)
	}
	return s
}

// changed logs the last times of a schedule that was enabled, changed or removed.
func (d *disabledLog) changed(ctx context.Context, s *disabledSchedule, at time.Time) {
	if now, err := d.e.store.Schedule(ctx, s.Name); err == nil && now.UpdatedAt.Before(at) {
		at = now.UpdatedAt
	}
	s.count(at)
	d.log(s, at)
}

// count counts the times up to a time.
func (s *disabledSchedule) count(until time.Time) {
	if s.table == nil {
		return
	}
	back := until.Before(s.until) // the clock was set back
	if !back && (s.next.IsZero() || s.next.After(until)) {
		s.until = until
		return
	}
	if times, _ := cron.Latest(s.table, s.until, until, skippedMax); len(times) > 0 {
		if s.times == 0 {
			s.first = times[0]
		}
		s.times += len(times)
		s.last = times[len(times)-1]
	}
	s.until = until
	s.next, _ = s.table.Next(until)
}

// log writes the line of the times that are counted, if there are any.
func (d *disabledLog) log(s *disabledSchedule, at time.Time) {
	if s.times == 0 {
		return
	}
	d.e.config.Logger.Info("a schedule did not fire: it is DISABLED",
		"schedule", s.Name, "times", s.times, "first", s.first.UTC(), "last", s.last.UTC(), "reason", s.Reason)
	s.times, s.logged = 0, at
}
