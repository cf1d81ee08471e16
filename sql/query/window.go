package query

import (
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// windows takes those that a SELECT gives names.
func (p *parser) windows() []*Window {
	return separated(p, func() *Window {
		at := p.peek().Start
		name := p.name("a name for the window")
		p.expect("as")
		w := p.window()
		w.At, w.Name = at, &name
		return w
	})
}

// over parses the window after OVER: a name or a definition.
func (p *parser) over() *Window {
	if p.peek().IsSymbol("(") {
		return p.window()
	}
	at := p.peek().Start
	name := p.name("a window")
	return &Window{At: at, Name: &name}
}

func (p *parser) window() *Window {
	w := &Window{At: p.peek().Start}
	p.open("(")
	if t := p.peek(); t.isName() && !t.word("partition", "range", "rows", "groups") {
		p.unsupported(t.Start, "a window that extends another one", "write the whole window, or OVER name")
	}
	if p.accept("partition") {
		p.expect("by")
		w.Partition = p.list()
	}
	if p.accept("order") {
		p.expect("by")
		w.Order = p.terms()
	}
	if p.peek().word("range", "rows", "groups") {
		w.Frame = strings.Join(p.frame(), " ")
	}
	p.close(")")
	return w
}

// frame parses a frame into words. Text is enough, because a frame holds only constants.
func (p *parser) frame() []string {
	words := []string{upper(p.take().Text)}
	if p.accept("between") {
		words = append(append(words, "BETWEEN"), p.bound()...)
		p.expect("and")
		words = append(append(words, "AND"), p.bound()...)
	} else {
		words = append(words, p.bound()...)
	}
	if t := p.peek(); t.word("exclude") {
		p.unsupported(t.Start, "EXCLUDE", "")
	}
	return words
}

// bound takes one end of a frame.
func (p *parser) bound() (words []string) {
	switch t := p.peek(); {
	case p.accept("current", "row"):
		return []string{"CURRENT", "ROW"}
	case p.accept("unbounded"):
		words = append(words, "UNBOUNDED")
	case t.Kind == lexer.Number:
		words = append(words, p.take().Text)
	default:
		p.badBound(t)
	}
	if !p.peek().word("preceding", "following") {
		p.badBound(p.peek())
	}
	return append(words, upper(p.take().Text))
}

// badBound fails at what a frame cannot begin or end with.
func (p *parser) badBound(t token) {
	words := []string{"UNBOUNDED", "CURRENT", "PRECEDING", "FOLLOWING"}
	if t.Kind == lexer.End || t.IsSymbol(")") || p.suggestWord(t, words) != "" {
		p.expected("the bound of a frame", words...)
	}
	p.unsupported(t.Start, "a frame bound that is not a number", "write 3 PRECEDING, or UNBOUNDED PRECEDING")
}
