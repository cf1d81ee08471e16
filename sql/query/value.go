package query

import "github.com/rotajobs/rota/sql/lexer"

// precedence is the precedence of an operator.
type precedence int

// From the lowest to the highest, as in PostgreSQL. A cast, a subscript and
// a field bind tighter than all of these and belong to the operand.
const (
	noPrecedence precedence = iota
	orPrecedence
	andPrecedence
	notPrecedence
	isPrecedence         // IS
	comparisonPrecedence // = < >
	matchPrecedence      // LIKE IN BETWEEN
	otherPrecedence      // all other operators
	additivePrecedence
	multiplicativePrecedence
	powerPrecedence
	timeZonePrecedence
	collatePrecedence
	unaryPrecedence
)

// value takes a value.
func (p *parser) value() Expr { return p.valueWithPrecedence(orPrecedence) }

// valueWithPrecedence parses a value whose operators have at least the given precedence.
func (p *parser) valueWithPrecedence(least precedence) Expr {
	x := p.operand()
	for {
		s := p.nextPrecedence()
		if s == noPrecedence || s < least {
			return x
		}
		x = p.infix(x, s)
	}
}

// list takes values with commas between them.
func (p *parser) list() []Expr { return separated(p, p.value) }

// nextPrecedence returns the precedence of the next operator, or noPrecedence if the next token is no operator.
func (p *parser) nextPrecedence() precedence {
	switch t := p.peek(); t.Kind {
	case lexer.Word:
		return p.wordPrecedence(t)
	case questionToken:
		return otherPrecedence
	case operatorToken:
		if s, ok := symbolPrecedence[t.Text]; ok {
			return s
		}
		return otherPrecedence
	}
	return noPrecedence
}

var symbolPrecedence = map[string]precedence{
	"=": comparisonPrecedence, "<": comparisonPrecedence, ">": comparisonPrecedence, "<=": comparisonPrecedence, ">=": comparisonPrecedence,
	"<>": comparisonPrecedence, "!=": comparisonPrecedence, "+": additivePrecedence, "-": additivePrecedence, "*": multiplicativePrecedence, "/": multiplicativePrecedence,
	"%": multiplicativePrecedence, "^": powerPrecedence,
}

var keywordPrecedence = map[string]precedence{
	"or": orPrecedence, "and": andPrecedence, "is": isPrecedence, "isnull": isPrecedence, "notnull": isPrecedence,
	"between": matchPrecedence, "in": matchPrecedence, "like": matchPrecedence, "ilike": matchPrecedence, "similar": matchPrecedence,
	"overlaps": matchPrecedence, "collate": collatePrecedence,
}

// wordPrecedence returns the precedence of a word. Some words are operators only before certain other words.
func (p *parser) wordPrecedence(t token) precedence {
	if s, ok := keywordPrecedence[t.Text]; ok {
		return s
	}
	switch {
	case t.Text == "not" && p.peekAt(1).word("between", "in", "like", "ilike", "similar"):
		return matchPrecedence
	case t.Text == "operator" && p.peekAt(1).IsSymbol("("):
		return otherPrecedence
	case t.Text == "at" && (p.peekAt(1).word("local") || p.peekAt(1).word("time") && p.peekAt(2).word("zone")):
		return timeZonePrecedence
	}
	return noPrecedence
}

// infix parses an infix operator and its right operand.
func (p *parser) infix(x Expr, s precedence) Expr {
	t := p.peek()
	if t.Kind != lexer.Word || t.Text == "operator" {
		return p.binary(x, s)
	}
	switch t.Text {
	case "or", "and":
		p.take()
		return &Binary{At: place(x), Op: upper(t.Text), OpAt: t.Start, X: x, Y: p.valueWithPrecedence(s + 1)}
	case "collate":
		p.take()
		return &Collate{At: place(x), X: x, Path: p.collation()}
	case "at":
		return p.zone(x)
	}
	if s == isPrecedence {
		return p.isTest(x)
	}
	return p.matchOperator(x)
}

func place(x Expr) At { return At(x.Place()) }

// binary parses a symbolic operator, and the value or ANY (…) after it.
func (p *parser) binary(x Expr, s precedence) Expr {
	b := &Binary{At: place(x), OpAt: p.peek().Start, X: x}
	b.Op = p.operatorHere()
	if p.peek().word("any", "some", "all") {
		return p.quantified(x, b.Op)
	}
	b.Y = p.valueWithPrecedence(s + 1)
	if s == comparisonPrecedence {
		p.rejectChain(comparisonPrecedence)
	}
	return b
}

// rejectChain fails if a second operator of a non-associative precedence follows, as in a < b < c.
func (p *parser) rejectChain(s precedence) {
	if t := p.peek(); p.nextPrecedence() == s {
		fail(stateSyntax, t.Start, "expected AND, OR or the end of the condition, found "+p.tokenText(t),
			"comparisons do not chain; put the first one in parentheses, or combine them with AND")
	}
}

// operatorHere parses an operator, or OPERATOR(pg_catalog.op).
func (p *parser) operatorHere() string {
	t := p.peek()
	switch t.Kind {
	case lexer.Word:
		return p.namedOperator()
	case questionToken:
		return p.questionOperator()
	}
	p.take()
	if t.Text == "!=" {
		return "<>"
	}
	return t.Text
}

// questionOperator takes ?, ?| or ?&.
func (p *parser) questionOperator() string {
	t := p.take()
	if next := p.scan.Text[t.Stop:]; next != "" && (next[0] == '|' || next[0] == '&') {
		p.rescan(t.Stop + 1)
		return "?" + next[:1]
	}
	return "?"
}

// namedOperator takes OPERATOR(pg_catalog.op).
func (p *parser) namedOperator() string {
	p.expect("operator")
	p.open("(")
	for t := p.peek(); t.isLabel(); t = p.peek() {
		if !p.take().word("pg_catalog") {
			p.unsupported(t.Start, "an operator of another schema", "")
		}
		if !p.acceptSymbol(".") {
			p.expected(".")
		}
	}
	if kind := p.peek().Kind; kind != operatorToken && kind != questionToken {
		p.expected("an operator")
	}
	op := p.operatorHere()
	p.close(")")
	return op
}

// collation takes the name of a collation. psql writes pg_catalog.default, which is
// a reserved word.
func (p *parser) collation() []Name {
	return p.pathFrom(p.name("a collation"))
}

func (p *parser) zone(x Expr) Expr {
	at := p.take().Start
	if p.peek().word("local") {
		p.unsupported(at, "AT LOCAL", "name the zone: AT TIME ZONE 'UTC'")
	}
	p.expect("time", "zone")
	return &Zone{At: place(x), X: x, Zone: p.valueWithPrecedence(timeZonePrecedence + 1)}
}

// quantified takes ANY (…), SOME (…) or ALL (…).
func (p *parser) quantified(x Expr, op string) Expr {
	q := &Quantified{At: place(x), X: x, Op: op, All: p.take().word("all")}
	at := p.peek().Start
	list, query := p.listOrQuery()
	if len(list) > 1 {
		fail(stateSyntax, at, "ANY and ALL take one array or a query", "write ANY (ARRAY[…]), or IN (…)")
	}
	if q.Query = query; query == nil {
		q.Array = list[0]
	}
	return q
}

// listOrQuery takes a list in parentheses, or a query there.
func (p *parser) listOrQuery() (list []Expr, q *Query) {
	p.open("(")
	if p.startsQuery() {
		q = p.query()
	} else {
		list = p.list()
		q = p.onlyQuery(list)
	}
	p.close(")")
	if q != nil {
		return nil, q
	}
	return list, nil
}

// onlyQuery is the query that a list turned out to be: ((SELECT …) UNION …).
func (p *parser) onlyQuery(list []Expr) *Query {
	if len(list) != 1 {
		return nil
	}
	s, ok := list[0].(*Scalar)
	switch {
	case !ok:
		return nil
	case p.continuesQuery():
		return p.queryFrom(s.Query)
	}
	return s.Query
}
