package verify

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// declaredPrincipal is what References needs of a principal.
type declaredPrincipal struct {
	kind      rota.PrincipalKind
	createdAt time.Time
	roles     []rota.RoleMembership
}

// Principal checks a user or a role, given the certificate in its column and its spec as stored.
func (v *Verifier) Principal(p *rota.Principal, certificate string, stored []byte) {
	row := "principal " + p.Name
	v.hasAccess = true
	knownWord(v, row, "kind", p.Kind, rota.KindUser, rota.KindRole)
	v.times(row, p.CreatedAt, p.UpdatedAt)
	spec, read := readSpec[rota.PrincipalSpec](v, row, stored)
	if !read {
		return
	}
	v.principals[p.Name] = &declaredPrincipal{p.Kind, p.CreatedAt, spec.Roles}
	v.checkAccepted(row, (&rota.PutPrincipal{Name: p.Name, Kind: p.Kind, Verifier: &spec.Verifier, Certificate: &spec.Certificate}).Validate(), rota.CheckPrincipalShape)
	v.column(row, "certificate", certificate, spec.Certificate)
	v.memberships(row, spec.Roles)
	v.grants(row, spec.Grants)
}

func (v *Verifier) memberships(row string, roles []rota.RoleMembership) {
	for i, m := range roles {
		if i > 0 && roles[i-1].Role >= m.Role {
			v.violation(rota.CheckPrincipalShape, []string{row}, "its membership in role %s is not sorted, or is there twice", m.Role)
		}
		v.times(row, m.Since)
		v.checkAccepted(row, (&rota.GrantPrivileges{To: []string{"x"}, Role: m.Role}).Validate(), rota.CheckPrincipalShape)
	}
}

func (v *Verifier) grants(row string, grants []rota.Grant) {
	for i, g := range grants {
		if i > 0 && grants[i-1].Compare(g) >= 0 {
			v.violation(rota.CheckPrincipalShape, []string{row}, "its grant of %s on %q is not sorted, or is there twice", g.Privilege, g.Job)
		}
		v.times(row, g.Since)
		v.checkAccepted(row, (&rota.GrantPrivileges{To: []string{"x"}, Privileges: []rota.Privilege{g.Privilege}, Job: g.Job}).Validate(), rota.CheckPrincipalShape)
	}
}

// AccessToken checks a token.
func (v *Verifier) AccessToken(t *rota.AccessToken) {
	row := "token " + t.ID
	v.hasAccess = true
	v.times(row, t.CreatedAt, t.ExpiresAt, t.LastUsedAt, t.RevokedAt)
	v.checkAccepted(row, (&rota.PutToken{
		TokenID: t.ID, User: t.User, Scope: t.Scope, Type: t.Type, Job: t.Job, Hash: t.Hash, Verifier: t.Verifier,
	}).Validate(), rota.CheckTokenShape)
	if t.RevokedAt.IsZero() && t.RevokedBy != "" {
		v.violation(rota.CheckTokenShape, []string{row}, "it has an actor that revoked it, but was not revoked")
	}
}

// AccessState checks that the version of all principals and tokens is there if there are any. Principals and tokens come first.
func (v *Verifier) AccessState(state *rota.AccessState) {
	switch {
	case state == nil && v.hasAccess:
		v.violation(rota.CheckAccessState, []string{"access state"}, "there are principals or tokens, but the version of them all is missing")
	case state != nil && state.Version.IsZero():
		v.violation(rota.CheckAccessState, []string{"access state"}, "its version is zero")
	}
}

// roleCycles reports roles that are members of themselves. Memberships without an effect do not count.
func (v *Verifier) roleCycles() {
	above := map[string][]string{}
	for name, p := range v.principals {
		if p.kind != rota.KindRole {
			continue
		}
		above[name] = nil
		for i := range p.roles {
			m := &p.roles[i]
			if r := v.principals[m.Role]; r != nil && m.HasEffect(&rota.Principal{Kind: r.kind, CreatedAt: r.createdAt}) {
				above[name] = append(above[name], m.Role)
			}
		}
	}
	eachCycle(above, slices.Sorted(maps.Keys(above)), func(path []string) {
		v.violation(rota.CheckRoleCycle, []string{"principal " + path[0]}, "it is a member of itself: %s", strings.Join(path, " → "))
	})
}
