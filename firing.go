package rota

import (
	"time"

	"github.com/rotajobs/rota/cron"
)

// Declare makes the command that declares a schedule. It is where expressions
// and zones are looked at and the first fire time is found, since no store
// does that; a store refuses what depends on its own clock and rows.
func Declare(meta Meta, name string, spec ScheduleSpec, now time.Time) (*PutSchedule, error) {
	c := &PutSchedule{Meta: meta, Name: name, Spec: spec, Anchor: cutTime(now)}
	if err := c.Validate(); err != nil { // as it was written, so that the refusal names what stands there
		return nil, aboutSchedule(name, err)
	}
	c.Spec = spec.Canonical()
	table, err := c.Spec.Timetable(name, c.Anchor)
	if err != nil {
		return nil, aboutSchedule(name, err)
	}
	switch {
	case !spec.At.IsZero():
		c.Next = c.Spec.At
	case c.Spec.Every != 0 && c.Spec.StartsAt.Equal(c.Anchor):
		c.Next = c.Anchor // one that begins now fires now
	default:
		c.Next = nextOf(table, now)
	}
	return c, nil
}

// aboutSchedule says which of many declarations was wrong.
func aboutSchedule(name string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	named := *e
	named.Act = "schedule " + quote(name)
	return &named
}

// Enable makes the command that enables a schedule, with its next fire from now
// on. One that was paused still owes its own, and catches up.
func Enable(meta Meta, s *Schedule, now time.Time) (*SwitchSchedule, error) {
	next, err := s.NextAfter(now)
	if err != nil {
		return nil, aboutSchedule(s.Name, err)
	}
	if s.Spec.At.After(now) {
		next = s.Spec.At
	}
	return &SwitchSchedule{Meta: meta, Name: s.Name, State: ScheduleEnabled, Next: next}, nil
}

// PlanFire makes the command that fires what a schedule owes, or nil if nothing
// is due.
//
// While the oldest time not fired is at most MisfireGrace late, each due time
// fires. Beyond that it is a gap, and the schedule's catch-up decides for all of
// them. More than one command can carry is left for the next: its NextFire is
// then due already.
//
// A schedule whose calendar was moved in the future was so before the clock was
// set back. Its next time is found again from now, and the plan key keeps what
// was fired from being fired twice.
func PlanFire(meta Meta, s *Schedule, now time.Time) (*Fire, error) {
	table, err := s.timetableAt(now)
	if err != nil {
		return nil, err
	}
	f := &Fire{Meta: meta, Schedule: s.Name, Version: s.Version, Expect: s.NextFire}
	switch late := now.Sub(s.NextFire); {
	case s.NextFire.IsZero():
		return nil, nil
	case late < 0:
		return setBack(f, table, s, now), nil
	case late <= MisfireGrace:
		f.planEach(table, s, now)
	default:
		f.CatchUp = true
		f.planGap(table, s, now)
	}
	f.frame(table, s, now)
	return f, nil
}

func setBack(f *Fire, table cron.Timetable, s *Schedule, now time.Time) *Fire {
	f.Next = nextOf(table, now)
	if !s.MovedAt.After(now) || f.Next.Equal(s.NextFire) {
		return nil
	}
	return f
}

// planEach takes the due times from the oldest on.
func (c *Fire) planEach(table cron.Timetable, s *Schedule, now time.Time) {
	c.Times = []FireTime{{At: s.NextFire}}
	due, _ := cron.Between(table, s.NextFire, now, s.timesMost()-1)
	for _, at := range due {
		c.Times = append(c.Times, FireTime{At: cutTime(at)})
	}
	c.Next = nextOf(table, c.Times[len(c.Times)-1].At)
}

// planGap takes of the due times what the catch-up allows, and says which were
// passed over.
func (c *Fire) planGap(table cron.Timetable, s *Schedule, now time.Time) {
	most := 0
	switch s.Spec.CatchUp {
	case CatchUpLast:
		most = 1
	case CatchUpAll:
		most = CatchUpMax
	}
	var due []time.Time
	if most > 0 {
		due, _ = cron.Latest(table, s.NextFire.Add(-time.Microsecond), now, most)
		if len(due) == 0 {
			due = []time.Time{s.NextFire} // its timetable no longer knows a time that was promised
		}
	}
	c.Next = nextOf(table, now)
	if most := s.timesMost(); len(due) > most {
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

// timesMost is how many times one Fire of the schedule may carry.
func (s *Schedule) timesMost() int { return max(1, FireJobsMax/max(1, len(s.Spec.Scopes))) }

// frame gives each time the window in which its dependencies count and until
// when it waits for them.
func (c *Fire) frame(table cron.Timetable, s *Schedule, now time.Time) {
	if len(s.Spec.DependsOn) == 0 {
		return
	}
	for i := range c.Times {
		frameOne(&c.Times[i], table, s, now, c.CatchUp)
	}
}

// frameOne opens the window at the time before, or where the schedule began if
// that is later. A backfill may reach behind that: the beginning bounds nothing
// there, and the first time of all looks back as far as the last one waits.
func frameOne(t *FireTime, table cron.Timetable, s *Schedule, now time.Time, missed bool) {
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
		t.Until = cutTime(late.Add(DependencyWait)) // the last, or one whose own window is over
	}
}

// PlanBackfill makes the command that runs a schedule for past times: those in
// [from, to], oldest first. It is refused if there are more than BackfillMax.
func PlanBackfill(meta Meta, s *Schedule, from, to, now time.Time) (*Backfill, error) {
	switch {
	case to.Before(from):
		return nil, Invalidf("to", "is %s, before from, %s", to.Format(time.RFC3339), from.Format(time.RFC3339))
	case to.After(now):
		return nil, Invalidf("to", "is %s, which has not come yet; a backfill is for the past", to.Format(time.RFC3339))
	}
	table, err := s.Timetable()
	if err != nil {
		return nil, err
	}
	times, more := cron.Between(table, from.Add(-1), to, BackfillMax)
	if more {
		return nil, Invalidf("to", "from %s to %s lie more than %d fire times; ask for a shorter range",
			from.Format(time.RFC3339), to.Format(time.RFC3339), BackfillMax)
	}
	if len(times) == 0 {
		return nil, Invalidf("from", "no fire time of %s lies between %s and %s", s.Name, from.Format(time.RFC3339), to.Format(time.RFC3339))
	}
	b := &Backfill{Meta: meta, Schedule: s.Name}
	for _, at := range times {
		t := FireTime{At: cutTime(at)}
		if len(s.Spec.DependsOn) > 0 {
			frameOne(&t, table, s, now, true)
		}
		b.Times = append(b.Times, t)
	}
	return b, nil
}
