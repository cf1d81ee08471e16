package ddl

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/lexer"
)

// SetsUnknown reports whether a text has an ALTER JOB that sets something unknown to a quoted text, or a SET without ALTER JOB that does so
// and is no setting. The word may be a misspelled SECRET, so errors and histories must not repeat the text. Statements before it may be malformed.
func SetsUnknown(text string) bool {
	s := scanner{Scanner: lexer.Scanner{Text: text}}
	begins, alters, sets, unknown := true, false, false, false
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
		case begins && t.is("SET"):
			unknown = setsNoSetting(s)
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
		was, begins = t, t.IsSymbol(";")
	}
}

// setsNoSetting reports whether what follows SET at the beginning of a statement is no setting, or may be a misspelled SECRET.
func setsNoSetting(s scanner) bool {
	t, next := s.next(), s.next()
	if (t.is("SESSION") || t.is("LOCAL")) && !next.IsSymbol("=") {
		t, next = next, s.next()
	}
	switch {
	case slices.ContainsFunc([]string{"TIME", "NAMES", "TRANSACTION", "CHARACTERISTICS", "AUTHORIZATION", "ROLE"}, t.is), next.IsSymbol("."):
		return false
	case next.IsSymbol("="), next.is("TO"):
		return resemblesSecret(t)
	}
	return true
}

// resemblesSecret reports whether a token is SECRET, or a word that is spelled almost so.
func resemblesSecret(t token) bool {
	return (t.Kind == lexer.Word || t.Kind == lexer.Name) && suggest.Nearest(strings.ToUpper(t.Text), []string{"SECRET"}) != ""
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
