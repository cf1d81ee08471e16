package model

import (
	"cmp"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// never is the next fire of a schedule that fires no more.
var never time.Time

// schedulesWhere returns the matching schedules, by name.
func (s *state) schedulesWhere(cond func(*rota.Schedule) bool) []*rota.Schedule {
	var picked []*rota.Schedule
	for _, d := range s.schedules {
		if cond(d) {
			picked = append(picked, d)
		}
	}
	slices.SortFunc(picked, func(a, b *rota.Schedule) int { return cmp.Compare(a.Name, b.Name) })
	return picked
}

// schedulesOf returns the schedules that use a template, by name.
func (s *state) schedulesOf(template string) []*rota.Schedule {
	return s.schedulesWhere(func(d *rota.Schedule) bool { return d.Spec.Template == template })
}

// disable disables a schedule on behalf of Rota. No person changed the schedule, so its version
// stays, and it records the reason.
func (s *step) disable(d *rota.Schedule, reason string) {
	was := s.scheduleDocument(d)
	d.State, d.NextFire, d.Reason = rota.ScheduleDisabled, never, reason
	s.auditEffect(rota.AuditScheduleDisabled, scheduleSubject(d.Name), reason, diff.Documents(was, s.scheduleDocument(d)))
}

func (s *step) switchSchedule(c *rota.SwitchSchedule) (rota.Reply, *rota.Error) {
	d := s.schedule(c.Name)
	switch {
	case d == nil:
		return nil, s.refuse(rota.NotFound, "name", "there is no schedule %s", c.Name)
	case s.auditedSubject(scheduleSubject(c.Name)):
		return &rota.SchedulePut{Schedule: d}, nil
	}
	if err := s.checkVersion(c.Version, d.Version, scheduleSubject(c.Name)); err != nil {
		return nil, err
	}
	if d.State == c.State {
		return &rota.SchedulePut{Schedule: d}, nil
	}
	was := s.scheduleDocument(d)
	switch c.State {
	case rota.ScheduleEnabled:
		if err := s.enable(d, c); err != nil {
			return nil, err
		}
	case rota.ScheduleDisabled:
		d.NextFire = never
	}
	d.State, d.Reason, d.Version, d.UpdatedAt = c.State, "", c.ID, s.now
	s.auditSubject(rota.AuditScheduleModified, scheduleSubject(c.Name), string(c.State), diff.Documents(was, s.scheduleDocument(d)))
	s.recheckDependents(c.Name)
	return &rota.SchedulePut{Schedule: d, Changed: true}, nil
}

// enable keeps a next fire that is still due, so that a paused schedule catches up.
func (s *step) enable(d *rota.Schedule, c *rota.SwitchSchedule) *rota.Error {
	if err := s.usable(d.Spec.Template); err != nil {
		return err
	}
	if err := s.checkExecute("template", d.Owner, d.Spec.Template); err != nil {
		return err
	}
	if !d.NextFire.IsZero() {
		d.ResumedAt = s.now
		return nil
	}
	if s.timePassed(d) {
		return s.refuse(rota.Conflict, "state", "the time of schedule %s has passed", d.Name)
	}
	if err := s.mayBegin(d.Spec, c.Next); err != nil {
		return err
	}
	d.NextFire, d.MovedAt = micros(c.Next), s.now
	return nil
}

// usable refuses a template that a schedule cannot use.
func (s *step) usable(template string) *rota.Error {
	switch t := s.template(template); {
	case t == nil:
		return s.refuse(rota.NotFound, "template", "there is no template %s", template)
	case t.State == rota.TemplateArchived:
		return s.refuse(rota.Conflict, "template", "template %s is archived", template)
	}
	return nil
}

func (s *step) deleteSchedule(c *rota.DeleteSchedule) (rota.Reply, *rota.Error) {
	d := s.schedule(c.Name)
	switch {
	case d == nil || s.auditedSubject(scheduleSubject(c.Name)):
		return &rota.ScheduleDeleted{Gone: true}, nil
	case c.Version != nil && *c.Version != d.Version:
		return nil, s.refuse(rota.Conflict, "version", "schedule %s was changed meanwhile", c.Name)
	}
	s.removeSchedule(d)
	s.auditSubject(rota.AuditScheduleDeleted, scheduleSubject(d.Name), "", diff.Documents(s.scheduleDocument(d), none))
	return &rota.ScheduleDeleted{}, nil
}

// removeSchedule removes a schedule, and its name from its dependents. It then checks its own
// waiting jobs and those of its dependents.
func (s *step) removeSchedule(d *rota.Schedule) {
	s.schedules = slices.DeleteFunc(s.schedules, func(other *rota.Schedule) bool { return other == d })
	dependents := s.dependents(d.Name)
	for _, other := range dependents {
		was := s.scheduleDocument(other)
		other.Spec.DependsOn = slices.DeleteFunc(slices.Clone(other.Spec.DependsOn), func(n string) bool { return n == d.Name })
		other.Version, other.UpdatedAt = s.id(), s.now
		s.auditEffect(rota.AuditScheduleModified, scheduleSubject(other.Name), scheduleSubject(d.Name)+" was removed", diff.Documents(was, s.scheduleDocument(other)))
	}
	s.recheckBlocked(s.blocked(d.Name))
	for _, other := range dependents {
		s.recheckBlocked(s.blocked(other.Name))
	}
}
