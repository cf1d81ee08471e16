package query

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// Parse reads a query: SELECT, VALUES, TABLE, or WITH before one. The error, if
// there is one, is an *Error. It takes time in proportion to the text.
func Parse(text string) (q *Query, err error) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case *Error:
			q, err = nil, failure
		default:
			panic(failure)
		}
	}()
	checkText(text)
	p := &parser{scan: newScanner(text), alias: -1}
	q = p.query()
	p.expectEnd()
	q.Params = p.params
	return q, nil
}

func checkText(text string) {
	if len(text) > textMax {
		fail(stateLimit, 0, fmt.Sprintf("the query has %d bytes; at most %d are allowed", len(text), textMax), "shorten it")
	}
	switch at := lexer.BadCharacter(text); {
	case at < 0:
	case text[at] == 0:
		fail(stateEncoding, at, "the query has a NUL character here", "remove it")
	default:
		fail(stateEncoding, at, "the query is not valid UTF-8 here", "send it in UTF-8")
	}
}

// parser reads tokens into a tree. Each method parses what its name states and fails if that does not come next.
type parser struct {
	scan      scanner
	lookahead []token // tokens read ahead and not taken yet
	previous  token   // the token taken last
	alias     int     // position of the last alias without AS; -1: none
	depth     int
	params    int  // the highest
	style     byte // how parameters are written, $ or ?; 0: there was none
}

const depthMax = 200

// peek is the next token.
func (p *parser) peek() token { return p.peekAt(0) }

// peekAt returns the token n after the next one.
func (p *parser) peekAt(n int) token {
	for len(p.lookahead) <= n {
		p.lookahead = append(p.lookahead, p.scan.next())
	}
	return p.lookahead[n]
}

func (p *parser) take() token {
	p.previous = p.peek()
	p.lookahead = append(p.lookahead[:0], p.lookahead[1:]...)
	return p.previous
}

// rescan scans the text again from a position, for tokens that have another meaning in this
// context.
func (p *parser) rescan(from int) {
	p.lookahead = p.lookahead[:0]
	p.scan.At = from
}

// words reports whether these words come next in sequence.
func (p *parser) words(words ...string) bool {
	for i, w := range words {
		if !p.peekAt(i).word(w) {
			return false
		}
	}
	return true
}

// accept takes these words if they come next.
func (p *parser) accept(words ...string) bool {
	if !p.words(words...) {
		return false
	}
	for range words {
		p.take()
	}
	return true
}

// expect takes these words, which have to come next.
func (p *parser) expect(words ...string) {
	for _, w := range words {
		if !p.accept(w) {
			p.expected(strings.ToUpper(w), strings.ToUpper(w))
		}
	}
}

func (p *parser) acceptSymbol(s string) bool {
	if p.peek().IsSymbol(s) {
		p.take()
		return true
	}
	return false
}

// enter and leave count the nesting depth. Every recursive step of the parser calls them.
func (p *parser) enter() {
	if p.depth++; p.depth > depthMax {
		fail(stateLimit, p.peek().Start, fmt.Sprintf("the query is nested more than %d levels deep", depthMax), "simplify it")
	}
}

func (p *parser) leave() { p.depth-- }

// open takes an opening bracket; close takes the matching one.
func (p *parser) open(s string) {
	if !p.peek().IsSymbol(s) {
		p.expected(s)
	}
	p.enter()
	p.take()
}

func (p *parser) close(s string) {
	if !p.peek().IsSymbol(s) {
		p.expected(s, clauseWords...)
	}
	p.leave()
	p.take()
}

// expectEnd fails if anything but semicolons follows the query.
func (p *parser) expectEnd() {
	if p.acceptSymbol(";") {
		for p.acceptSymbol(";") {
		}
		if t := p.peek(); t.Kind != lexer.End {
			fail(stateSyntax, t.Start, "the text has more than one statement: "+p.tokenText(t)+" follows the semicolon", "send one statement at a time")
		}
	}
	if p.peek().Kind != lexer.End {
		p.expected("the end of the query", clauseWords...)
	}
}

// name takes the name of a column or a table.
func (p *parser) name(what string) Name {
	if !p.peek().isName() {
		p.expected(what)
	}
	return p.take().name()
}

// label takes a name where no word is reserved.
func (p *parser) label(what string) Name {
	if !p.peek().isLabel() {
		p.expected(what)
	}
	return p.take().name()
}

// separated takes what one takes, with commas between them.
func separated[T any](p *parser, one func() T) (all []T) {
	for {
		all = append(all, one())
		if !p.acceptSymbol(",") {
			return all
		}
	}
}

// names takes names in parentheses.
func (p *parser) names(what string) []Name {
	p.open("(")
	names := separated(p, func() Name { return p.name(what) })
	if t := p.peek(); t.isName() {
		p.unsupported(t.Start, "a type after the name of a column", "remove the types")
	}
	p.close(")")
	return names
}

// path parses names with dots between them.
func (p *parser) path(what string) []Name {
	return p.pathFrom(p.name(what))
}

func (p *parser) pathFrom(first Name) []Name {
	path := []Name{first}
	for p.peek().IsSymbol(".") && !p.peekAt(1).operator("*") {
		p.take()
		path = append(path, p.label("a name"))
	}
	return path
}

// param takes $1 or ?.
func (p *parser) param() Expr {
	t := p.take()
	style := p.scan.Text[t.Start]
	if p.style != 0 && p.style != style {
		fail(stateSyntax, t.Start, "parameters are written both as $ and as ?", "write all of them as $1 or all of them as ?")
	}
	p.style = style
	digits := t.Text
	if t.Kind == questionToken {
		digits = strconv.Itoa(p.params + 1)
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > paramsMax {
		fail(stateParam, t.Start, fmt.Sprintf("there is no parameter %s", shorten(digits)), fmt.Sprintf("number parameters from 1 to %d", paramsMax))
	}
	p.params = max(p.params, n)
	return &Param{At: At(t.Start), N: n}
}

const paramsMax = 65535
