package ddl

// begin reads BEGIN and START TRANSACTION.
func (p *parser) begin() Statement {
	if p.advance().is("START") {
		p.expect("TRANSACTION")
	} else {
		p.acceptWork()
	}
	s := &Begin{}
	for !p.atEnd() {
		p.mode(&s.Mode)
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

func (p *parser) mode(m *Mode) {
	switch p.choose("", "READ", "ISOLATION", "DEFERRABLE", "NOT") {
	case "READ":
		m.ReadOnly = new(p.choose("", "ONLY", "WRITE") == "ONLY")
	case "ISOLATION":
		p.expect("LEVEL")
		m.Level = p.level()
	case "NOT":
		p.expect("DEFERRABLE")
	}
}

func (p *parser) level() string {
	level := p.choose("", "SERIALIZABLE", "REPEATABLE", "READ")
	switch level {
	case "REPEATABLE":
		p.expect("READ")
		return "REPEATABLE READ"
	case "READ":
		return "READ " + p.choose("", "COMMITTED", "UNCOMMITTED")
	}
	return level
}

// endTransaction reads what ends a transaction.
func (p *parser) endTransaction() Statement {
	first := p.advance()
	p.acceptWork()
	if first.is("ROLLBACK") && p.tok.is("TO") {
		return p.rollbackTo()
	}
	if p.accept("AND") {
		if p.tok.is("CHAIN") {
			return p.unsupported(p.tok, "AND CHAIN", "begin the next transaction with BEGIN")
		}
		p.expect("NO", "CHAIN")
	}
	if first.is("COMMIT") || first.is("END") {
		return &Commit{}
	}
	return &Rollback{}
}
