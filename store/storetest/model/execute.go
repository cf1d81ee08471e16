package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// checkExecute refuses a schedule of an owner that may not run the template.
func (s *step) checkExecute(field, owner, template string) *rota.Error {
	if !s.lacksExecute(owner, template) {
		return nil
	}
	return s.refuse(rota.Denied, field, "%s has no EXECUTE JOB on template %s", owner, template)
}

// lacksExecute reports whether the owner of a schedule needs EXECUTE JOB on its template, and does not have it.
func (s *state) lacksExecute(owner, template string) bool {
	t := s.template(template)
	if t == nil || slices.Contains([]string{"", owner}, t.Owner) || owner == rota.AdminUser {
		return false
	}
	return !s.holdsExecute(owner, t, nil)
}

// holdsExecute reports whether a principal, or a role that it is a member of, has a grant to execute a template.
func (s *state) holdsExecute(name string, t *rota.Template, below []string) bool {
	p := s.principal(name)
	if p == nil || slices.Contains(below, name) {
		return false
	}
	for _, g := range p.Spec.Grants {
		onThis := g.Job == "" || g.Job == t.Name && !t.Since.After(g.Since)
		if g.Privilege == rota.Admin || g.Privilege == rota.ExecuteJob && onThis {
			return true
		}
	}
	return slices.ContainsFunc(p.Spec.Roles, func(m rota.RoleMembership) bool {
		return s.counts(m) && s.holdsExecute(m.Role, t, append(below, name))
	})
}
