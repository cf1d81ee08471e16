package query

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rotajobs/rota/sql/lexer"
)

// rejectPrefix fails if a word is the prefix of a string that is not supported: B'…', X'…', N'…' or U&'…'.
func (s *scanner) rejectPrefix(t lexer.Token) {
	switch lower(t.Text) {
	case "b", "x", "n":
		if s.Peek(0) != '\'' {
			return
		}
	case "u":
		if s.Peek(0) != '&' || s.Peek(1) != '\'' && s.Peek(1) != '"' {
			return
		}
	default:
		return
	}
	fail(stateUnsupported, t.Start, "a string with the prefix "+t.Text+" is not supported", `write '…', E'\u…' or '\x…'::bytea`)
}

// stringLiteral returns the text of a string and of those that go on with it: PostgreSQL joins strings that have nothing
// but blanks and a new line between them.
func (s *scanner) stringLiteral(t lexer.Token) string {
	escapes := t.Kind == lexer.EscapeString
	if !escapes && !s.stringContinues() {
		return t.Text
	}
	var b strings.Builder
	for part := t; ; part = s.Quoted(escapes) {
		s.rejectUnclosed(part)
		if escapes {
			unescape(&b, part)
		} else {
			b.WriteString(part.Text)
		}
		if !s.stringContinues() {
			break
		}
		s.At += strings.IndexByte(s.Text[s.At:], '\'')
	}
	if escapes && lexer.BadCharacter(b.String()) >= 0 {
		fail(stateEncoding, t.Start, "the escapes in the string do not form valid UTF-8", `write characters as \uXXXX or \UXXXXXXXX`)
	}
	return b.String()
}

func (s *scanner) stringContinues() bool {
	rest := s.Text[s.At:]
	text := strings.TrimLeft(rest, " \t\n\v\f\r")
	return strings.HasPrefix(text, "'") && strings.ContainsAny(rest[:len(rest)-len(text)], "\r\n")
}

// unescape writes the text of an escape string.
func unescape(b *strings.Builder, t lexer.Token) {
	e := escapes{Builder: b, text: t.Text, offset: t.Stop - len(t.Text) - 1}
	for e.at < len(e.text) {
		switch c := e.text[e.at]; c {
		case '\\':
			e.escape()
		case '\'': // written twice
			b.WriteByte(c)
			e.at += 2
		default:
			b.WriteByte(c)
			e.at++
		}
	}
}

// escapes reads the text of an escape string.
type escapes struct {
	*strings.Builder
	text   string
	at     int
	offset int // of the text in the query
}

// escape reads what a backslash begins.
func (e *escapes) escape() {
	start := e.at
	c := e.text[e.at+1]
	e.at += 2
	switch {
	case strings.IndexByte("bfnrt", c) >= 0:
		e.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
	case c == 'u':
		e.escapedRune(start, 4)
	case c == 'U':
		e.escapedRune(start, 8)
	case c == 'x' && e.hexLength(1) > 0:
		e.WriteByte(byte(e.hexNumber(e.hexLength(2))))
	case c >= '0' && c <= '7':
		fail(stateUnsupported, e.offset+start, "an octal escape is not supported", `write characters as \uXXXX or \xXX`)
	default:
		e.WriteByte(c)
	}
}

// hexLength counts the hexadecimal digits that come next, up to a limit.
func (e *escapes) hexLength(most int) int {
	next := e.text[e.at:min(e.at+most, len(e.text))]
	return len(next) - len(strings.TrimLeft(next, "0123456789abcdefABCDEF"))
}

// hexNumber takes hexadecimal digits.
func (e *escapes) hexNumber(length int) int64 {
	n, _ := strconv.ParseInt(e.text[e.at:e.at+length], 16, 64) // they are digits, and at most 8
	e.at += length
	return n
}

// escapedRune reads a character by its number. Two halves of a pair make one.
func (e *escapes) escapedRune(start, size int) {
	r := e.runeNumber(start, size)
	if utf16.IsSurrogate(r) && strings.HasPrefix(e.text[e.at:], `\u`) {
		e.at += 2
		r = utf16.DecodeRune(r, e.runeNumber(start, 4))
	}
	if r == 0 || !utf8.ValidRune(r) || r == utf8.RuneError {
		e.badRune(start)
	}
	e.WriteRune(r)
}

func (e *escapes) runeNumber(start, size int) rune {
	if e.hexLength(size) < size {
		e.badRune(start)
	}
	n := e.hexNumber(size)
	if n > utf8.MaxRune {
		e.badRune(start)
	}
	return rune(n)
}

func (e *escapes) badRune(start int) {
	fail(stateSyntax, e.offset+start, "an escape in the string is not a valid Unicode character", `write characters as \uXXXX or \UXXXXXXXX`)
}

func shorten(text string) string {
	if len(text) > foundMax {
		return strings.ToValidUTF8(text[:foundMax], "") + "…"
	}
	return text
}
