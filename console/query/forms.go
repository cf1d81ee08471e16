package query

// forms are the functions that SQL calls in a way of their own. They are given the
// word, and the parenthesis comes next.
var forms map[string]func(*parser, token) Expr

// It is filled here because the forms take values, which may be forms.
func init() {
	forms = map[string]func(*parser, token) Expr{
		"exists": (*parser).exists, "row": (*parser).row, "extract": (*parser).extract,
		"position": (*parser).position, "substring": (*parser).substring,
		"overlay": (*parser).overlay, "trim": (*parser).trim,
	}
}

func (p *parser) exists(t token) Expr {
	p.open("(")
	e := &Exists{At: At(t.at), Query: p.query()}
	p.close(")")
	return e
}

func (p *parser) row(t token) Expr {
	r := &Row{At: At(t.at)}
	p.open("(")
	if !p.now().sign(")") {
		r.Elems = p.list()
	}
	p.close(")")
	return r
}

func (p *parser) extract(t token) Expr {
	e := &Extract{At: At(t.at)}
	p.open("(")
	if f := p.now(); !f.isLabel() && f.kind != aString {
		p.expected("a field such as YEAR")
	}
	e.Field = lower(p.take().text)
	p.expect("from")
	e.X = p.value()
	p.close(")")
	return e
}

// position takes position(a IN b), which becomes a call with a and b in that order:
// what is looked for comes first.
func (p *parser) position(t token) Expr {
	p.open("(")
	a := p.above(matched + 1)
	p.expect("in")
	b := p.above(matched + 1)
	p.close(")")
	return form(t, "position", a, b)
}

func form(t token, name string, args ...Expr) *Call {
	return &Call{At: At(t.at), Path: []Name{{Text: name, At: t.at}}, Args: args}
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
	return form(t, "substring", given(append(args, from, count))...)
}

// given are the values that are there.
func given(all []Expr) (some []Expr) {
	for _, x := range all {
		if x != nil {
			some = append(some, x)
		}
	}
	return some
}

func (p *parser) overlay(t token) Expr {
	p.open("(")
	args := p.list()
	if len(args) == 1 {
		p.expect("placing")
		args = append(args, p.value())
		p.expect("from")
		args = append(args, p.value())
		if p.accept("for") {
			args = append(args, p.value())
		}
	}
	p.close(")")
	return form(t, "overlay", args...)
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
	if !p.now().word("from") {
		args = p.list()
	}
	if len(args) < 2 && p.accept("from") {
		chars, args = args, p.list()
	}
	p.close(")")
	return form(t, name, append(args, chars...)...)
}

// cast takes CAST(x AS type).
func (p *parser) cast() Expr {
	c := &Cast{At: At(p.take().at)}
	p.open("(")
	c.X = p.value()
	p.expect("as")
	c.Type = p.typeName()
	p.close(")")
	return c
}

// array takes ARRAY[…], or ARRAY(query).
func (p *parser) array() Expr {
	at := p.take().at
	if !p.now().sign("(") {
		return p.elements(at)
	}
	p.open("(")
	a := &Array{At: At(at), Query: p.query()}
	p.close(")")
	return a
}

// elements takes those of an array. Brackets in it are arrays as well.
func (p *parser) elements(at int) Expr {
	a := &Array{At: At(at)}
	p.open("[")
	for !p.now().sign("]") {
		if t := p.now(); t.sign("[") {
			a.Elems = append(a.Elems, p.elements(t.at))
		} else {
			a.Elems = append(a.Elems, p.value())
		}
		if !p.acceptSign(",") {
			break
		}
	}
	p.close("]")
	return a
}

// caseOf takes CASE.
func (p *parser) caseOf() Expr {
	p.enter()
	c := &Case{At: At(p.take().at)}
	if !p.now().word("when") {
		c.Of = p.value()
	}
	for len(c.Whens) == 0 || p.now().word("when") {
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
