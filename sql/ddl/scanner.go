package ddl

import (
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// token is a part of a statement.
type token struct {
	lexer.Token
	upper string // of a word, if it may be a keyword
	err   *Error // a lexical error; reported, with its position, only where no UUID is allowed
}

// is reports whether the token is this keyword.
func (t token) is(keyword string) bool { return t.Kind == lexer.Word && t.upper == keyword }

// ends reports whether nothing follows that belongs to the statement.
func (t token) ends() bool { return t.Kind == lexer.End || t.IsSymbol(";") }

// found names the token for an error. What strings hold is not repeated: it may
// be a password.
func (t token) found() string {
	switch {
	case t.ends():
		return "the end of the statement"
	case t.IsSymbol(","):
		return "a comma"
	case t.Kind == lexer.String:
		return "a string"
	case t.Kind == lexer.Name:
		return excerpt(quoteName(t.Text))
	default:
		return excerpt(t.Text)
	}
}

// scanner cuts a statement into tokens, one when it is asked for.
type scanner struct {
	lexer.Scanner
	last  int // where the last token ended: the end of the statement is there
	steps int // bytes read; tests check that it stays linear in the length of the text
}

// next reads the token at the scanner's place.
func (s *scanner) next() token {
	from := s.At
	t := token{Token: s.Next()}
	s.steps += s.At - from
	switch t.Kind {
	case lexer.End:
		t.Start, t.Stop = s.last, s.last
	case lexer.Word:
		t.upper = upperWord(t.Text)
	case lexer.EscapeString:
		t.Text = ""
		t.err = &Error{Reason: "escape strings (E'…') are not supported", Hint: "leave out the E and write the characters themselves, '' for a quote", State: syntaxError}
	case lexer.WordAfterNumber:
		number := t.Text
		t.Text = s.Text[t.Start:t.Stop]
		t.err = &Error{
			Reason: excerpt(t.Text) + " is neither a number nor a name",
			Hint:   "put a space after " + excerpt(number) + `, or put a name in "double quotes"`,
			State:  syntaxError,
		}
	default:
		if t.err = unclosed(t.Token); t.err != nil {
			t.Text = ""
		}
	}
	s.last = t.Stop
	return t
}

// unclosed is the error of a quoted text or a comment without an end, or nil.
func unclosed(t lexer.Token) *Error {
	what, hint := "string", ""
	switch t.Kind {
	case lexer.UnclosedString:
		hint = "end it with '; write '' for a quote inside"
	case lexer.UnclosedName:
		what, hint = "name", `end it with "; write "" for a quote inside`
	case lexer.UnclosedDollars:
		hint = "end it with " + excerpt(t.Text)
	case lexer.UnclosedComment:
		what, hint = "comment", "end it with */; each nested comment needs its own */"
	default:
		return nil
	}
	return &Error{Reason: "the " + what + " that begins here is not closed", Hint: hint, State: syntaxError}
}

// keywordMax is longer than any keyword; longer words are not compared with keywords.
const keywordMax = 32

// upperWord is a word as keywords are written, or empty if it cannot be one.
// Letters beyond ASCII are left alone: some of them become ASCII in upper case.
func upperWord(word string) string {
	if len(word) > keywordMax {
		return ""
	}
	for i := range len(word) {
		if word[i] >= 0x80 {
			return ""
		}
	}
	return strings.ToUpper(word)
}
