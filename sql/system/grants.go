package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// roleMember is a row of sys.role_members.
type roleMember struct {
	rota.RoleMembership
	member *rota.Principal
}

var roleMembers = &table[roleMember]{
	name: "role_members", key: func(m *roleMember) string { return m.Role + "\x00" + m.member.Name },
	columns: append([]column[roleMember]{
		{name: "role", kind: Text, value: func(m *roleMember) sqlite.Value { return notNullText(m.Role) }, notNull: true},
		{name: "member", kind: Text, value: func(m *roleMember) sqlite.Value { return notNullText(m.member.Name) }, notNull: true},
		{name: "member_kind", kind: Text, value: func(m *roleMember) sqlite.Value { return notNullText(string(m.member.Kind)) }, notNull: true},
		{name: "granted_by", kind: Text, value: func(m *roleMember) sqlite.Value { return text(m.By) }},
	}, timeColumns("since", func(m *roleMember) time.Time { return m.Since })...),
	paths: []accessPath[roleMember]{
		{key: "member", rows: 10, read: func(q *query, w readRequest) pages[roleMember] {
			return memberships(q, principalNamed(q, w.equal["member"].Text()))
		}},
		{rows: principalsEstimate, read: func(q *query, _ readRequest) pages[roleMember] { return memberships(q, principalsByName(q)) }},
	},
}

// memberships lists the memberships that have an effect.
func memberships(q *query, of pages[*rota.Principal]) pages[roleMember] {
	return flattened(of, func(p *rota.Principal) (rows []roleMember) {
		for _, m := range p.Spec.Roles {
			role, err := q.principal(m.Role)
			if err != nil {
				_ = q.fail(err)
				return nil
			}
			if m.HasEffect(role) {
				rows = append(rows, roleMember{m, p})
			}
		}
		return rows
	})
}

// grant is a row of sys.grants.
type grant struct {
	rota.Grant
	to string
}

var grants = &table[grant]{
	name: "grants", key: func(g *grant) string { return g.to + "\x00" + g.Job + "\x00" + string(g.Privilege) },
	columns: append([]column[grant]{
		{name: "grantee", kind: Text, value: func(g *grant) sqlite.Value { return notNullText(g.to) }, notNull: true},
		{name: "privilege", kind: Text, value: func(g *grant) sqlite.Value { return notNullText(string(g.Privilege)) }, notNull: true},
		{name: "job", kind: Text, value: func(g *grant) sqlite.Value { return text(g.Job) }},
		{name: "granted_by", kind: Text, value: func(g *grant) sqlite.Value { return text(g.By) }},
	}, timeColumns("since", func(g *grant) time.Time { return g.Since })...),
	paths: []accessPath[grant]{
		{key: "grantee", rows: 10, read: func(q *query, w readRequest) pages[grant] {
			return effectiveGrants(q, principalNamed(q, w.equal["grantee"].Text()))
		}},
		{rows: principalsEstimate, read: func(q *query, _ readRequest) pages[grant] { return effectiveGrants(q, principalsByName(q)) }},
	},
}

// effectiveGrants lists the grants that have an effect.
func effectiveGrants(q *query, of pages[*rota.Principal]) pages[grant] {
	return flattened(of, func(p *rota.Principal) (rows []grant) {
		for _, g := range p.Spec.Grants {
			if g.Job == "" || q.hasEffect(g) {
				rows = append(rows, grant{g, p.Name})
			}
		}
		return rows
	})
}

// hasEffect reports whether a grant on one job is not older than the template or schedule of that name.
func (q *query) hasEffect(g rota.Grant) bool {
	if t := q.templates.get(q, g.Job); t != noTemplate && t.Owner != "" && !t.Since.After(g.Since) {
		return true
	}
	s := q.schedule(g.Job)
	return s != nil && !s.Since.After(g.Since)
}

// schedule reads one schedule, nil if there is none. An error ends the query.
func (q *query) schedule(name string) *rota.Schedule {
	view, err := q.store()
	if err != nil {
		_ = q.fail(err)
		return nil
	}
	q.reads++
	s, err := view.Schedule(q.ctx, name)
	if err != nil && rota.CodeOf(err) != rota.NotFound && rota.CodeOf(err) != rota.Invalid {
		_ = q.fail(err)
	}
	return s
}
