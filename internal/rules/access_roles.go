package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
)

// mayBeMember refuses to make a role a member of another one if that makes a cycle or more levels than are allowed. Memberships
// without an effect do not count. Only a command that makes a role a member reads all roles.
func mayBeMember(u *UnitOfWork, member, role string) *rota.Error {
	above := u.roleGraph()
	if path := rolePath(above, role, member); path != nil {
		path = append([]string{member}, path...)
		return &rota.Error{
			Code: rota.Invalid, Field: "role", Reason: fmt.Sprintf("would make role %s a member of itself: %s", member, strings.Join(path, " -> ")),
			Hint: "revoke one of these memberships first",
		}
	}
	below := map[string][]string{}
	for name, roles := range above {
		for _, r := range roles {
			below[r] = append(below[r], name)
		}
	}
	if levels := roleLevels(below, member, map[string]int{}) + roleLevels(above, role, map[string]int{}); levels > rota.RoleLevelsMax {
		return &rota.Error{
			Code: rota.Invalid, Field: "role", Reason: fmt.Sprintf("would make %d levels of roles; at most %d are allowed", levels, rota.RoleLevelsMax),
			Hint: "make " + member + " a member of a role nearer to the top",
		}
	}
	return nil
}

// roleGraph returns the roles that each role is a member of, as decided.
func (u *UnitOfWork) roleGraph() map[string][]string {
	names := slices.Clone(Roles.get(u, RolesQuery{}))
	for r := range Principals.of(u).changed() {
		names = append(names, r.key)
	}
	above := map[string][]string{}
	for _, name := range names {
		p, _ := Principals.peek(u, name)
		if p == nil || p.Kind != rota.KindRole || above[name] != nil {
			continue
		}
		above[name] = []string{}
		for i := range p.Spec.Roles {
			m := &p.Spec.Roles[i]
			if r, _ := Principals.peek(u, m.Role); m.HasEffect(r) { // all roles are known
				above[name] = append(above[name], m.Role)
			}
		}
	}
	return above
}

// rolePath returns a path from one role to another, both included, nil if there is none.
func rolePath(above map[string][]string, from, to string) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return trace(came, to)
		}
		for _, next := range above[queue[0]] {
			if _, seen := came[next]; !seen {
				came[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// roleLevels returns the number of roles on the longest path from a role on, itself included. known holds the roles whose levels are
// counted already.
func roleLevels(next map[string][]string, role string, known map[string]int) int {
	if levels, is := known[role]; is {
		return levels
	}
	levels := 1
	known[role] = levels // a damaged store may have a cycle
	for _, one := range next[role] {
		levels = max(levels, 1+roleLevels(next, one, known))
	}
	known[role] = levels
	return levels
}
