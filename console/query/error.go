package query

import (
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/internal/suggest"
)

// Error is why a text could not be read.
type Error struct {
	State   string // an SQLSTATE
	Message string
	Hint    string
	Offset  int // where it went wrong, in bytes of the text
}

func (e *Error) Error() string { return e.Message }

// The states of errors that this package gives.
const (
	stateSyntax      = "42601"
	stateUnsupported = "0A000"
	stateTooMuch     = "54000"
	stateParam       = "42P02"
	stateEncoding    = "22021"
)

// fail ends the reading. Parse, and nobody else, recovers from it: a parser whose
// every step returned an error would be twice as long and say half as much.
func fail(state string, at int, message, hint string) {
	panic(&Error{State: state, Message: message, Hint: hint, Offset: at})
}

// unsupported is for what PostgreSQL reads and we do not.
func (p *parser) unsupported(at int, what, hint string) {
	fail(stateUnsupported, at, what+" is not supported", hint)
}

// expected says what should stand where something else does. The words are those
// that the one found may be a misspelling of.
func (p *parser) expected(what string, words ...string) {
	t := p.now()
	message := "expected " + what + ", found " + p.found(t)
	if word := p.meant(t, words); word != "" {
		fail(stateSyntax, t.at, message+"; did you mean "+word+"?", "")
	}
	if alias := p.last; alias.at == p.alias && p.alias >= 0 {
		if word := p.meant(alias, clauses); word != "" {
			message += "; did you mean " + word + " instead of " + p.found(alias) + "?"
		}
	}
	fail(stateSyntax, t.at, message, p.reservedHint(t, what))
}

// clauses are the words that go on with a query.
var clauses = []string{
	"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH",
	"UNION", "INTERSECT", "EXCEPT", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "FULL",
	"NATURAL", "USING", "AND", "OR", "BETWEEN", "LIKE", "ILIKE", "COLLATE", "VALUES",
}

// found is a token as a person is told of it.
func (p *parser) found(t token) string {
	if t.kind == anEnd {
		return "the end of the query"
	}
	raw := p.scan.text[t.at:t.end]
	if len(raw) <= foundMost {
		return raw
	}
	cut := foundMost
	for !utf8.RuneStart(raw[cut]) {
		cut--
	}
	return raw[:cut] + "…"
}

// foundMost is how much of a token is shown, in bytes.
const foundMost = 40

// meant is the word that a token is probably a misspelling of, or empty.
func (p *parser) meant(t token, words []string) string {
	if t.kind != aWord || len(t.text) < 3 || len(t.text) > 16 {
		return ""
	}
	written := strings.ToUpper(t.text)
	if word := suggest.Nearest(written, words); word != written {
		return word
	}
	return ""
}

// reservedHint says why a word that looks like a name is not taken for one.
func (p *parser) reservedHint(t token, what string) string {
	value := what == "a value" || what == "a table"
	switch {
	case t.kind != aWord || reserved[t.text] == 0:
		return ""
	case t.word("union", "intersect", "except") && what == "the end of the query":
		return "put a part that has its own ORDER BY or LIMIT in parentheses"
	case t.word("select", "values", "with"):
		if value || what == "(" {
			return "put a subquery in parentheses"
		}
	case structure[t.text]:
		if value && p.last.sign(",") {
			return "remove the comma before it"
		}
	case value || strings.HasPrefix(what, "a name") || strings.HasPrefix(what, "the name") || what == "an alias":
		return p.found(t) + " is a reserved word; put it in double quotes to use it as a name"
	}
	return ""
}

// structure are the words that nobody means as a name.
var structure = set(`from where group having window order limit offset fetch union intersect
	except on using and or not in as when then else end is like ilike between`)
