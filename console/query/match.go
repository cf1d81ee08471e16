package query

// test takes IS and what stands behind it.
func (p *parser) test(x Expr) Expr {
	is := &Is{At: place(x), X: x, What: "NULL"}
	switch p.take().text {
	case "isnull":
		return is
	case "notnull":
		is.Not = true
		return is
	case "not": // NOT NULL, of SQLite
		p.take()
		is.Not = true
		return is
	}
	is.Not = p.accept("not")
	switch t := p.now(); {
	case t.word("null", "true", "false", "unknown"):
		is.What = upper(p.take().text)
	case p.accept("distinct", "from"):
		is.What, is.Y = "DISTINCT", p.above(tested+1)
	default:
		p.noTest(t)
		// SQLite's IS compares any two values, and NULL is the same as NULL.
		is.What, is.Not, is.Y = "DISTINCT", !is.Not, p.above(compared+1)
	}
	return is
}

// noTest fails at the tests of PostgreSQL that we do not know.
func (p *parser) noTest(t token) {
	form := t.word("nfc", "nfd", "nfkc", "nfkd") && p.ahead(1).word("normalized")
	if form || t.word("normalized") {
		p.unsupported(t.at, "IS NORMALIZED", "")
	}
	if t.word("json", "document") {
		p.unsupported(t.at, "IS "+upper(t.text), "")
	}
}

// match takes LIKE and its kin, IN and BETWEEN.
func (p *parser) match(x Expr) Expr {
	not := p.accept("not")
	switch t := p.take(); t.text {
	case "in":
		in := &In{At: place(x), X: x, Not: not}
		in.List, in.Query = p.listOrQuery()
		return in
	case "between":
		return p.between(x, not)
	case "overlaps":
		p.unsupported(t.at, "OVERLAPS", "compare the ends of the two periods")
	case "similar":
		p.expect("to")
		return p.like(x, not, "SIMILAR")
	default:
		return p.like(x, not, upper(t.text))
	}
	return nil
}

func (p *parser) between(x Expr, not bool) Expr {
	b := &Between{At: place(x), X: x, Not: not}
	if b.Symmetric = p.accept("symmetric"); !b.Symmetric {
		p.accept("asymmetric")
	}
	b.Low = p.above(matched + 1)
	p.expect("and")
	b.High = p.above(matched + 1)
	p.notAgain(matched)
	return b
}

func (p *parser) like(x Expr, not bool, how string) Expr {
	if t := p.now(); t.word("any", "some", "all") {
		if how == "SIMILAR" || how == "GLOB" {
			p.unsupported(t.at, how+" with ANY or ALL", "")
		}
		if not {
			how = "NOT " + how
		}
		return p.quantified(x, how)
	}
	l := &Like{At: place(x), X: x, Not: not, How: how, Pattern: p.above(matched + 1)}
	if p.accept("escape") {
		l.Escape = p.above(matched + 1)
	}
	p.notAgain(matched)
	return l
}
