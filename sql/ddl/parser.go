package ddl

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// Limits on what is read.
const (
	TextMax       = 1 << 20 // bytes of a statement
	StatementsMax = 100_000 // statements in a text
	ListMax       = 1_000   // names, shards or arguments in a list
	NameMax       = 255     // bytes of a name, as the columns of sys have it
	nestingMax    = 100     // parentheses inside each other
)

// Parse reads one statement, with or without a semicolon at its end. The error is
// an *Error.
func Parse(text string) (Statement, error) {
	p, err := newParser(text)
	if err != nil {
		return nil, err
	}
	s := p.statement()
	p.expectEnd()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// parser reads a statement from left to right. It keeps the first error and from then on reports the end of the
// statement, so every loop ends and no step needs to check the step before it.
type parser struct {
	scanner
	tok      token // the next token
	stop     int   // where the last token that was taken ended
	ahead    *token
	err      *Error
	altering bool           // in ALTER JOB, where commas have a second meaning
	hides    bool           // a password or a secret was read: words that follow may be parts of it behind a quote
	places   map[string]int // where the parts of the statement begin; nil: not wanted
}

func newParser(text string) (*parser, *Error) {
	if len(text) > TextMax {
		return nil, newError(text, 0, Error{
			Reason: fmt.Sprintf("the statement has %d bytes; at most %d are allowed", len(text), TextMax),
			Hint:   "shorten it, for example by moving a long script to a procedure that the job calls",
			State:  limitExceeded,
		})
	}
	if err := checkCharacters(text); err != nil {
		return nil, err
	}
	start := len(text) - len(strings.TrimPrefix(text, byteOrderMark))
	p := &parser{scanner: scanner{Scanner: lexer.Scanner{Text: text, At: start}, last: start}}
	p.tok = p.next()
	return p, nil
}

// advance takes the token and looks at the next one.
func (p *parser) advance() token {
	taken := p.tok
	p.stop = taken.Stop
	switch {
	case p.err != nil:
	case taken.err != nil:
		p.fail(taken.Start, *taken.err)
	case p.ahead != nil:
		p.tok, p.ahead = *p.ahead, nil
	default:
		p.tok = p.next()
	}
	return taken
}

// peek returns the token after the next one.
func (p *parser) peek() token {
	if p.err != nil || p.tok.Kind == lexer.End || p.tok.err != nil {
		return p.tok
	}
	if p.ahead == nil {
		t := p.next()
		p.ahead = &t
	}
	return *p.ahead
}

// continueAt continues at a later offset of the text.
func (p *parser) continueAt(at int) {
	p.At, p.last, p.stop, p.ahead = at, at, at, nil
	p.tok = p.next()
}

// fail keeps the first error and ends the statement.
func (p *parser) fail(offset int, e Error) {
	if p.err != nil {
		return
	}
	if e.State == "" {
		e.State = syntaxError
	}
	p.err = newError(p.Text, offset, e)
	p.steps += len(p.Text)
	p.tok, p.ahead = token{Token: lexer.Token{Start: offset, Stop: offset}}, nil
}

// failAt reports an error at a token.
func (p *parser) failAt(t token, state, reason, hint string) {
	p.fail(t.Start, Error{Reason: reason, Hint: hint, State: state})
}

// unexpected reports the next token as an error. The words are the keywords allowed there; the hint suggests the
// nearest one.
func (p *parser) unexpected(expected string, words ...string) {
	if kind := p.tok.Kind; p.tok.err != nil && !(p.hides && (kind == lexer.WordAfterNumber || kind == lexer.UnclosedDollars)) {
		p.fail(p.tok.Start, *p.tok.err)
		return
	}
	e := Error{Found: p.found(), Expected: expected}
	if p.tok.Kind == lexer.Word {
		p.steps += len(words)
		e.Hint = suggestion(p.tok.Text, words)
	}
	p.fail(p.tok.Start, e)
}

// found names the next token for an error.
func (p *parser) found() string {
	if kind := p.tok.Kind; p.hides && (p.tok.err != nil || kind == lexer.Word || kind == lexer.Name || kind == lexer.Number) {
		return "text without single quotes"
	}
	return p.tok.found()
}

// accept takes a keyword if it comes next.
func (p *parser) accept(keyword string) bool {
	if !p.tok.is(keyword) {
		return false
	}
	p.advance()
	return true
}

// acceptBoth takes two keywords if both come next. One alone may be a name.
func (p *parser) acceptBoth(first, second string) bool {
	if !p.tok.is(first) || !p.peek().is(second) {
		return false
	}
	p.advance()
	p.advance()
	return true
}

func (p *parser) acceptSymbol(mark string) bool {
	if !p.tok.IsSymbol(mark) {
		return false
	}
	p.advance()
	return true
}

// expect takes these keywords in sequence.
func (p *parser) expect(keywords ...string) {
	for _, k := range keywords {
		if !p.accept(k) {
			p.unexpected(k, k)
		}
	}
}

func (p *parser) expectSymbol(mark string) {
	switch {
	case p.acceptSymbol(mark):
	case p.tok.err != nil && p.tok.Text != "": // such as a UUID
		p.fail(p.tok.Start, Error{Found: p.found(), Expected: mark})
	default:
		p.unexpected(mark)
	}
}

// choose takes one of several keywords. What describes them in errors.
func (p *parser) choose(what string, keywords ...string) string {
	for _, k := range keywords {
		if p.accept(k) {
			return k
		}
	}
	expected := oneOf(keywords)
	if what != "" {
		expected = what + " (" + strings.Join(keywords, ", ") + ")"
	}
	p.unexpected(expected, keywords...)
	return ""
}

func (p *parser) atEnd() bool { return p.tok.ends() }

// expectEnd reports an error if anything follows the statement.
func (p *parser) expectEnd() {
	semicolon := false
	for p.acceptSymbol(";") {
		semicolon = true
	}
	switch {
	case p.tok.Kind == lexer.End:
	case semicolon:
		p.failAt(p.tok, "", "a second statement begins here", "send one statement at a time")
	default:
		p.unexpected("the end of the statement")
	}
}
