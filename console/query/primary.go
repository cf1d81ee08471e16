package query

// operand takes what operators stand between, with the signs before it and the
// casts behind it.
func (p *parser) operand() Expr {
	t := p.now()
	switch {
	case t.word("not"):
		return p.prefix("NOT", negated)
	case t.operator("+") || t.operator("-"):
		return p.prefix(t.text, signed)
	case t.kind == anOperator && !t.operator("*"):
		return p.prefix(t.text, other+1)
	case t.word("operator") && p.ahead(1).sign("("):
		return p.prefixNamed()
	}
	x := p.primary()
	for p.acceptSign("::") {
		x = &Cast{At: place(x), X: x, Type: p.typeName()}
	}
	return x
}

// prefix takes a sign before a value. What may not stand there, such as =, is no
// sign.
func (p *parser) prefix(op string, least strength) Expr {
	if signStrength[op] != none && op != "+" && op != "-" {
		p.expected("a value")
	}
	p.enter()
	u := &Unary{At: At(p.take().at), Op: op}
	u.X = p.above(least)
	p.leave()
	return u
}

func (p *parser) prefixNamed() Expr {
	p.enter()
	u := &Unary{At: At(p.now().at)}
	schema := ""
	if u.Op, schema = p.namedOperator(); schema != "" && schema != "pg_catalog" {
		p.unsupported(u.Place(), "a prefix operator of another schema", "")
	}
	u.X = p.above(other + 1)
	p.leave()
	return u
}

// primary takes a value without operators.
func (p *parser) primary() Expr {
	t := p.now()
	at := At(t.at)
	switch t.kind {
	case aNumber:
		p.take()
		return p.subscripts(&Number{At: at, Text: t.text}, false)
	case aString:
		p.take()
		return p.subscripts(&String{At: at, Value: t.text}, false)
	case bytesString:
		p.take()
		return &Cast{At: at, X: &String{At: at, Value: t.text}, Type: &Type{At: t.at, Name: "bytea"}, Literal: true}
	case aParam, aQuestion:
		return p.subscripts(p.param(), true)
	case aWord:
		return p.wordValue(t)
	case aName:
		return p.nameValue()
	}
	switch {
	case t.sign("("):
		return p.subscripts(p.paren(), true)
	case t.sign("["):
		return p.nameValue()
	case t.sign(":"):
		fail(stateSyntax, t.at, "expected a value, found :", "write parameters as $1 or ?")
	}
	p.expected("a value")
	return nil
}

// wordValue takes a value that begins with a word.
func (p *parser) wordValue(t token) Expr {
	at := At(t.at)
	switch t.text {
	case "null":
		p.take()
		return &Null{At: at}
	case "true", "false":
		p.take()
		return &Bool{At: at, Value: t.text == "true"}
	case "case":
		return p.caseOf()
	case "cast":
		return p.cast()
	case "array":
		return p.subscripts(p.array(), false)
	}
	switch next := p.ahead(1); {
	case bareTimes[t.text] || bareCalls[t.text] && !next.sign("("):
		return p.bareCall()
	case p.startsTyped():
		return p.typed()
	case next.sign("(") && forms[t.text] != nil:
		p.take()
		return p.subscripts(forms[t.text](p, t), false)
	case !t.isFunction(), !t.isName() && !next.sign("(") && next.kind != aString:
		p.expected("a value")
	}
	return p.nameValue()
}

// bareCall takes a function that is called without parentheses.
func (p *parser) bareCall() Expr {
	t := p.take()
	c := &Call{At: At(t.at), Path: []Name{t.name()}, Bare: true}
	if bareTimes[t.text] && p.now().sign("(") {
		p.open("(")
		c.Args = p.list()
		p.close(")")
	}
	return c
}

// paren takes what stands in parentheses: a value, several, or a query.
func (p *parser) paren() Expr {
	at := At(p.now().at)
	p.open("(")
	var x Expr
	if p.startsQuery() {
		x = &Scalar{At: at, Query: p.query()}
	} else {
		x = p.parenValues(at)
	}
	p.close(")")
	return x
}

func (p *parser) parenValues(at At) Expr {
	list := p.list()
	if len(list) > 1 {
		return &Row{At: at, Elems: list}
	}
	if q := p.onlyQuery(list); q != nil {
		return &Scalar{At: at, Query: q}
	}
	return list[0]
}

// subscripts takes [1] and [1:2], and the fields of what may have some.
func (p *parser) subscripts(x Expr, fields bool) Expr {
	for {
		switch {
		case p.now().sign("["):
			x, fields = p.subscript(x), true
		case !fields || !p.now().sign("."):
			return x
		default:
			p.take()
			if p.now().operator("*") {
				p.take()
				return &Star{At: place(x), Of: x}
			}
			x = &Field{At: place(x), X: x, Name: p.label("the name of a field")}
		}
	}
}

func (p *parser) subscript(x Expr) Expr {
	i := &Index{At: place(x), X: x}
	p.open("[")
	if !p.now().sign(":") {
		i.I = p.value()
	}
	if p.acceptSign(":") {
		i.Slice = true
		if !p.now().sign("]") {
			i.To = p.value()
		}
	}
	p.close("]")
	return i
}

// nameValue takes what begins with a name: a column, all columns, a call, or a text
// with its type before it.
func (p *parser) nameValue() Expr {
	at := p.now().at
	path := p.pathFrom(p.label("a value"))
	switch t := p.now(); {
	case t.sign("."): // the star behind it stopped the path
		p.take()
		p.take()
		return &Star{At: At(at), Path: path}
	case t.sign("("):
		return p.calledOrTyped(path)
	case t.kind == aString:
		return p.typedText(pathAsType(path))
	}
	return p.subscripts(&Column{At: At(at), Path: path}, true)
}

func pathAsType(path []Name) *Type {
	last := path[len(path)-1]
	t := &Type{At: path[0].At, Name: last.Text, Quoted: last.Quoted}
	if len(path) > 1 {
		t.Schema = path[len(path)-2].Text
	}
	return t
}
