package ddl

// SecurityKind is the kind of a statement about users, roles and privileges.
type SecurityKind int

// The kinds.
const (
	CreateUser SecurityKind = iota
	AlterUser
	DropUser
	CreateRole
	AlterRole
	DropRole
	Grant
	Revoke
)

// Security is a statement about users, roles and rights.
type Security struct {
	Kind     SecurityKind
	Name     string  // of the user or role; not with GRANT and REVOKE
	Password *string // of CREATE USER and ALTER USER, if said; never printed
	Rename   string  // of ALTER: its new name, if said
	IfExists bool    // of DROP

	// Of GRANT and REVOKE: either privileges, All or a role.
	Privileges []string // such as CREATE JOB: see Privileges
	All        bool
	Role       string
	Job        string   // the one job that the privileges are for; empty: every job
	To         []string // the users and roles that get or lose them
}

var securityTags = [...]string{
	CreateUser: "CREATE USER", AlterUser: "ALTER USER", DropUser: "DROP USER",
	CreateRole: "CREATE ROLE", AlterRole: "ALTER ROLE", DropRole: "DROP ROLE",
	Grant: "GRANT", Revoke: "REVOKE",
}

// Tag names the statement: CREATE USER, GRANT.
func (s *Security) Tag() string { return securityTags[s.Kind] }

func (p *parser) createUser() Statement {
	s := &Security{Kind: CreateUser, Name: p.name(userName)}
	if !p.atEnd() {
		s.Password = p.password()
	}
	return s
}

func (p *parser) alterUser() Statement {
	s := &Security{Kind: AlterUser, Name: p.name(userName)}
	if p.accept("RENAME") {
		p.expect("TO")
		s.Rename = p.name(userName)
	} else {
		s.Password = p.password()
	}
	return s
}

func (p *parser) alterRole() Statement {
	s := &Security{Kind: AlterRole, Name: p.name(roleName)}
	p.expect("RENAME")
	p.expect("TO")
	s.Rename = p.name(roleName)
	return s
}

func (p *parser) password() *string {
	p.accept("WITH")
	p.expect("PASSWORD")
	at := p.tok
	password := p.secretLiteral("the password")
	if p.err == nil && password == "" {
		p.failAt(at, badValue, "the password is empty", "write it between the quotes")
	}
	return &password
}

// masked replaces passwords and secrets in print.
const masked = "'***'"

func (s *Security) print() string {
	if s.Kind == Grant || s.Kind == Revoke {
		return s.printGrant()
	}
	return s.Tag() + " " + given(s.IfExists, "IF EXISTS ") + printName(s.Name) +
		given(s.Password != nil, " PASSWORD "+masked) + given(s.Rename != "", " RENAME TO "+printName(s.Rename))
}
