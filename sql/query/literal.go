package query

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// hasStringPrefix reports whether the next token is a string with a prefix: E'…', B'…', X'…', N'…' or U&'…'.
func (s *scanner) hasStringPrefix() bool {
	switch s.text[s.pos] | 0x20 {
	case 'e', 'b', 'x', 'n':
		return s.byteAt(1) == '\''
	case 'u':
		return s.byteAt(1) == '&' && (s.byteAt(2) == '\'' || s.byteAt(2) == '"')
	}
	return false
}

func (s *scanner) prefixedString() token {
	at, c := s.pos, s.text[s.pos]
	if c == '\'' {
		return token{kind: stringToken, text: s.stringLiteral(false)}
	}
	if c|0x20 != 'e' {
		fail(stateUnsupported, at, "a string with the prefix "+string(c)+" is not supported", `write '…', E'\u…' or '\x…'::bytea`)
	}
	s.pos++
	text := s.stringLiteral(true)
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		fail(stateEncoding, at, "the escapes in the string do not form valid UTF-8", `write characters as \uXXXX or \UXXXXXXXX`)
	}
	return token{kind: stringToken, text: text}
}

// stringLiteral reads a string and those that go on with it: PostgreSQL joins strings that
// have nothing but blanks and a new line between them.
func (s *scanner) stringLiteral(escapes bool) string {
	text := s.quotedText('\'', escapes)
	if !s.stringContinues() {
		return text
	}
	all := []string{text}
	for s.stringContinues() {
		s.pos += strings.IndexByte(s.text[s.pos:], '\'')
		all = append(all, s.quotedText('\'', escapes))
	}
	return strings.Join(all, "")
}

func (s *scanner) stringContinues() bool {
	blanks := len(s.text[s.pos:]) - len(strings.TrimLeft(s.text[s.pos:], " \t\n\v\f\r"))
	return s.byteAt(blanks) == '\'' && strings.ContainsAny(s.peek(blanks), "\r\n")
}

// quotedText reads the text between two quotation marks. A mark inside is written twice.
func (s *scanner) quotedText(mark byte, escapes bool) string {
	at, stops := s.pos, string(mark)
	if escapes {
		stops += `\`
	}
	var b strings.Builder
	for s.pos++; ; {
		n := strings.IndexAny(s.text[s.pos:], stops)
		if n < 0 {
			unterminated(at, mark)
		}
		b.WriteString(s.text[s.pos : s.pos+n])
		s.pos += n
		switch {
		case s.text[s.pos] != mark:
			s.escape(&b)
			continue
		case s.byteAt(1) != mark:
			s.pos++
			return b.String()
		}
		b.WriteByte(mark)
		s.pos += 2
	}
}

func unterminated(at int, mark byte) {
	if mark == '\'' {
		fail(stateSyntax, at, "unterminated quoted string", "end it with '; write '' for a quote inside")
	}
	fail(stateSyntax, at, "unterminated quoted identifier", "end it with "+string(mark))
}

func (s *scanner) quotedName(mark byte) string {
	at := s.pos
	name := s.quotedText(mark, false)
	if name == "" {
		fail(stateSyntax, at, "a quoted name is empty", "write the name between the quotes")
	}
	return name
}

// escape reads what a backslash begins in E'…'.
func (s *scanner) escape(b *strings.Builder) {
	at := s.pos
	c := s.byteAt(1)
	s.pos += min(2, len(s.text)-s.pos)
	switch {
	case strings.IndexByte("bfnrt", c) >= 0:
		b.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
	case c == 'u':
		s.escapedRune(b, at, 4)
	case c == 'U':
		s.escapedRune(b, at, 8)
	case c == 'x' && isHex(s.byteAt(0)):
		b.WriteByte(byte(s.hexDigits(2)))
	case c >= '0' && c <= '7':
		fail(stateUnsupported, at, "an octal escape is not supported", `write characters as \uXXXX or \xXX`)
	default:
		b.WriteByte(c)
	}
}

// hexDigits reads a number of up to so many hexadecimal digits.
func (s *scanner) hexDigits(most int) int {
	from := s.pos
	for s.pos < from+most && isHex(s.byteAt(0)) {
		s.pos++
	}
	n, _ := strconv.ParseInt(s.text[from:s.pos], 16, 64) // none: 0
	return int(n)
}

// escapedRune reads a character by its number. Two halves of a pair make one.
func (s *scanner) escapedRune(b *strings.Builder, at, size int) {
	r := s.runeNumber(at, size)
	if utf16.IsSurrogate(r) && s.peek(2) == `\u` {
		s.pos += 2
		r = utf16.DecodeRune(r, s.runeNumber(at, 4))
	}
	if r == 0 || !utf8.ValidRune(r) || r == utf8.RuneError {
		badEscape(at)
	}
	b.WriteRune(r)
}

func (s *scanner) runeNumber(at, size int) rune {
	from := s.pos
	n := s.hexDigits(size)
	if s.pos != from+size || n > utf8.MaxRune {
		badEscape(at)
	}
	return rune(n)
}

func badEscape(at int) {
	fail(stateSyntax, at, "an escape in the string is not a valid Unicode character", `write characters as \uXXXX or \UXXXXXXXX`)
}

// number reads a number and keeps its text.
func (s *scanner) number() token {
	from := s.pos
	s.decimal()
	if c := s.byteAt(0); inWord(c) {
		end := s.pos
		s.span(inWord)
		fail(stateSyntax, from, "the number "+s.text[from:end]+" is followed directly by "+shorten(s.text[end:s.pos]), "put a space between them")
	}
	return token{kind: numberToken, text: s.text[from:s.pos]}
}

func shorten(text string) string {
	if len(text) > foundMax {
		return strings.ToValidUTF8(text[:foundMax], "") + "…"
	}
	return text
}

func (s *scanner) decimal() {
	s.span(isDigit)
	if s.byteAt(0) == '.' {
		s.pos++
		s.span(isDigit)
	}
	if s.byteAt(0)|0x20 != 'e' {
		return
	}
	n := 1
	if c := s.byteAt(1); c == '+' || c == '-' {
		n = 2
	}
	if isDigit(s.byteAt(n)) {
		s.pos += n
		s.span(isDigit)
	}
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// dollar reads a parameter such as $1, or a dollar-quoted string.
func (s *scanner) dollar() token {
	at := s.pos
	s.pos++
	if isDigit(s.byteAt(0)) {
		digits := s.span(isDigit)
		if inWord(s.byteAt(0)) {
			fail(stateSyntax, at, "the parameter $"+shorten(digits)+" is followed directly by a word", "put a space between them")
		}
		return token{kind: paramToken, text: digits}
	}
	s.span(func(c byte) bool { return c != '$' && inWord(c) })
	if s.byteAt(0) != '$' {
		fail(stateSyntax, at, "$ begins neither a parameter nor a string", "write parameters as $1, $2 and so on")
	}
	s.pos++
	mark := s.text[at:s.pos]
	n := strings.Index(s.text[s.pos:], mark)
	if n < 0 {
		fail(stateSyntax, at, "unterminated dollar-quoted string", "end it with "+shorten(mark))
	}
	text := s.text[s.pos : s.pos+n]
	s.pos += n + len(mark)
	return token{kind: stringToken, text: text}
}
