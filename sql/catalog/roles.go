package catalog

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
)

// Role is a user or a role, as PostgreSQL's catalogue shows it.
type Role struct {
	Name  string
	Super bool
	Login bool
	In    []Membership // the roles it is a member of

	oid int64
}

// Membership is one role that another one is a member of.
type Membership struct{ Role, Grantor string }

// Roles are all users and roles, with numbers.
type Roles struct {
	list   []*Role // by OID
	byName map[string]*Role
	byOID  map[int64]*Role
}

// NewRoles numbers the users and roles besides the owner of the catalogue. A number depends on the name, so that it stays
// the same while others come and go.
func (c *Catalog) NewRoles(others []Role) *Roles {
	all := &Roles{byName: map[string]*Role{}, byOID: map[int64]*Role{}}
	all.add(Role{Name: c.subject.Owner, Super: true, Login: true, oid: ownerRole})
	for _, one := range slices.SortedFunc(slices.Values(others), func(a, b Role) int { return strings.Compare(a.Name, b.Name) }) {
		if all.byName[one.Name] != nil {
			continue
		}
		for one.oid = roleOID(one.Name); all.byOID[one.oid] != nil; {
			one.oid++
		}
		all.add(one)
	}
	slices.SortFunc(all.list, func(a, b *Role) int { return cmp.Compare(a.oid, b.oid) })
	return all
}

func (r *Roles) add(one Role) {
	r.list = append(r.list, &one)
	r.byName[one.Name], r.byOID[one.oid] = &one, &one
}

// The OIDs of roles are above those that PostgreSQL assigns itself, and positive for clients that read
// them as a signed number.
const (
	roleOIDMin   = 1 << 24
	roleOIDCount = 1<<31 - 1<<25
)

func roleOID(name string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return roleOIDMin + int64(h.Sum32())%roleOIDCount
}

// isMember reports whether a role is another one, or a member of it, directly or through others.
func (r *Roles) isMember(one, of *Role) bool {
	seen := map[string]bool{}
	var find func(*Role) bool
	find = func(at *Role) bool {
		if at == nil || seen[at.Name] {
			return false
		}
		seen[at.Name] = true
		return at == of || slices.ContainsFunc(at.In, func(m Membership) bool { return find(r.byName[m.Role]) })
	}
	return find(one)
}

// roleRelations are the relations whose rows are those of RoleRows.
var roleRelations = []string{"pg_authid", "pg_roles", "pg_user", "pg_auth_members"}

// RoleRows returns the rows of a relation about roles.
func (c *Catalog) RoleRows(relation string, of *Roles) [][]any {
	b := newBuilder(c, roleRelations...)
	b.addRoles(of)
	return b.tableByName[relation].rows
}

// roles fills the relations about roles as they are without a store.
func (b *builder) roles() { b.addRoles(b.NewRoles(nil)) }

// maskedPassword replaces passwords.
const maskedPassword = "********"

func (b *builder) addRoles(all *Roles) {
	for _, r := range all.list {
		flags := []any{
			"rolname", r.Name, "rolsuper", r.Super, "rolinherit", true, "rolcreaterole", r.Super, "rolcreatedb", false,
			"rolcanlogin", r.Login, "rolreplication", false, "rolbypassrls", r.Super, "rolconnlimit", -1,
		}
		b.add("pg_authid", append(flags, "oid", r.oid)...)
		b.add("pg_roles", append(flags, "oid", r.oid, "rolpassword", maskedPassword)...)
		if r.Login {
			b.add("pg_user", "usename", r.Name, "usesysid", r.oid, "usecreatedb", false, "usesuper", r.Super, "userepl", false,
				"usebypassrls", r.Super, "passwd", maskedPassword)
		}
		for _, m := range r.In {
			if role := all.byName[m.Role]; role != nil {
				b.add("pg_auth_members", "roleid", role.oid, "member", r.oid, "grantor", all.grantor(m), "admin_option", false)
			}
		}
	}
}

// grantor returns the OID of the user that granted a membership; the owner stands for one that was dropped.
func (r *Roles) grantor(m Membership) int64 {
	if by := r.byName[m.Grantor]; by != nil {
		return by.oid
	}
	return ownerRole
}

// roles returns the users and roles that the session sees.
func (e *Env) roles(c *Catalog) (*Roles, error) {
	if e.Roles == nil {
		return c.NewRoles(nil), nil
	}
	return e.Roles()
}

// role returns the role of a name or OID, nil for PUBLIC.
func (c *Catalog) role(env *Env, of any) (*Role, error) {
	all, err := env.roles(c)
	if err != nil {
		return nil, err
	}
	if n, is := oid(of); is {
		if found := all.byOID[n]; found != nil || n == 0 {
			return found, nil
		}
		return nil, fail(stateNoObject, "role with OID %d does not exist", n)
	}
	name := textOf(of)
	found := all.byName[name]
	switch {
	case found != nil || name == "public":
		return found, nil
	case name == env.User: // a session may outlive its user, and a token has a name of its own
		return &Role{Name: name}, nil
	}
	return nil, fail(stateNoObject, `role "%s" does not exist`, name)
}

// hasRole implements pg_has_role. Its arguments are the user (default: the current one), the role and the privilege. A
// superuser is a member of every role.
func hasRole(env *Env, c *Catalog, args []any) (any, error) {
	last := len(args) - 1
	of, user := args[last-1], any(env.User)
	if last == 2 {
		user = args[0]
	}
	member, err := c.role(env, user)
	if err != nil {
		return nil, err
	}
	role, err := c.role(env, of)
	if err != nil {
		return nil, err
	}
	has := member != nil && role != nil
	if has && !member.Super {
		all, err := env.roles(c)
		if err != nil {
			return nil, err
		}
		has = member.Name == role.Name || all.isMember(member, role)
	}
	return roleGrants(textOf(args[last]), has, member != nil && member.Super)
}

// roleGrants answers for a list of privileges on a role. Nobody but a superuser may pass a role on.
func roleGrants(list string, member, super bool) (any, error) {
	granted := false
	for one := range strings.SplitSeq(list, ",") {
		word := strings.ToUpper(strings.TrimSpace(one))
		bare, grant := strings.CutSuffix(word, " WITH GRANT OPTION")
		bare, admin := strings.CutSuffix(bare, " WITH ADMIN OPTION")
		if bare != "MEMBER" && bare != "USAGE" {
			return nil, fail(stateBadValue, `unrecognized privilege type: "%s"`, strings.TrimSpace(one))
		}
		granted = granted || member && (!grant && !admin || super)
	}
	return boolInt(granted), nil
}

// userByID implements pg_get_userbyid.
func userByID(env *Env, c *Catalog, args []any) (any, error) {
	all, err := env.roles(c)
	if err != nil {
		return nil, err
	}
	if found := all.byOID[oidOr0(args[0])]; found != nil {
		return found.Name, nil
	}
	return unknownRole(oidOr0(args[0])), nil
}
