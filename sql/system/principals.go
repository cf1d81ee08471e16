package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// principal is a user or a role, as a row of sys.users and sys.roles.
type principal struct {
	*rota.Principal
	q *query
}

// adminRow stands for the built-in user, which is in no store.
var adminRow = &rota.Principal{
	Name: rota.AdminUser, Kind: rota.KindUser, CreatedBy: rota.SystemActor,
	Spec: rota.PrincipalSpec{Grants: []rota.Grant{{Privilege: rota.Admin, By: rota.SystemActor}}},
}

var users = &table[principal]{
	name: "users", key: func(p *principal) string { return p.Name },
	columns: append([]column[principal]{
		{name: "name", kind: Text, value: func(p *principal) sqlite.Value { return notNullText(p.Name) }, notNull: true},
		{name: "has_password", kind: Boolean, value: func(p *principal) sqlite.Value { return boolean(p.Spec.Verifier != "") }, notNull: true},
		{name: "certificate", kind: Text, value: func(p *principal) sqlite.Value { return text(p.Spec.Certificate) }},
		{name: "is_admin", kind: Boolean, value: func(p *principal) sqlite.Value { return boolean(p.q.isAdmin(p.Name)) }, notNull: true},
		{name: "created_by", kind: Text, value: func(p *principal) sqlite.Value { return text(p.CreatedBy) }},
	}, principalTimes()...),
	paths: principalPaths(rota.KindUser),
}

var roles = &table[principal]{
	name: "roles", key: func(p *principal) string { return p.Name },
	columns: append([]column[principal]{
		{name: "name", kind: Text, value: func(p *principal) sqlite.Value { return notNullText(p.Name) }, notNull: true},
		{name: "is_admin", kind: Boolean, value: func(p *principal) sqlite.Value { return boolean(p.q.isAdmin(p.Name)) }, notNull: true},
		{name: "created_by", kind: Text, value: func(p *principal) sqlite.Value { return text(p.CreatedBy) }},
	}, principalTimes()...),
	paths: principalPaths(rota.KindRole),
}

func principalTimes() []column[principal] {
	return append(
		timeColumns("created_at", func(p *principal) time.Time { return p.CreatedAt }),
		timeColumns("updated_at", func(p *principal) time.Time { return p.UpdatedAt })...,
	)
}

// principalsEstimate is about how many users and roles a store has.
const principalsEstimate = 100

func principalPaths(kind rota.PrincipalKind) []accessPath[principal] {
	ofKind := func(q *query, list pages[*rota.Principal]) pages[principal] {
		return flattened(list, func(p *rota.Principal) []principal {
			if p.Kind != kind {
				return nil
			}
			return []principal{{p, q}}
		})
	}
	return []accessPath[principal]{
		{key: "name", rows: 1, read: func(q *query, w readRequest) pages[principal] {
			return ofKind(q, principalNamed(q, w.equal["name"].Text()))
		}},
		{rows: principalsEstimate, read: func(q *query, w readRequest) pages[principal] { return ofKind(q, principalsByName(q)) }},
	}
}

// principalNamed reads one user or role.
func principalNamed(q *query, name string) pages[*rota.Principal] {
	return once(func() ([]*rota.Principal, error) {
		p, err := q.principal(name)
		if p == nil || err != nil {
			return nil, err
		}
		return []*rota.Principal{p}, nil
	})
}

// principalsByName reads all users and roles, the built-in user first. It does not stop at a limit, because a row of a table
// may come after many principals without one.
func principalsByName(q *query) pages[*rota.Principal] {
	stored := paged(q, readRequest{}, func(v rota.View, limit int, last **rota.Principal) ([]*rota.Principal, error) {
		ask := rota.NameQuery{Limit: limit}
		if last != nil {
			ask.After = (*last).Name
		}
		return v.Principals(q.ctx, ask)
	}, asRead[*rota.Principal])
	return concat(once(func() ([]*rota.Principal, error) { return []*rota.Principal{adminRow}, nil }), stored)
}

// flattened returns the rows of each element. It reads pages until one has a row, because an empty page ends the scan.
func flattened[T, R any](of pages[T], rowsOf func(T) []R) pages[R] {
	return func() (rows []R, err error) {
		for len(rows) == 0 {
			list, err := of()
			if len(list) == 0 || err != nil {
				return nil, err
			}
			for _, one := range list {
				rows = append(rows, rowsOf(one)...)
			}
		}
		return rows, nil
	}
}

// noPrincipal stands for a name that nobody has.
var noPrincipal = &rota.Principal{}

// principal reads a user or role, nil if there is none.
func (q *query) principal(name string) (*rota.Principal, error) {
	if name == rota.AdminUser {
		return adminRow, nil
	}
	found := q.principals.get(name)
	if found == nil {
		view, err := q.store()
		if err != nil {
			return nil, err
		}
		q.reads++
		found, err = view.Principal(q.ctx, name)
		switch rota.CodeOf(err) {
		case "":
		case rota.NotFound, rota.Invalid:
			found = noPrincipal
		default:
			return nil, err
		}
		q.principals.put(name, found)
	}
	if found == noPrincipal {
		return nil, nil
	}
	return found, nil
}

// isAdmin reports whether a user or role has the privilege ADMIN. An error ends the query.
func (q *query) isAdmin(name string) bool {
	is, err := HasAdmin(name, q.principal)
	if err != nil {
		_ = q.fail(err)
	}
	return is
}

// HasAdmin reports whether a user or role has the privilege ADMIN, by itself or through its roles. Read returns nil for a
// name that nobody has.
func HasAdmin(name string, read func(name string) (*rota.Principal, error)) (bool, error) {
	seen := map[string]bool{name: true}
	start, err := read(name)
	if start == nil || err != nil {
		return name == rota.AdminUser, err
	}
	for next := []*rota.Principal{start}; len(next) > 0; next = next[1:] {
		p := next[0]
		for _, g := range p.Spec.Grants {
			if g.Privilege == rota.Admin {
				return true, nil
			}
		}
		for _, m := range p.Spec.Roles {
			if seen[m.Role] {
				continue
			}
			seen[m.Role] = true
			role, err := read(m.Role)
			if err != nil {
				return false, err
			}
			if m.HasEffect(role) {
				next = append(next, role)
			}
		}
	}
	return false, nil
}
