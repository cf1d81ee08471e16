// Package lexer cuts SQL text into tokens. The parsers of statements and of queries share it, and each one words its
// own errors.
package lexer

import (
	"strings"
	"unicode/utf8"
)

// Kind is the kind of a token.
type Kind byte

// The kinds of tokens.
const (
	End          Kind = iota // the end of the text
	Word                     // a keyword or a bare name
	Name                     // a "name"
	String                   // a 'string', or one between dollars
	EscapeString             // E'…'; its text still has the escapes
	Number                   // without a sign
	Symbol                   // one character that is nothing else

	UnclosedString  // an error; scanning ends there
	UnclosedName    // an error; scanning ends there
	UnclosedDollars // an error; scanning ends there; its text is the tag
	UnclosedComment // an error; scanning ends there
	WordAfterNumber // an error such as 5MINUTES; its text is the number
)

// Token is a part of a text. White space and comments between tokens belong to none.
type Token struct {
	Kind        Kind
	Text        string // as written, or the text between quotes
	Start, Stop int    // offsets in bytes
}

// IsSymbol reports whether the token is this symbol.
func (t Token) IsSymbol(mark string) bool { return t.Kind == Symbol && t.Text == mark }

// Scanner reads a text token by token.
type Scanner struct {
	Text      string
	At        int  // where the next token is searched
	BarePoint bool // a number may begin or end with a point, as .5 and 5. do in PostgreSQL
}

// Next reads a token.
func (s *Scanner) Next() Token {
	if !s.skipBlanks() {
		return s.take(UnclosedComment, "", len(s.Text)-s.At)
	}
	switch c := s.Peek(0); {
	case s.At == len(s.Text):
		return s.take(End, "", 0)
	case c == '\'' || c == '"':
		return s.Quoted(false)
	case c == '$':
		return s.dollarQuoted()
	case IsDigit(c) || s.BarePoint && c == '.' && IsDigit(s.Peek(1)):
		return s.number()
	case isLetter(c):
		return s.word()
	}
	return s.symbol()
}

// Peek returns the byte that is n bytes ahead, or 0 after the end of the text.
func (s *Scanner) Peek(n int) byte {
	if s.At+n < len(s.Text) {
		return s.Text[s.At+n]
	}
	return 0
}

// take returns a token of a length and continues after it.
func (s *Scanner) take(kind Kind, text string, length int) Token {
	t := Token{Kind: kind, Text: text, Start: s.At, Stop: s.At + length}
	s.At = t.Stop
	return t
}

func (s *Scanner) symbol() Token {
	_, size := utf8.DecodeRuneInString(s.Text[s.At:])
	return s.take(Symbol, s.Text[s.At:s.At+size], size)
}

func (s *Scanner) word() Token {
	word := s.Text[s.At:EndOf(s.Text, s.At, InWord)]
	if s.Peek(len(word)) == '\'' && (word == "E" || word == "e") {
		return s.escapeString()
	}
	return s.take(Word, word, len(word))
}

// number reads 1, 1.5 and 1e-5. A letter directly after it is an error.
func (s *Scanner) number() Token {
	from := s.At
	number := s.Text[from:s.endOfNumber()]
	if end := EndOf(s.Text, from+len(number), InWord); end > from+len(number) {
		return s.take(WordAfterNumber, number, end-from)
	}
	return s.take(Number, number, len(number))
}

func (s *Scanner) endOfNumber() int {
	rest := Scanner{Text: s.Text, At: EndOf(s.Text, s.At, IsDigit)}
	if rest.Peek(0) == '.' && (s.BarePoint || IsDigit(rest.Peek(1))) {
		rest.At = EndOf(s.Text, rest.At+1, IsDigit)
	}
	exponent := 1
	if c := rest.Peek(1); c == '+' || c == '-' {
		exponent = 2
	}
	if rest.Peek(0)|0x20 == 'e' && IsDigit(rest.Peek(exponent)) {
		return EndOf(s.Text, rest.At+exponent, IsDigit)
	}
	return rest.At
}

// EndOf returns the end of the bytes from an offset on that belong to a set.
func EndOf(text string, at int, in func(byte) bool) int {
	for at < len(text) && in(text[at]) {
		at++
	}
	return at
}

// IsDigit reports whether a byte is a digit.
func IsDigit(c byte) bool { return '0' <= c && c <= '9' }

// InWord reports whether a byte can continue a word.
func InWord(c byte) bool { return isLetter(c) || IsDigit(c) || c == '$' }

// isLetter takes every character beyond ASCII for a letter, as SQL does.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= utf8.RuneSelf
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// BadCharacter returns the offset of the first NUL character or invalid UTF-8, or -1.
func BadCharacter(text string) int {
	if utf8.ValidString(text) {
		return strings.IndexByte(text, 0)
	}
	for i, r := range text {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return i
		}
	}
	return -1
}
