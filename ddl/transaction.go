package ddl

// begin reads BEGIN and START TRANSACTION. What a transaction sees of others is
// the same in all of them, so the words for it are read and left.
func (p *parser) begin() Statement {
	if p.advance().is("START") {
		p.expect("TRANSACTION")
	} else {
		p.acceptWork()
	}
	s := &Begin{}
	for !p.atEnd() {
		p.mode(s)
		if p.comma() && p.atEnd() {
			p.unexpected("READ ONLY, READ WRITE or ISOLATION LEVEL")
		}
	}
	return s
}

func (p *parser) acceptWork() {
	if !p.accept("WORK") {
		p.accept("TRANSACTION")
	}
}

func (p *parser) mode(s *Begin) {
	switch p.choose("", "READ", "ISOLATION", "DEFERRABLE", "NOT") {
	case "READ":
		s.ReadOnly = p.choose("", "ONLY", "WRITE") == "ONLY"
	case "ISOLATION":
		p.expect("LEVEL")
		p.level()
	case "NOT":
		p.expect("DEFERRABLE")
	}
}

func (p *parser) level() {
	switch p.choose("", "SERIALIZABLE", "REPEATABLE", "READ") {
	case "REPEATABLE":
		p.expect("READ")
	case "READ":
		p.choose("", "COMMITTED", "UNCOMMITTED")
	}
}

// finish reads what ends a transaction.
func (p *parser) finish() Statement {
	first := p.advance()
	p.acceptWork()
	if first.is("ROLLBACK") && p.tok.is("TO") {
		return p.rollbackTo()
	}
	if p.accept("AND") {
		if p.tok.is("CHAIN") {
			return p.foreign(p.tok, "AND CHAIN", "begin the next transaction with BEGIN")
		}
		p.expect("NO", "CHAIN")
	}
	if first.is("COMMIT") || first.is("END") {
		return &Commit{}
	}
	return &Rollback{}
}
