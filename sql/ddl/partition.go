package ddl

import (
	"fmt"
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

// expression parses the expression that selects shards: a string, or any text between parentheses.
func (p *parser) expression() string {
	if p.tok.Kind == lexer.String {
		return p.nonEmptyString("the expression")
	}
	if !p.tok.IsSymbol("(") {
		p.unexpected("an expression in single quotes or parentheses")
		return ""
	}
	open := p.tok
	end := p.closing(open.Start)
	if p.err != nil {
		return ""
	}
	text := strings.TrimSpace(p.Text[open.Stop : end-1])
	if text == "" {
		p.failAt(open, badValue, "the expression is empty", "write it between the parentheses")
		return ""
	}
	p.continueAt(end)
	return text
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
			p.fail(t.Start, Error{Reason: fmt.Sprintf("parentheses are nested more than %d levels deep", nestingMax), Hint: "write the expression in single quotes", State: limitExceeded})
			return 0
		}
	}
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
