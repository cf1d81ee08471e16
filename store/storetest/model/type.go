package model

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

func (s *step) putType(c *rota.PutType) (rota.Reply, *rota.Error) {
	t, subject := s.typ(c.Name), typeSubject(c.Name)
	if s.auditedSubject(subject) {
		return &rota.TypePut{Type: t}, nil
	}
	var version *rota.ID
	if t != nil {
		version = &t.Version
	}
	if err := s.checkExpectation(expectation{c.Mode, c.Version}, version, subject); err != nil {
		return nil, err
	}
	act, was := rota.AuditTypeModified, none
	if t != nil {
		was = typeDocument(t)
	}
	switch {
	case t == nil:
		act = rota.AuditTypeCreated
		t = &rota.Type{Name: c.Name, CreatedBy: c.Actor, CreatedAt: s.now}
		s.types = append(s.types, t)
	case t.Spec.Equal(c.Spec):
		return &rota.TypePut{Type: t}, nil
	}
	t.Spec, t.Version, t.UpdatedAt = c.Spec.Canonical(), c.ID, s.now
	s.auditSubject(act, subject, "", diff.Documents(was, typeDocument(t)))
	return &rota.TypePut{Type: t, Changed: true}, nil
}

func (s *step) switchType(c *rota.SwitchType) (rota.Reply, *rota.Error) {
	t, subject := s.typ(c.Name), typeSubject(c.Name)
	switch {
	case t == nil:
		return nil, s.refuse(rota.NotFound, "name", "there is no %s", subject)
	case s.auditedSubject(subject):
		return &rota.TypePut{Type: t}, nil
	}
	if err := s.checkVersion(c.Version, t.Version, subject); err != nil {
		return nil, err
	}
	if t.Paused == c.Paused {
		return &rota.TypePut{Type: t}, nil
	}
	was := typeDocument(t)
	t.Paused, t.Version, t.UpdatedAt = c.Paused, c.ID, s.now
	act := rota.AuditTypeResumed
	if c.Paused {
		act = rota.AuditTypePaused
	}
	s.auditSubject(act, subject, "", diff.Documents(was, typeDocument(t)))
	return &rota.TypePut{Type: t, Changed: true}, nil
}
