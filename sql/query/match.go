package query

// isTest parses IS and its test.
func (p *parser) isTest(x Expr) Expr {
	is := &Is{At: place(x), X: x, What: "NULL"}
	switch p.take().Text {
	case "isnull":
		return is
	case "notnull":
		is.Not = true
		return is
	}
	is.Not = p.accept("not")
	switch t := p.peek(); {
	case t.word("null", "true", "false", "unknown"):
		is.What = upper(p.take().Text)
	case p.accept("distinct", "from"):
		is.What, is.Y = "DISTINCT", p.valueWithPrecedence(isPrecedence+1)
	case t.word("nfc", "nfd", "nfkc", "nfkd", "normalized", "json", "document"):
		p.unsupported(t.Start, "IS "+upper(t.Text), "")
	default:
		p.expected("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT")
	}
	return is
}

// matchOperator takes LIKE and its kin, IN and BETWEEN.
func (p *parser) matchOperator(x Expr) Expr {
	not := p.accept("not")
	switch t := p.take(); t.Text {
	case "in":
		in := &In{At: place(x), X: x, Not: not}
		in.List, in.Query = p.listOrQuery()
		return in
	case "between":
		return p.between(x, not)
	case "overlaps":
		p.unsupported(t.Start, "OVERLAPS", "compare the ends of the two periods")
	case "similar":
		p.unsupported(t.Start, "SIMILAR TO", "use LIKE, or ~ with a regular expression")
	default:
		return p.like(x, not, upper(t.Text))
	}
	return nil
}

func (p *parser) between(x Expr, not bool) Expr {
	b := &Between{At: place(x), X: x, Not: not}
	if t := p.peek(); p.accept("symmetric") {
		p.unsupported(t.Start, "BETWEEN SYMMETRIC", "use least and greatest")
	}
	p.accept("asymmetric")
	b.Low = p.valueWithPrecedence(matchPrecedence + 1)
	p.expect("and")
	b.High = p.valueWithPrecedence(matchPrecedence + 1)
	p.rejectChain(matchPrecedence)
	return b
}

func (p *parser) like(x Expr, not bool, how string) Expr {
	if p.peek().word("any", "some", "all") {
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
