package query

// isTest parses IS and its test.
func (p *parser) isTest(x Expr) Expr {
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
	switch t := p.peek(); {
	case t.word("null", "true", "false", "unknown"):
		is.What = upper(p.take().text)
	case p.accept("distinct", "from"):
		is.What, is.Y = "DISTINCT", p.valueWithPrecedence(isPrecedence+1)
	default:
		p.rejectUnsupportedTest(t)
		// SQLite's IS compares any two values, and NULL is the same as NULL.
		is.What, is.Not, is.Y = "DISTINCT", !is.Not, p.valueWithPrecedence(comparisonPrecedence+1)
	}
	return is
}

// rejectUnsupportedTest reports tests of PostgreSQL that are not supported.
func (p *parser) rejectUnsupportedTest(t token) {
	form := t.word("nfc", "nfd", "nfkc", "nfkd") && p.peekAt(1).word("normalized")
	if form || t.word("normalized") {
		p.unsupported(t.at, "IS NORMALIZED", "")
	}
	if t.word("json", "document") {
		p.unsupported(t.at, "IS "+upper(t.text), "")
	}
}

// matchOperator takes LIKE and its kin, IN and BETWEEN.
func (p *parser) matchOperator(x Expr) Expr {
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
	b.Low = p.valueWithPrecedence(matchPrecedence + 1)
	p.expect("and")
	b.High = p.valueWithPrecedence(matchPrecedence + 1)
	p.rejectChain(matchPrecedence)
	return b
}

func (p *parser) like(x Expr, not bool, how string) Expr {
	if t := p.peek(); t.word("any", "some", "all") {
		if how == "SIMILAR" || how == "GLOB" {
			p.unsupported(t.at, how+" with ANY or ALL", "")
		}
		if not {
			how = "NOT " + how
		}
		return p.quantified(x, how)
	}
	l := &Like{At: place(x), X: x, Not: not, How: how, Pattern: p.valueWithPrecedence(matchPrecedence + 1)}
	if p.accept("escape") {
		l.Escape = p.valueWithPrecedence(matchPrecedence + 1)
	}
	p.rejectChain(matchPrecedence)
	return l
}
