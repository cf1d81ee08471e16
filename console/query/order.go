package query

import "strings"

func upper(text string) string { return strings.ToUpper(text) }

// tail takes what stands behind the rows: their order and how many, in any order.
func (p *parser) tail(q *Query) *Query {
	if p.accept("order") {
		p.expect("by")
		q.Order = p.terms()
	}
	for {
		switch t := p.now(); {
		case t.word("limit"):
			p.limit(q)
		case t.word("offset"):
			p.take()
			p.once(q.Offset, t, "OFFSET")
			q.Offset = p.value()
			_ = p.accept("row") || p.accept("rows")
		case t.word("fetch"):
			p.take()
			p.once(q.Limit, t, "LIMIT or FETCH")
			q.Limit = p.fetch()
		case t.word("for"):
			p.unsupported(t.at, "FOR "+upper(p.ahead(1).text), "queries are read-only and take no locks")
		default:
			return whole(q)
		}
	}
}

// whole is a query without the parentheses around all of it.
func whole(q *Query) *Query {
	if inner, ok := q.Body.(*Query); ok && bare(q) == q.Body {
		return inner
	}
	return q
}

func (p *parser) once(had Expr, t token, what string) {
	if had != nil {
		fail(stateSyntax, t.at, what+" is given twice", "remove one of them")
	}
}

// limit takes LIMIT n, LIMIT ALL, or SQLite's LIMIT offset, n.
func (p *parser) limit(q *Query) {
	t := p.take()
	p.once(q.Limit, t, "LIMIT or FETCH")
	if p.accept("all") {
		return
	}
	q.Limit = p.value()
	if p.acceptSign(",") {
		p.once(q.Offset, t, "OFFSET")
		q.Offset, q.Limit = q.Limit, p.value()
	}
}

// fetch takes FETCH FIRST n ROWS ONLY. Without a number it is one.
func (p *parser) fetch() (n Expr) {
	if !p.accept("first") && !p.accept("next") {
		p.expected("FIRST or NEXT", "FIRST", "NEXT")
	}
	if p.now().word("row", "rows") {
		n = &Number{At: At(p.now().at), Text: "1"}
	} else {
		n = p.above(signed)
	}
	if !p.accept("row") && !p.accept("rows") {
		p.expected("ROW or ROWS", "ROW", "ROWS")
	}
	if t := p.now(); p.accept("with", "ties") {
		p.unsupported(t.at, "WITH TIES", "")
	}
	p.expect("only")
	return n
}

// terms takes what rows are ordered by.
func (p *parser) terms() (terms []*Term) {
	for {
		terms = append(terms, p.term())
		if !p.acceptSign(",") {
			return terms
		}
	}
}

func (p *parser) term() *Term {
	t := &Term{Expr: p.value()}
	switch {
	case p.accept("desc"):
		t.Desc = true
	case p.accept("using"):
		t.Desc = p.ordering()
	default:
		p.accept("asc")
	}
	if p.accept("nulls") {
		if !p.now().word("first", "last") {
			p.expected("FIRST or LAST", "FIRST", "LAST")
		}
		t.Nulls = upper(p.take().text)
	}
	return t
}

// ordering takes the operator of USING and says whether it puts the highest first.
func (p *parser) ordering() (desc bool) {
	at, op := p.now().at, ""
	if p.now().kind == anOperator {
		op = p.take().text
	} else {
		op, _ = p.namedOperator()
	}
	if op != "<" && op != ">" {
		p.unsupported(at, "ORDER BY … USING "+op, "use ASC or DESC")
	}
	return op == ">"
}
