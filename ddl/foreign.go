package ddl

const sysIsReadOnly = "the tables of sys are read-only; use CREATE JOB, ALTER JOB and DROP JOB to change jobs"

// foreign refuses a statement of other databases: it is SQL, but not ours.
func (p *parser) foreign(at token, what, hint string) Statement {
	p.failAt(at, notSupported, what+" is not supported", hint)
	return nil
}

// thing takes the word behind CREATE, ALTER or DROP, which is the first token.
func (p *parser) thing(first token, known ...string) string {
	if p.tok.kind == wordToken && foreignThings[p.tok.upper] {
		p.foreign(first, first.upper+" "+p.tok.upper, sysIsReadOnly)
		return ""
	}
	return p.choose("", known...)
}
