package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func scheduleSubject(name string) string { return "schedule " + name }

func needPutSchedule(n *Need, c *rota.PutSchedule) {
	n.wroteOf(c, scheduleSubject(c.Name))
	if n.schedule(c.Name) == nil {
		n.dropped(c.Name)
	}
	n.template(c.Spec.Template)
	needGraph(n, c)
	needBlocked(n, c.Name, everyScope)
	for _, id := range n.unit.blockedOf(c.Name, everyScope) {
		needMetBy(n, n.unit.job(id), c.Spec.DependsOn)
	}
	needDependents(n, c.Name, everyScope)
	needNewScopes(n, c)
	needFreeTurns(n, c.Name)
}

// needNewScopes asks what those who depend on a schedule need of it for the
// scopes that it is to have.
func needNewScopes(n *Need, c *rota.PutSchedule) {
	next := &rota.Schedule{Name: c.Name, Spec: c.Spec.Canonical()}
	for _, name := range n.unit.dependentsOf(c.Name) {
		for _, id := range n.unit.blockedOf(name, everyScope) {
			needWindows(n, n.unit.job(id), next)
		}
	}
}

// decidePutSchedule declares a schedule. What stands there as it is declared is
// left alone, or a program that declares its schedules at each start would put
// them off each time.
func decidePutSchedule(w *UnitOfWork, c *rota.PutSchedule) (rota.Reply, *rota.Error) {
	s := w.schedules.get(c.Name)
	if w.wroteOf(c, scheduleSubject(c.Name)) {
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
	next, refusal := declared(w, c, s)
	if refusal != nil {
		return nil, refusal
	}
	w.schedules.set(w, c.Name, next)
	act := rota.AuditScheduleModified
	if s == nil || c.Recreate {
		act = rota.AuditScheduleCreated
	}
	if s == nil {
		boundDropped(w, c.Name)
	}
	w.logOf(c, act, scheduleSubject(c.Name), "")
	freeTurns(w, c.Name)
	freeBlocked(w, c.Name, everyScope, rota.DependentsMax)
	lookAgain(w, c.Name, everyScope)
	return &rota.SchedulePut{Schedule: next, Changed: true}, nil
}

// declared is a schedule as it becomes, or the reason why it may not.
func declared(w *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule) (*rota.Schedule, *rota.Error) {
	if refusal := usable(w.templates.get(c.Spec.Template), "template", c.Spec.Template); refusal != nil {
		return nil, refusal
	}
	if refusal := fitTogether(w.templates.get(c.Spec.Template), c); refusal != nil {
		return nil, refusal
	}
	was := s
	if c.Recreate {
		s = nil
	}
	anew := s == nil || !s.Spec.SameTimes(c.Spec)
	if refusal := mayTime(w, c, anew); refusal != nil {
		return nil, refusal
	}
	if refusal := mayDepend(w, c, was); refusal != nil {
		return nil, refusal
	}
	next := &rota.Schedule{Name: c.Name, CreatedBy: c.Actor, CreatedAt: w.Now}
	if s != nil {
		*next = *s
	}
	next.State = stateAfter(w, c, s, anew)
	if next.State != rota.ScheduleDisabled || c.State != "" {
		next.Reason = ""
	}
	if s != nil && !anew && s.State != rota.ScheduleEnabled && next.State == rota.ScheduleEnabled && s.NextFire.IsZero() {
		if refusal := timePassed(w, s); refusal != nil {
			return nil, refusal
		}
	}
	takesNext := next.State != rota.ScheduleDisabled && (anew || next.NextFire.IsZero() && timePassed(w, s) == nil)
	if takesNext {
		if refusal := mayBegin(w, &c.Spec, c.Next); refusal != nil {
			return nil, refusal
		}
	}
	if anew || takesNext {
		next.Anchor = micros(c.Anchor)
		if c.Anchor.IsZero() {
			next.Anchor = w.Now
		}
	}
	switch {
	case next.State == rota.ScheduleDisabled:
		next.NextFire = noTime
	case takesNext:
		next.NextFire, next.MovedAt = micros(c.Next), w.Now
	}
	next.Spec, next.Version, next.UpdatedAt = c.Spec.Canonical(), c.ID, w.Now
	return next, nil
}

// fitTogether refuses params that are too long together with the template's.
func fitTogether(t *rota.Template, c *rota.PutSchedule) *rota.Error {
	if n := len(rota.MergeParams(t.Spec.Params, c.Spec.Params)); n > rota.ParamsMax {
		return rota.Invalidf("params", "have %d bytes together with those of template %s; at most %d are allowed", n, t.Name, rota.ParamsMax)
	}
	return nil
}

// stateAfter is the state that a declared schedule gets. What a person set is
// kept; what Rota disabled, a change enables again, unless it would never fire.
func stateAfter(w *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule, anew bool) rota.ScheduleState {
	switch {
	case c.State != "":
		return c.State
	case s == nil || s.State == rota.ScheduleDisabled && s.Reason != "" && (anew || timePassed(w, s) == nil):
		return rota.ScheduleEnabled
	}
	return s.State
}

// mayTime refuses times that have passed, by the only clock that counts.
func mayTime(w *UnitOfWork, c *rota.PutSchedule, anew bool) *rota.Error {
	switch at, ends := micros(c.Spec.At), micros(c.Spec.EndsAt); {
	case !anew:
		return nil
	case !at.IsZero() && at.Before(w.Now):
		return rota.Invalidf("at", "of schedule %s, %s, has passed; it is %s: give a time to come, or trigger it", c.Name, stamp(at), stamp(w.Now))
	case !ends.IsZero() && ends.Before(w.Now):
		return rota.Invalidf("ends_at", "of schedule %s, %s, has passed; it is %s: it would never fire", c.Name, stamp(ends), stamp(w.Now))
	}
	return nil
}

// mayBegin refuses a next fire that is missing, and one that was found by a clock
// far behind: the one would leave the schedule silent, the other would catch up
// with times for which it owed nothing.
func mayBegin(w *UnitOfWork, spec *rota.ScheduleSpec, next time.Time) *rota.Error {
	switch {
	case next.IsZero() && spec.EndsAt.IsZero():
		return rota.Invalidf("next", "is empty, but the schedule has no end; rota.Declare and rota.Enable find it")
	case next.IsZero() || !next.Before(w.Now.Add(-rota.MisfireGrace)):
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Field: "next", Reason: stamp(next) + " lies too far back; it is " + stamp(w.Now),
		Hint: "find the next fire by a clock that is right",
	}
}

// timePassed refuses to enable a schedule whose only time has passed, or was
// fired.
func timePassed(w *UnitOfWork, s *rota.Schedule) *rota.Error {
	if s.Spec.At.IsZero() || !s.Spec.At.Before(w.Now) && !s.LastFire.Equal(s.Spec.At) {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Field: "state", Reason: "schedule " + s.Name + " was to run once, at " + stamp(s.Spec.At) + ", which has passed",
		Hint: "give it another time, or trigger it",
	}
}

func needSwitchSchedule(n *Need, c *rota.SwitchSchedule) {
	n.wroteOf(c, scheduleSubject(c.Name))
	if s := n.schedule(c.Name); s != nil {
		n.template(s.Spec.Template)
		needDependents(n, c.Name, everyScope)
	}
}

func decideSwitchSchedule(w *UnitOfWork, c *rota.SwitchSchedule) (rota.Reply, *rota.Error) {
	s := w.schedules.get(c.Name)
	switch {
	case s == nil:
		return nil, noName("schedule", c.Name)
	case w.wroteOf(c, scheduleSubject(c.Name)) || s.State == c.State:
		return &rota.SchedulePut{Schedule: s}, nil
	}
	next := *s
	next.State, next.Reason, next.Version, next.UpdatedAt = c.State, "", c.ID, w.Now
	switch c.State {
	case rota.ScheduleEnabled:
		if refusal := usable(w.templates.get(s.Spec.Template), "template", s.Spec.Template); refusal != nil {
			return nil, refusal
		}
		if s.NextFire.IsZero() {
			if refusal := timePassed(w, s); refusal != nil {
				return nil, refusal
			}
			if refusal := mayBegin(w, &s.Spec, c.Next); refusal != nil {
				return nil, refusal
			}
			next.NextFire, next.MovedAt = micros(c.Next), w.Now
		}
	case rota.ScheduleDisabled:
		next.NextFire = noTime
	}
	w.schedules.set(w, c.Name, &next)
	w.logOf(c, rota.AuditScheduleModified, scheduleSubject(c.Name), string(c.State))
	lookAgain(w, c.Name, everyScope)
	return &rota.SchedulePut{Schedule: &next, Changed: true}, nil
}

// disable disables a schedule for a reason of Rota's own.
func disable(w *UnitOfWork, c rota.Command, s *rota.Schedule, reason string) {
	next := *s
	next.State, next.NextFire, next.Reason = rota.ScheduleDisabled, noTime, reason
	w.schedules.set(w, s.Name, &next)
	w.noteOf(c, rota.AuditScheduleDisabled, scheduleSubject(s.Name), reason)
}

func needDeleteSchedule(n *Need, c *rota.DeleteSchedule) {
	n.wroteOf(c, scheduleSubject(c.Name))
	if n.schedule(c.Name) != nil {
		needBlocked(n, c.Name, everyScope)
		needDependents(n, c.Name, everyScope)
	}
}

func decideDeleteSchedule(w *UnitOfWork, c *rota.DeleteSchedule) (rota.Reply, *rota.Error) {
	s := w.schedules.get(c.Name)
	switch {
	case s == nil || w.wroteOf(c, scheduleSubject(c.Name)):
		return &rota.ScheduleDeleted{Gone: true}, nil
	case c.Version != nil && *c.Version != s.Version:
		return nil, changedSince("schedule " + c.Name)
	}
	removeSchedule(w, c, s)
	w.logOf(c, rota.AuditScheduleDeleted, scheduleSubject(s.Name), "")
	return &rota.ScheduleDeleted{}, nil
}

// removeSchedule takes a schedule away, and its name from those that depend on
// it. Their jobs, and its own, then wait for what is left.
func removeSchedule(w *UnitOfWork, c rota.Command, s *rota.Schedule) {
	dependents := w.dependentsOf(s.Name)
	w.schedules.set(w, s.Name, nil)
	for _, name := range dependents {
		next := *w.schedules.get(name)
		next.Spec.DependsOn = slices.DeleteFunc(slices.Clone(next.Spec.DependsOn), func(on string) bool { return on == s.Name })
		next.Spec = next.Spec.Canonical()
		next.Version, next.UpdatedAt = c.Head().ID, w.Now
		w.schedules.set(w, name, &next)
	}
	freeBlocked(w, s.Name, everyScope, rota.DependentsMax)
	left := rota.DependentsMax
	for _, name := range dependents {
		left -= freeBlocked(w, name, everyScope, left)
	}
}
