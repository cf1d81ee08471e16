package access

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// rights are what a principal may do, through its own grants and those of its roles.
type rights struct {
	admin bool
	all   map[rota.Privilege]bool                 // on all definitions
	byJob map[string]map[rota.Privilege]time.Time // on one definition: when it was granted last
	roles []string                                // roles it is a member of, sorted
}

// adminRights are those of the built-in admin.
var adminRights = &rights{admin: true}

// rightsOf returns the rights of a user or role that exists.
func (s *snapshot) rightsOf(name string) *rights {
	if name == rota.AdminUser {
		return adminRights
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rights[name]
	if r == nil {
		r = &rights{all: map[rota.Privilege]bool{}, byJob: map[string]map[rota.Privilege]time.Time{}}
		s.collect(r, s.principals[name], map[string]bool{})
		slices.Sort(r.roles)
		s.rights[name] = r
	}
	return r
}

// collect adds the grants of a principal and of the roles it is a member of. A membership that is older than its role
// has no effect.
func (s *snapshot) collect(r *rights, p *rota.Principal, seen map[string]bool) {
	if p == nil || seen[p.Name] {
		return
	}
	seen[p.Name] = true
	for _, g := range p.Spec.Grants {
		r.add(g)
	}
	for _, m := range p.Spec.Roles {
		role := s.principals[m.Role]
		if role == nil || role.Kind != rota.KindRole || m.Since.Before(role.CreatedAt) || seen[m.Role] {
			continue
		}
		r.roles = append(r.roles, m.Role)
		s.collect(r, role, seen)
	}
}

func (r *rights) add(g rota.Grant) {
	switch {
	case g.Privilege == rota.Admin:
		r.admin = true
	case g.Job == "":
		r.all[g.Privilege] = true
	default:
		on := r.byJob[g.Job]
		if on == nil {
			on = map[rota.Privilege]time.Time{}
			r.byJob[g.Job] = on
		}
		if g.Since.After(on[g.Privilege]) {
			on[g.Privilege] = g.Since
		}
	}
}

// onAll reports whether the rights include a privilege on all definitions.
func (r *rights) onAll(p rota.Privilege) bool { return r.admin || r.all[p] }

// on reports whether the rights include a privilege on a definition that began at a time. A grant that is older has no
// effect.
func (r *rights) on(p rota.Privilege, name string, since time.Time) bool {
	if r.onAll(p) {
		return true
	}
	granted, has := r.byJob[name][p]
	return has && !granted.Before(since)
}

// sees reports whether the rights include any privilege on a definition, which makes it visible.
func (r *rights) sees(name string, since time.Time) bool {
	for _, p := range rota.Privileges {
		if p.OnJob() && r.on(p, name, since) {
			return true
		}
	}
	return r.admin
}

// seesAll reports whether every definition is visible.
func (r *rights) seesAll() bool {
	for p := range r.all {
		if p.OnJob() {
			return true
		}
	}
	return r.admin
}

// isMember reports whether a user has a role, or is it.
func (r *rights) isMember(user, role string) bool {
	return r.admin || user == role || slices.Contains(r.roles, role)
}
