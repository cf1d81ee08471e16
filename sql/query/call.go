package query

// call takes the arguments of a function.
func (p *parser) call(path []Name) *Call {
	c := &Call{At: At(path[0].At), Path: path}
	p.open("(")
	switch {
	case p.peek().IsSymbol(")"):
	case p.peek().operator("*"):
		p.take()
		c.Star = true
	default:
		if c.Distinct = p.accept("distinct"); !c.Distinct {
			p.accept("all")
		}
		p.arguments(c)
		if p.accept("order") {
			p.expect("by")
			c.Order = p.terms()
		}
	}
	p.close(")")
	return c
}

// arguments takes values with commas between them, some with a name. Where one has
// a name, Names is as long as Args, and empty for those that have none.
func (p *parser) arguments(c *Call) {
	for {
		name := p.argumentName()
		if c.Names == nil && name.Text != "" {
			c.Names = make([]Name, len(c.Args))
		}
		if c.Names != nil {
			p.nameArgument(c, name)
		}
		if t := p.peek(); p.accept("variadic") {
			p.unsupported(t.Start, "VARIADIC", "use array_to_string")
		}
		c.Args = append(c.Args, p.value())
		if !p.acceptSymbol(",") {
			return
		}
	}
}

func (p *parser) nameArgument(c *Call, name Name) {
	if name.Text == "" {
		fail(stateSyntax, p.peek().Start, "positional argument cannot follow named argument", "name this argument as well, or put it before the named ones")
	}
	c.Names = append(c.Names, name)
}

func (p *parser) argumentName() (name Name) {
	if next := p.peekAt(1); p.peek().isLabel() && (next.IsSymbol("=>") || next.IsSymbol(":=")) {
		name = p.take().name()
		p.take()
	}
	return name
}

// aggregated parses the suffixes of a call: WITHIN GROUP, FILTER and OVER.
func (p *parser) aggregated(c *Call) Expr {
	if p.accept("within", "group") {
		p.open("(")
		p.expect("order", "by")
		c.Within = p.terms()
		p.close(")")
	}
	if p.peek().word("filter") && p.peekAt(1).IsSymbol("(") {
		p.take()
		p.open("(")
		p.expect("where")
		c.Filter = p.value()
		p.close(")")
	}
	if t := p.peek(); t.word("respect", "ignore") && p.peekAt(1).word("nulls") {
		p.unsupported(t.Start, upper(t.Text)+" NULLS", "")
	}
	if p.accept("over") {
		c.Over = p.over()
	}
	return c
}
