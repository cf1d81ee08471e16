package sys

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// token is a piece of a query. What stands between two of them, blanks and
// comments, belongs to neither.
type token struct {
	kind tokenKind
	text string
	at   int    // where it stands, in bytes
	word string // of a word: in lower case
}

type tokenKind byte

const (
	aWord   tokenKind = 'w'
	aName   tokenKind = 'n' // in double quotes
	aString tokenKind = 's'
	aNumber tokenKind = '1'
	aParam  tokenKind = '$'
	aSign   tokenKind = '.'
)

func (t token) is(words ...string) bool {
	if t.kind != aWord {
		return false
	}
	for _, w := range words {
		if t.word == w {
			return true
		}
	}
	return false
}

func (t token) sign(s string) bool { return t.kind == aSign && t.text == s }

// scan cuts a query into tokens. What it cannot make sense of it leaves for SQLite
// to name.
func scan(text string) (tokens []token, err error) {
	for i := 0; i < len(text); {
		n := blank(text[i:])
		if n < 0 {
			return nil, &Error{State: StateSyntax, Offset: i, Message: "a comment is not closed"}
		}
		if n > 0 {
			i += n
			continue
		}
		kind, n := lexeme(text[i:])
		if n <= 0 {
			return nil, &Error{State: StateSyntax, Offset: i, Message: "a quotation is not closed"}
		}
		t := token{kind: kind, text: text[i : i+n], at: i}
		if kind == aWord {
			t.word = strings.ToLower(t.text)
		}
		if len(tokens) == tokensMost {
			return nil, tooLong(t, "words and signs", tokensMost)
		}
		tokens = append(tokens, t)
		i += n
	}
	return tokens, nil
}

// blank is how many bytes of blanks, or of a comment, a text begins with; -1 if a
// comment does not end.
func blank(text string) int {
	switch {
	case strings.HasPrefix(text, "--"):
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			return end + 1
		}
		return len(text)
	case strings.HasPrefix(text, "/*"):
		return comment(text)
	}
	return len(text) - len(strings.TrimLeft(text, " \t\r\n\f\v"))
}

// comment is how long the comment is that a text begins with, -1 if it does not
// end. There may be others in it, as PostgreSQL has it.
func comment(text string) int {
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
	return -1
}

// lexeme is what a text begins with and how long it is, -1 if it does not end.
func lexeme(text string) (tokenKind, int) {
	switch c := text[0]; {
	case c == '\'':
		return aString, quoted(text, c)
	case c == '"' || c == '`':
		return aName, quoted(text, c)
	case c == '[':
		return aName, strings.IndexByte(text, ']') + 1
	case c >= '0' && c <= '9':
		return aNumber, span(text, func(c byte) bool { return inWord(c) || c == '.' })
	case inWord(c):
		return aWord, span(text, inWord)
	case c == '$' && dollars.MatchString(text):
		return aString, dollarQuoted(text)
	case c == '$' || c == '?':
		return aParam, 1 + span(text[1:], inWord)
	}
	for _, s := range signs {
		if strings.HasPrefix(text, s) {
			return aSign, len(s)
		}
	}
	_, n := utf8.DecodeRuneInString(text)
	return aSign, n
}

var signs = []string{"->>", "->", "::", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>"}

func inWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func span(text string, in func(byte) bool) (n int) {
	for n < len(text) && in(text[n]) {
		n++
	}
	return n
}

func quoted(text string, mark byte) int {
	for i := 1; i < len(text); i++ {
		if text[i] != mark {
			continue
		}
		if i+1 < len(text) && text[i+1] == mark {
			i++
			continue
		}
		return i + 1
	}
	return -1
}

// dollars begin a string that ends with the same.
var dollars = regexp.MustCompile(`^\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$`)

func dollarQuoted(text string) int {
	mark := dollars.FindString(text)
	end := strings.Index(text[len(mark):], mark)
	if end < 0 {
		return -1
	}
	return end + 2*len(mark)
}

// literal is a string as SQLite reads it.
func (t token) literal() string {
	mark := dollars.FindString(t.text)
	return "'" + strings.ReplaceAll(t.text[len(mark):len(t.text)-len(mark)], "'", "''") + "'"
}

// depth is by how much a token opens, or closes, a parenthesis.
func (t token) depth() int {
	switch {
	case t.sign("("):
		return 1
	case t.sign(")"):
		return -1
	}
	return 0
}
