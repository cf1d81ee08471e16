package rota

import (
	"time"

	"github.com/rotajobs/rota/cron"
)

// Declare builds the command that declares a schedule. It parses the expression and
// the zone and computes the first fire, because stores do neither. The store checks
// what depends on its clock and rows.
func Declare(meta Meta, name string, spec ScheduleSpec, now time.Time) (*PutSchedule, error) {
	c := &PutSchedule{Meta: meta, Name: name, Spec: spec, Anchor: cutTime(now)}
	if err := c.Validate(); err != nil { // before canonicalization, so that errors quote the input
		return nil, withScheduleName(name, err)
	}
	c.Spec = spec.Canonical()
	if _, err := cron.LoadZone(c.Spec.Zone); err != nil { // also of a schedule that only keeps it
		return nil, withScheduleName(name, asInvalid("timezone", err))
	}
	table, err := c.Spec.Timetable(name, c.Anchor)
	if err != nil {
		return nil, withScheduleName(name, err)
	}
	switch {
	case !spec.At.IsZero():
		c.Next = c.Spec.At
	case c.Spec.Every != 0 && c.Spec.StartsAt.Equal(c.Anchor):
		c.Next = c.Anchor // a schedule that starts now fires now
	default:
		c.Next = nextOf(table, now)
	}
	return c, nil
}

// withScheduleName adds the name of the schedule to an error.
func withScheduleName(name string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	named := *e
	named.Act = "schedule " + quote(name)
	return &named
}

// Enable builds the command that enables a schedule, with its next fire from now on. A
// paused schedule keeps its own next fire and applies its catch-up policy.
func Enable(meta Meta, s *Schedule, now time.Time) (*SwitchSchedule, error) {
	next, err := s.NextAfter(now)
	if err != nil {
		return nil, withScheduleName(s.Name, err)
	}
	if s.Spec.At.After(now) {
		next = s.Spec.At
	}
	return &SwitchSchedule{Meta: meta, Name: s.Name, State: ScheduleEnabled, Next: next}, nil
}

// PlanFire builds the command that fires the due times of a schedule, or returns nil if
// none is due. A scheduler has run without interruption since alive; zero means always.
//
// A due time is missed if no scheduler ran at that time or since, or if the schedule was
// paused then. Otherwise it is late. The catch-up policy decides for the missed times;
// each late time fires. If a late time is later than MisfireGrace, the catch-up policy
// decides for all due times. Times that do not fit into the command stay due for the next
// command: the late times after missed ones, and those beyond FireJobsMax.
//
// If NextFire was set at a time that is now in the future, the clock was set back.
// PlanFire then computes the next time again from now. The plan key prevents firing a
// time twice.
func PlanFire(meta Meta, s *Schedule, now, alive time.Time) (*Fire, error) {
	table, err := s.timetableAt(now)
	if err != nil {
		return nil, err
	}
	f := &Fire{Meta: meta, Schedule: s.Name, Version: s.Version, Expect: s.NextFire}
	switch missed := s.missedUntil(now, alive); {
	case s.NextFire.IsZero():
		return nil, nil
	case s.NextFire.After(now):
		return planAfterClockSetBack(f, table, s, now), nil
	case s.NextFire.After(missed):
		f.planEach(table, s, now)
	default:
		f.CatchUp = true
		f.planMissed(table, s, missed)
	}
	f.setWindows(table, s, now)
	return f, nil
}

// missedUntil returns the end of what was missed: due times up to then were missed, and
// those after it are late.
func (s *Schedule) missedUntil(now, alive time.Time) time.Time {
	late := s.NextFire // first late time
	for _, from := range []time.Time{alive, s.ResumedAt} {
		if from.After(late) && !from.After(now) { // a later time was set by a clock that was ahead
			late = from
		}
	}
	if now.Sub(late) > MisfireGrace {
		return now
	}
	return late.Add(-time.Microsecond)
}

// planAfterClockSetBack plans a new next time if the clock was set back after the
// schedule's next time was set. It returns nil if there is nothing to change.
func planAfterClockSetBack(f *Fire, table cron.Timetable, s *Schedule, now time.Time) *Fire {
	f.Next = nextOf(table, now)
	if !s.MovedAt.After(now) || f.Next.Equal(s.NextFire) {
		return nil
	}
	return f
}

// planEach plans the due times, oldest first.
func (c *Fire) planEach(table cron.Timetable, s *Schedule, now time.Time) {
	c.Times = []FireTime{{At: s.NextFire}}
	due, _ := cron.Between(table, s.NextFire, now, s.timesMax()-1)
	for _, at := range due {
		c.Times = append(c.Times, FireTime{At: cutTime(at)})
	}
	c.Next = nextOf(table, c.Times[len(c.Times)-1].At)
}

// planMissed plans the times up to until that the catch-up policy selects, and records
// the first time that it gives up.
func (c *Fire) planMissed(table cron.Timetable, s *Schedule, until time.Time) {
	most := 0
	switch s.Spec.CatchUp {
	case CatchUpLast:
		most = 1
	case CatchUpAll:
		most = CatchUpMax
	}
	var due []time.Time
	if most > 0 {
		due, _ = cron.Latest(table, s.NextFire.Add(-time.Microsecond), until, most)
		if len(due) == 0 {
			due = []time.Time{s.NextFire} // NextFire is no longer in the timetable, but it was announced
		}
	}
	c.Next = nextOf(table, until)
	if most := s.timesMax(); len(due) > most {
		c.Next = cutTime(due[most])
		due = due[:most]
	}
	for _, at := range due {
		c.Times = append(c.Times, FireTime{At: cutTime(at)})
	}
	if len(due) == 0 || due[0].After(s.NextFire) {
		c.Missed = s.NextFire
	}
}

// timesMax returns how many times one Fire of the schedule may hold.
func (s *Schedule) timesMax() int { return max(1, FireJobsMax/max(1, len(s.Spec.Scopes))) }

// setWindows sets, for each time, the window in which dependencies count and the end of
// the wait for them.
func (c *Fire) setWindows(table cron.Timetable, s *Schedule, now time.Time) {
	if len(s.Spec.DependsOn) == 0 {
		return
	}
	for i := range c.Times {
		setWindow(&c.Times[i], table, s, now, c.CatchUp)
	}
}

// setWindow sets the window of one time. The window starts at the previous time of the
// schedule, or at the creation of the schedule if that is later. A backfill may fire
// times before the creation: then the creation is ignored, and the very first time gets
// a window of DependencyWait.
func setWindow(t *FireTime, table cron.Timetable, s *Schedule, now time.Time, missed bool) {
	before, found := table.Prev(t.At)
	behind := !s.CreatedAt.Before(t.At)
	switch {
	case found && (behind || before.After(s.CreatedAt)):
		t.From = cutTime(before)
	case behind:
		t.From = t.At.Add(-DependencyWait)
	default:
		t.From = s.CreatedAt
	}
	late := t.At
	if now.After(late) {
		late = now
	}
	t.Until = nextOf(table, late)
	if t.Until.IsZero() || missed && !nextOf(table, t.At).After(now) {
		t.Until = cutTime(late.Add(DependencyWait)) // the last time, or its own window is over
	}
}

// PlanBackfill builds the command that runs a schedule for its past times in
// [from, to]. It refuses more than BackfillMax times.
func PlanBackfill(meta Meta, s *Schedule, from, to, now time.Time) (*Backfill, error) {
	switch {
	case to.Before(from):
		return nil, Invalidf("to", "is %s, before from, %s", to.Format(time.RFC3339), from.Format(time.RFC3339))
	case to.After(now):
		return nil, Invalidf("to", "is %s, in the future; a backfill runs past times", to.Format(time.RFC3339))
	}
	table, err := s.Timetable()
	if err != nil {
		return nil, err
	}
	times, more := cron.Between(table, from.Add(-1), to, BackfillMax)
	if more {
		return nil, Invalidf("to", "there are more than %[3]d fire times from %[1]s to %[2]s; use a shorter range",
			from.Format(time.RFC3339), to.Format(time.RFC3339), BackfillMax)
	}
	if len(times) == 0 {
		return nil, Invalidf("from", "%s has no fire time between %s and %s", s.Name, from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	b := &Backfill{Meta: meta, Schedule: s.Name}
	for _, at := range times {
		t := FireTime{At: cutTime(at)}
		if len(s.Spec.DependsOn) > 0 {
			setWindow(&t, table, s, now, true)
		}
		b.Times = append(b.Times, t)
	}
	return b, nil
}
