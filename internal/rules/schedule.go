package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func ScheduleSubject(name string) string { return "schedule " + name }

// decidePutSchedule declares a schedule. A schedule that is declared as it is
// stays unchanged; otherwise a program that declares its schedules at each
// start would postpone them each time.
func decidePutSchedule(u *UnitOfWork, c *rota.PutSchedule) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Name))
	Templates.want(u, c.Spec.Template)
	WaitingJobs.want(u, WaitingJobsQuery{Schedule: c.Name})
	BlockedJobs.want(u, blockedBy(c.Name, everyScope))
	Dependents.want(u, DependentsQuery{Schedule: c.Name})
	DroppedSchedules.want(u, c.Name)
	if c.Mode == rota.PutCreate || c.Recreate {
		AccessState.want(u, one)
	}
	wantGraph(u, c)
	s := Schedules.get(u, c.Name)
	if u.auditedSubject(c, ScheduleSubject(c.Name)) {
		return &rota.SchedulePut{Schedule: s}, nil
	}
	version := rota.ID{}
	if s != nil {
		version = s.Version
	}
	if refusal := mayPut(c.Mode, "schedule", c.Name, s != nil, version, c.Version); refusal != nil {
		return nil, refusal
	}
	if s != nil && !c.Recreate && s.Spec.Equal(c.Spec) && (c.State == "" || c.State == s.State) {
		return &rota.SchedulePut{Schedule: s}, nil
	}
	if s != nil {
		wantScheduleChanges(u, s)
	}
	next, refusal := nextSchedule(u, c, s)
	if refusal != nil {
		return nil, refusal
	}
	Schedules.set(u, c.Name, next)
	act, was := rota.AuditScheduleModified, s
	if s == nil || c.Recreate {
		act, was = rota.AuditScheduleCreated, nil
	}
	if s == nil {
		boundDropped(u, c.Name)
	}
	u.auditSubject(c, act, ScheduleSubject(c.Name), "", scheduleChanges(u, was, next))
	u.together(
		func() { releaseWaiting(u, c.Name) },
		func() { releaseBlocked(u, c.Name, everyScope, rota.DependentsMax) },
		func() { releaseDependents(u, c.Name, everyScope) },
	)
	return &rota.SchedulePut{Schedule: next, Changed: true}, nil
}

// nextSchedule returns a schedule as it becomes, or the reason why it may not.
func nextSchedule(u *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule) (*rota.Schedule, *rota.Error) {
	if refusal := usable(Templates.get(u, c.Spec.Template), "template", c.Spec.Template); refusal != nil {
		return nil, refusal
	}
	if refusal := mayMergeParams(Templates.get(u, c.Spec.Template), c); refusal != nil {
		return nil, refusal
	}
	was := s
	if c.Recreate {
		s = nil
	}
	if refusal := mayDeclare(u, c, s); refusal != nil {
		return nil, refusal
	}
	newTimes := s == nil || !s.Spec.SameTimes(c.Spec)
	if refusal := mayUseTimes(u, c, newTimes); refusal != nil {
		return nil, refusal
	}
	if refusal := mayDepend(u, c, was); refusal != nil {
		return nil, refusal
	}
	next := &rota.Schedule{Name: c.Name, CreatedBy: c.Actor, CreatedAt: u.Now}
	if s != nil {
		*next = *s
	} else {
		var before time.Time
		if was != nil {
			before = was.Since
		}
		next.Owner, next.Since = ownerFor(u, c.Actor), beginsAt(u, before)
	}
	next.State = stateAfter(u, c, s, newTimes)
	if next.State != rota.ScheduleDisabled || c.State != "" {
		next.Reason = ""
	}
	if s != nil && !newTimes && s.State != rota.ScheduleEnabled && next.State == rota.ScheduleEnabled && s.NextFire.IsZero() {
		if refusal := timePassed(u, s); refusal != nil {
			return nil, refusal
		}
	}
	takesNext := next.State != rota.ScheduleDisabled && (newTimes || next.NextFire.IsZero() && timePassed(u, s) == nil)
	if takesNext {
		if refusal := mayBegin(u, &c.Spec, c.Next); refusal != nil {
			return nil, refusal
		}
	}
	if newTimes || takesNext {
		next.Anchor = micros(c.Anchor)
		if c.Anchor.IsZero() {
			next.Anchor = u.Now
		}
	}
	switch {
	case next.State == rota.ScheduleDisabled:
		next.NextFire = noTime
	case takesNext:
		next.NextFire, next.MovedAt = micros(c.Next), u.Now
	case s.State == rota.SchedulePaused && next.State == rota.ScheduleEnabled:
		next.ResumedAt = u.Now
	}
	next.Spec, next.Version, next.UpdatedAt = c.Spec.Canonical(), c.ID, u.Now
	return next, nil
}

// mayDeclare refuses a template that the owner of the schedule may not execute.
// A declaration that only pauses or disables the schedule is allowed. s is nil if
// the schedule is a new one.
func mayDeclare(u *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule) *rota.Error {
	t, owner := Templates.get(u, c.Spec.Template), ""
	switch {
	case s == nil:
		owner = ownerFor(u, c.Actor)
	case c.State != "" && c.State != rota.ScheduleEnabled && s.Spec.Equal(c.Spec):
		return nil
	default:
		owner = s.Owner
	}
	return mayExecute(u, "template", c.Name, owner, t)
}

// mayMergeParams refuses params that are too long together with the template's.
func mayMergeParams(t *rota.Template, c *rota.PutSchedule) *rota.Error {
	if n := len(rota.MergeParams(t.Spec.Params, c.Spec.Params)); n > rota.ParamsMax {
		return rota.Invalidf("params", "have %d bytes together with those of template %s; at most %d are allowed", n, t.Name, rota.ParamsMax)
	}
	return nil
}

// stateAfter returns the state of a declared schedule. A state that a person
// set is kept. A schedule that Rota disabled is enabled again by a change,
// unless it would never fire.
func stateAfter(u *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule, newTimes bool) rota.ScheduleState {
	switch {
	case c.State != "":
		return c.State
	case s == nil || s.State == rota.ScheduleDisabled && s.Reason != "" && (newTimes || timePassed(u, s) == nil):
		return rota.ScheduleEnabled
	}
	return s.State
}

// mayUseTimes refuses times that have passed by the store's clock.
func mayUseTimes(u *UnitOfWork, c *rota.PutSchedule, newTimes bool) *rota.Error {
	switch at, ends := micros(c.Spec.At), micros(c.Spec.EndsAt); {
	case !newTimes:
		return nil
	case !at.IsZero() && at.Before(u.Now):
		return inThePast(u, "at", "schedule "+c.Name+" cannot run at "+Stamp(at)+", which has passed")
	case !ends.IsZero() && ends.Before(u.Now):
		return inThePast(u, "ends_at", "schedule "+c.Name+" would never run: it ends at "+Stamp(ends)+", which has passed")
	}
	return nil
}

func inThePast(u *UnitOfWork, field, reason string) *rota.Error {
	return &rota.Error{Code: rota.Invalid, Field: field, Reason: reason, Hint: "it is " + Stamp(u.Now) + " now; give a later time"}
}

// mayBegin refuses a next fire that is missing, since the schedule would never
// fire, and one that was computed by a clock far behind, since the schedule
// would catch up with times for which it owed nothing.
func mayBegin(u *UnitOfWork, spec *rota.ScheduleSpec, next time.Time) *rota.Error {
	switch {
	case next.IsZero() && spec.EndsAt.IsZero():
		return rota.Invalidf("next", "is empty, but the schedule has no end; rota.Declare and rota.Enable find it")
	case next.IsZero() || !next.Before(u.Now.Add(-rota.MisfireGrace)):
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Field: "next", Reason: Stamp(next) + " is too long ago; the time of the store is " + Stamp(u.Now),
		Hint: "correct the clock, and compute the next fire again",
	}
}

// timePassed refuses to enable a schedule whose only time has passed or has
// fired.
func timePassed(u *UnitOfWork, s *rota.Schedule) *rota.Error {
	if s.Spec.At.IsZero() || !s.Spec.At.Before(u.Now) && !s.LastFire.Equal(s.Spec.At) {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Field: "state", Reason: "schedule " + s.Name + " was to run once, at " + Stamp(s.Spec.At) + ", which has passed",
		Hint: "give it another time, or trigger it",
	}
}

func decideSwitchSchedule(u *UnitOfWork, c *rota.SwitchSchedule) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Name))
	Dependents.want(u, DependentsQuery{Schedule: c.Name})
	s := Schedules.get(u, c.Name)
	switch {
	case s == nil:
		return nil, noName("schedule", c.Name)
	case u.auditedSubject(c, ScheduleSubject(c.Name)):
		return &rota.SchedulePut{Schedule: s}, nil
	case isOther(c.Version, s.Version):
		return nil, changedSince(ScheduleSubject(c.Name))
	case s.State == c.State:
		return &rota.SchedulePut{Schedule: s}, nil
	}
	next := *s
	next.State, next.Reason, next.Version, next.UpdatedAt = c.State, "", c.ID, u.Now
	switch c.State {
	case rota.ScheduleEnabled:
		t := Templates.get(u, s.Spec.Template)
		if refusal := usable(t, "template", s.Spec.Template); refusal != nil {
			return nil, refusal
		}
		if refusal := mayExecute(u, "template", s.Name, s.Owner, t); refusal != nil {
			return nil, refusal
		}
		if s.NextFire.IsZero() {
			if refusal := timePassed(u, s); refusal != nil {
				return nil, refusal
			}
			if refusal := mayBegin(u, &s.Spec, c.Next); refusal != nil {
				return nil, refusal
			}
			next.NextFire, next.MovedAt = micros(c.Next), u.Now
		} else {
			next.ResumedAt = u.Now
		}
	case rota.ScheduleDisabled:
		next.NextFire = noTime
	}
	Schedules.set(u, c.Name, &next)
	u.auditSubject(c, rota.AuditScheduleModified, ScheduleSubject(c.Name), string(c.State), scheduleChanges(u, s, &next))
	releaseDependents(u, c.Name, everyScope)
	return &rota.SchedulePut{Schedule: &next, Changed: true}, nil
}

// disable disables a schedule for a reason of Rota's own.
func disable(u *UnitOfWork, c rota.Command, s *rota.Schedule, reason string) {
	next := *s
	next.State, next.NextFire, next.Reason = rota.ScheduleDisabled, noTime, reason
	Schedules.set(u, s.Name, &next)
	u.auditSideEffect(c, rota.AuditScheduleDisabled, ScheduleSubject(s.Name), reason, scheduleChanges(u, s, &next))
}

func decideDeleteSchedule(u *UnitOfWork, c *rota.DeleteSchedule) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Name))
	BlockedJobs.want(u, blockedBy(c.Name, everyScope))
	Dependents.want(u, DependentsQuery{Schedule: c.Name})
	s := Schedules.get(u, c.Name)
	switch {
	case s == nil || u.auditedSubject(c, ScheduleSubject(c.Name)):
		return &rota.ScheduleDeleted{Gone: true}, nil
	case isOther(c.Version, s.Version):
		return nil, changedSince("schedule " + c.Name)
	}
	wantScheduleChanges(u, s)
	removeSchedule(u, c, s)
	u.auditSubject(c, rota.AuditScheduleDeleted, ScheduleSubject(s.Name), "", scheduleChanges(u, s, nil))
	return &rota.ScheduleDeleted{}, nil
}

// removeSchedule removes a schedule, and its name from the schedules that
// depend on it. Their jobs, and its own, then wait for the remaining
// dependencies.
func removeSchedule(u *UnitOfWork, c rota.Command, s *rota.Schedule) {
	dependents := u.dependentsOf(s.Name)
	Schedules.set(u, s.Name, nil)
	for _, name := range dependents {
		dependent := Schedules.get(u, name)
		next := *dependent
		next.Spec.DependsOn = slices.DeleteFunc(slices.Clone(next.Spec.DependsOn), func(on string) bool { return on == s.Name })
		next.Spec = next.Spec.Canonical()
		next.Version, next.UpdatedAt = c.Head().ID, u.Now
		Schedules.set(u, name, &next)
		u.auditSideEffect(c, rota.AuditScheduleModified, ScheduleSubject(name), ScheduleSubject(s.Name)+" was removed", scheduleChanges(u, dependent, &next))
	}
	left := rota.DependentsMax
	u.together(
		func() { releaseBlocked(u, s.Name, everyScope, rota.DependentsMax) },
		func() {
			u.each(len(dependents), func(i int) { left -= releaseBlocked(u, dependents[i], everyScope, left) })
		},
	)
}
