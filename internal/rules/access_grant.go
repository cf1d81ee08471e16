package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// decideGrantPrivileges grants or revokes privileges or a role. Every principal that changes has an audit entry of its own.
func decideGrantPrivileges(u *UnitOfWork, c *rota.GrantPrivileges) (rota.Reply, *rota.Error) {
	wantGrant(u, c)
	AccessState.want(u, one)
	reply := &rota.Granted{}
	for _, name := range c.To {
		if p := Principals.get(u, name); p != nil {
			reply.Principals = append(reply.Principals, p)
		}
	}
	if slices.ContainsFunc(c.To, func(name string) bool { return u.auditedSubject(c, principalEntry(name)) }) {
		reply.Repeated = true
		return reply, nil
	}
	if refusal := mayGrant(u, c); refusal != nil {
		return nil, refusal
	}
	at := grantTime(u, c)
	for i, p := range reply.Principals {
		next, refusal := granted(u, c, p, at)
		if refusal != nil {
			return nil, refusal
		}
		if next == nil {
			continue
		}
		reply.Principals[i], reply.Changed = next, true
		Principals.set(u, p.Name, next)
		u.setAccess(c, at)
		auditGrant(u, c, next)
	}
	return reply, nil
}

// wantGrant asks for what a grant reads.
func wantGrant(u *UnitOfWork, c *rota.GrantPrivileges) {
	for _, name := range c.To {
		u.wantAuditedSubject(c, principalEntry(name))
		Principals.want(u, name)
	}
	if c.Role != "" {
		Principals.want(u, c.Role)
	}
	if c.Job != "" && !c.Revoke {
		Templates.want(u, c.Job)
		Schedules.want(u, c.Job)
	}
}

// mayGrant refuses principals, a role or a job that do not exist. What is gone can still be revoked.
func mayGrant(u *UnitOfWork, c *rota.GrantPrivileges) *rota.Error {
	isMember := false
	for i, name := range c.To {
		p := Principals.get(u, name)
		if p == nil {
			return noPrincipal(fmt.Sprintf("to[%d]", i), name)
		}
		isMember = isMember || membershipIn(p, c.Role) >= 0
	}
	if c.Role != "" && !(c.Revoke && isMember) {
		if r := Principals.get(u, c.Role); r == nil || r.Kind != rota.KindRole {
			refusal := noName("role", c.Role)
			refusal.Field = "role"
			return refusal
		}
	}
	if c.Job != "" && !c.Revoke && definedAt(u, c.Job).IsZero() {
		return &rota.Error{
			Code: rota.NotFound, Field: "job", Reason: "there is no template or schedule " + c.Job,
			Hint: "check the name; rota template list and rota schedule list show the names",
		}
	}
	return nil
}

func noPrincipal(field, name string) *rota.Error {
	hint := "check the name; rota user list and rota role list show the names"
	if name == rota.AdminUser {
		hint = name + " is built in and has every privilege"
	}
	return &rota.Error{Code: rota.NotFound, Field: field, Reason: "there is no user or role " + name, Hint: hint}
}

// definedAt returns since when the template and the schedule of a name exist, the later one of both, and zero if
// there is neither. A grant that is older has no effect on at least one of them.
func definedAt(u *UnitOfWork, name string) (at time.Time) {
	if t := Templates.get(u, name); t != nil {
		at = t.Since
	}
	if s := Schedules.get(u, name); s != nil && s.Since.After(at) {
		at = s.Since
	}
	return at
}

// granted returns a principal as a grant or a revocation leaves it, nil if it does not change.
func granted(u *UnitOfWork, c *rota.GrantPrivileges, p *rota.Principal, at time.Time) (*rota.Principal, *rota.Error) {
	next := *p
	next.Version, next.UpdatedAt = c.ID, u.Now
	changed := false
	switch {
	case c.Role != "" && c.Revoke:
		next.Spec.Roles = slices.DeleteFunc(slices.Clone(p.Spec.Roles), func(m rota.RoleMembership) bool { return m.Role == c.Role })
		changed = len(next.Spec.Roles) != len(p.Spec.Roles)
	case c.Role != "":
		changed = addMembership(u, c, &next, at)
	case c.Revoke:
		next.Spec.Grants = slices.DeleteFunc(slices.Clone(p.Spec.Grants), func(g rota.Grant) bool {
			return g.Job == c.Job && slices.Contains(c.Privileges, g.Privilege)
		})
		changed = len(next.Spec.Grants) != len(p.Spec.Grants)
	default:
		changed = addGrants(u, c, &next, at)
	}
	if !changed {
		return nil, nil
	}
	if refusal := mayHold(&next); refusal != nil {
		return nil, refusal
	}
	if c.Role != "" && !c.Revoke && p.Kind == rota.KindRole {
		return &next, mayBeMember(u, p.Name, c.Role)
	}
	return &next, nil
}

// addMembership makes a principal a member of a role, or renews a membership that has no effect.
func addMembership(u *UnitOfWork, c *rota.GrantPrivileges, p *rota.Principal, since time.Time) (changed bool) {
	at := membershipIn(p, c.Role)
	if at >= 0 && p.Spec.Roles[at].HasEffect(Principals.get(u, c.Role)) {
		return false
	}
	p.Spec.Roles = slices.Clone(p.Spec.Roles)
	if at >= 0 {
		p.Spec.Roles = slices.Delete(p.Spec.Roles, at, at+1)
	}
	p.Spec.Roles = append(p.Spec.Roles, rota.RoleMembership{Role: c.Role, Since: since, By: c.Actor})
	slices.SortFunc(p.Spec.Roles, func(a, b rota.RoleMembership) int { return strings.Compare(a.Role, b.Role) })
	return true
}

func membershipIn(p *rota.Principal, role string) int {
	return slices.IndexFunc(p.Spec.Roles, func(m rota.RoleMembership) bool { return m.Role == role })
}

// addGrants adds grants to a principal, and renews those that have no effect on the definition of that name.
func addGrants(u *UnitOfWork, c *rota.GrantPrivileges, p *rota.Principal, since time.Time) (changed bool) {
	var defined time.Time
	if c.Job != "" {
		defined = definedAt(u, c.Job)
	}
	p.Spec.Grants = slices.Clone(p.Spec.Grants)
	for _, privilege := range c.Privileges {
		next := rota.Grant{Privilege: privilege, Job: c.Job, Since: since, By: c.Actor}
		at, found := slices.BinarySearchFunc(p.Spec.Grants, next, rota.Grant.Compare)
		switch {
		case !found:
			p.Spec.Grants = slices.Insert(p.Spec.Grants, at, next)
		case p.Spec.Grants[at].Since.Before(defined):
			p.Spec.Grants[at] = next
		default:
			continue
		}
		changed = true
	}
	return changed
}

// grantTime is the time of the grants and memberships of a command, zero if it revokes. It is not before that of the definition,
// which may be later than now if the clock was set back.
func grantTime(u *UnitOfWork, c *rota.GrantPrivileges) time.Time {
	if c.Revoke {
		return time.Time{}
	}
	at := u.accessTime()
	if c.Job == "" {
		return at
	}
	if defined := definedAt(u, c.Job); defined.After(at) {
		return defined
	}
	return at
}

// mayHold refuses more grants or memberships than one row may have.
func mayHold(p *rota.Principal) *rota.Error {
	switch {
	case len(p.Spec.Grants) > rota.GrantsMax:
		return tooMany(p, fmt.Sprintf("%d grants", rota.GrantsMax), "privileges", "grant privileges on all jobs, or to several roles")
	case len(p.Spec.Roles) > rota.MembershipsMax:
		return tooMany(p, fmt.Sprintf("%d roles", rota.MembershipsMax), "role", "make a role that is a member of several of them")
	}
	return nil
}

func tooMany(p *rota.Principal, most, field, hint string) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: field, Reason: principalSubject(p) + " would have more than " + most + ", which is the most", Hint: hint,
	}
}

func auditGrant(u *UnitOfWork, c *rota.GrantPrivileges, p *rota.Principal) {
	act := rota.AuditGranted
	if c.Revoke {
		act = rota.AuditRevoked
	}
	field, detail := "privileges", grantedDetail(c.Privileges, c.Job)
	if c.Role != "" {
		field, detail = "role", c.Role
	}
	changes := grantChanges(field, detail, c.Revoke)
	if c.Role != "" {
		detail = "role " + c.Role
	}
	u.auditName(c, principalEntry(p.Name), act, principalSubject(p), detail, changes)
}
