package model

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

func (s *step) grantPrivileges(c *rota.GrantPrivileges) (rota.Reply, *rota.Error) {
	reply := &rota.Granted{}
	again, missing := false, -1
	for i, name := range c.To {
		again = again || s.auditedPrincipal(name)
		if p := s.principal(name); p != nil {
			reply.Principals = append(reply.Principals, p)
		} else if missing < 0 {
			missing = i
		}
	}
	switch {
	case again:
		reply.Repeated = true
		return reply, nil
	case missing >= 0:
		return nil, s.refuse(rota.NotFound, fmt.Sprintf("to[%d]", missing), "there is no user or role %s", c.To[missing])
	}
	if err := s.checkGrant(c, reply.Principals); err != nil {
		return nil, err
	}
	at := s.grantTime(c)
	for _, p := range reply.Principals {
		was := p.Spec
		s.changeGrants(c, p, at)
		if string(rota.EncodeSpec(was)) == string(rota.EncodeSpec(p.Spec)) {
			p.Spec = was // its lists may be nil, which counts as a change for an expectation
			continue
		}
		if err := s.checkHeld(c, p); err != nil {
			return nil, err
		}
		p.Version, p.UpdatedAt, reply.Changed = c.ID, s.now, true
		s.changeAccess(c.ID, at)
		s.auditGrant(c, p)
	}
	return reply, nil
}

// checkGrant refuses a role or a job that does not exist, unless something of that name is revoked.
func (s *step) checkGrant(c *rota.GrantPrivileges, to []*rota.Principal) *rota.Error {
	stale := c.Revoke && slices.ContainsFunc(to, func(p *rota.Principal) bool {
		return slices.ContainsFunc(p.Spec.Roles, func(m rota.RoleMembership) bool { return m.Role == c.Role })
	})
	if c.Role != "" && s.role(c.Role) == nil && !stale {
		return s.refuse(rota.NotFound, "role", "there is no role %s", c.Role)
	}
	if c.Job != "" && !c.Revoke && s.template(c.Job) == nil && s.schedule(c.Job) == nil {
		return s.refuse(rota.NotFound, "job", "there is no template or schedule %s", c.Job)
	}
	return nil
}

// changeGrants grants or revokes. A grant or membership that has no effect is replaced.
func (s *step) changeGrants(c *rota.GrantPrivileges, p *rota.Principal, at time.Time) {
	p.Spec = p.Spec.Canonical() // a copy of its lists
	if c.Role != "" {
		kept := slices.DeleteFunc(slices.Clone(p.Spec.Roles), func(m rota.RoleMembership) bool { return m.Role == c.Role })
		if !c.Revoke {
			if slices.ContainsFunc(p.Spec.Roles, func(m rota.RoleMembership) bool { return m.Role == c.Role && s.counts(m) }) {
				return
			}
			kept = append(kept, rota.RoleMembership{Role: c.Role, Since: at, By: c.Actor})
		}
		slices.SortFunc(kept, func(a, b rota.RoleMembership) int { return cmp.Compare(a.Role, b.Role) })
		p.Spec.Roles = kept
		return
	}
	for _, privilege := range c.Privileges {
		same := func(g rota.Grant) bool { return g.Privilege == privilege && g.Job == c.Job }
		if !c.Revoke && slices.ContainsFunc(p.Spec.Grants, func(g rota.Grant) bool { return same(g) && !s.staleGrant(g) }) {
			continue
		}
		p.Spec.Grants = slices.DeleteFunc(p.Spec.Grants, same)
		if !c.Revoke {
			p.Spec.Grants = append(p.Spec.Grants, rota.Grant{Privilege: privilege, Job: c.Job, Since: at, By: c.Actor})
		}
	}
	slices.SortFunc(p.Spec.Grants, func(a, b rota.Grant) int {
		return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.Privilege, b.Privilege))
	})
}

// grantTime is the time of what a command grants: not before that of the definition. A revocation has none.
func (s *step) grantTime(c *rota.GrantPrivileges) time.Time {
	if c.Revoke {
		return never
	}
	at := s.accessTime()
	for _, begun := range s.definedSince(c.Job) {
		if begun.After(at) {
			at = begun
		}
	}
	return at
}

// counts reports whether a membership has an effect: the role is not younger than it.
func (s *state) counts(m rota.RoleMembership) bool {
	r := s.role(m.Role)
	return r != nil && !m.Since.Before(r.CreatedAt)
}

// staleGrant reports whether a grant is older than a definition of the name that it names.
func (s *state) staleGrant(g rota.Grant) bool {
	return slices.ContainsFunc(s.definedSince(g.Job), g.Since.Before)
}

// definedSince returns since when the template and the schedule of a name exist.
func (s *state) definedSince(job string) (since []time.Time) {
	if job == "" {
		return nil
	}
	if t := s.template(job); t != nil {
		since = append(since, t.Since)
	}
	if d := s.schedule(job); d != nil {
		since = append(since, d.Since)
	}
	return since
}

// checkHeld refuses too many grants and memberships, cycles of roles and too many levels of them.
func (s *step) checkHeld(c *rota.GrantPrivileges, p *rota.Principal) *rota.Error {
	switch {
	case len(p.Spec.Grants) > rota.GrantsMax:
		return s.refuse(rota.Conflict, "privileges", "too many grants")
	case len(p.Spec.Roles) > rota.MembershipsMax:
		return s.refuse(rota.Conflict, "role", "too many roles")
	case c.Role == "" || c.Revoke || p.Kind != rota.KindRole:
		return nil
	}
	deepest := 0
	for _, r := range s.principals {
		if r.Kind == rota.KindRole {
			deepest = max(deepest, s.levels(r.Name, nil))
		}
	}
	if deepest > rota.RoleLevelsMax {
		return s.refuse(rota.Invalid, "role", "makes a cycle or too many levels of roles")
	}
	return nil
}

// levels counts the roles on the longest path from a role. A cycle has too many.
func (s *state) levels(role string, below []string) int {
	if slices.Contains(below, role) {
		return rota.RoleLevelsMax + 1
	}
	most := 0
	for _, m := range s.role(role).Spec.Roles {
		if s.counts(m) {
			most = max(most, s.levels(m.Role, append(below, role)))
		}
	}
	return most + 1
}

func (s *step) auditGrant(c *rota.GrantPrivileges, p *rota.Principal) {
	var names []string
	for _, privilege := range c.Privileges {
		names = append(names, string(privilege))
	}
	field, value := "privileges", onJob(strings.Join(names, ", "), c.Job)
	detail := value
	if c.Role != "" {
		field, value, detail = "role", c.Role, fmt.Sprintf("role %s", c.Role)
	}
	if c.Revoke {
		s.auditPrincipal("REVOKED", p, detail, map[string]change{field: {Old: value}})
	} else {
		s.auditPrincipal("GRANTED", p, detail, map[string]change{field: {New: value}})
	}
}
