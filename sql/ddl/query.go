package ddl

import (
	"fmt"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// restOfStatement takes the text from the next token to the end of the statement, as it is.
// It only checks that quotes are closed.
func (p *parser) restOfStatement() string {
	start := p.tok.Start
	s := lexer.Scanner{Text: p.Text, At: start}
	source, err := nextSource(&s)
	if err != nil {
		p.fail(err.Offset, *err)
		return ""
	}
	p.steps += s.At - start
	p.continueAt(start + len(source.Text))
	return source.Text
}

func (p *parser) explain() Statement {
	switch next := p.peek(); {
	case next.is("JOB"):
		p.advance()
		p.expect("JOB", "RUN")
		return &ExplainRun{ID: p.run()}
	case next.ends():
		p.advance()
		p.unexpected("JOB RUN or a query")
		return nil
	}
	return &ExplainQuery{Text: p.restOfStatement()}
}

func (p *parser) show() Statement {
	p.advance()
	switch {
	case p.tok.is("JOBS") && p.peek().ends():
		p.advance()
		return &ShowJobs{}
	case p.tok.is("USERS") && p.peek().ends():
		p.advance()
		return &ShowUsers{}
	case p.tok.is("ROLES") && p.peek().ends():
		p.advance()
		return &ShowRoles{}
	case p.tok.is("GRANTS") && (p.peek().ends() || p.peek().is("FOR")):
		return p.showGrants()
	case p.accept("CREATE"):
		p.expect("JOB")
		return &ShowCreateJob{Name: p.job()}
	}
	return &Show{Name: p.setting()}
}

func (p *parser) showGrants() Statement {
	p.advance()
	if !p.accept("FOR") {
		return &ShowGrants{}
	}
	p.mark(PlaceFor)
	return &ShowGrants{For: new(p.user())}
}

// setting reads the name of a setting, which may have several words and parts.
func (p *parser) setting() string {
	var b strings.Builder
	for first := true; first || !p.atEnd(); first = false {
		switch {
		case !first && p.acceptSymbol("."):
			b.WriteByte('.')
		case !first:
			b.WriteByte(' ')
		}
		if p.tok.Kind != lexer.Word {
			p.unexpected("JOBS, GRANTS, USERS, ROLES, CREATE JOB or the name of a setting")
			return ""
		}
		b.WriteString(strings.ToLower(p.advance().Text))
	}
	if b.Len() > NameMax {
		p.failAt(token{Token: lexer.Token{Start: p.last}}, nameTooLong, fmt.Sprintf("the name of the setting has %d bytes; at most %d are allowed", b.Len(), NameMax), "shorten it")
	}
	return b.String()
}
