package ddl

// statement parses any statement. Its first word decides which.
func (p *parser) statement() Statement {
	first := p.tok
	switch first.upper {
	case "CREATE":
		return p.create()
	case "RECREATE":
		p.advance()
		p.expect("JOB")
		return p.createJob(&CreateJob{Mode: Recreate})
	case "ALTER":
		return p.alter()
	case "DROP":
		return p.drop()
	case "EXECUTE":
		p.advance()
		p.expect("JOB")
		return &ExecuteJob{Name: p.name(jobName)}
	case "CANCEL":
		p.advance()
		p.expect("JOB", "RUN")
		return &CancelRun{ID: p.uuid(runID)}
	case "EXPLAIN":
		return p.explain()
	case "SHOW":
		return p.show()
	case "SELECT", "WITH", "VALUES", "TABLE":
		return &Select{Text: p.restOfStatement()}
	case "BEGIN", "START":
		return p.begin()
	case "COMMIT", "END", "ROLLBACK", "ABORT":
		return p.endTransaction()
	case "GRANT", "REVOKE":
		return p.grant()
	}
	if about := p.sessionStatement(first.upper); about != nil || p.err != nil {
		return about
	}
	switch {
	case first.isSymbol("("):
		return &Select{Text: p.restOfStatement()}
	case unsupportedStatements[first.upper]:
		return p.unsupported(first, first.upper, sysIsReadOnly)
	case unsupportedSessionStatements[first.upper]:
		return p.unsupported(first, first.upper, "leave it out")
	}
	p.unexpected("a statement ("+oneOf(statementWords)+")", statementWords...)
	return nil
}

// sessionStatement parses a statement about the session or the transaction. It returns nil for any other word.
func (p *parser) sessionStatement(word string) Statement {
	switch word {
	case "SET":
		return p.set()
	case "RESET":
		return p.reset()
	case "DISCARD":
		return p.discard()
	case "DEALLOCATE":
		return p.deallocate()
	case "CLOSE", "UNLISTEN":
		return p.noOp()
	case "SAVEPOINT":
		p.advance()
		return &Savepoint{Name: p.name(savepointName)}
	case "RELEASE":
		return p.release()
	}
	return nil
}

// Descriptions of names for errors.
const (
	jobName  = "the name of a job"
	userName = "the name of a user"
	roleName = "the name of a role"
	runID    = "the id of a run"
)

func (p *parser) create() Statement {
	first := p.advance()
	if p.accept("OR") {
		if p.tok.is("REPLACE") {
			p.fail(p.tok.start, Error{Found: p.tok.found(), Expected: "ALTER", Hint: "use CREATE OR ALTER JOB to change an existing job, RECREATE JOB to drop and create it"})
		}
		p.expect("ALTER", "JOB")
		return p.createJob(&CreateJob{Mode: CreateOrAlter})
	}
	switch p.objectType(first, "JOB", "OR", "USER", "ROLE") {
	case "JOB":
		return p.createJob(&CreateJob{IfNotExists: p.ifNotExists()})
	case "USER":
		return p.createUser()
	case "ROLE":
		return &Security{Kind: CreateRole, Name: p.name(roleName)}
	}
	return nil
}

func (p *parser) alter() Statement {
	first := p.advance()
	switch p.objectType(first, "JOB", "USER", "ROLE") {
	case "JOB":
		return p.alterJob()
	case "USER":
		return p.alterUser()
	case "ROLE":
		return p.alterRole()
	}
	return nil
}

func (p *parser) drop() Statement {
	first := p.advance()
	switch p.objectType(first, "JOB", "USER", "ROLE") {
	case "JOB":
		s := &DropJob{IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.name(jobName)}
		if p.accept("KEEP") {
			p.expect("HISTORY")
			s.KeepHistory = true
		} else if !p.atEnd() {
			p.unexpected("KEEP HISTORY or the end of the statement", "KEEP")
		}
		return s
	case "USER":
		return &Security{Kind: DropUser, IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.name(userName)}
	case "ROLE":
		return &Security{Kind: DropRole, IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.name(roleName)}
	}
	return nil
}

func (p *parser) ifNotExists() bool {
	if !p.acceptBoth("IF", "NOT") {
		return false
	}
	p.expect("EXISTS")
	return true
}
