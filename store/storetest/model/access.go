package model

import (
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// change is the old and the new value of a field in an audit entry.
type change struct {
	Old any `json:"old"`
	New any `json:"new"`
}

// changesText encodes the changes of an audit entry about access, nil if there are none.
func changesText(fields map[string]change) []byte {
	if len(fields) == 0 {
		return nil
	}
	return rota.EncodeSpec(fields)
}

func (s *state) principal(name string) *rota.Principal {
	return pickOne(s.principals, func(p *rota.Principal) bool { return p.Name == name })
}

// role returns a role, nil if there is none of that name.
func (s *state) role(name string) *rota.Principal {
	if p := s.principal(name); p != nil && p.Kind == rota.KindRole {
		return p
	}
	return nil
}

func principalWord(kind rota.PrincipalKind) string { return strings.ToLower(string(kind)) }

func principalSubject(p *rota.Principal) string { return principalWord(p.Kind) + " " + p.Name }

// auditPrincipal adds an entry about a principal.
func (s *step) auditPrincipal(act string, p *rota.Principal, detail string, changes map[string]change) {
	s.auditName("principal "+p.Name, act, principalSubject(p), detail, changesText(changes))
}

func (s *step) auditedPrincipal(name string) bool { return s.auditedSubject("principal " + name) }

// accessTime is now, or after the newest time of the access data if the clock was set back.
func (s *step) accessTime() time.Time {
	if s.access.Newest.After(s.now) {
		return s.access.Newest.Add(time.Microsecond)
	}
	return s.now
}

// changeAccess records a change of the access data, and the time of what it creates.
func (s *step) changeAccess(version rota.ID, at time.Time) {
	s.access.Version = version
	if at.After(s.access.Newest) {
		s.access.Newest = at
	}
}

func (s *step) putPrincipal(c *rota.PutPrincipal) (rota.Reply, *rota.Error) {
	p := s.principal(c.Name)
	if s.auditedPrincipal(c.Name) {
		return &rota.PrincipalPut{Principal: p}, nil
	}
	if err := s.checkPrincipal(c, p); err != nil {
		return nil, err
	}
	is := &rota.Principal{Name: c.Name, Kind: c.Kind, CreatedBy: c.Actor, CreatedAt: s.accessTime()}
	act := string(c.Kind) + "_CREATED"
	if p != nil {
		is, act = copyOf(p), "USER_MODIFIED"
	}
	changes := map[string]change{}
	setCredential(changes, "password", &is.Spec.Verifier, c.Verifier)
	if len(changes) > 0 {
		is.Spec.PasswordAt = s.accessTime()
	}
	setCredential(changes, "certificate", &is.Spec.Certificate, c.Certificate)
	if p != nil && len(changes) == 0 {
		return &rota.PrincipalPut{Principal: p}, nil
	}
	is.Version, is.UpdatedAt = c.ID, s.now
	s.removePrincipal(c.Name)
	s.principals = append(s.principals, is)
	s.changeAccess(c.ID, s.accessTime())
	s.auditPrincipal(act, is, "", changes)
	return &rota.PrincipalPut{Principal: is, Changed: true}, nil
}

func (s *step) checkPrincipal(c *rota.PutPrincipal, p *rota.Principal) *rota.Error {
	var version *rota.ID
	if p != nil {
		version = &p.Version
	}
	if p != nil && p.Kind != c.Kind && c.Mode != rota.PutCreate {
		return s.refuse(rota.Conflict, "kind", "%s is a %s", c.Name, principalWord(p.Kind))
	}
	if err := s.checkExpectation(expectation{c.Mode, c.Version}, version, c.Name); err != nil {
		return err
	}
	if c.Certificate != nil && *c.Certificate != "" {
		for _, other := range s.principals {
			if other.Name != c.Name && other.Spec.Certificate == *c.Certificate {
				return s.refuse(rota.Conflict, "certificate", "user %s has this certificate", other.Name)
			}
		}
	}
	return nil
}

// setCredential sets a credential unless it stays, and records in words what happened.
func setCredential(changes map[string]change, name string, is *string, next *string) {
	if next == nil || *next == *is {
		return
	}
	var words change
	if *is != "" {
		words.Old = "set"
	}
	switch {
	case *next == "":
	case *is == "":
		words.New = "set"
	default:
		words.New = "changed"
	}
	changes[name], *is = words, *next
}

func (s *state) removePrincipal(name string) {
	s.principals = slices.DeleteFunc(s.principals, func(p *rota.Principal) bool { return p.Name == name })
}

func (s *step) dropPrincipal(c *rota.DropPrincipal) (rota.Reply, *rota.Error) {
	p := s.principal(c.Name)
	switch {
	case s.auditedPrincipal(c.Name):
		return &rota.PrincipalDropped{Gone: true}, nil
	case p == nil || p.Kind != c.Kind:
		return nil, s.refuse(rota.NotFound, "name", "there is no %s %s", principalWord(c.Kind), c.Name)
	}
	if s.owns(c.Name) {
		return nil, s.refuse(rota.Conflict, "name", "user %s owns a job", c.Name)
	}
	s.removePrincipal(c.Name)
	s.changeAccess(c.ID, never)
	s.auditPrincipal(string(p.Kind)+"_DROPPED", p, "", droppedChanges(p))
	return &rota.PrincipalDropped{}, nil
}

// droppedChanges lists what a dropped principal had.
func droppedChanges(p *rota.Principal) map[string]change {
	changes := map[string]change{}
	if p.Spec.Verifier != "" {
		changes["password"] = change{Old: "set"}
	}
	if p.Spec.Certificate != "" {
		changes["certificate"] = change{Old: "set"}
	}
	var roles, grants []string
	for _, m := range p.Spec.Roles {
		roles = append(roles, m.Role)
	}
	for _, g := range p.Spec.Grants {
		grants = append(grants, onJob(string(g.Privilege), g.Job))
	}
	for name, list := range map[string][]string{"roles": roles, "grants": grants} {
		if len(list) > 0 {
			changes[name] = change{Old: list}
		}
	}
	return changes
}

func onJob(privileges, job string) string {
	if job != "" {
		privileges += " on " + job
	}
	return privileges
}
