package dialect

import (
	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/query"
)

// binary is an operator between two values.
func (t *translator) binary(e *query.Binary, s *scope) (value, error) {
	if e.Op == "AND" || e.Op == "OR" {
		return t.logic(e, s)
	}
	if e.Op == "||" {
		return t.chain(e, s)
	}
	x, err := t.expr(e.X, s)
	if err != nil {
		return x, err
	}
	y, err := t.expr(e.Y, s)
	if err != nil {
		return y, err
	}
	v, err := t.operate(e.Op, x, y, e.OpAt)
	if err != nil {
		return v, placed(err, e.OpAt)
	}
	return v.placed(e.Place()), nil
}

// operate applies an operator to two values.
func (t *translator) operate(op string, x, y value, at int) (value, error) {
	switch op {
	case "=", "<>", "<", "<=", ">", ">=":
		return t.compare(op, x, y, at)
	case "+", "-", "*", "/", "%", "^":
		return t.arithmetic(op, x, y, at)
	case "||":
		return t.concat(x, y, at)
	case "->", "->>", "#>", "#>>":
		return t.reach(op, x, y, at)
	case "~", "~*", "!~", "!~*":
		return t.regex(op, x, y, at)
	case "~~", "!~~", "~~*", "!~~*":
		return t.likeSign(op, x, y, at)
	case "@>", "<@", "&&", "?", "?|", "?&":
		return t.contains(op, x, y, at)
	case "&", "|", "<<", ">>", "#":
		return t.bits(op, x, y, at)
	case "^@":
		x, y, err := t.texts(op, x, y, at)
		return call(kind.Boolean, "rota_starts", x, y), err
	}
	return x, noOperator(op, x, y, at)
}

// noOperator says that there is no such operator for what it is given.
func noOperator(op string, x, y value, at int) error {
	return refuse(StateFunction, at, "operator does not exist: %s %s %s", title(x.kind), op, title(y.kind)).hinting("cast one operand: x::%s", castHint(x, y))
}

// castHint is a type to cast to.
func castHint(x, y value) kind.Kind {
	for _, k := range []kind.Kind{x.kind, y.kind} {
		if k != kind.Unknown && k != dynamic && sortOf(k) != sortText {
			return k
		}
	}
	return kind.Text
}

// logic is AND or OR. Many of them in a row are put together in pairs, so that the text
// is nested no deeper than SQLite reads.
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
		v, err := t.truth(nodes[len(nodes)-1-i], s, "argument of "+e.Op)
		if err != nil {
			return v, err
		}
		values[i] = v
	}
	return pairs(e.Op, values).placed(e.Place()), nil
}

func pairs(op string, values []value) value {
	level := map[string]int{"OR": asOr, "AND": asAnd}[op]
	const flat = 20
	if len(values) > flat {
		half := len(values) / 2
		x, y := pairs(op, values[:half]), pairs(op, values[half:])
		return made(kind.Boolean, level, cat("(", x, ") "+op+" (", y, ")"), x, y)
	}
	text := values[0].in(level)
	for _, v := range values[1:] {
		text = cat(text, " "+op+" ", v.in(level+1))
	}
	return made(kind.Boolean, level, text, values...)
}

// chain is || between values, of which there may be many in a row.
func (t *translator) chain(e *query.Binary, s *scope) (value, error) {
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
			return v, placed(err, steps[i].OpAt)
		}
	}
	return v.placed(e.Place()), nil
}

// concat is ||: of texts, arrays or documents.
func (t *translator) concat(x, y value, at int) (value, error) {
	var err error
	ax, ay := x.kind.Elem() != kind.Unknown, y.kind.Elem() != kind.Unknown
	switch {
	case ax || ay:
		return t.joinArrays(x, y)
	case x.kind == kind.JSON || y.kind == kind.JSON:
		if x, err = t.implicit(x, kind.JSON); err == nil {
			y, err = t.implicit(y, kind.JSON)
		}
		return call(kind.JSON, "rota_json_concat", x, y), err
	case x.kind == kind.Bytea && y.kind == kind.Bytea:
		return made(kind.Bytea, atom, cat("CAST(", x.whole(), " || ", y.whole(), " AS BLOB)"), x, y), nil
	case !textual(x) && !textual(y):
		return x, noOperator("||", x, y, at)
	}
	if x, err = t.cast(x, kind.Text, nil); err == nil {
		y, err = t.cast(y, kind.Text, nil)
	}
	left := x.whole()
	if x.joins {
		left = x.sql
	}
	out := made(kind.Text, asTerm, cat(left, " || ", y.whole()), x, y)
	out.joins = true
	return out, err
}

// textual says whether a value is a text, or may be one.
func textual(v value) bool { return v.open() || sortOf(v.kind) == sortText || v.kind == dynamic }

// texts are two values as texts.
func (t *translator) texts(op string, x, y value, at int) (value, value, error) {
	if !textual(x) || !textual(y) {
		return x, y, noOperator(op, x, y, at)
	}
	x, err := t.implicit(x, kind.Text)
	if err != nil {
		return x, y, err
	}
	y, err = t.implicit(y, kind.Text)
	return x, y, err
}

// bits is an operator on the bits of whole numbers.
func (t *translator) bits(op string, x, y value, at int) (value, error) {
	values := []value{x, y}
	k, err := t.unify("operator "+op, values)
	if err != nil || !whole(k) {
		return x, noOperator(op, x, y, at)
	}
	if op == "#" {
		return call(k, "rota_xor", values...), nil
	}
	return made(k, asTerm, cat(values[0].whole(), " "+op+" ", values[1].whole()), values...), nil
}
