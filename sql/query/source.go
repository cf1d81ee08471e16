package query

// sources parses the sources of FROM.
func (p *parser) sources() []Source {
	return separated(p, func() Source { return p.joins(p.source()) })
}

// source takes one source, joins aside.
func (p *parser) source() Source {
	switch t := p.peek(); {
	case t.IsSymbol("("):
		source, q := p.parenthesised()
		if q != nil {
			return p.derived(t.Start, false, q)
		}
		return source
	case t.word("lateral"):
		return p.lateral()
	case t.word("only"):
		p.take() // no table has child tables
	case t.word("rows") && p.peekAt(1).word("from"):
		p.unsupported(t.Start, "ROWS FROM", "join the functions on their WITH ORDINALITY columns")
	case t.word("select", "values", "with"):
		p.expected("a table")
	}
	return p.named(false)
}

// parenthesised parses joined sources or a query in parentheses. For ((…) …) only the tokens after the inner
// parentheses decide which it is.
func (p *parser) parenthesised() (source Source, q *Query) {
	at := p.peek().Start
	p.open("(")
	switch {
	case p.startsQuery():
		q = p.query()
	case p.peek().IsSymbol("("):
		inner := p.peek().Start
		source, q = p.parenthesised()
		switch {
		case q != nil && p.continuesQuery():
			q = p.queryFrom(q)
		case q != nil && !p.peek().IsSymbol(")"):
			source, q = p.joins(p.derived(inner, false, q)), nil
		case q == nil:
			source = p.joins(source)
		}
	default:
		source = p.joins(p.source())
	}
	p.close(")")
	if t := p.peek(); source != nil && (t.word("as") || t.isName()) {
		p.unsupported(at, "an alias for joined tables in parentheses", "give each table its own alias, or select from the join")
	}
	return source, q
}

func (p *parser) derived(at int, lateral bool, q *Query) *Derived {
	p.rejectTableSample()
	return &Derived{At: at, Lateral: lateral, Query: q, Alias: p.sourceAlias()}
}

func (p *parser) lateral() Source {
	at := p.take().Start
	if !p.peek().IsSymbol("(") {
		return p.named(true)
	}
	source, q := p.parenthesised()
	if source != nil {
		fail(stateSyntax, at, "LATERAL must be followed by a subquery or a function", "")
	}
	return p.derived(at, true, q)
}

// table parses the table of a TABLE command, without an alias.
func (p *parser) table() *Table {
	p.accept("only")
	t := &Table{At: p.peek().Start, Path: p.path("a table")}
	if p.peek().operator("*") {
		p.take()
	}
	return t
}

// named takes a table, or a function that yields rows.
func (p *parser) named(lateral bool) Source {
	t := p.peek()
	if !t.isName() && (!t.isFunction() || !p.peekAt(1).IsSymbol("(")) {
		p.expected("a table")
	}
	path := p.pathFrom(p.label("a table"))
	if p.peek().IsSymbol("(") {
		return p.functionSource(t.Start, lateral, path)
	}
	if lateral {
		p.expected("(")
	}
	if p.peek().operator("*") {
		p.take()
	}
	return p.aliased(&Table{At: t.Start, Path: path})
}

func (p *parser) aliased(t *Table) *Table {
	p.rejectTableSample()
	t.Alias = p.sourceAlias()
	p.rejectTableSample()
	return t
}

func (p *parser) rejectTableSample() {
	if t := p.peek(); t.word("tablesample") {
		p.unsupported(t.Start, "TABLESAMPLE", "use ORDER BY md5(x) and LIMIT")
	}
}

func (p *parser) functionSource(at int, lateral bool, path []Name) Source {
	f := &FuncSource{At: at, Lateral: lateral, Call: p.call(path)}
	f.Ordinality = p.accept("with", "ordinality")
	f.Alias = p.sourceAlias()
	return f
}

// sourceAlias takes AS alias (columns), of which all may be missing.
func (p *parser) sourceAlias() (a Alias) {
	switch as := p.accept("as"); {
	case as && p.peek().IsSymbol("("):
	case as:
		name := p.name("an alias")
		a.Name = &name
	case p.peek().isName():
		name := p.aliasWithoutAs()
		a.Name = &name
	default:
		return a
	}
	if p.peek().IsSymbol("(") {
		a.Columns = p.names("the name of a column")
	}
	return a
}
