package query

import "github.com/rotajobs/rota/sql/lexer"

// joins takes all that is joined to a source.
func (p *parser) joins(left Source) Source {
	for p.startsJoin() {
		left = p.join(left)
	}
	return left
}

func (p *parser) startsJoin() bool {
	return p.peek().word("join", "inner", "left", "right", "full", "cross", "natural")
}

// join parses one join. Its position is that of the first keyword between the two sources.
func (p *parser) join(left Source) Source {
	j := &Join{At: p.peek().Start, Left: left}
	j.Natural = p.accept("natural")
	j.Kind = p.joinKind()
	if j.Kind == "CROSS" && j.Natural {
		fail(stateSyntax, j.At, "a join cannot be both NATURAL and CROSS", "remove one of the two words")
	}
	j.Right = p.source()
	if j.Kind != "CROSS" && !j.Natural {
		p.joinCondition(j)
	}
	return j
}

func (p *parser) joinKind() string {
	kind := "INNER"
	switch t := p.peek(); {
	case t.word("left", "right", "full"):
		kind = upper(p.take().Text)
		p.accept("outer")
	case t.word("inner", "cross"):
		kind = upper(p.take().Text)
	}
	p.expect("join")
	return kind
}

// joinCondition parses the condition of a join. In a JOIN b JOIN c ON … ON … the first condition belongs to the inner
// join.
func (p *parser) joinCondition(j *Join) {
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
		if t := p.peek(); t.word("as") {
			p.unsupported(t.Start, "an alias after USING", "remove the alias")
		}
	default:
		p.missingJoinCondition()
	}
}

// missingJoinCondition reports a join without ON or USING.
func (p *parser) missingJoinCondition() {
	t := p.peek()
	if p.suggestWord(p.previous, clauseWords) != "" || t.Kind != lexer.End && !structureWords[t.Text] {
		p.expected("ON or USING", "ON", "USING")
	}
	fail(stateSyntax, t.Start, "expected ON or USING, found "+p.tokenText(t), "add a condition, or use CROSS JOIN")
}
