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
	Kind        SecurityKind
	Name        string // of the user or role; not with GRANT and REVOKE
	IfNotExists bool   // of CREATE
	IfExists    bool   // of ALTER and DROP

	// Of CREATE and ALTER: nil if not given, empty for NULL, which removes them.
	Password    *string // never printed
	Certificate *string // common name of a client certificate

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
	s := &Security{Kind: CreateUser, IfNotExists: p.ifNotExists(), Name: p.principal(userName)}
	if !p.atEnd() {
		p.credentials(s)
	}
	return s
}

func (p *parser) createRole() Statement {
	s := &Security{Kind: CreateRole, IfNotExists: p.ifNotExists(), Name: p.principal(roleName)}
	if p.tok.is("WITH") || p.tok.is("PASSWORD") || p.tok.is("CERTIFICATE") || p.tok.is("LOGIN") {
		p.failAt(p.tok, "", "a role cannot log in", "leave it out, or use CREATE USER")
	}
	return s
}

// alterPrincipal reads ALTER USER and ALTER ROLE. Clients send either to change a password.
func (p *parser) alterPrincipal(kind SecurityKind, what string) Statement {
	s := &Security{Kind: kind, IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.principal(what)}
	if p.tok.is("RENAME") {
		return p.unsupported(p.tok, s.Tag()+" … RENAME", "create another one, grant it the same, and drop this one")
	}
	p.credentials(s)
	return s
}

func (p *parser) dropPrincipal(kind SecurityKind, what string) Statement {
	return &Security{Kind: kind, IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.principal(what)}
}

// principal reads the name of the user or role that the statement is about.
func (p *parser) principal(what string) string {
	p.mark(PlaceName)
	return p.name(what)
}

// credentials reads one or more ways to log in, each at most once.
func (p *parser) credentials(s *Security) {
	p.accept("WITH")
	given := clausePositions{}
	for first := true; first || !p.atEnd(); first = false {
		switch {
		case p.tok.is("PASSWORD"):
			p.checkOnce(given, "PASSWORD")
			p.hides = true
			s.Password = p.credential(s.Kind, "the password", p.secretLiteral)
		case p.tok.is("CERTIFICATE"):
			p.checkOnce(given, "CERTIFICATE")
			s.Certificate = p.credential(s.Kind, "the common name of the certificate", p.stringLiteral)
		default:
			p.unexpectedCredential()
			return
		}
	}
}

// credential reads the value of PASSWORD or CERTIFICATE, which is the next token.
func (p *parser) credential(kind SecurityKind, what string, read func(string) string) *string {
	clause := p.advance().upper
	p.mark(clause)
	at := p.tok
	if p.tok.is("NULL") && kind != CreateUser {
		p.advance()
		return new("")
	}
	value := read(what)
	if p.err == nil && value == "" {
		hint := "write it between the quotes"
		if kind != CreateUser {
			hint += "; " + clause + " NULL removes it"
		}
		p.failAt(at, badValue, what+" is empty", hint)
	}
	return &value
}

// unexpectedCredential reports the next token, which is neither PASSWORD nor CERTIFICATE.
func (p *parser) unexpectedCredential() {
	if p.tok.is("SUPERUSER") {
		p.unsupported(p.tok, "SUPERUSER", "use GRANT ADMIN TO the user")
		return
	}
	p.unexpected("PASSWORD or CERTIFICATE", "PASSWORD", "CERTIFICATE")
}

// masked replaces passwords and secrets in print.
const masked = "'***'"

func (s *Security) print() string {
	if s.Kind == Grant || s.Kind == Revoke {
		return s.printGrant()
	}
	return s.Tag() + " " + given(s.IfExists, "IF EXISTS ") + given(s.IfNotExists, "IF NOT EXISTS ") + printName(s.Name) +
		printCredential(" PASSWORD ", s.Password, func(string) string { return masked }) +
		printCredential(" CERTIFICATE ", s.Certificate, quoteString)
}

func printCredential(clause string, value *string, print func(string) string) string {
	switch {
	case value == nil:
		return ""
	case *value == "":
		return clause + "NULL"
	}
	return clause + print(*value)
}
