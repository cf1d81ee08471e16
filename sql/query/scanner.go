package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// token is a part of a query. The text of a word is in lower case. The symbols are ( ) [ ] , ; . : :: := =>.
type token struct{ lexer.Token }

// Kinds of tokens that only queries have.
const (
	paramToken    lexer.Kind = 100 + iota // $1
	questionToken                         // ?, which the parser makes a parameter or an operator
	operatorToken
)

func (t token) word(words ...string) bool {
	return t.Kind == lexer.Word && slices.Contains(words, t.Text)
}

func (t token) operator(s string) bool { return t.Kind == operatorToken && t.Text == s }

// name is a token as a name.
func (t token) name() Name { return Name{Text: t.Text, Quoted: t.Kind != lexer.Word, At: t.Start} }

const (
	textMax   = 1 << 20
	tokensMax = 100_000
	// operatorMax bounds an operator, so that scanning a long run of operator characters stays linear.
	operatorMax = 16
)

// scanner adds PostgreSQL's operators, parameters and escape strings to the tokens of all SQL text.
type scanner struct {
	lexer.Scanner
	count int
}

func newScanner(text string) scanner {
	return scanner{Scanner: lexer.Scanner{Text: text, BarePoint: true}}
}

func (s *scanner) next() token {
	t := s.Next()
	if t.Kind == lexer.End {
		return token{t}
	}
	if s.count++; s.count > tokensMax {
		fail(stateLimit, t.Start, fmt.Sprintf("the query has more than %d tokens", tokensMax), "shorten it")
	}
	s.rejectUnclosed(t)
	switch t.Kind {
	case lexer.Word:
		s.rejectPrefix(t)
		t.Text = lower(t.Text)
	case lexer.Name:
		if t.Text == "" {
			fail(stateSyntax, t.Start, "a quoted name is empty", "write the name between the quotes")
		}
	case lexer.String, lexer.EscapeString:
		t.Text = s.stringLiteral(t)
		t.Kind = lexer.String
	case lexer.WordAfterNumber:
		fail(stateSyntax, t.Start, "the number "+t.Text+" is followed directly by "+shorten(s.Text[t.Start+len(t.Text):t.Stop]), "put a space between them")
	case lexer.Symbol:
		t.Kind, t.Text = s.symbol(t)
	}
	t.Stop = s.At
	return token{t}
}

// rejectUnclosed fails if the token is a quoted text or a comment without an end.
func (s *scanner) rejectUnclosed(t lexer.Token) {
	switch t.Kind {
	case lexer.UnclosedString:
		fail(stateSyntax, t.Start, "unterminated quoted string", "end it with '; write '' for a quote inside")
	case lexer.UnclosedName:
		fail(stateSyntax, t.Start, "unterminated quoted identifier", `end it with "`)
	case lexer.UnclosedDollars:
		fail(stateSyntax, t.Start, "unterminated dollar-quoted string", "end it with "+shorten(t.Text))
	case lexer.UnclosedComment:
		fail(stateSyntax, t.Start, "unterminated comment", "comments nest: each /* needs its own */")
	}
}

// symbol reads what a symbol begins: a parameter, an operator, or a symbol of one or two characters.
func (s *scanner) symbol(t lexer.Token) (kind lexer.Kind, text string) {
	s.At = t.Start
	switch c := s.Peek(0); {
	case c == '$':
		return paramToken, s.param()
	case c == '?':
		return questionToken, s.take(1)
	case c == ':' && (s.Peek(1) == ':' || s.Peek(1) == '='):
		return lexer.Symbol, s.take(2)
	case strings.IndexByte("()[],;.:", c) >= 0:
		return lexer.Symbol, s.take(1)
	case isOperator(c):
		return s.operator()
	}
	fail(stateSyntax, t.Start, fmt.Sprintf("unexpected character %q", []rune(t.Text)[0]), "")
	return 0, ""
}

// take returns the next n bytes.
func (s *scanner) take(n int) string {
	s.At += n
	return s.Text[s.At-n : s.At]
}

// param reads the digits of a parameter such as $1.
func (s *scanner) param() string {
	at := s.At
	digits := s.Text[at+1 : lexer.EndOf(s.Text, at+1, lexer.IsDigit)]
	s.At += 1 + len(digits)
	switch {
	case digits == "":
		fail(stateSyntax, at, "$ begins neither a parameter nor a string", "write parameters as $1, $2 and so on")
	case lexer.InWord(s.Peek(0)):
		fail(stateSyntax, at, "the parameter $"+shorten(digits)+" is followed directly by a word", "put a space between them")
	}
	return digits
}

// operator reads the longest operator. A plus or minus at its end belongs to the next token, as in a=-1, except in #-.
func (s *scanner) operator() (kind lexer.Kind, text string) {
	rest, n := s.Text[s.At:], 0
	for n < len(rest) && n < operatorMax && isOperator(rest[n]) && !lexer.IsComment(rest[n:]) {
		n++
	}
	if rest[:n] == "@" && s.Peek(1) == '?' {
		n = 2
	}
	for n > 1 && (rest[n-1] == '+' || rest[n-1] == '-') && rest[:n] != "#-" {
		n--
	}
	if rest[:n] == "=>" {
		return lexer.Symbol, s.take(n)
	}
	return operatorToken, s.take(n)
}

func isOperator(c byte) bool { return strings.IndexByte("+-*/<>=~!@#%^&|", c) >= 0 }

// lower makes the letters of ASCII small and leaves all others, as PostgreSQL does.
func lower(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
