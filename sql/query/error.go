package query

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota/internal/suggest"
)

// Error states why a query was rejected or ended.
type Error struct {
	State   string // SQLSTATE
	Message string
	Hint    string
	Offset  int // position in the query, in bytes; -1: none
}

// Error is the message with its hint.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// WithHint adds the remedy to an error.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// The states of errors that this package gives.
const (
	stateSyntax      = "42601"
	stateUnsupported = "0A000"
	stateLimit       = "54000"
	stateParam       = "42P02"
	stateEncoding    = "22021"
)

// fail ends parsing with a panic that only Parse recovers. Returning an error from every step would double the length
// of the parser.
func fail(state string, at int, message, hint string) {
	panic(&Error{State: state, Message: message, Hint: hint, Offset: at})
}

// unsupported reports syntax that PostgreSQL has and this package does not.
func (p *parser) unsupported(at int, what, hint string) {
	fail(stateUnsupported, at, what+" is not supported", hint)
}

// expected reports what is allowed in place of the next token. The words are candidates for a misspelled token.
func (p *parser) expected(what string, words ...string) {
	t := p.peek()
	message := "expected " + what + ", found " + p.tokenText(t)
	if word := p.suggestWord(t, words); word != "" {
		fail(stateSyntax, t.at, message+"; did you mean "+word+"?", "")
	}
	if alias := p.previous; alias.at == p.alias && p.alias >= 0 {
		if word := p.suggestWord(alias, clauseWords); word != "" {
			message += "; did you mean " + word + " instead of " + p.tokenText(alias) + "?"
		}
	}
	fail(stateSyntax, t.at, message, p.reservedHint(t, what))
}

// clauseWords are keywords that can continue a query.
var clauseWords = []string{
	"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH",
	"UNION", "INTERSECT", "EXCEPT", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "FULL",
	"NATURAL", "USING", "AND", "OR", "BETWEEN", "LIKE", "ILIKE", "COLLATE", "VALUES",
}

// tokenText returns a token as error messages show it.
func (p *parser) tokenText(t token) string {
	if t.kind == endToken {
		return "the end of the query"
	}
	raw := p.scan.text[t.at:t.end]
	if len(raw) <= foundMax {
		return raw
	}
	cut := foundMax
	for !utf8.RuneStart(raw[cut]) {
		cut--
	}
	return raw[:cut] + "…"
}

// foundMax is how much of a token is shown, in bytes.
const foundMax = 40

// suggestWord returns the word that a token probably misspells, or an empty string.
func (p *parser) suggestWord(t token, words []string) string {
	if t.kind != wordToken || len(t.text) < 3 || len(t.text) > 16 {
		return ""
	}
	written := strings.ToUpper(t.text)
	if word := suggest.Nearest(written, words); word != written {
		return word
	}
	return ""
}

// reservedHint returns the hint for a reserved word that is used as a name, or an empty string.
func (p *parser) reservedHint(t token, what string) string {
	value := what == "a value" || what == "a table"
	switch {
	case t.kind != wordToken || reserved[t.text] == 0:
		return ""
	case t.word("union", "intersect", "except") && what == "the end of the query":
		return "put a part that has its own ORDER BY or LIMIT in parentheses"
	case t.word("select", "values", "with"):
		if value || what == "(" {
			return "put a subquery in parentheses"
		}
	case structureWords[t.text]:
		if value && p.previous.symbol(",") {
			return "remove the comma before it"
		}
	case value || strings.HasPrefix(what, "a name") || strings.HasPrefix(what, "the name") || what == "an alias":
		return p.tokenText(t) + " is a reserved word; put it in double quotes to use it as a name"
	}
	return ""
}

// structureWords are keywords that are never meant as a name.
var structureWords = set(`from where group having window order limit offset fetch union intersect
	except on using and or not in as when then else end is like ilike between`)
