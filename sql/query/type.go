package query

import "github.com/rotajobs/rota/sql/lexer"

// typeName takes the name of a type.
func (p *parser) typeName() *Type {
	t := &Type{At: p.peek().Start}
	switch first := p.peek(); {
	case first.word("double"):
		t.Name = p.oneOrTwoWords("double", "precision")
	case first.word("character", "char"):
		t.Name = p.oneOrTwoWords(first.Text, "varying")
	case first.word("time", "timestamp"):
		p.timeType(t)
	case first.word("interval"):
		p.take()
		t.Name = "interval"
		t.Mods = p.mods()
		p.intervalField(t)
	default:
		p.pathType(t)
	}
	if t.Mods == nil && p.peek().IsSymbol("(") {
		t.Mods = p.mods()
	}
	p.dimensions(t)
	return t
}

// oneOrTwoWords takes a word and an optional second word.
func (p *parser) oneOrTwoWords(first, second string) string {
	p.take()
	if p.accept(second) {
		return first + " " + second
	}
	return first
}

func (p *parser) timeType(t *Type) {
	t.Name = p.take().Text
	t.Mods = p.mods()
	for _, with := range []string{"with", "without"} {
		if p.accept(with, "time", "zone") {
			t.Name += " " + with + " time zone"
			return
		}
	}
}

func (p *parser) pathType(t *Type) {
	first := p.peek()
	if !first.isFunction() {
		p.expected("a type")
	}
	path := p.pathFrom(p.label("a type"))
	last := path[len(path)-1]
	t.Name, t.Quoted = last.Text, last.Quoted
	switch len(path) {
	case 1:
	case 2:
		t.Schema = path[0].Text
	default:
		fail(stateSyntax, first.Start, "the name of the type has more than two parts", "write type or schema.type")
	}
}

// mods parses the modifiers in parentheses after a type, which are lengths.
func (p *parser) mods() (mods []string) {
	if !p.peek().IsSymbol("(") {
		return nil
	}
	p.open("(")
	mods = separated(p, func() string {
		if p.peek().Kind != lexer.Number {
			p.expected("a number")
		}
		return p.take().Text
	})
	p.close(")")
	return mods
}

// dimensions takes the brackets of an array, or the word.
func (p *parser) dimensions(t *Type) {
	if p.accept("array") {
		t.Array = 1
		if p.peek().IsSymbol("[") {
			p.dimension()
		}
		return
	}
	for p.peek().IsSymbol("[") {
		p.dimension()
		t.Array++
	}
}

func (p *parser) dimension() {
	p.open("[")
	if p.peek().Kind == lexer.Number {
		p.take()
	}
	p.close("]")
}

// intervalField parses DAY after an interval.
func (p *parser) intervalField(t *Type) {
	if !p.peek().word(intervalWords...) {
		return
	}
	t.Field = p.take().Text
	if next := p.peek(); next.word("to") || next.IsSymbol("(") {
		p.unsupported(next.Start, "an interval with a range of fields or a precision", "write interval '1 day 2 hours'")
	}
}

var intervalWords = []string{"year", "month", "day", "hour", "minute", "second"}

// startsTyped reports whether a typed literal comes next whose type is more than a name, such as double precision '1'.
func (p *parser) startsTyped() bool {
	next := p.peekAt(1)
	switch t := p.peek(); {
	case t.word("double"):
		return next.word("precision")
	case t.word("character", "char"):
		return next.word("varying")
	case t.word("time", "timestamp"):
		return next.Kind == lexer.String || next.word("with", "without") && p.peekAt(2).word("time")
	case t.word("interval"):
		return next.Kind == lexer.String
	}
	return false
}

// typed takes a type and the text that is read as one: date '2024-01-01'.
func (p *parser) typed() Expr {
	return p.typedText(p.typeName())
}

func (p *parser) typedText(t *Type) Expr {
	if p.peek().Kind != lexer.String {
		p.expected("a text")
	}
	if t.Array > 0 {
		fail(stateSyntax, t.At, "a string cannot be prefixed with an array type", "write '{…}'::"+t.Name+"[]")
	}
	text := p.take()
	if t.Name == "interval" && !t.Quoted && t.Field == "" {
		p.intervalField(t)
	}
	return &Cast{At: At(t.At), X: &String{At: At(text.Start), Value: text.Text}, Type: t}
}
