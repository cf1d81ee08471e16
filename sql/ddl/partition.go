package ddl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// partition parses the strategy after PARTITION BY.
func (p *parser) partition() *Partition {
	t := &Partition{Strategy: p.choose("", AllShards, SingleShard, ShardSet, Dynamic)}
	switch t.Strategy {
	case SingleShard:
		t.Shards = []string{p.uuid(shardID)}
	case ShardSet:
		t.Shards = p.shardSet()
	case Dynamic:
		t.Expression = p.expression()
	}
	return t
}

const shardID = "the UUID of a shard"

func (p *parser) shardSet() []string {
	p.expectSymbol("(")
	shards := p.distinct(func() string { return p.uuid(shardID) }, func(shard string) string { return "the shard " + shard }, p.comma)
	if !p.acceptSymbol(")") {
		p.unexpected("a comma or )")
	}
	return shards
}

// expression parses the expression that selects shards: a string, text between parentheses, or any text up to the next
// clause.
func (p *parser) expression() string {
	start, stop := p.tok, p.expressionEnd()
	if p.err != nil {
		return ""
	}
	text := p.Text[start.Start:stop]
	switch {
	case start.Kind == lexer.String && stop == start.Stop:
		return p.nonEmptyString("the expression")
	case start.IsSymbol("(") && p.closing(start.Start) == stop: // the parentheses are not part of it
		if text = strings.TrimSpace(text[1 : len(text)-1]); text == "" {
			p.failAt(start, badValue, "the expression is empty", "write it between the parentheses")
			return ""
		}
	}
	p.continueAt(stop)
	return text
}

// expressionEnd returns the offset after the expression that begins at the next token.
func (p *parser) expressionEnd() (stop int) {
	s := scanner{Scanner: lexer.Scanner{Text: p.Text, At: p.tok.Start}}
	defer func() { p.steps += s.steps }()
	for depth, last := 0, (token{}); ; {
		t := s.next()
		switch err := unclosed(t.Token); {
		case err != nil:
			p.fail(t.Start, *err)
			return 0
		case t.Kind == lexer.End && depth > 0:
			p.closing(p.tok.Start) // reports where the parenthesis begins
			p.fail(p.tok.Start, Error{Reason: "the expression that begins here has a parenthesis that is not closed", Hint: "end it with )"})
			return 0
		case stop == 0 && s.isOperand(t):
		case depth == 0 && (t.ends() || t.IsSymbol(",") || t.IsSymbol(")") || s.beginsClause(t, last)):
			if stop == 0 {
				p.noExpression()
			}
			return stop
		case t.IsSymbol("("):
			depth++
		case t.IsSymbol(")"):
			depth--
		}
		if depth > nestingMax {
			p.nestedTooDeep(t)
			return 0
		}
		stop, last = t.Stop, t
	}
}

// noExpression reports that the next token begins no expression.
func (p *parser) noExpression() {
	if p.tok.Kind != lexer.Word {
		p.unexpected("an expression")
		return
	}
	p.fail(p.tok.Start, Error{
		Found: p.found(), Expected: "an expression",
		Hint: "write the expression after DYNAMIC, in parentheses if it begins with a word that also begins a clause",
	})
}

// operatorWords are operators that may follow the first word of an expression. No clause continues with one of them.
var operatorWords = []string{"IS", "IN", "NOT", "LIKE", "ILIKE", "BETWEEN", "AND", "OR"}

// isOperand reports whether the first word of an expression is a part of it although a clause may begin with that word. It
// is if the expression ends after it or an operator follows. After an equals sign or a value it is a clause, because
// the statement would lose that clause if only the expression was forgotten.
func (s *scanner) isOperand(t token) bool {
	if t.Kind != lexer.Word || t.is("SET") || t.is("DROP") {
		return false
	}
	ahead := *s
	next := ahead.next()
	switch {
	case slices.ContainsFunc(clauses, func(c clause) bool { return len(c.words) == 2 && t.is(c.words[0]) && next.is(c.words[1]) }):
		return false
	case next.Kind == lexer.Symbol:
		return !next.IsSymbol("=")
	}
	return next.ends() || slices.Contains(operatorWords, next.upper) || ahead.beginsClause(next, t)
}

// beginsClause reports whether a token behind an expression begins the next clause.
func (s *scanner) beginsClause(t, last token) bool {
	if t.Kind != lexer.Word || last.is("AT") { // AT TIME ZONE is an operator
		return false
	}
	if slices.Contains(states, t.upper) || t.is("SET") || t.is("DROP") {
		return true
	}
	for _, c := range clauses {
		if !t.is(c.words[0]) {
			continue
		}
		ahead := *s
		if len(c.words) == 1 || ahead.next().is(c.words[1]) {
			return true
		}
	}
	return false
}

// closing returns the offset after the parenthesis that closes the one at start.
func (p *parser) closing(start int) int {
	s := scanner{Scanner: lexer.Scanner{Text: p.Text, At: start}}
	defer func() { p.steps += s.steps }()
	for depth := 0; ; {
		t := s.next()
		switch err := unclosed(t.Token); {
		case err != nil:
			p.fail(t.Start, *err)
			return 0
		case t.Kind == lexer.End:
			p.fail(start, Error{Reason: "the parenthesis that begins here is not closed", Hint: "end it with )"})
			return 0
		case t.IsSymbol("("):
			depth++
		case t.IsSymbol(")"):
			depth--
		}
		switch {
		case depth == 0:
			return t.Stop
		case depth > nestingMax:
			p.nestedTooDeep(t)
			return 0
		}
	}
}

func (p *parser) nestedTooDeep(t token) {
	p.fail(t.Start, Error{Reason: fmt.Sprintf("parentheses are nested more than %d levels deep", nestingMax), Hint: "write the expression in single quotes", State: limitExceeded})
}

func (t Partition) print() string {
	switch t.Strategy {
	case SingleShard:
		return t.Strategy + " " + quoteString(t.Shards[0])
	case ShardSet:
		return t.Strategy + " (" + join(t.Shards, ", ", quoteString) + ")"
	case Dynamic:
		return t.Strategy + " " + quoteString(t.Expression)
	default:
		return t.Strategy
	}
}
