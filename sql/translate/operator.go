package translate

import (
	"slices"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// binary translates a binary operator.
func (t *translator) binary(e *query.Binary, s *scope) value {
	if e.Op == "AND" || e.Op == "OR" {
		return t.logic(e, s)
	}
	if e.Op == "||" {
		return t.concatChain(e, s)
	}
	x, y := t.expr(e.X, s), t.expr(e.Y, s)
	t.at = e.OpAt
	return t.applyOperator(e.Op, x, y, e.OpAt).placed(e.Place())
}

// applyOperator applies an operator to two values.
func (t *translator) applyOperator(op string, x, y value, at int) value {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return t.compare(op, x, y, at)
	case "+", "-", "*", "/", "%", "^":
		return t.arithmetic(op, x, y, at)
	case "||":
		return t.concat(x, y, at)
	case "->", "->>", "#>", "#>>":
		return t.jsonOperator(op, x, y, at)
	case "~", "~*", "!~", "!~*":
		return t.regex(op, x, y, at)
	case "~~", "!~~", "~~*", "!~~*":
		return t.likeOperator(op, x, y, at)
	case "@>", "<@", "&&", "?":
		return t.contains(op, x, y, at)
	case "&", "|", "<<", ">>":
		return t.bits(op, x, y, at)
	case "#", "^@", "?|", "?&", "@@", "-|-", "#-", "@?":
		panic(unsupported(at, "operator %s is not supported", op).WithHint("%s", operatorHints[op]))
	}
	panic(noOperator(op, x, y, at))
}

// operatorHints say what to write instead of operators of PostgreSQL that Rota does not have.
var operatorHints = map[string]string{
	"#": "use arithmetic", "^@": "use starts_with", "?|": "use ? and OR", "?&": "use ? and AND", "@@": "use ~", "#-": "build the document in the client", "@?": "use #> and a comparison",
}

// noOperator is the error of an operator that does not exist for these kinds.
func noOperator(op string, x, y value, at int) *Error {
	return queryError(StateFunction, at, "operator does not exist: %s %s %s", typeTitle(x.kind), op, typeTitle(y.kind)).WithHint("cast one operand: x::%s", castHint(x, y))
}

// castHint suggests a type to cast to.
func castHint(x, y value) kind.Kind {
	for _, k := range []kind.Kind{x.kind, y.kind} {
		if k != kind.Unknown && categoryOf(k) != categoryText {
			return k
		}
	}
	return kind.Text
}

// logic translates AND or OR. Long chains become balanced trees, so that the text does not
// exceed SQLite's nesting limit.
func (t *translator) logic(e *query.Binary, s *scope) value {
	steps, first := chain(e)
	values := []value{t.boolExpr(first, s, "argument of "+e.Op)}
	for _, step := range steps {
		values = append(values, t.boolExpr(step.Y, s, "argument of "+e.Op))
	}
	return balanced(e.Op, values).placed(e.Place())
}

// chain returns the steps of a chain of the same operator from left to right, and its first operand.
func chain(e *query.Binary) (steps []*query.Binary, first query.Expr) {
	first = e
	for {
		b, is := first.(*query.Binary)
		if !is || b.Op != e.Op {
			slices.Reverse(steps)
			return steps, first
		}
		steps, first = append(steps, b), b.X
	}
}

func balanced(op string, values []value) value {
	level := map[string]int{"OR": asOr, "AND": asAnd}[op]
	const flat = 20
	if len(values) > flat {
		half := len(values) / 2
		x, y := balanced(op, values[:half]), balanced(op, values[half:])
		return newValue(kind.Boolean, level, cat("(", x, ") "+op+" (", y, ")"), x, y)
	}
	text := values[0].atLevel(level)
	for _, v := range values[1:] {
		text = cat(text, " "+op+" ", v.atLevel(level+1))
	}
	return newValue(kind.Boolean, level, text, values...)
}

// concatChain translates a chain of ||.
func (t *translator) concatChain(e *query.Binary, s *scope) value {
	steps, first := chain(e)
	v := t.expr(first, s)
	for _, step := range steps {
		y := t.expr(step.Y, s)
		t.at = step.OpAt
		v = t.concat(v, y, step.OpAt)
	}
	return v.placed(e.Place())
}

// concat translates || of texts, arrays or documents.
func (t *translator) concat(x, y value, at int) value {
	ax, ay := x.kind.Elem() != kind.Unknown, y.kind.Elem() != kind.Unknown
	switch {
	case ax || ay:
		return t.joinArrays(x, y)
	case x.kind == kind.JSON || y.kind == kind.JSON:
		panic(unsupported(at, "operator || for jsonb is not supported").WithHint("build the document in the client"))
	case !isText(x) && !isText(y):
		panic(noOperator("||", x, y, at))
	}
	x, y = t.cast(x, kind.Text, nil), t.cast(y, kind.Text, nil)
	left := x.parenthesized()
	if x.joins {
		left = x.sql
	}
	out := newValue(kind.Text, asTerm, cat(left, " || ", y.parenthesized()), x, y)
	out.joins = true
	return out
}

// isText reports whether a value is a text or can become one.
func isText(v value) bool {
	return v.untyped() || categoryOf(v.kind) == categoryText
}

// bothTexts converts two values to texts.
func (t *translator) bothTexts(op string, x, y value, at int) (value, value) {
	if !isText(x) || !isText(y) {
		panic(noOperator(op, x, y, at))
	}
	return t.implicit(x, kind.Text), t.implicit(y, kind.Text)
}

// operands converts two operands to their common kind.
func (t *translator) operands(op string, x, y value, at int) (kind.Kind, []value) {
	if _, fit := commonKind(t.currentKind(x), t.currentKind(y)); !fit {
		panic(noOperator(op, x, y, at))
	}
	values := []value{x, y}
	return t.unify("operator "+op, values), values
}

// bits translates a bit operator on integers.
func (t *translator) bits(op string, x, y value, at int) value {
	k, values := t.operands(op, x, y, at)
	if !isInteger(k) {
		panic(noOperator(op, x, y, at))
	}
	return newValue(k, asTerm, cat(values[0].parenthesized(), " "+op+" ", values[1].parenthesized()), values...)
}
