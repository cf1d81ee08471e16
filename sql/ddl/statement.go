package ddl

// statements are the parsers of statements by their first word, which is the next token.
var statements = map[string]func(*parser) Statement{
	"CREATE": (*parser).create, "RECREATE": (*parser).recreate, "ALTER": (*parser).alter, "DROP": (*parser).drop,
	"EXECUTE": (*parser).executeJob, "CANCEL": (*parser).cancelRun, "EXPLAIN": (*parser).explain, "SHOW": (*parser).show,
	"SELECT": (*parser).query, "WITH": (*parser).query, "VALUES": (*parser).query, "TABLE": (*parser).query,
	"BEGIN": (*parser).begin, "START": (*parser).begin,
	"COMMIT": (*parser).endTransaction, "END": (*parser).endTransaction, "ROLLBACK": (*parser).endTransaction, "ABORT": (*parser).endTransaction,
	"SAVEPOINT": (*parser).savepoint, "RELEASE": (*parser).release,
	"GRANT": (*parser).grant, "REVOKE": (*parser).grant,
	"SET": (*parser).set, "RESET": (*parser).reset, "DISCARD": (*parser).discard, "DEALLOCATE": (*parser).deallocate,
	"CLOSE": (*parser).noOp, "UNLISTEN": (*parser).noOp,
}

// statement parses any statement. Its first word decides which.
func (p *parser) statement() Statement {
	first := p.tok
	parse := statements[first.upper]
	switch {
	case parse != nil:
		return parse(p)
	case first.IsSymbol("("):
		return p.query()
	case unsupportedStatements[first.upper]:
		return p.unsupported(first, first.upper, sysIsReadOnly)
	case unsupportedSessionStatements[first.upper]:
		return p.unsupported(first, first.upper, "leave it out")
	}
	p.unexpected("a statement ("+oneOf(statementWords)+")", statementWords...)
	return nil
}

func (p *parser) query() Statement { return &Select{Text: p.restOfStatement()} }

func (p *parser) recreate() Statement {
	p.expect("RECREATE", "JOB")
	return p.createJob(&CreateJob{Mode: Recreate})
}

func (p *parser) executeJob() Statement {
	p.expect("EXECUTE", "JOB")
	return &ExecuteJob{Name: p.job()}
}

func (p *parser) cancelRun() Statement {
	p.expect("CANCEL", "JOB", "RUN")
	return &CancelRun{ID: p.run()}
}

func (p *parser) savepoint() Statement {
	p.expect("SAVEPOINT")
	return &Savepoint{Name: p.name(savepointName)}
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
			p.fail(p.tok.Start, Error{Found: p.tok.found(), Expected: "ALTER", Hint: "use CREATE OR ALTER JOB to change an existing job, RECREATE JOB to drop and create it"})
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
		return p.createRole()
	}
	return nil
}

func (p *parser) alter() Statement {
	first := p.advance()
	switch p.objectType(first, "JOB", "USER", "ROLE") {
	case "JOB":
		return p.alterJob()
	case "USER":
		return p.alterPrincipal(AlterUser, userName)
	case "ROLE":
		return p.alterPrincipal(AlterRole, roleName)
	}
	return nil
}

func (p *parser) drop() Statement {
	first := p.advance()
	switch p.objectType(first, "JOB", "USER", "ROLE") {
	case "JOB":
		s := &DropJob{IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.job()}
		if p.accept("KEEP") {
			p.expect("HISTORY")
			s.KeepHistory = true
		} else if !p.atEnd() {
			p.unexpected("KEEP HISTORY or the end of the statement", "KEEP")
		}
		return s
	case "USER":
		return p.dropPrincipal(DropUser, userName)
	case "ROLE":
		return p.dropPrincipal(DropRole, roleName)
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
