package ddl

import (
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// action parses the action after AS.
func (p *parser) action() *Action {
	switch {
	case p.accept("CALL"):
		return p.call()
	case p.accept("EXEC"):
		return &Action{Kind: Exec, Text: p.nonEmptyString("the command")}
	case p.tok.Kind == lexer.String:
		return &Action{Kind: SQL, Text: p.nonEmptyString("the statement")}
	}
	p.unexpected("a statement in single quotes, CALL or EXEC", "CALL", "EXEC")
	return nil
}

// call reads a procedure and its arguments.
func (p *parser) call() *Action {
	p.mark(PlaceAction)
	a := &Action{Kind: Call, Procedure: p.procedure()}
	p.expectSymbol("(")
	if p.acceptSymbol(")") {
		return a
	}
	for {
		a.Args = append(a.Args, p.literal())
		if !p.comma() || !p.checkLength(len(a.Args)) {
			break
		}
	}
	if !p.acceptSymbol(")") {
		p.unexpected("a comma or )")
	}
	return a
}

// procedureParts bounds a qualified name: database, schema and procedure.
const procedureParts = 3

func (p *parser) procedure() string {
	var parts []string
	for {
		at := p.tok
		part := p.name("the name of a procedure")
		switch {
		case p.err != nil:
			return ""
		case strings.Contains(part, "."):
			p.failAt(at, badValue, "the name of the procedure has a dot inside quotes", "quote each part separately")
		case len(parts) == procedureParts:
			p.failAt(at, "", "the name of the procedure has more than three parts", "write procedure, schema.procedure or database.schema.procedure")
		}
		parts = append(parts, part)
		if !p.acceptSymbol(".") {
			return strings.Join(parts, ".")
		}
	}
}

func (a Action) print() string {
	switch a.Kind {
	case Call:
		return "CALL " + join(strings.Split(a.Procedure, "."), ".", printName) + "(" + join(a.Args, ", ", Value.print) + ")"
	case Exec:
		return "EXEC " + quoteString(a.Text)
	default:
		return quoteString(a.Text)
	}
}
