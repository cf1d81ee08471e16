package ddl

import (
	"slices"

	"github.com/rotajobs/rota/sql/lexer"
)

// SetsUnknown reports whether a text has an ALTER JOB that sets something unknown to a quoted text. The word may be a misspelled SECRET,
// so errors and histories must not repeat the text. Statements before it may be malformed.
func SetsUnknown(text string) bool {
	s := scanner{Scanner: lexer.Scanner{Text: text}}
	alters, sets, unknown := false, false, false
	var was token
	for {
		t := s.next()
		quotes := isQuoted(t)
		switch {
		case unknown && quotes:
			return true
		case t.Kind == lexer.End || t.err != nil && t.Kind != lexer.WordAfterNumber && !quotes:
			return false
		case t.IsSymbol(";"):
			alters, sets, unknown = false, false, false
		case was.is("ALTER") && t.is("JOB"):
			alters = true
		case !alters:
		case was.is("SET") && !beginsClause(t):
			sets, unknown = true, true
		case was.is("SET"):
			sets = true
		case sets && was.IsSymbol(",") && !beginsClause(t):
			unknown = opensString(&s)
		case quotes && t.err != nil:
			return false // the scanner has read all
		}
		was = t
	}
}

// isQuoted reports whether a token is a text in any quotes, with an end or without.
func isQuoted(t token) bool {
	switch t.Kind {
	case lexer.String, lexer.EscapeString, lexer.Name, lexer.UnclosedString, lexer.UnclosedName, lexer.UnclosedDollars:
		return true
	}
	return false
}

// beginsClause reports whether a token may begin a clause of ALTER JOB.
func beginsClause(t token) bool {
	return t.Kind == lexer.Word && (t.is("SECRET") || t.is("DROP") || t.is("SET") || slices.Contains(states, t.upper) ||
		slices.ContainsFunc(clauses, func(c clause) bool { return t.is(c.words[0]) }))
}

// opensString reports whether a quoted text comes next, behind = or at once. Behind a comma, an unknown word may also be the next one of
// a list.
func opensString(s *scanner) bool {
	ahead := *s
	t := ahead.next()
	if t.IsSymbol("=") {
		t = ahead.next()
	}
	return isQuoted(t)
}
