package query

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/lexer"
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
		fail(stateSyntax, t.Start, message+"; did you mean "+word+"?", "")
	}
	if alias := p.previous; alias.Start == p.alias && p.alias >= 0 {
		if word := p.suggestWord(alias, clauseWords); word != "" {
			message += "; did you mean " + word + " instead of " + p.tokenText(alias) + "?"
		}
	}
	fail(stateSyntax, t.Start, message, p.reservedHint(t, what))
}

// clauseWords are keywords that can continue a query.
var clauseWords = []string{
	"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH",
	"UNION", "INTERSECT", "EXCEPT", "JOIN", "LEFT", "RIGHT", "INNER", "CROSS", "FULL",
	"NATURAL", "USING", "AND", "OR", "BETWEEN", "LIKE", "ILIKE", "COLLATE", "VALUES",
}

// tokenText returns a token as error messages show it.
func (p *parser) tokenText(t token) string {
	if t.Kind == lexer.End {
		return "the end of the query"
	}
	return shorten(p.scan.Text[t.Start:t.Stop])
}

// foundMax is how much of a token is shown, in bytes.
const foundMax = 40

// suggestWord returns the word that a token probably misspells, or an empty string.
func (p *parser) suggestWord(t token, words []string) string {
	if t.Kind != lexer.Word || len(t.Text) < 3 || len(t.Text) > 16 {
		return ""
	}
	written := strings.ToUpper(t.Text)
	if word := suggest.Nearest(written, words); word != written {
		return word
	}
	return ""
}

// reservedHint returns the hint for a reserved word that is used as a name, or an empty string.
func (p *parser) reservedHint(t token, what string) string {
	value := what == "a value" || what == "a table"
	switch {
	case t.Kind != lexer.Word || reserved[t.Text] == 0:
		return ""
	case t.word("union", "intersect", "except") && what == "the end of the query":
		return "put a part that has its own ORDER BY or LIMIT in parentheses"
	case t.word("select", "values", "with"):
		if value || what == "(" {
			return "put a subquery in parentheses"
		}
	case structureWords[t.Text]:
		if value && p.previous.IsSymbol(",") {
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
