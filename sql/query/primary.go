package query

import "github.com/rotajobs/rota/sql/lexer"

// operand parses an operand with its prefix operators and casts.
func (p *parser) operand() Expr {
	t := p.peek()
	switch {
	case t.word("not"):
		return p.prefix("NOT", notPrecedence)
	case t.operator("+") || t.operator("-"):
		return p.prefix(t.Text, unaryPrecedence)
	case t.Kind == operatorToken && !t.operator("*"):
		return p.prefix(t.Text, otherPrecedence+1)
	case t.word("operator") && p.peekAt(1).IsSymbol("("):
		p.unsupported(t.Start, "OPERATOR before a value", "")
	}
	x := p.primary()
	for p.acceptSymbol("::") {
		x = &Cast{At: place(x), X: x, Type: p.typeName()}
	}
	return x
}

// prefix parses a prefix operator and its value. It fails if the operator is infix only, such as =.
func (p *parser) prefix(op string, least precedence) Expr {
	if symbolPrecedence[op] != noPrecedence && op != "+" && op != "-" {
		p.expected("a value")
	}
	p.enter()
	u := &Unary{At: At(p.take().Start), Op: op}
	u.X = p.valueWithPrecedence(least)
	p.leave()
	return u
}

// primary takes a value without operators.
func (p *parser) primary() Expr {
	t := p.peek()
	at := At(t.Start)
	switch t.Kind {
	case lexer.Number:
		p.take()
		return p.subscripts(&Number{At: at, Text: t.Text}, false)
	case lexer.String:
		p.take()
		return p.subscripts(&String{At: at, Value: t.Text}, false)
	case paramToken, questionToken:
		return p.subscripts(p.param(), true)
	case lexer.Word:
		return p.wordValue(t)
	case lexer.Name:
		return p.nameValue()
	}
	switch {
	case t.IsSymbol("("):
		return p.subscripts(p.paren(), true)
	case t.IsSymbol(":"):
		fail(stateSyntax, t.Start, "expected a value, found :", "write parameters as $1 or ?")
	}
	p.expected("a value")
	return nil
}

// wordValue takes a value that begins with a word.
func (p *parser) wordValue(t token) Expr {
	at := At(t.Start)
	switch t.Text {
	case "null":
		p.take()
		return &Null{At: at}
	case "true", "false":
		p.take()
		return &Bool{At: at, Value: t.Text == "true"}
	case "case":
		return p.caseExpr()
	case "cast":
		return p.cast()
	case "array":
		return p.subscripts(p.array(), false)
	}
	switch next := p.peekAt(1); {
	case timesWithoutParens[t.Text] || callsWithoutParens[t.Text] && !next.IsSymbol("("):
		return p.callWithoutParens()
	case p.startsTyped():
		return p.typed()
	case next.IsSymbol("(") && specialForms[t.Text] != nil:
		p.take()
		return p.subscripts(specialForms[t.Text](p, t), false)
	case !t.isFunction(), !t.isName() && !next.IsSymbol("(") && next.Kind != lexer.String:
		p.expected("a value")
	}
	return p.nameValue()
}

// callWithoutParens takes a function that is called without parentheses.
func (p *parser) callWithoutParens() Expr {
	t := p.take()
	c := &Call{At: At(t.Start), Path: []Name{t.name()}}
	if timesWithoutParens[t.Text] && p.peek().IsSymbol("(") {
		p.open("(")
		c.Args = p.list()
		p.close(")")
	}
	return c
}

// paren parses the content of parentheses: a value, several, or a query.
func (p *parser) paren() Expr {
	at := At(p.peek().Start)
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

// subscripts takes [1], and the fields of what may have some.
func (p *parser) subscripts(x Expr, fields bool) Expr {
	for {
		switch {
		case p.peek().IsSymbol("["):
			x, fields = p.subscript(x), true
		case !fields || !p.peek().IsSymbol("."):
			return x
		default:
			p.take()
			if p.peek().operator("*") {
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
	if !p.peek().IsSymbol(":") {
		i.I = p.value()
	}
	if t := p.peek(); t.IsSymbol(":") {
		p.unsupported(t.Start, "a slice of an array", "select the elements one by one, or use unnest")
	}
	p.close("]")
	return i
}

// nameValue takes what begins with a name: a column, all columns, a call, or a text
// with its type before it.
func (p *parser) nameValue() Expr {
	at := p.peek().Start
	path := p.pathFrom(p.label("a value"))
	switch t := p.peek(); {
	case t.IsSymbol("."): // a star follows and ended the path
		p.take()
		p.take()
		return &Star{At: At(at), Path: path}
	case t.IsSymbol("("):
		c := p.call(path)
		if next := p.peek(); next.Kind == lexer.String && len(c.Args) > 0 && isNumber(c.Args[0]) {
			p.unsupported(next.Start, "a literal of a type with a length", "cast it: '…'::"+path[len(path)-1].Text+"(…)")
		}
		return p.subscripts(p.aggregated(c), false)
	case t.Kind == lexer.String:
		return p.typedText(pathAsType(path))
	}
	return p.subscripts(&Column{At: At(at), Path: path}, true)
}

func isNumber(x Expr) bool { _, is := x.(*Number); return is }

func pathAsType(path []Name) *Type {
	last := path[len(path)-1]
	t := &Type{At: path[0].At, Name: last.Text, Quoted: last.Quoted}
	if len(path) > 1 {
		t.Schema = path[len(path)-2].Text
	}
	return t
}
