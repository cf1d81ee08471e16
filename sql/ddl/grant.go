package ddl

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// Privileges are the rights that can be granted.
var Privileges = []string{"CREATE JOB", "ALTER JOB", "DROP JOB", "EXECUTE JOB", "VIEW JOB HISTORY", "EXECUTE EXTERNAL JOB", "ADMIN"}

// grant reads GRANT and REVOKE, which differ in a word.
func (p *parser) grant() Statement {
	s, side := &Security{Kind: Grant}, "TO"
	if p.advance().is("REVOKE") {
		s.Kind, side = Revoke, "FROM"
	}
	p.grantedRights(s)
	if p.tok.is("ON") && s.Role != "" {
		p.failAt(p.tok, "", "a role cannot be granted on a job", "list privileges instead, or leave out ON JOB")
	}
	expected := []string{"ON", side}
	if p.accept("ON") {
		p.expect("JOB")
		p.mark(PlaceOnJob)
		s.Job = p.name(jobName)
		expected = expected[1:]
	}
	p.choose("", expected...)
	s.To = p.names("the name of a user or role", GranteePlace, p.comma)
	return s
}

// grantedRights reads what is granted. A single word that begins no privilege is a role.
func (p *parser) grantedRights(s *Security) {
	switch {
	case p.tok.Kind == lexer.Name || p.tok.Kind == lexer.Word && !p.beginsPrivilege():
		p.mark(PlaceRole)
		s.Role = p.role()
		return
	case p.accept("ALL"):
		p.accept("PRIVILEGES")
		s.All = true
		return
	}
	s.Privileges = p.distinct(func() string {
		at := p.tok
		privilege := p.privilege()
		p.markAt(PrivilegePlace(privilege), at)
		return privilege
	}, func(privilege string) string { return privilege }, p.comma)
}

var privilegeWords = []string{"CREATE", "ALTER", "DROP", "EXECUTE", "VIEW", "ADMIN", "ALL"}

func (p *parser) beginsPrivilege() bool { return slices.Contains(privilegeWords, p.tok.upper) }

// role reads the name of a role. A word that more words
// follow is a misspelled privilege.
func (p *parser) role() string {
	if next := p.peek(); p.tok.Kind == lexer.Word && (next.is("JOB") || next.is("EXTERNAL") || next.IsSymbol(",")) {
		p.unexpected("a privilege ("+strings.Join(Privileges, ", ")+")", privilegeWords...)
		return ""
	}
	return p.name(roleName)
}

func (p *parser) privilege() string {
	const what = "a privilege"
	switch {
	case p.accept("ADMIN"):
		return "ADMIN"
	case p.accept("VIEW"):
		p.expect("JOB", "HISTORY")
		return "VIEW JOB HISTORY"
	case p.accept("EXECUTE"):
		if p.accept("EXTERNAL") {
			p.expect("JOB")
			return "EXECUTE EXTERNAL JOB"
		}
		p.choose("", "JOB", "EXTERNAL")
		return "EXECUTE JOB"
	case p.tok.is("CREATE") || p.tok.is("ALTER") || p.tok.is("DROP"):
		word := p.advance().upper
		p.expect("JOB")
		return word + " JOB"
	}
	p.unexpected(what+" ("+strings.Join(Privileges, ", ")+")", privilegeWords...)
	return ""
}

func (s *Security) printGrant() string {
	rights, side := strings.Join(s.Privileges, ", "), " TO "
	switch {
	case s.All:
		rights = "ALL PRIVILEGES"
	case s.Role != "":
		rights = printName(s.Role)
	}
	if s.Kind == Revoke {
		side = " FROM "
	}
	return s.Tag() + " " + rights + given(s.Job != "", " ON JOB "+printName(s.Job)) + side + join(s.To, ", ", printName)
}
