package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// The jobs of a schedule run with the rights of the owner of its template. A
// schedule may therefore run the template of another owner only while its own
// owner has EXECUTE JOB on it. The rules check this, and not only the sender of
// a command is checked: nobody sends a fire, and the owner may lose the right
// after the schedule was declared.

// cannotExecute returns why a schedule of an owner may not run a template, empty
// if it may. A template without an owner is archived, which others refuse.
func cannotExecute(u *UnitOfWork, owner string, t *rota.Template) string {
	if t.Owner == "" || owner == rota.AdminUser || owner == t.Owner || hasExecute(u, owner, t) {
		return ""
	}
	return "its owner " + owner + " has no " + string(rota.ExecuteJob) + " on template " + t.Name
}

// mayExecute refuses to run a template with a schedule whose owner may not.
func mayExecute(u *UnitOfWork, field, schedule, owner string, t *rota.Template) *rota.Error {
	reason := cannotExecute(u, owner, t)
	if reason == "" {
		return nil
	}
	return &rota.Error{
		Code: rota.Denied, Field: field, Reason: "schedule " + schedule + " cannot run: " + reason,
		Hint: "the owner of the template or an administrator can grant it: GRANT " + string(rota.ExecuteJob) + " ON JOB " + t.Name + " TO " + owner,
	}
}

// hasExecute reports whether a user has EXECUTE JOB on a template, by its own
// grants or those of its roles.
func hasExecute(u *UnitOfWork, user string, t *rota.Template) bool {
	p := Principals.get(u, user)
	if p == nil {
		return false
	}
	grants := func(p *rota.Principal) bool { return grantsExecute(p, t) }
	seen := map[string]bool{}
	level := []*rota.Principal{p}
	for above := rolesByName; len(level) > 0; above = rolesOfAll {
		if slices.ContainsFunc(level, grants) {
			return true
		}
		level = above(u, level, seen)
	}
	return false
}

// grantsExecute reports whether a grant of a principal permits to execute a
// template. A grant that is older than the template has no effect.
func grantsExecute(p *rota.Principal, t *rota.Template) bool {
	return slices.ContainsFunc(p.Spec.Grants, func(g rota.Grant) bool {
		if g.Privilege != rota.ExecuteJob {
			return g.Privilege == rota.Admin
		}
		return g.Job == "" || g.Job == t.Name && !g.Since.Before(t.Since)
	})
}

// rolesByName returns the roles that principals are members of, which it loads
// by name.
func rolesByName(u *UnitOfWork, members []*rota.Principal, seen map[string]bool) []*rota.Principal {
	for _, p := range members {
		for i := range p.Spec.Roles {
			Principals.want(u, p.Spec.Roles[i].Role)
		}
	}
	return rolesAbove(members, seen, func(name string) *rota.Principal { return Principals.get(u, name) })
}

// rolesOfAll returns the roles that roles are members of, among all roles. There
// may be many levels of them, and each would take a round of loading.
func rolesOfAll(u *UnitOfWork, members []*rota.Principal, seen map[string]bool) []*rota.Principal {
	if !slices.ContainsFunc(members, func(p *rota.Principal) bool { return len(p.Spec.Roles) > 0 }) {
		return nil
	}
	Roles.get(u, RolesQuery{})
	return rolesAbove(members, seen, func(name string) *rota.Principal {
		p, _ := Principals.peek(u, name) // all roles are known
		return p
	})
}

// rolesAbove returns the roles that principals are members of, without those
// seen before. A membership that is older than its role has no effect.
func rolesAbove(members []*rota.Principal, seen map[string]bool, role func(string) *rota.Principal) (above []*rota.Principal) {
	for _, p := range members {
		for i := range p.Spec.Roles {
			m := &p.Spec.Roles[i]
			if seen[m.Role] {
				continue
			}
			if r := role(m.Role); m.HasEffect(r) {
				seen[m.Role] = true
				above = append(above, r)
			}
		}
	}
	return above
}
