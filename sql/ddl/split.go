package ddl

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// byteOrderMark is what some editors begin a file with. It is passed over.
const byteOrderMark = "\uFEFF"

// Source is one statement of several.
type Source struct {
	Text   string // from its first word to its last character, without the semicolon
	Offset int    // of the text in the whole, in bytes
	Ended  bool   // by a semicolon; the last one may lack it
}

// Split cuts a text at each semicolon outside of quotes, comments
// and parentheses, and drops empty statements. It does not parse the statements.
// The error is an *Error whose position is in the whole text.
func Split(text string) ([]Source, error) {
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	var sources []Source
	s := lexer.Scanner{Text: text}
	for s.At < len(text) {
		source, err := nextSource(&s)
		if err != nil {
			return nil, err
		}
		if source.Text == "" {
			continue
		}
		if len(sources) == StatementsMax {
			return nil, newError(text, source.Offset, Error{
				Reason: fmt.Sprintf("the text has more than %d statements", StatementsMax), Hint: "send them in several parts", State: limitExceeded,
			})
		}
		sources = append(sources, source)
	}
	return sources, nil
}

// nextSource reads the next statement and its semicolon. The text is empty if there is no statement.
func nextSource(s *lexer.Scanner) (Source, *Error) {
	start, stop, depth := -1, -1, 0
	for {
		t := s.Next()
		if err := unclosed(t); err != nil {
			return Source{}, newError(s.Text, t.Start, *err)
		}
		switch {
		case t.Kind == lexer.End || t.IsSymbol(";") && depth == 0:
			return Source{Text: s.Text[max(start, 0):max(stop, 0)], Offset: start, Ended: t.Kind != lexer.End}, nil
		case start < 0 && strings.HasPrefix(s.Text[t.Start:], byteOrderMark): // the text may be several concatenated files
			s.At = t.Start + len(byteOrderMark)
			continue
		case t.IsSymbol("("):
			depth++
		case t.IsSymbol(")") && depth > 0:
			depth--
		}
		if start < 0 {
			start = t.Start
		}
		stop = t.Stop
	}
}

// checkCharacters rejects NUL characters and invalid UTF-8.
func checkCharacters(text string) *Error {
	switch at := lexer.BadCharacter(text); {
	case at < 0:
		return nil
	case text[at] == 0:
		return newError(text, at, Error{Reason: "the text has a NUL character here", Hint: "remove it", State: badCharacter})
	default:
		return newError(text, at, Error{Reason: "the text is not valid UTF-8 here", Hint: "send it in UTF-8", State: badCharacter})
	}
}
