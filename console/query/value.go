package query

// strength is how tight an operator binds what stands at its sides.
type strength int

// From the weakest to the strongest, as PostgreSQL has them. A cast, a subscript and
// a field bind tighter than all of these and belong to the operand.
const (
	none strength = iota
	either
	both
	negated
	tested   // IS
	compared // = < >
	matched  // LIKE IN BETWEEN
	other    // whatever has no place of its own
	added
	multiplied
	raised
	zoned
	collated
	signed
)

// value takes a value.
func (p *parser) value() Expr { return p.above(either) }

// above takes a value of which no operator is weaker than that.
func (p *parser) above(least strength) Expr {
	x := p.operand()
	for {
		s := p.strength()
		if s == none || s < least {
			return x
		}
		x = p.infix(x, s)
	}
}

// list takes values with commas between them.
func (p *parser) list() (all []Expr) {
	for {
		all = append(all, p.value())
		if !p.acceptSign(",") {
			return all
		}
	}
}

// strength is that of the operator that comes next, none if none does.
func (p *parser) strength() strength {
	switch t := p.now(); t.kind {
	case aWord:
		return p.wordStrength(t)
	case aQuestion:
		return other
	case anOperator:
		if s, ok := signStrength[t.text]; ok {
			return s
		}
		return other
	}
	return none
}

var signStrength = map[string]strength{
	"=": compared, "==": compared, "<": compared, ">": compared, "<=": compared, ">=": compared,
	"<>": compared, "!=": compared, "+": added, "-": added, "*": multiplied, "/": multiplied,
	"%": multiplied, "^": raised,
}

var wordStrength = map[string]strength{
	"or": either, "and": both, "is": tested, "isnull": tested, "notnull": tested,
	"between": matched, "in": matched, "like": matched, "ilike": matched, "similar": matched,
	"overlaps": matched, "collate": collated,
}

// wordStrength is the strength of a word. Some are operators only before certain
// others, and names elsewhere.
func (p *parser) wordStrength(t token) strength {
	if s, ok := wordStrength[t.text]; ok {
		return s
	}
	switch {
	case t.text == "not" && p.ahead(1).word("null"):
		return tested
	case t.text == "not" && p.ahead(1).word("between", "in", "like", "ilike", "similar", "glob"):
		return matched
	case t.text == "glob" && p.startsOperand(p.ahead(1)):
		return matched
	case t.text == "operator" && p.ahead(1).sign("("):
		return other
	case t.text == "at" && (p.ahead(1).word("local") || p.ahead(1).word("time") && p.ahead(2).word("zone")):
		return zoned
	}
	return none
}

// startsOperand says whether a token surely begins a value.
func (p *parser) startsOperand(t token) bool {
	switch t.kind {
	case aString, aNumber, aParam, aQuestion, aName:
		return true
	case aWord:
		return reserved[t.text] == 0 || t.text == "case" || t.text == "cast"
	}
	return t.sign("(")
}

// infix takes an operator and what stands to its right.
func (p *parser) infix(x Expr, s strength) Expr {
	t := p.now()
	if t.kind != aWord || t.text == "operator" {
		return p.binary(x, s)
	}
	switch t.text {
	case "or", "and":
		p.take()
		return &Binary{At: place(x), Op: upper(t.text), OpAt: t.at, X: x, Y: p.above(s + 1)}
	case "collate":
		p.take()
		return &Collate{At: place(x), X: x, Path: p.collation()}
	case "at":
		return p.zone(x)
	}
	if s == tested {
		return p.test(x)
	}
	return p.match(x)
}

func place(x Expr) At { return At(x.Place()) }

// binary takes an operator of signs, and a value or ANY (…) behind it.
func (p *parser) binary(x Expr, s strength) Expr {
	b := &Binary{At: place(x), OpAt: p.now().at, X: x}
	b.Op, b.Schema = p.operatorHere()
	if p.now().word("any", "some", "all") {
		if b.Schema != "" && b.Schema != "pg_catalog" {
			p.unsupported(b.OpAt, "an operator of another schema with ANY or ALL", "")
		}
		return p.quantified(x, b.Op)
	}
	b.Y = p.above(s + 1)
	if s == compared {
		p.notAgain(compared)
	}
	return b
}

// notAgain fails where operators stand in a row that cannot: PostgreSQL does not
// guess what a < b < c means.
func (p *parser) notAgain(s strength) {
	if t := p.now(); p.strength() == s {
		fail(stateSyntax, t.at, "expected AND, OR or the end of the condition, found "+p.found(t),
			"comparisons do not chain; put the first one in parentheses, or combine them with AND")
	}
}

// operatorHere takes an operator that stands between two values or before one.
func (p *parser) operatorHere() (op, schema string) {
	t := p.now()
	switch t.kind {
	case aWord:
		return p.namedOperator()
	case aQuestion:
		return p.questionOperator(), ""
	}
	p.take()
	return canonical(t.text), ""
}

func canonical(op string) string {
	switch op {
	case "==":
		return "="
	case "!=":
		return "<>"
	}
	return op
}

// questionOperator takes ?, ?| or ?&.
func (p *parser) questionOperator() string {
	t := p.take()
	if next := p.scan.text[t.end:]; next != "" && (next[0] == '|' || next[0] == '&') {
		p.again(t.end + 1)
		return "?" + next[:1]
	}
	return "?"
}

// namedOperator takes OPERATOR(schema.op).
func (p *parser) namedOperator() (op, schema string) {
	p.expect("operator")
	p.open("(")
	for p.now().isLabel() {
		schema = p.take().text
		if !p.acceptSign(".") {
			p.expected(".")
		}
	}
	switch p.now().kind {
	case anOperator, aQuestion:
		op, _ = p.operatorHere()
	default:
		p.expected("an operator")
	}
	p.close(")")
	return op, schema
}

// collation takes the name of a collation. psql writes pg_catalog.default, which is
// a reserved word.
func (p *parser) collation() []Name {
	return p.pathFrom(p.name("a collation"))
}

func (p *parser) zone(x Expr) Expr {
	at := p.take().at
	if p.now().word("local") {
		p.unsupported(at, "AT LOCAL", "name the zone: AT TIME ZONE 'UTC'")
	}
	p.expect("time", "zone")
	return &Zone{At: place(x), X: x, Zone: p.above(zoned + 1)}
}

// quantified takes ANY (…), SOME (…) or ALL (…).
func (p *parser) quantified(x Expr, op string) Expr {
	q := &Quantified{At: place(x), X: x, Op: op, All: p.take().word("all")}
	at := p.now().at
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
	case p.goesOn():
		return p.queryFrom(s.Query)
	}
	return s.Query
}
