package system

import (
	"fmt"
	"strings"
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/catalog"
	"zombiezen.com/go/sqlite"
)

// roleRelations are the tables of PostgreSQL about users and roles. Users come and go, so that their rows are read from
// the store at each query, unlike those of all other tables of PostgreSQL.
var roleRelations = sync.OnceValue(func() (list []catalogTable) {
	for _, r := range builtCatalog().Relations() {
		if r.OfRoles {
			list = append(list, roleRelation(r))
		}
	}
	return list
})

func roleRelation(r catalog.Relation) *table[[]any] {
	t := &table[[]any]{name: r.Name, key: func(row *[]any) string { return fmt.Sprint(*row...) }}
	for i, c := range r.Columns {
		t.columns = append(t.columns, column[[]any]{name: c.Name, kind: c.Kind, value: func(row *[]any) sqlite.Value { return storedValue((*row)[i]) }})
	}
	t.paths = []accessPath[[]any]{{rows: principalsEstimate, read: func(q *query, _ readRequest) pages[[]any] {
		return once(func() ([][]any, error) {
			all, err := q.catalogRoles()
			if err != nil {
				return nil, err
			}
			return builtCatalog().RoleRows(r.Name, all), nil
		})
	}}}
	return t
}

// storedValue converts a value of a relation of the catalogue.
func storedValue(v any) sqlite.Value {
	switch v := v.(type) {
	case int64:
		return integer(v)
	case float64:
		return sqlite.FloatValue(v)
	case string:
		return notNullText(v)
	case []byte:
		return sqlite.BlobValue(v)
	}
	return null
}

// catalogRoles returns all users and roles for PostgreSQL's tables and functions.
func (q *query) catalogRoles() (*catalog.Roles, error) {
	if q.roles != nil {
		return q.roles, nil
	}
	all := map[string]*rota.Principal{}
	for next := principalsByName(q); ; {
		list, err := next()
		if err != nil {
			return nil, q.fail(err)
		}
		if len(list) == 0 {
			break
		}
		q.reads++
		for _, p := range list {
			all[p.Name] = p
		}
	}
	known := func(name string) (*rota.Principal, error) { return all[name], nil }
	list := make([]catalog.Role, 0, len(all))
	for _, p := range all {
		super, _ := HasAdmin(p.Name, known)
		one := catalog.Role{Name: strings.Clone(p.Name), Super: super, Login: p.Kind == rota.KindUser}
		for _, m := range p.Spec.Roles {
			if m.HasEffect(all[m.Role]) {
				one.In = append(one.In, catalog.Membership{Role: m.Role, Grantor: m.By})
			}
		}
		list = append(list, one)
	}
	q.roles = builtCatalog().NewRoles(list)
	return q.roles, nil
}
