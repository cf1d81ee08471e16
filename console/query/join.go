package query

// joins takes all that is joined to a source.
func (p *parser) joins(left Source) Source {
	for p.startsJoin() {
		left = p.join(left)
	}
	return left
}

func (p *parser) startsJoin() bool {
	return p.now().word("join", "inner", "left", "right", "full", "cross", "natural")
}

// join takes one join. Its place is that of the words between the two sources.
func (p *parser) join(left Source) Source {
	j := &Join{At: p.now().at, Left: left}
	j.Natural = p.accept("natural")
	j.Kind = p.joinKind()
	if j.Kind == "CROSS" && j.Natural {
		fail(stateSyntax, j.At, "a join cannot be both NATURAL and CROSS", "remove one of the two words")
	}
	j.Right = p.source()
	if j.Kind != "CROSS" && !j.Natural {
		p.joinedBy(j)
	}
	return j
}

func (p *parser) joinKind() string {
	kind := "INNER"
	switch t := p.now(); {
	case t.word("left", "right", "full"):
		kind = upper(p.take().text)
		p.accept("outer")
	case t.word("inner", "cross"):
		kind = upper(p.take().text)
	}
	p.expect("join")
	return kind
}

// joinedBy takes the condition of a join. In a JOIN b JOIN c ON … ON … it is that of
// the inner join that comes first.
func (p *parser) joinedBy(j *Join) {
	p.enter()
	for p.startsJoin() {
		j.Right = p.join(j.Right)
	}
	p.leave()
	switch {
	case p.accept("on"):
		j.On = p.value()
	case p.accept("using"):
		j.Using = p.names("the name of a column")
		if t := p.now(); t.word("as") {
			p.unsupported(t.at, "an alias after USING", "remove the alias")
		}
	default:
		p.noCondition()
	}
}

// noCondition fails at a join that does not say by what.
func (p *parser) noCondition() {
	t := p.now()
	if p.meant(p.last, clauses) != "" || t.kind != anEnd && !structure[t.text] {
		p.expected("ON or USING", "ON", "USING")
	}
	fail(stateSyntax, t.at, "expected ON or USING, found "+p.found(t), "add a condition, or use CROSS JOIN")
}
