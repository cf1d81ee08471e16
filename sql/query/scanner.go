package query

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// token is a part of a query. Blanks and comments between tokens belong to none.
type token struct {
	kind    tokenKind
	text    string // a word in lower case, the content of quotes, or the text as written
	at, end int    // from where to where, in bytes
}

type tokenKind byte

const (
	endToken tokenKind = iota
	wordToken
	quotedNameToken // in quotation marks
	stringToken
	numberToken
	paramToken    // $1
	questionToken // ?, which the parser makes a parameter or an operator
	symbolToken   // what separates: ( ) [ ] , ; . : :: := =>
	operatorToken
)

func (t token) word(words ...string) bool {
	return t.kind == wordToken && slices.Contains(words, t.text)
}

func (t token) symbol(s string) bool { return t.kind == symbolToken && t.text == s }

func (t token) operator(s string) bool { return t.kind == operatorToken && t.text == s }

// name is a token as a name.
func (t token) name() Name { return Name{Text: t.text, Quoted: t.kind != wordToken, At: t.at} }

const (
	textMax   = 1 << 20
	tokensMax = 100_000
	// operatorMax bounds an operator, so that scanning a long run of operator characters stays linear.
	operatorMax = 16
)

// scanner cuts a text into tokens, one at a time, because only the parser knows whether a bracket begins a name or a
// subscript.
type scanner struct {
	text  string
	pos   int
	count int
}

func (s *scanner) next() token {
	s.skipBlanks()
	at := s.pos
	if at == len(s.text) {
		return token{kind: endToken, at: at, end: at}
	}
	if s.count++; s.count > tokensMax {
		fail(stateLimit, at, fmt.Sprintf("the query has more than %d tokens", tokensMax), "shorten it")
	}
	t := s.lexeme()
	t.at, t.end = at, s.pos
	return t
}

// skipBlanks passes over blanks and comments.
func (s *scanner) skipBlanks() {
	for s.pos < len(s.text) {
		switch rest := s.text[s.pos:]; {
		case isBlank(rest[0]):
			s.pos++
		case strings.HasPrefix(rest, "--"):
			s.skipLine()
		case strings.HasPrefix(rest, "/*"):
			s.skipComment()
		default:
			return
		}
	}
}

// skipLine passes over the rest of the line.
func (s *scanner) skipLine() {
	n := strings.IndexByte(s.text[s.pos:], '\n')
	if n < 0 {
		n = len(s.text) - s.pos
	}
	s.pos += n
}

// skipComment passes over a comment. Comments nest, as in PostgreSQL.
func (s *scanner) skipComment() {
	depth := 0
	for i := s.pos; i+1 < len(s.text); i++ {
		switch s.text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			s.pos = i + 1
			return
		}
	}
	fail(stateSyntax, s.pos, "unterminated comment", "comments nest: each /* needs its own */")
}

// lexeme reads the next token.
func (s *scanner) lexeme() token {
	switch c := s.text[s.pos]; {
	case c == '\'' || s.hasStringPrefix():
		return s.prefixedString()
	case c == '"':
		return token{kind: quotedNameToken, text: s.quotedName(c)}
	case isDigit(c) || c == '.' && isDigit(s.byteAt(1)):
		return s.number()
	case isLetter(c):
		return token{kind: wordToken, text: lower(s.span(inWord))}
	case c == '$':
		return s.dollar()
	case c == '?':
		s.pos++
		return token{kind: questionToken, text: "?"}
	case strings.IndexByte("()[],;.:", c) >= 0:
		return s.separator()
	case isOperator(c):
		return s.operator()
	}
	r, _ := utf8.DecodeRuneInString(s.text[s.pos:])
	fail(stateSyntax, s.pos, fmt.Sprintf("unexpected character %q", r), "")
	return token{}
}

func (s *scanner) separator() token {
	n := 1
	if two := s.peek(2); two == "::" || two == ":=" {
		n = 2
	}
	s.pos += n
	return token{kind: symbolToken, text: s.text[s.pos-n : s.pos]}
}

// operator reads the longest operator. A plus or minus at its end belongs to the next token, as in a=-1, except in #-.
func (s *scanner) operator() token {
	rest, n := s.text[s.pos:], 0
	for n < len(rest) && n < operatorMax && isOperator(rest[n]) && !isComment(rest[n:]) {
		n++
	}
	if rest[:n] == "@" && s.byteAt(1) == '?' {
		n = 2
	}
	for n > 1 && (rest[n-1] == '+' || rest[n-1] == '-') && rest[:n] != "#-" {
		n--
	}
	s.pos += n
	if rest[:n] == "=>" {
		return token{kind: symbolToken, text: "=>"}
	}
	return token{kind: operatorToken, text: rest[:n]}
}

// peek is the next n bytes, or what is left of them.
func (s *scanner) peek(n int) string {
	return s.text[s.pos:min(s.pos+n, len(s.text))]
}

// byteAt returns the byte n positions ahead, or zero after the end.
func (s *scanner) byteAt(n int) byte {
	if s.pos+n < len(s.text) {
		return s.text[s.pos+n]
	}
	return 0
}

func (s *scanner) span(in func(byte) bool) string {
	from := s.pos
	for s.pos < len(s.text) && in(s.text[s.pos]) {
		s.pos++
	}
	return s.text[from:s.pos]
}

func isComment(text string) bool {
	return strings.HasPrefix(text, "--") || strings.HasPrefix(text, "/*")
}

func isBlank(c byte) bool    { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isOperator(c byte) bool { return strings.IndexByte("+-*/<>=~!@#%^&|", c) >= 0 }
func inWord(c byte) bool     { return isLetter(c) || isDigit(c) || c == '$' }

func isLetter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// lower makes the letters of ASCII small and leaves all others, as PostgreSQL does.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
