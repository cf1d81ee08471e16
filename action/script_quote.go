package action

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a token, as far as split needs it.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenSemicolon
	tokenOther // a quoted text, a number, a sign
)

type token struct {
	kind  tokenKind
	start int
}

// scanner reads the tokens of a script to find the ends of its statements. It never
// fails: an unclosed quote or comment extends to the end, and the server reports it.
type scanner struct {
	kind                dialect
	text                string
	at                  int
	depth               int  // of parentheses
	inExecutableComment bool // inside an executable comment of MariaDB
}

func (s *scanner) next() token {
	s.skip()
	t := token{tokenOther, s.at}
	if s.at >= len(s.text) {
		t.kind = tokenEnd
		return t
	}
	switch c := s.text[s.at]; {
	case c == ';':
		t.kind = tokenSemicolon
		s.at++
	case isWordStart(c):
		s.word()
		if s.escapes(t.start) {
			s.quoted('\'', true)
			break
		}
		t.kind = tokenWord
	case c == '\'':
		s.quoted(c, s.kind == dialectMaria)
	case c == '"':
		s.quoted(c, s.kind == dialectMaria)
	case c == '`' && s.kind != dialectPostgres:
		s.quoted(c, false)
	case c == '[' && s.kind == dialectSQLite:
		s.until("]")
	case c == '$' && s.kind == dialectPostgres:
		s.dollar()
	case c >= '0' && c <= '9':
		s.word() // 0x1F, 1e5: not a keyword
	default:
		s.symbol(c)
	}
	return t
}

func (s *scanner) symbol(c byte) {
	switch c {
	case '(':
		s.depth++
	case ')':
		s.depth = max(0, s.depth-1)
	}
	_, size := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += size
}

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func (s *scanner) word() {
	for s.at < len(s.text) {
		c := s.text[s.at]
		if !isWordStart(c) && !(c >= '0' && c <= '9') && c != '$' {
			return
		}
		s.at++
	}
}

// escapes reports whether a word is the E of a PostgreSQL string with backslash
// escapes.
func (s *scanner) escapes(start int) bool {
	return s.kind == dialectPostgres && s.at-start == 1 && s.text[start]|0x20 == 'e' && s.at < len(s.text) && s.text[s.at] == '\''
}

// quoted reads to the closing quote. A doubled quote is part of the text.
func (s *scanner) quoted(quote byte, backslash bool) {
	for s.at++; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; {
		case c == '\\' && backslash:
			s.at++
		case c == quote && s.at+1 < len(s.text) && s.text[s.at+1] == quote:
			s.at++
		case c == quote:
			s.at++
			return
		}
	}
	s.at = len(s.text)
}

// until reads to the end of the next mark.
func (s *scanner) until(mark string) {
	if i := strings.Index(s.text[s.at:], mark); i >= 0 {
		s.at += i + len(mark)
		return
	}
	s.at = len(s.text)
}

// dollar reads a dollar-quoted text, $body$ … $body$, or the $ of a parameter.
func (s *scanner) dollar() {
	rest := s.text[s.at+1:]
	n := strings.IndexByte(rest, '$')
	if n < 0 || !isTag(rest[:n]) {
		s.at++
		return
	}
	tag := s.text[s.at : s.at+n+2]
	s.at += len(tag)
	s.until(tag)
}

func isTag(text string) bool {
	for i := range len(text) {
		if c := text[i]; !isWordStart(c) && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// skip skips spaces and comments.
func (s *scanner) skip() {
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			s.at++
		case strings.HasPrefix(rest, "--") && (s.kind != dialectMaria || len(rest) == 2 || rest[2] <= ' '):
			s.until("\n")
		case rest[0] == '#' && s.kind == dialectMaria:
			s.until("\n")
		case strings.HasPrefix(rest, "/*"):
			s.comment(rest)
		case s.inExecutableComment && strings.HasPrefix(rest, "*/"):
			s.inExecutableComment = false
			s.at += 2
		default:
			return
		}
	}
}

func (s *scanner) comment(rest string) {
	switch {
	case s.kind == dialectPostgres:
		s.nested()
	case s.kind == dialectMaria && (strings.HasPrefix(rest, "/*!") || strings.HasPrefix(rest, "/*M!")):
		// The server executes the content, from the version that follows the mark.
		s.at += strings.IndexByte(rest, '!') + 1
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		s.inExecutableComment = true
	default:
		s.at += 2
		s.until("*/")
	}
}

// nested reads a comment that may contain comments.
func (s *scanner) nested() {
	depth := 0
	for s.at < len(s.text) {
		switch rest := s.text[s.at:]; {
		case strings.HasPrefix(rest, "/*"):
			depth++
			s.at += 2
		case strings.HasPrefix(rest, "*/"):
			s.at += 2
			if depth--; depth == 0 {
				return
			}
		default:
			s.at++
		}
	}
}
