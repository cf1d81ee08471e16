package ddl

import (
	"cmp"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// Set changes a setting, for the session or until the transaction ends. Without
// values it resets the setting. The name of a setting is in lower case.
type Set struct {
	Name   string
	Values []string
	Local  bool
}

// SetMode sets the mode of the transaction, or of all later transactions of the session.
type SetMode struct {
	Session bool
	Mode
}

// Reset resets one setting, or all of them.
type Reset struct{ Name string }

// Discard releases state of the session: ALL, PLANS, SEQUENCES or TEMP.
type Discard struct{ What string }

// Deallocate removes a prepared statement, or all of them.
type Deallocate struct{ Name string }

// NoOp is a statement that clients send and that has no effect here: CLOSE ALL, UNLISTEN *.
type NoOp struct{ What string }

// Savepoint marks a place in a transaction.
type Savepoint struct{ Name string }

// Release removes a savepoint.
type Release struct{ Name string }

// RollbackTo undoes what was done since a savepoint.
type RollbackTo struct{ Name string }

// Tag is SET.
func (*Set) Tag() string { return "SET" }

// Tag is SET.
func (*SetMode) Tag() string { return "SET" }

// Tag is RESET.
func (*Reset) Tag() string { return "RESET" }

// Tag names what was discarded.
func (s *Discard) Tag() string { return "DISCARD " + s.What }

// Tag is DEALLOCATE or DEALLOCATE ALL.
func (s *Deallocate) Tag() string {
	if s.Name == "" {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE"
}

// Tag is what PostgreSQL answers.
func (s *NoOp) Tag() string {
	if s.What == "CLOSE ALL" {
		return "CLOSE CURSOR ALL"
	}
	return "UNLISTEN"
}

// Tag is SAVEPOINT.
func (*Savepoint) Tag() string { return "SAVEPOINT" }

// Tag is RELEASE.
func (*Release) Tag() string { return "RELEASE" }

// Tag is ROLLBACK.
func (*RollbackTo) Tag() string { return "ROLLBACK" }

const (
	settingName   = "the name of a setting"
	savepointName = "the name of a savepoint"
)

// set reads SET in its many forms.
func (p *parser) set() Statement {
	p.advance()
	local := false
	switch {
	case p.tok.is("SESSION") && p.peek().is("CHARACTERISTICS"):
		p.expect("SESSION", "CHARACTERISTICS", "AS", "TRANSACTION")
		return p.setMode(true)
	case p.tok.is("SESSION") && p.peek().is("AUTHORIZATION"):
		return p.unsupported(p.tok, "SET SESSION AUTHORIZATION", "connect as that user")
	case p.tok.is("ROLE"):
		return p.unsupported(p.tok, "SET ROLE", "connect as that user")
	case p.tok.is("LOCAL") && !p.peek().IsSymbol("="):
		p.advance()
		local = true
	case p.tok.is("SESSION") && !p.peek().IsSymbol("="):
		p.advance()
	}
	switch {
	case p.accept("TRANSACTION"):
		return p.setMode(false)
	case p.acceptBoth("TIME", "ZONE"):
		return &Set{Name: "timezone", Values: p.settingValues(), Local: local}
	case p.accept("NAMES"):
		return &Set{Name: "client_encoding", Values: p.settingValues(), Local: local}
	}
	if p.setsSecret() {
		p.failAt(p.tok, "", "SET changes settings, and a secret belongs to a job", "write ALTER JOB name SET SECRET 'key' = 'value'")
		return nil
	}
	s := &Set{Name: p.settingPath(), Local: local}
	if !p.accept("TO") {
		p.expectSymbol("=")
	}
	s.Values = p.settingValues()
	return s
}

// setsSecret reports whether SET SECRET comes without ALTER JOB. A misspelled word counts if no value of a setting can follow it.
func (p *parser) setsSecret() bool {
	p.steps++
	switch next := p.peek(); {
	case !resemblesSecret(p.tok), next.IsSymbol("."): // a custom setting such as secret.x
		return false
	case next.IsSymbol("="), next.is("TO"):
		return strings.EqualFold(p.tok.Text, "SECRET")
	}
	return true
}

// setMode reads the modes of a transaction, as BEGIN does.
func (p *parser) setMode(session bool) Statement {
	s := &SetMode{Session: session}
	for first := true; first || !p.atEnd(); first = false {
		p.mode(&s.Mode)
		p.comma()
	}
	return s
}

func (p *parser) settingPath() string {
	name := p.settingPart()
	for p.acceptSymbol(".") {
		name += "." + p.settingPart()
	}
	return name
}

func (p *parser) settingPart() string { return strings.ToLower(p.name(settingName)) }

// settingValues parses the values of a setting. DEFAULT is an empty list.
func (p *parser) settingValues() (values []string) {
	if (p.tok.is("DEFAULT") || p.tok.is("LOCAL")) && p.peek().ends() {
		p.advance()
		return nil
	}
	for {
		values = append(values, p.settingValue())
		if !p.comma() || !p.checkLength(len(values)) {
			return values
		}
	}
}

func (p *parser) settingValue() string {
	sign := ""
	if p.tok.IsSymbol("-") || p.tok.IsSymbol("+") {
		sign = strings.TrimPrefix(p.advance().Text, "+")
	}
	switch p.tok.Kind {
	case lexer.Word, lexer.Name, lexer.String, lexer.Number:
		return sign + p.advance().Text
	}
	p.unexpected("a value")
	return ""
}

func (p *parser) reset() Statement {
	p.advance()
	switch {
	case p.tok.is("ALL") && p.peek().ends():
		p.advance()
		return &Reset{}
	case p.acceptBoth("TIME", "ZONE"):
		return &Reset{Name: "timezone"}
	}
	return &Reset{Name: p.settingPath()}
}

func (p *parser) discard() Statement {
	p.advance()
	what := p.choose("", "ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
	if what == "TEMPORARY" {
		what = "TEMP"
	}
	return &Discard{What: what}
}

func (p *parser) deallocate() Statement {
	p.advance()
	p.accept("PREPARE")
	if p.tok.is("ALL") && p.peek().ends() {
		p.advance()
		return &Deallocate{}
	}
	return &Deallocate{Name: p.name("the name of a prepared statement")}
}

// noOp parses CLOSE ALL and UNLISTEN *.
func (p *parser) noOp() Statement {
	first := p.advance()
	if first.is("CLOSE") && p.accept("ALL") {
		return &NoOp{What: "CLOSE ALL"}
	}
	if first.is("UNLISTEN") && p.acceptSymbol("*") {
		return &NoOp{What: "UNLISTEN *"}
	}
	return p.unsupported(first, first.upper, "leave it out")
}

func (p *parser) release() Statement {
	p.advance()
	if !p.peek().ends() {
		p.accept("SAVEPOINT")
	}
	return &Release{Name: p.name(savepointName)}
}

func (p *parser) rollbackTo() Statement {
	p.expect("TO")
	if !p.peek().ends() {
		p.accept("SAVEPOINT")
	}
	return &RollbackTo{Name: p.name(savepointName)}
}

func (s *Set) print() string {
	return "SET " + given(s.Local, "LOCAL ") + printPath(s.Name) + " = " + cmp.Or(join(s.Values, ", ", quoteString), "DEFAULT")
}

func (s *SetMode) print() string {
	text := "SET TRANSACTION"
	if s.Session {
		text = "SET SESSION CHARACTERISTICS AS TRANSACTION"
	}
	return text + cmp.Or(s.Mode.print(), " NOT DEFERRABLE")
}

func (s *Reset) print() string {
	if s.Name == "" {
		return "RESET ALL"
	}
	return "RESET " + printPath(s.Name)
}

func (s *Deallocate) print() string {
	if s.Name == "" {
		return "DEALLOCATE ALL"
	}
	return "DEALLOCATE PREPARE " + quoteName(s.Name)
}

// printPath writes the name of a setting and quotes the parts that would be parsed as something else.
func printPath(name string) string {
	return join(strings.Split(name, "."), ".", func(part string) string {
		if needsNoQuotes(part) && !settingWords[part] {
			return part
		}
		return quoteName(part)
	})
}

// settingWords are keywords, not settings, after SET and RESET.
var settingWords = map[string]bool{
	"all": true, "local": true, "session": true, "transaction": true, "time": true, "names": true, "role": true,
}
