package lexer

import "strings"

// skipBlanks passes over white space and comments. It reports false, before the comment, if one is not closed.
func (s *Scanner) skipBlanks() bool {
	for s.At < len(s.Text) {
		rest := s.Text[s.At:]
		switch {
		case isBlank(rest[0]):
			s.At++
		case IsComment(rest):
			length := commentLength(rest)
			if length == 0 {
				return false
			}
			s.At += length
		default:
			return true
		}
	}
	return true
}

// IsComment reports whether a text begins with a comment.
func IsComment(text string) bool {
	return strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*")
}

// commentLength is the length of the comment that a text begins with: to the end of the line, or to the */ that belongs
// to its /*. It is 0 if the comment is not closed.
func commentLength(text string) int {
	if text[0] == '-' {
		line, _, _ := strings.Cut(text, "\n")
		return len(line)
	}
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return 0
}

// Quoted reads the string or the name whose quote comes next. A quote inside is written twice or, if backslashes
// escape, after a backslash.
func (s *Scanner) Quoted(backslashes bool) Token {
	rest := s.Text[s.At:]
	kind, unclosed := String, UnclosedString
	if rest[0] == '"' {
		kind, unclosed = Name, UnclosedName
	}
	length := quotedLength(rest, backslashes)
	switch {
	case length == 0:
		return s.take(unclosed, "", len(rest))
	case backslashes:
		return s.take(EscapeString, rest[1:length-1], length)
	}
	quote := rest[:1]
	return s.take(kind, strings.ReplaceAll(rest[1:length-1], quote+quote, quote), length)
}

// quotedLength is the length of the quoted text that a text begins with, or 0 if it is not closed.
func quotedLength(text string, backslashes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && backslashes:
			i++
		case text[i] != text[0]:
		case i+1 == len(text) || text[i+1] != text[0]:
			return i + 1
		default:
			i++
		}
	}
	return 0
}

// escapeString reads E'…'.
func (s *Scanner) escapeString() Token {
	s.At++
	t := s.Quoted(true)
	if t.Kind == EscapeString {
		t.Start--
	}
	return t
}

// dollarQuoted reads $tag$…$tag$, or the symbol $ if no tag begins here.
func (s *Scanner) dollarQuoted() Token {
	rest := s.Text[s.At:]
	end := EndOf(rest, 1, func(c byte) bool { return c != '$' && InWord(c) })
	if end == len(rest) || rest[end] != '$' || IsDigit(rest[1]) {
		return s.symbol()
	}
	tag := rest[:end+1]
	length := strings.Index(rest[len(tag):], tag)
	if length < 0 {
		return s.take(UnclosedDollars, tag, len(rest))
	}
	return s.take(String, rest[len(tag):len(tag)+length], length+2*len(tag))
}
