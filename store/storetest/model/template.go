package model

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

func (s *step) putTemplate(c *rota.PutTemplate) (rota.Reply, *rota.Error) {
	t, subject := s.template(c.Name), templateSubject(c.Name)
	if s.auditedSubject(subject) {
		return &rota.TemplatePut{Template: t}, nil
	}
	var version *rota.ID
	dropped := t != nil && t.Owner == "" && c.Mode == rota.PutCreate // does not exist for the creator of a new one
	if t != nil && !dropped {
		version = &t.Version
	}
	if err := s.checkExpectation(expectation{c.Mode, c.Version}, version, subject); err != nil {
		return nil, err
	}
	act, was := rota.AuditTemplateModified, none
	if t != nil {
		was = templateDocument(t)
	}
	renew := t == nil || t.Owner == "" || c.Recreate
	var stored []rota.Webhook
	if t != nil {
		stored = t.Spec.Webhooks
	}
	switch {
	case t == nil:
		if refusal := s.useKeys(stored, c.Spec.Webhooks); refusal != nil {
			return nil, refusal
		}
		t = &rota.Template{Name: c.Name, Spec: c.Spec.Canonical(), State: rota.TemplateActive, CreatedBy: c.Actor, CreatedAt: s.now}
		s.templates = append(s.templates, t)
	case t.Spec.Equal(c.Spec) && (!renew || s.otherUser(c) != ""):
		return &rota.TemplatePut{Template: t}, nil
	case s.otherUser(c) != "":
		return nil, s.refuse(rota.Conflict, "only_schedule", "schedule %s uses template %s too", s.otherUser(c), t.Name)
	}
	if refusal := s.useKeys(stored, c.Spec.Webhooks); refusal != nil {
		return nil, refusal
	}
	if dropped {
		t.State = rota.TemplateActive
	}
	if renew { // it is a new definition
		act, was = rota.AuditTemplateCreated, none
		s.dropSecrets(t.Name, "its template was recreated")
		t.Owner, t.Since = s.ownerFor(c.Actor), s.beginsAt(t.Since)
	}
	old, detail := t.Spec, ""
	t.Spec, t.Version, t.UpdatedAt = c.Spec.Canonical(), c.ID, s.now
	if !old.Equal(t.Spec) {
		detail = s.auditUsers(t, old)
	}
	s.auditSubject(act, subject, detail, diff.Documents(was, templateDocument(t)))
	return &rota.TemplatePut{Template: t, Changed: true}, nil
}

// otherUser returns a schedule that uses the template, other than the one that the command allows.
func (s *step) otherUser(c *rota.PutTemplate) string {
	for _, d := range s.schedulesOf(c.Name) {
		if c.OnlySchedule != "" && d.Name != c.OnlySchedule {
			return d.Name
		}
	}
	return ""
}

// archive also disables the schedules of the template, as many as one command may change. A
// Sweep does the rest.
func (s *step) archive(c *rota.Archive) (rota.Reply, *rota.Error) {
	t, err := s.templateToSwitch(c.Name)
	if err != nil {
		return nil, err
	}
	if s.auditedSubject(templateSubject(c.Name)) {
		return &rota.TemplatePut{Template: t}, nil
	}
	if err := s.checkVersion(c.Version, t.Version, templateSubject(c.Name)); err != nil {
		return nil, err
	}
	if t.State == rota.TemplateArchived {
		return &rota.TemplatePut{Template: t}, nil
	}
	was := templateDocument(t)
	t.State, t.Version, t.UpdatedAt = rota.TemplateArchived, c.ID, s.now
	s.auditSubject(rota.AuditTemplateArchived, templateSubject(c.Name), "", diff.Documents(was, templateDocument(t)))
	count, left := s.disableSchedulesOf(t, rota.SweepMax)
	if left {
		s.intents[intent{"template", t.Name}] = true
	}
	return &rota.TemplatePut{Template: t, Changed: true, Disabled: count}, nil
}

func (s *step) unarchive(c *rota.Unarchive) (rota.Reply, *rota.Error) {
	t, err := s.templateToSwitch(c.Name)
	if err != nil {
		return nil, err
	}
	if s.auditedSubject(templateSubject(c.Name)) {
		return &rota.TemplatePut{Template: t}, nil
	}
	if err := s.checkVersion(c.Version, t.Version, templateSubject(c.Name)); err != nil {
		return nil, err
	}
	if t.State == rota.TemplateActive {
		return &rota.TemplatePut{Template: t}, nil
	}
	was := templateDocument(t)
	t.State, t.Version, t.UpdatedAt = rota.TemplateActive, c.ID, s.now
	if t.Owner == "" {
		t.Owner, t.Since = s.ownerFor(c.Actor), s.beginsAt(t.Since)
	}
	s.auditSubject(rota.AuditTemplateUnarchived, templateSubject(c.Name), "", diff.Documents(was, templateDocument(t)))
	return &rota.TemplatePut{Template: t, Changed: true}, nil
}

func (s *step) templateToSwitch(name string) (*rota.Template, *rota.Error) {
	if t := s.template(name); t != nil {
		return t, nil
	}
	return nil, s.refuse(rota.NotFound, "name", "there is no template %s", name)
}

// disableSchedulesOf disables at most maxCount schedules of an archived template. It returns how
// many, and whether more are left.
func (s *step) disableSchedulesOf(t *rota.Template, maxCount int) (count int, left bool) {
	for _, d := range s.schedulesOf(t.Name) {
		if d.State == rota.ScheduleDisabled {
			continue
		}
		if count == maxCount {
			return count, true
		}
		s.disable(d, "template "+t.Name+" is archived")
		count++
	}
	return count, false
}
