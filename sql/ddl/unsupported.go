package ddl

import "github.com/rotajobs/rota/sql/lexer"

const sysIsReadOnly = "the tables of sys are read-only; use CREATE JOB, ALTER JOB and DROP JOB to change jobs"

// unsupported reports a statement that other databases have and Rota does not.
func (p *parser) unsupported(at token, what, hint string) Statement {
	p.failAt(at, notSupported, what+" is not supported", hint)
	return nil
}

// objectType takes the word after CREATE, ALTER or DROP; first is that token.
func (p *parser) objectType(first token, known ...string) string {
	if p.tok.Kind == lexer.Word && unsupportedObjects[p.tok.upper] {
		p.unsupported(first, first.upper+" "+p.tok.upper, sysIsReadOnly)
		return ""
	}
	return p.choose("", known...)
}
