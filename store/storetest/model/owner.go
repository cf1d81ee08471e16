package model

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// ownerFor returns the owner of what an actor creates.
func (s *step) ownerFor(actor string) string {
	if s.isUser(actor) {
		return actor
	}
	return rota.AdminUser
}

func (s *step) isUser(name string) bool {
	p := s.principal(name)
	return p != nil && p.Kind == rota.KindUser
}

// owns reports whether a user owns a template or schedule.
func (s *step) owns(user string) bool {
	return slices.ContainsFunc(s.templates, func(t *rota.Template) bool { return t.Owner == user }) ||
		slices.ContainsFunc(s.schedules, func(d *rota.Schedule) bool { return d.Owner == user })
}

// beginsAt returns the time of a new definition that replaces one of an earlier time. A clock that was set back must
// not make it older than that, or than a grant.
func (s *step) beginsAt(before time.Time) time.Time {
	if at := s.accessTime(); at.After(before) {
		return at
	}
	return before
}

func (s *step) setOwner(c *rota.SetOwner) (rota.Reply, *rota.Error) {
	t, d := s.template(c.Name), s.schedule(c.Name)
	switch c.Kind {
	case rota.ExpectTemplate:
		d = nil
	case rota.ExpectSchedule:
		t = nil
	}
	if s.auditedSubject(templateSubject(c.Name)) || s.auditedSubject(scheduleSubject(c.Name)) {
		return &rota.OwnerSet{Template: t, Schedule: d}, nil
	}
	if t != nil && t.Owner == "" {
		t = nil
	}
	switch {
	case t == nil && d == nil:
		return nil, s.refuse(rota.NotFound, "name", "there is no %s %s", cmp.Or(c.Kind, "job"), c.Name)
	case t != nil && c.Version != nil && *c.Version != t.Version:
		return nil, s.refuse(rota.Conflict, "version", "template %s has been changed", c.Name)
	case d != nil && c.Version != nil && *c.Version != d.Version:
		return nil, s.refuse(rota.Conflict, "version", "schedule %s has been changed", c.Name)
	case c.Owner != rota.AdminUser && !s.isUser(c.Owner):
		return nil, s.refuse(rota.NotFound, "owner", "there is no user %s", c.Owner)
	}
	reply := &rota.OwnerSet{Template: t, Schedule: d}
	if t != nil && t.Owner != c.Owner {
		was := templateDocument(t)
		t.Owner, t.Version, t.UpdatedAt = c.Owner, c.ID, s.now
		s.auditSubject(rota.AuditTemplateModified, templateSubject(c.Name), "", diff.Documents(was, templateDocument(t)))
		reply.Changed = true
	}
	if d != nil && d.Owner != c.Owner {
		was := s.scheduleDocument(d)
		d.Owner, d.Version, d.UpdatedAt = c.Owner, c.ID, s.now
		s.auditSubject(rota.AuditScheduleModified, scheduleSubject(c.Name), "", diff.Documents(was, s.scheduleDocument(d)))
		reply.Changed = true
	}
	return reply, nil
}

// expecting executes a command. If one of its expectations does not hold, the command may not change anything.
func (s *step) expecting(c rota.Command) (rota.Reply, *rota.Error) {
	if len(c.Head().Expect) == 0 {
		return s.decide(c)
	}
	unmet, before := s.unexpected(c.Head().Expect), s.state.clone()
	reply, err := s.decide(c)
	if unmet != "" && (err != nil || !reflect.DeepEqual(before, s.state)) {
		s.command = c // it was a member
		return nil, s.refuse(rota.Conflict, "expect", "%s was changed or recreated meanwhile", unmet)
	}
	return reply, err
}

// unexpected names a definition that is not as expected, "" if all are.
func (s *step) unexpected(expect []rota.Expectation) string {
	for _, e := range expect {
		owner, since, version := "", never, rota.ID{}
		if t := s.template(e.Name); t != nil && e.Kind == rota.ExpectTemplate {
			owner, since, version = t.Owner, t.Since, t.Version
		}
		if d := s.schedule(e.Name); d != nil && e.Kind == rota.ExpectSchedule {
			owner, since, version = d.Owner, d.Since, d.Version
		}
		if owner != e.Owner || !since.Equal(micros(e.Since)) || !e.Version.IsZero() && e.Version != version {
			return e.Kind + " " + e.Name
		}
	}
	return ""
}
