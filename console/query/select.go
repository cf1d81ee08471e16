package query

// query takes a whole query, with what is before and behind its rows.
func (p *parser) query() *Query {
	q := &Query{At: p.now().at}
	if p.accept("with") {
		q.Recursive = p.accept("recursive")
		q.With = p.commons()
	}
	q.Body = p.union(p.intersection(p.rows()))
	return p.tail(q)
}

// queryFrom goes on with a query of which one in parentheses turned out to be the
// first part.
func (p *parser) queryFrom(first *Query) *Query {
	q := &Query{At: first.At}
	q.Body = p.union(p.intersection(bare(first)))
	return p.tail(q)
}

// startsQuery says whether a query comes next, parentheses aside.
func (p *parser) startsQuery() bool {
	t := p.now()
	return t.word("select", "with", "table") || t.word("values") && p.ahead(1).sign("(")
}

// goesOn says whether a query in parentheses is the first part of a longer one.
func (p *parser) goesOn() bool {
	return p.now().word("union", "intersect", "except", "order", "limit", "offset", "fetch", "for")
}

// bare is a query in parentheses as a body. One with nothing but rows is these rows.
func bare(q *Query) Body {
	if q.With == nil && q.Order == nil && q.Limit == nil && q.Offset == nil {
		return q.Body
	}
	return q
}

func (p *parser) commons() (all []*Common) {
	for {
		all = append(all, p.common())
		if p.now().word("search", "cycle") {
			p.unsupported(p.now().at, "SEARCH or CYCLE", "keep the path in a column")
		}
		if !p.acceptSign(",") {
			return all
		}
	}
}

func (p *parser) common() *Common {
	c := &Common{Name: p.name("a name for the query")}
	if p.now().sign("(") {
		c.Columns = p.names("the name of a column")
	}
	p.expect("as")
	// How a query is run is not for the text to say: both words are only hints.
	if p.accept("not") {
		p.expect("materialized")
	} else {
		p.accept("materialized")
	}
	p.open("(")
	if t := p.now(); t.word("insert", "update", "delete", "merge") {
		p.unsupported(t.at, p.found(t)+" in WITH", "queries are read-only")
	}
	c.Query = p.query()
	p.close(")")
	return c
}

// intersection takes what INTERSECT goes on with, which binds tighter than UNION.
func (p *parser) intersection(left Body) Body {
	for p.now().word("intersect") {
		c := p.compound(left)
		c.Right = p.rows()
		left = c
	}
	return left
}

func (p *parser) union(left Body) Body {
	for p.now().word("union", "except") {
		c := p.compound(left)
		c.Right = p.intersection(p.rows())
		left = c
	}
	return left
}

func (p *parser) compound(left Body) *Compound {
	t := p.take()
	c := &Compound{At: t.at, Op: upper(t.text), Left: left}
	if c.All = p.accept("all"); !c.All {
		p.accept("distinct")
	}
	return c
}

// rows takes one part of a query.
func (p *parser) rows() Body {
	switch t := p.now(); {
	case t.word("select"):
		return p.selection()
	case t.word("values"):
		return p.values()
	case t.word("table"):
		return p.wholeTable()
	case t.sign("("):
		p.open("(")
		q := p.query()
		p.close(")")
		return bare(q)
	}
	p.expected("SELECT, VALUES, TABLE or WITH", "SELECT", "VALUES", "TABLE", "WITH")
	return nil
}

func (p *parser) values() *Values {
	v := &Values{At: p.take().at}
	for {
		at := p.now().at
		p.open("(")
		row := p.list()
		p.close(")")
		if len(v.Rows) > 0 && len(row) != len(v.Rows[0]) {
			fail(stateSyntax, at, "VALUES lists must all be the same length", "give each row the same number of values")
		}
		v.Rows = append(v.Rows, row)
		if !p.acceptSign(",") {
			return v
		}
	}
}

// wholeTable takes TABLE name, which is SELECT * FROM name.
func (p *parser) wholeTable() *Select {
	at := p.take().at
	star := &Item{Expr: &Star{At: At(at)}}
	return &Select{At: at, Items: []*Item{star}, From: []Source{p.table()}}
}

func (p *parser) selection() *Select {
	s := &Select{At: p.take().at}
	p.distinct(s)
	if !p.endsItems() {
		s.Items = p.items()
	}
	if t := p.now(); t.word("into") {
		p.unsupported(t.at, "SELECT INTO", "queries are read-only")
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

// endsItems says whether a SELECT has no items, which PostgreSQL allows.
func (p *parser) endsItems() bool {
	t := p.now()
	return t.kind == anEnd || t.sign(")") || t.sign(";") || p.goesOn() ||
		t.word("from", "where", "group", "having", "window")
}

func (p *parser) items() (items []*Item) {
	for {
		items = append(items, p.item())
		if !p.acceptSign(",") {
			return items
		}
	}
}

func (p *parser) item() *Item {
	if t := p.now(); t.operator("*") {
		p.take()
		return &Item{Expr: &Star{At: At(t.at)}}
	}
	item := &Item{Expr: p.value()}
	if _, all := item.Expr.(*Star); all {
		return item
	}
	switch t := p.now(); {
	case p.accept("as"):
		item.Alias = p.itemLabel()
	case t.isBareLabel():
		name := p.bareAlias()
		item.Alias = &name
	}
	return item
}

// itemLabel takes a name behind AS. SQLite has strings there as well.
func (p *parser) itemLabel() *Name {
	if t := p.now(); t.kind == aString {
		name := p.take().name()
		return &name
	}
	name := p.label("a name")
	return &name
}

// bareAlias takes an alias without AS and remembers where: it may be a word of SQL
// that was misspelt.
func (p *parser) bareAlias() Name {
	t := p.take()
	p.alias = t.at
	return t.name()
}

func (p *parser) groups() (groups []Expr) {
	if t := p.now(); t.word("all", "distinct") {
		p.unsupported(t.at, "GROUP BY "+upper(t.text), "")
	}
	for {
		t, next := p.now(), p.ahead(1)
		switch {
		case t.word("grouping") && next.word("sets"), t.word("rollup", "cube") && next.sign("("), t.sign("(") && next.sign(")"):
			p.unsupported(t.at, "grouping by GROUPING SETS, ROLLUP, CUBE or ()", "combine several queries with UNION ALL")
		}
		groups = append(groups, p.value())
		if !p.acceptSign(",") {
			return groups
		}
	}
}
