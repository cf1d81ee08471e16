package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// binary translates a binary operator.
func (t *translator) binary(e *query.Binary, s *scope) (value, error) {
	if e.Op == "AND" || e.Op == "OR" {
		return t.logic(e, s)
	}
	if e.Op == "||" {
		return t.concatChain(e, s)
	}
	x, err := t.expr(e.X, s)
	if err != nil {
		return x, err
	}
	y, err := t.expr(e.Y, s)
	if err != nil {
		return y, err
	}
	v, err := t.applyOperator(e.Op, x, y, e.OpAt)
	if err != nil {
		return v, withOffset(err, e.OpAt)
	}
	return v.placed(e.Place()), nil
}

// applyOperator applies an operator to two values.
func (t *translator) applyOperator(op string, x, y value, at int) (value, error) {
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
		return x, unsupported(at, "operator %s is not supported", op).withHint("%s", operatorHints[op])
	}
	return x, noOperator(op, x, y, at)
}

// operatorHints say what to write instead of operators of PostgreSQL that Rota does not have.
var operatorHints = map[string]string{
	"#": "use arithmetic", "^@": "use starts_with", "?|": "use ? and OR", "?&": "use ? and AND", "@@": "use ~", "#-": "build the document in the client", "@?": "use #> and a comparison",
}

// noOperator is the error of an operator that does not exist for these kinds.
func noOperator(op string, x, y value, at int) error {
	return queryError(StateFunction, at, "operator does not exist: %s %s %s", typeTitle(x.kind), op, typeTitle(y.kind)).withHint("cast one operand: x::%s", castHint(x, y))
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
func (t *translator) logic(e *query.Binary, s *scope) (value, error) {
	var nodes []query.Expr
	var left query.Expr = e
	for {
		b, is := left.(*query.Binary)
		if !is || b.Op != e.Op {
			break
		}
		nodes = append(nodes, b.Y)
		left = b.X
	}
	nodes = append(nodes, left)
	values := make([]value, len(nodes))
	for i := range nodes {
		v, err := t.boolExpr(nodes[len(nodes)-1-i], s, "argument of "+e.Op)
		if err != nil {
			return v, err
		}
		values[i] = v
	}
	return balanced(e.Op, values).placed(e.Place()), nil
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
func (t *translator) concatChain(e *query.Binary, s *scope) (value, error) {
	var steps []*query.Binary
	var left query.Expr = e
	for {
		b, is := left.(*query.Binary)
		if !is || b.Op != "||" {
			break
		}
		steps = append(steps, b)
		left = b.X
	}
	v, err := t.expr(left, s)
	if err != nil {
		return v, err
	}
	for i := len(steps) - 1; i >= 0; i-- {
		y, err := t.expr(steps[i].Y, s)
		if err != nil {
			return y, err
		}
		if v, err = t.concat(v, y, steps[i].OpAt); err != nil {
			return v, withOffset(err, steps[i].OpAt)
		}
	}
	return v.placed(e.Place()), nil
}

// concat translates || of texts, arrays or documents.
func (t *translator) concat(x, y value, at int) (value, error) {
	var err error
	ax, ay := x.kind.Elem() != kind.Unknown, y.kind.Elem() != kind.Unknown
	switch {
	case ax || ay:
		return t.joinArrays(x, y)
	case x.kind == kind.JSON || y.kind == kind.JSON:
		return x, unsupported(at, "operator || for jsonb is not supported").withHint("build the document in the client")
	case !isText(x) && !isText(y):
		return x, noOperator("||", x, y, at)
	}
	if x, err = t.cast(x, kind.Text, nil); err == nil {
		y, err = t.cast(y, kind.Text, nil)
	}
	left := x.parenthesized()
	if x.joins {
		left = x.sql
	}
	out := newValue(kind.Text, asTerm, cat(left, " || ", y.parenthesized()), x, y)
	out.joins = true
	return out, err
}

// isText reports whether a value is a text or can become one.
func isText(v value) bool {
	return v.untyped() || categoryOf(v.kind) == categoryText
}

// bothTexts converts two values to texts.
func (t *translator) bothTexts(op string, x, y value, at int) (value, value, error) {
	if !isText(x) || !isText(y) {
		return x, y, noOperator(op, x, y, at)
	}
	x, err := t.implicit(x, kind.Text)
	if err != nil {
		return x, y, err
	}
	y, err = t.implicit(y, kind.Text)
	return x, y, err
}

// bits translates a bit operator on integers.
func (t *translator) bits(op string, x, y value, at int) (value, error) {
	values := []value{x, y}
	k, err := t.unify("operator "+op, values)
	if err != nil || !isInteger(k) {
		return x, noOperator(op, x, y, at)
	}
	return newValue(k, asTerm, cat(values[0].parenthesized(), " "+op+" ", values[1].parenthesized()), values...), nil
}
