package query

import "github.com/rotajobs/rota/sql/lexer"

// specialForms parse the functions that have a syntax of their own. Each gets the token of the function; the next token
// is the parenthesis.
var specialForms map[string]func(*parser, token) Expr

// It is filled here because the forms take values, which may be forms.
func init() {
	specialForms = map[string]func(*parser, token) Expr{
		"exists": (*parser).exists, "row": (*parser).row, "extract": (*parser).extract,
		"position": (*parser).position, "substring": (*parser).substring,
		"overlay": (*parser).overlay, "trim": (*parser).trim,
	}
}

func (p *parser) exists(t token) Expr {
	p.open("(")
	e := &Exists{At: At(t.Start), Query: p.query()}
	p.close(")")
	return e
}

func (p *parser) row(t token) Expr {
	r := &Row{At: At(t.Start)}
	p.open("(")
	if !p.peek().IsSymbol(")") {
		r.Elems = p.list()
	}
	p.close(")")
	return r
}

func (p *parser) extract(t token) Expr {
	e := &Extract{At: At(t.Start)}
	p.open("(")
	if f := p.peek(); !f.isLabel() && f.Kind != lexer.String {
		p.expected("a field such as YEAR")
	}
	e.Field = lower(p.take().Text)
	p.expect("from")
	e.X = p.value()
	p.close(")")
	return e
}

// position takes position(a IN b), which becomes a call with a and b in that order:
// the text to find comes first.
func (p *parser) position(t token) Expr {
	p.open("(")
	a := p.valueWithPrecedence(matchPrecedence + 1)
	p.expect("in")
	b := p.valueWithPrecedence(matchPrecedence + 1)
	p.close(")")
	return specialCall(t, "position", a, b)
}

func specialCall(t token, name string, args ...Expr) *Call {
	return &Call{At: At(t.Start), Path: []Name{{Text: name, At: t.Start}}, Args: args}
}

// substring takes FROM and FOR in either order. Without FROM it is from the first.
func (p *parser) substring(t token) Expr {
	p.open("(")
	args := p.list()
	var from, count Expr
	for len(args) == 1 {
		if from == nil && p.accept("from") {
			from = p.value()
		} else if count == nil && p.accept("for") {
			count = p.value()
		} else {
			break
		}
	}
	if from == nil && count != nil {
		from = &Number{At: place(count), Text: "1"}
	}
	p.close(")")
	return specialCall(t, "substring", nonNil(append(args, from, count))...)
}

// nonNil returns the values that are not nil.
func nonNil(all []Expr) (some []Expr) {
	for _, x := range all {
		if x != nil {
			some = append(some, x)
		}
	}
	return some
}

func (p *parser) overlay(t token) Expr {
	p.unsupported(t.Start, "OVERLAY", "use left, right and ||")
	return nil
}

// trim takes trim(BOTH 'x' FROM y), of which all but y may be missing.
func (p *parser) trim(t token) Expr {
	p.open("(")
	name := "btrim"
	switch {
	case p.accept("leading"):
		name = "ltrim"
	case p.accept("trailing"):
		name = "rtrim"
	default:
		p.accept("both")
	}
	var args, chars []Expr
	if !p.peek().word("from") {
		args = p.list()
	}
	if len(args) < 2 && p.accept("from") {
		chars, args = args, p.list()
	}
	p.close(")")
	return specialCall(t, name, append(args, chars...)...)
}

// cast takes CAST(x AS type).
func (p *parser) cast() Expr {
	c := &Cast{At: At(p.take().Start)}
	p.open("(")
	c.X = p.value()
	p.expect("as")
	c.Type = p.typeName()
	p.close(")")
	return c
}

// array takes ARRAY[…], or ARRAY(query).
func (p *parser) array() Expr {
	at := p.take().Start
	if !p.peek().IsSymbol("(") {
		return p.elements(at)
	}
	p.open("(")
	a := &Array{At: At(at), Query: p.query()}
	p.close(")")
	return a
}

// elements takes those of an array.
func (p *parser) elements(at int) Expr {
	a := &Array{At: At(at)}
	p.open("[")
	switch t := p.peek(); {
	case t.IsSymbol("["):
		p.unsupported(t.Start, "an array with several dimensions", "use jsonb")
	case !t.IsSymbol("]"):
		a.Elems = p.list()
	}
	p.close("]")
	return a
}

// caseExpr takes CASE.
func (p *parser) caseExpr() Expr {
	p.enter()
	c := &Case{At: At(p.take().Start)}
	if !p.peek().word("when") {
		c.Of = p.value()
	}
	for len(c.Whens) == 0 || p.peek().word("when") {
		p.expect("when")
		w := When{If: p.value()}
		p.expect("then")
		w.Then = p.value()
		c.Whens = append(c.Whens, w)
	}
	if p.accept("else") {
		c.Else = p.value()
	}
	if !p.accept("end") {
		p.expected("WHEN, ELSE or END", "WHEN", "ELSE", "END")
	}
	p.leave()
	return c
}
