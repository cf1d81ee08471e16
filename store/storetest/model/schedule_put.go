package model

import (
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

func (s *step) putSchedule(c *rota.PutSchedule) (rota.Reply, *rota.Error) {
	d, subject := s.schedule(c.Name), scheduleSubject(c.Name)
	if s.auditedSubject(subject) {
		return &rota.SchedulePut{Schedule: d}, nil
	}
	var version *rota.ID
	if d != nil {
		version = &d.Version
	}
	if err := s.checkExpectation(expectation{c.Mode, c.Version}, version, subject); err != nil {
		return nil, err
	}
	if d != nil && !c.Recreate && d.Spec.Equal(c.Spec) && (c.State == "" || c.State == d.State) {
		return &rota.SchedulePut{Schedule: d}, nil
	}
	if err := s.checkSchedule(c, d); err != nil {
		return nil, err
	}
	if d == nil {
		s.boundDropped(c.Name)
	}
	was, since := none, s.beginsAt(never)
	if d != nil {
		since = s.beginsAt(d.Since)
	}
	if d != nil && !c.Recreate {
		was = s.scheduleDocument(d)
	}
	if c.Recreate { // as if it had not existed
		s.schedules = slices.DeleteFunc(s.schedules, func(other *rota.Schedule) bool { return other.Name == c.Name })
		d = nil
	}
	act := rota.AuditScheduleModified
	newTimes, takesNext := timesChanged(c, d), s.takesNext(c, d)
	if d == nil {
		act = rota.AuditScheduleCreated
		d = &rota.Schedule{
			Name: c.Name, State: rota.ScheduleEnabled, Owner: s.ownerFor(c.Actor), Since: since, CreatedBy: c.Actor, CreatedAt: s.now,
		}
		s.schedules = append(s.schedules, d)
	}
	s.declare(d, c, newTimes, takesNext)
	s.auditSubject(act, subject, "", diff.Documents(was, s.scheduleDocument(d)))
	s.releaseOverlapWaiting(d)
	s.recheckBlocked(s.blocked(c.Name))
	s.recheckDependents(c.Name)
	return &rota.SchedulePut{Schedule: d, Changed: true}, nil
}

// timesChanged reports whether a schedule gets other fire times.
func timesChanged(c *rota.PutSchedule, d *rota.Schedule) bool {
	return d == nil || !d.Spec.SameTimes(c.Spec)
}

// stateAfter returns the new state of a schedule. A change by a person enables a schedule that
// Rota disabled, unless it would never fire.
func (s *step) stateAfter(c *rota.PutSchedule, d *rota.Schedule) rota.ScheduleState {
	switch {
	case c.State != "":
		return c.State
	case d == nil, d.State == rota.ScheduleDisabled && d.Reason != "" && (timesChanged(c, d) || !s.timePassed(d)):
		return rota.ScheduleEnabled
	}
	return d.State
}

// timePassed reports whether the only time of a schedule has passed or was fired.
func (s *step) timePassed(d *rota.Schedule) bool {
	at := d.Spec.At
	return !at.IsZero() && (at.Before(s.now) || d.LastFire.Equal(at))
}

// atPassed reports whether the only time of a declaration has passed.
func (s *step) atPassed(c *rota.PutSchedule) bool {
	at := micros(c.Spec.At)
	return !at.IsZero() && at.Before(s.now)
}

// checkSchedule refuses a declaration that conflicts with the clock or with other rows.
func (s *step) checkSchedule(c *rota.PutSchedule, d *rota.Schedule) *rota.Error {
	if err := s.usable(c.Spec.Template); err != nil {
		return err
	}
	before := d
	if c.Recreate {
		d = nil
	}
	spec, newTimes := c.Spec.Canonical(), timesChanged(c, d)
	if n := len(rota.MergeParams(s.template(spec.Template).Spec.Params, spec.Params)); n > rota.ParamsMax {
		return s.refuse(rota.Invalid, "params", "have %d bytes with those of the template", n)
	}
	owner := s.ownerFor(c.Actor)
	if d != nil {
		owner = d.Owner
	}
	stops := d != nil && d.Spec.Equal(spec) && (c.State == rota.SchedulePaused || c.State == rota.ScheduleDisabled)
	if err := s.checkExecute("template", owner, spec.Template); err != nil && !stops {
		return err
	}
	switch {
	case newTimes && s.atPassed(c):
		return s.refuse(rota.Invalid, "at", "has passed")
	case newTimes && !spec.EndsAt.IsZero() && spec.EndsAt.Before(s.now):
		return s.refuse(rota.Invalid, "ends_at", "has passed")
	}
	if err := s.checkDepends(c.Name, spec.DependsOn, before); err != nil {
		return err
	}
	if s.takesNext(c, d) {
		if err := s.mayBegin(spec, c.Next); err != nil {
			return err
		}
	}
	wakes := d != nil && d.State != rota.ScheduleEnabled && d.NextFire.IsZero() && s.stateAfter(c, d) == rota.ScheduleEnabled
	if wakes && !newTimes && s.timePassed(d) {
		return s.refuse(rota.Conflict, "state", "the time of schedule %s has passed", c.Name)
	}
	return nil
}

func (s *step) checkDepends(name string, on []string, d *rota.Schedule) *rota.Error {
	for _, other := range on {
		if s.schedule(other) == nil {
			return s.refuse(rota.NotFound, "depends_on", "there is no schedule %s", other)
		}
	}
	for _, other := range on {
		if path := s.pathTo(name, other, nil); path != nil {
			return s.refuse(rota.Invalid, "depends_on", "is a cycle: %s", strings.Join(append([]string{name}, path...), " → "))
		}
	}
	for _, other := range on {
		added := d == nil || !slices.Contains(d.Spec.DependsOn, other)
		if added && len(s.dependents(other)) >= rota.DependentsMax {
			return s.refuse(rota.Conflict, "depends_on", "too many schedules depend on %s", other)
		}
	}
	return nil
}

// pathTo returns the path of dependencies from one schedule to another, nil if there is none.
// It visits each schedule once.
func (s *step) pathTo(goal, from string, passed map[string]bool) []string {
	if from == goal {
		return []string{from}
	}
	if passed == nil {
		passed = map[string]bool{}
	}
	d := s.schedule(from)
	if d == nil || passed[from] {
		return nil
	}
	passed[from] = true
	for _, next := range d.Spec.DependsOn {
		if path := s.pathTo(goal, next, passed); path != nil {
			return append([]string{from}, path...)
		}
	}
	return nil
}

// declare writes a declaration. A schedule whose times stay the same keeps its anchor and its
// next fire.
func (s *step) declare(d *rota.Schedule, c *rota.PutSchedule, newTimes, takesNext bool) {
	paused := d.State == rota.SchedulePaused
	d.State = s.stateAfter(c, d)
	if c.State != "" || d.State != rota.ScheduleDisabled {
		d.Reason = ""
	}
	d.Spec, d.Version, d.UpdatedAt = c.Spec.Canonical(), c.ID, s.now
	if newTimes || takesNext {
		if d.Anchor = micros(c.Anchor); d.Anchor.IsZero() {
			d.Anchor = s.now
		}
	}
	switch {
	case d.State == rota.ScheduleDisabled:
		d.NextFire = never
	case takesNext:
		d.NextFire, d.MovedAt = micros(c.Next), s.now
	case paused && d.State == rota.ScheduleEnabled:
		d.ResumedAt = s.now
	}
}

// takesNext reports whether a schedule gets its next fire from the command: its times have
// changed, or it has no next fire. A schedule whose only time has passed does not.
func (s *step) takesNext(c *rota.PutSchedule, d *rota.Schedule) bool {
	switch {
	case s.stateAfter(c, d) == rota.ScheduleDisabled:
		return false
	case timesChanged(c, d):
		return true
	}
	return d.NextFire.IsZero() && !s.timePassed(d)
}

// mayBegin refuses a next fire that is missing or far in the past, which the clock of a sender
// far behind would give.
func (s *step) mayBegin(spec rota.ScheduleSpec, next time.Time) *rota.Error {
	switch {
	case next.IsZero() && spec.EndsAt.IsZero():
		return s.refuse(rota.Invalid, "next", "is empty")
	case !next.IsZero() && next.Before(s.now.Add(-rota.MisfireGrace)):
		return s.refuse(rota.Conflict, "next", "is too far in the past")
	}
	return nil
}

// releaseOverlapWaiting releases jobs that wait for earlier executions, if overlap is allowed
// now.
func (s *step) releaseOverlapWaiting(d *rota.Schedule) {
	if d.Spec.Overlap != rota.OverlapAllow {
		return
	}
	behind := s.sorted(func(j *rota.Job) bool {
		return j.Schedule == d.Name && j.Status == rota.StatusQueued && j.Hold&rota.HoldOverlap != 0
	})
	behind, _ = page(behind, rota.DependentsMax)
	for _, j := range behind {
		s.releaseHold(j, rota.HoldOverlap)
	}
}
