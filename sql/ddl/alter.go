package ddl

import (
	"fmt"

	"github.com/rotajobs/rota/sql/lexer"
)

// secretKeyMax is the size in bytes of the key column of sys.job_secrets.
const secretKeyMax = 128

// alterJob parses the changes. SET is written once or before each change; commas between changes are optional.
func (p *parser) alterJob() Statement {
	s := &AlterJob{IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.job()}
	if p.tok.is("OWNER") {
		return p.alterOwner(s)
	}
	p.altering = true
	given, keys := clausePositions{}, map[string]bool{}
	p.change(s, given, keys, false)
	for !p.atEnd() {
		comma := p.comma()
		p.change(s, given, keys, comma)
	}
	p.checkCombinations(&s.Set, given)
	return s
}

// alterOwner reads OWNER TO, which stands alone: it needs other rights than the changes.
func (p *parser) alterOwner(s *AlterJob) Statement {
	p.expect("OWNER", "TO")
	p.mark(PlaceOwner)
	return &AlterOwner{Name: s.Name, IfExists: s.IfExists, Owner: p.user()}
}

// user reads the name of a user, or CURRENT_USER, which is the empty string.
func (p *parser) user() string {
	for _, word := range []string{"CURRENT_USER", "SESSION_USER", "CURRENT_ROLE"} {
		if p.accept(word) {
			return ""
		}
	}
	return p.name(userName)
}

// change reads one thing to set or to drop. Behind a comma SET may be left out.
func (p *parser) change(s *AlterJob, given clausePositions, keys map[string]bool, comma bool) {
	switch {
	case p.accept("DROP"):
		p.expect("SECRET")
		p.secretChange(s, keys, true)
		return
	case p.accept("SET"), comma && !p.atEnd():
	case comma:
		p.unexpected("SET or DROP SECRET")
		return
	case len(given)+len(keys) == 0:
		p.unexpected("SET, DROP SECRET or OWNER TO", "SET", "DROP", "OWNER")
		return
	default:
		p.unexpected("SET or DROP SECRET", "SET", "DROP")
		return
	}
	if p.accept("SECRET") {
		p.secretChange(s, keys, false)
		return
	}
	p.clause(&s.Set, given, inAlterJob)
}

func (p *parser) secretChange(s *AlterJob, keys map[string]bool, drop bool) {
	at := p.tok
	c := SecretChange{Key: p.nonEmptyString("the key of the secret"), Drop: drop}
	switch {
	case p.err != nil:
		return
	case len(c.Key) > secretKeyMax:
		p.failAt(at, nameTooLong, fmt.Sprintf("the key of the secret has %d bytes; at most %d are allowed", len(c.Key), secretKeyMax), "shorten it")
	case keys[c.Key]:
		p.failAt(at, badValue, "the secret "+excerpt(quoteString(c.Key))+" is changed twice", "remove one of them")
	}
	if !drop {
		p.hides = true
		p.expectSymbol("=")
		c.Value = p.secretLiteral("the value of the secret")
	}
	keys[c.Key] = true
	s.Secrets = append(s.Secrets, c)
	p.checkLength(len(s.Secrets) - 1)
}

// nameListContinues reports whether another name follows the comma that is the next token. The alternative is the
// next clause to set, which has a value after its first word.
func (p *parser) nameListContinues() bool {
	if kind := p.peek().Kind; kind != lexer.Word && kind != lexer.Name {
		return true // an error, which reading a name finds
	}
	behind := p.peekTwoAhead()
	return behind.ends() || behind.IsSymbol(",") || behind.is("SET") || behind.is("DROP")
}

// peekTwoAhead returns the token after peek. The scanner goes back and reads it again later.
func (p *parser) peekTwoAhead() token {
	p.peek()
	at, last := p.At, p.last
	t := p.next()
	p.At, p.last = at, last
	return t
}
