package query

import "github.com/rotajobs/rota/sql/lexer"

// query parses a whole query: WITH, the body, ORDER BY and LIMIT.
func (p *parser) query() *Query {
	q := &Query{At: p.peek().Start}
	if p.accept("with") {
		q.Recursive = p.accept("recursive")
		q.With = p.commons()
	}
	q.Body = p.union(p.intersection(p.rows()))
	return p.orderAndLimit(q)
}

// queryFrom continues a query whose first part is a query in parentheses that was already parsed.
func (p *parser) queryFrom(first *Query) *Query {
	q := &Query{At: first.At}
	q.Body = p.union(p.intersection(bodyOf(first)))
	return p.orderAndLimit(q)
}

// startsQuery reports whether a query without parentheses comes next.
func (p *parser) startsQuery() bool {
	t := p.peek()
	return t.word("select", "with", "table") || t.word("values") && p.peekAt(1).IsSymbol("(")
}

// continuesQuery reports whether the next token continues a query in parentheses, such as UNION or LIMIT.
func (p *parser) continuesQuery() bool {
	return p.peek().word("union", "intersect", "except", "order", "limit", "offset", "fetch", "for")
}

// bodyOf returns a query in parentheses as a body: without WITH, ORDER BY, LIMIT and OFFSET it is the inner body.
func bodyOf(q *Query) Body {
	if q.With == nil && q.Order == nil && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

func (p *parser) commons() []*Common {
	return separated(p, func() *Common {
		c := p.common()
		if t := p.peek(); t.word("search", "cycle") {
			p.unsupported(t.Start, "SEARCH or CYCLE", "keep the path in a column")
		}
		return c
	})
}

func (p *parser) common() *Common {
	c := &Common{Name: p.name("a name for the query")}
	if p.peek().IsSymbol("(") {
		c.Columns = p.names("the name of a column")
	}
	p.expect("as")
	// MATERIALIZED and NOT MATERIALIZED are accepted and ignored.
	if p.accept("not") {
		p.expect("materialized")
	} else {
		p.accept("materialized")
	}
	p.open("(")
	if t := p.peek(); t.word("insert", "update", "delete", "merge") {
		p.unsupported(t.Start, p.tokenText(t)+" in WITH", "queries are read-only")
	}
	c.Query = p.query()
	p.close(")")
	return c
}

// intersection parses a chain of INTERSECT, which binds tighter than UNION.
func (p *parser) intersection(left Body) Body {
	for p.peek().word("intersect") {
		c := p.compound(left)
		c.Right = p.rows()
		left = c
	}
	return left
}

func (p *parser) union(left Body) Body {
	for p.peek().word("union", "except") {
		c := p.compound(left)
		c.Right = p.intersection(p.rows())
		left = c
	}
	return left
}

func (p *parser) compound(left Body) *Compound {
	t := p.take()
	c := &Compound{At: t.Start, Op: upper(t.Text), Left: left}
	if c.All = p.accept("all"); !c.All {
		p.accept("distinct")
	}
	return c
}

// rows takes one part of a query.
func (p *parser) rows() Body {
	switch t := p.peek(); {
	case t.word("select"):
		return p.selection()
	case t.word("values"):
		return p.values()
	case t.word("table"):
		return p.wholeTable()
	case t.IsSymbol("("):
		p.open("(")
		q := p.query()
		p.close(")")
		return bodyOf(q)
	}
	p.expected("SELECT, VALUES, TABLE or WITH", "SELECT", "VALUES", "TABLE", "WITH")
	return nil
}

func (p *parser) values() *Values {
	v := &Values{At: p.take().Start}
	v.Rows = separated(p, func() []Expr {
		p.open("(")
		row := p.list()
		p.close(")")
		return row
	})
	return v
}

// wholeTable takes TABLE name, which is SELECT * FROM name.
func (p *parser) wholeTable() *Select {
	at := p.take().Start
	star := &Item{Expr: &Star{At: At(at)}}
	return &Select{At: at, Items: []*Item{star}, From: []Source{p.table()}}
}

func (p *parser) selection() *Select {
	s := &Select{At: p.take().Start}
	p.distinct(s)
	if !p.endsItems() {
		s.Items = p.items()
	}
	if t := p.peek(); t.word("into") {
		p.unsupported(t.Start, "SELECT INTO", "queries are read-only")
	}
	if p.accept("from") {
		s.From = p.sources()
	}
	if p.accept("where") {
		s.Where = p.value()
	}
	if p.accept("group") {
		p.expect("by")
		s.Group = p.groups()
	}
	if p.accept("having") {
		s.Having = p.value()
	}
	if p.accept("window") {
		s.Windows = p.windows()
	}
	return s
}

func (p *parser) distinct(s *Select) {
	if p.accept("all") || !p.accept("distinct") {
		return
	}
	s.Distinct = true
	if p.accept("on") {
		p.open("(")
		s.On = p.list()
		p.close(")")
	}
}

// endsItems reports whether a SELECT has no items, which PostgreSQL allows.
func (p *parser) endsItems() bool {
	t := p.peek()
	return t.Kind == lexer.End || t.IsSymbol(")") || t.IsSymbol(";") || p.continuesQuery() ||
		t.word("from", "where", "group", "having", "window")
}

func (p *parser) items() []*Item { return separated(p, p.item) }

func (p *parser) item() *Item {
	if t := p.peek(); t.operator("*") {
		p.take()
		return &Item{Expr: &Star{At: At(t.Start)}}
	}
	item := &Item{Expr: p.value()}
	if _, all := item.Expr.(*Star); all {
		return item
	}
	switch t := p.peek(); {
	case p.accept("as"):
		name := p.label("a name")
		item.Alias = &name
	case t.isLabelWithoutAs():
		name := p.aliasWithoutAs()
		item.Alias = &name
	}
	return item
}

// aliasWithoutAs parses an alias without AS and keeps its position, because it may be a misspelled keyword.
func (p *parser) aliasWithoutAs() Name {
	t := p.take()
	p.alias = t.Start
	return t.name()
}

func (p *parser) groups() []Expr {
	if t := p.peek(); t.word("all", "distinct") {
		p.unsupported(t.Start, "GROUP BY "+upper(t.Text), "")
	}
	return separated(p, func() Expr {
		t, next := p.peek(), p.peekAt(1)
		switch {
		case t.word("grouping") && next.word("sets"), t.word("rollup", "cube") && next.IsSymbol("("), t.IsSymbol("(") && next.IsSymbol(")"):
			p.unsupported(t.Start, "grouping by GROUPING SETS, ROLLUP, CUBE or ()", "combine several queries with UNION ALL")
		}
		return p.value()
	})
}
