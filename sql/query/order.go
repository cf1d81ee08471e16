package query

import "strings"

func upper(text string) string { return strings.ToUpper(text) }

// orderAndLimit parses ORDER BY, and then LIMIT, OFFSET and FETCH in any order.
func (p *parser) orderAndLimit(q *Query) *Query {
	if p.accept("order") {
		p.expect("by")
		q.Order = p.terms()
	}
	for {
		switch t := p.peek(); {
		case t.word("limit"):
			p.limit(q)
		case t.word("offset"):
			p.take()
			p.checkOnce(q.Offset, t, "OFFSET")
			q.Offset = p.value()
			_ = p.accept("row") || p.accept("rows")
		case t.word("fetch"):
			p.take()
			p.checkOnce(q.Limit, t, "LIMIT or FETCH")
			q.Limit = p.fetch()
		case t.word("for"):
			p.unsupported(t.Start, "FOR "+upper(p.peekAt(1).Text), "queries are read-only and take no locks")
		default:
			return withoutParens(q)
		}
	}
}

// withoutParens removes parentheses around the whole query.
func withoutParens(q *Query) *Query {
	if inner, ok := q.Body.(*Query); ok && bodyOf(q) == q.Body {
		return inner
	}
	return q
}

func (p *parser) checkOnce(had Expr, t token, what string) {
	if had != nil {
		fail(stateSyntax, t.Start, what+" is given twice", "remove one of them")
	}
}

// limit takes LIMIT n, or LIMIT ALL.
func (p *parser) limit(q *Query) {
	p.checkOnce(q.Limit, p.take(), "LIMIT or FETCH")
	if !p.accept("all") {
		q.Limit = p.value()
	}
}

// fetch takes FETCH FIRST n ROWS ONLY. Without a number it is one.
func (p *parser) fetch() (n Expr) {
	if !p.accept("first") && !p.accept("next") {
		p.expected("FIRST or NEXT", "FIRST", "NEXT")
	}
	if p.peek().word("row", "rows") {
		n = &Number{At: At(p.peek().Start), Text: "1"}
	} else {
		n = p.valueWithPrecedence(unaryPrecedence)
	}
	if !p.accept("row") && !p.accept("rows") {
		p.expected("ROW or ROWS", "ROW", "ROWS")
	}
	if t := p.peek(); p.accept("with", "ties") {
		p.unsupported(t.Start, "WITH TIES", "")
	}
	p.expect("only")
	return n
}

// terms takes what rows are ordered by.
func (p *parser) terms() []*Term { return separated(p, p.term) }

func (p *parser) term() *Term {
	t := &Term{Expr: p.value()}
	if using := p.peek(); using.word("using") {
		p.unsupported(using.Start, "ORDER BY … USING", "use ASC or DESC")
	}
	if t.Desc = p.accept("desc"); !t.Desc {
		p.accept("asc")
	}
	if p.accept("nulls") {
		if !p.peek().word("first", "last") {
			p.expected("FIRST or LAST", "FIRST", "LAST")
		}
		t.Nulls = upper(p.take().Text)
	}
	return t
}
