package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// expr translates an expression.
func (t *translator) expr(e query.Expr, s *scope) value {
	before := t.at
	t.at = e.Place()
	t.enter(t.at)
	v := t.exprOf(e, s)
	t.leave()
	t.at = before
	return removeGrouped(v, s)
}

func (t *translator) exprOf(e query.Expr, s *scope) value {
	switch e := e.(type) {
	case *query.Number:
		return numberLiteral(e)
	case *query.String:
		return value{text: &e.Value, level: atom, at: e.Place(), sql: raw(quoteText(e.Value))}
	case *query.Bool:
		return constant(kind.Boolean, map[bool]string{true: "1", false: "0"}[e.Value]).placed(e.Place())
	case *query.Null:
		return value{null: true, level: atom, at: e.Place(), sql: raw("NULL")}
	case *query.Param:
		return t.param(e)
	case *query.Column:
		return t.column(e, s)
	case *query.Star:
		panic(queryError(StateSyntax, e.Place(), "* is not allowed as a value").WithHint("name a column"))
	case *query.Call:
		return t.call(e, s)
	case *query.Unary:
		return t.unary(e, s)
	case *query.Binary:
		return t.binary(e, s)
	case *query.Case:
		return t.caseOf(e, s)
	case *query.Cast:
		return t.castOf(e, s)
	}
	return t.exprMore(e, s)
}

func (t *translator) exprMore(e query.Expr, s *scope) value {
	switch e := e.(type) {
	case *query.Like:
		return t.like(e, s)
	case *query.Is:
		return t.is(e, s)
	case *query.In:
		return t.inList(e, s)
	case *query.Between:
		return t.between(e, s)
	case *query.Quantified:
		return t.quantified(e, s)
	case *query.Exists:
		return t.exists(e, s)
	case *query.Scalar:
		return t.scalar(e, s)
	case *query.Array:
		return t.array(e, s)
	case *query.Row:
		return t.row(e, s)
	case *query.Collate:
		return t.collate(e, s)
	case *query.Zone:
		return t.inZone(e, s)
	case *query.Extract:
		return t.extract(e, s)
	case *query.Index:
		return t.index(e, s)
	case *query.Field:
		return t.field(e, s)
	}
	panic(unsupported(e.Place(), "this form of expression is not supported"))
}

// boolExpr translates an expression that must be boolean.
func (t *translator) boolExpr(e query.Expr, s *scope, what string) value {
	v := t.expr(e, s)
	return t.boolValue(v, e.Place(), what)
}

func (t *translator) boolValue(v value, at int, what string) value {
	if v.untyped() {
		return t.implicit(v, kind.Boolean)
	}
	if v.kind != kind.Boolean {
		panic(queryError(StateMismatch, at, "%s must be type boolean, not type %s", what, typeTitle(v.kind)).WithHint("write a comparison, for example x <> 0 or x IS NOT NULL"))
	}
	return v
}

// unary translates a sign or NOT.
func (t *translator) unary(e *query.Unary, s *scope) value {
	if e.Op == "NOT" {
		v := t.boolExpr(e.X, s, "argument of NOT")
		return newValue(kind.Boolean, asNot, cat("NOT ", v.atLevel(asNot)), v).placed(e.Place())
	}
	v := t.expr(e.X, s)
	if v.untyped() {
		v = t.implicit(v, kind.Float)
	}
	switch {
	case e.Op != "-" && e.Op != "+":
		panic(unsupported(e.Place(), "operator %s is not supported", e.Op).WithHint("use abs, sqrt or arithmetic"))
	case e.Op == "-" && v.kind == kind.Interval:
		return call(kind.Interval, "rota_interval_times", v, constant(kind.Int4, "-1"))
	case categoryOf(v.kind) != categoryNumber:
		panic(queryError(StateFunction, e.Place(), "operator does not exist: %s %s", e.Op, typeTitle(v.kind)).WithHint("cast the value to a number: x::numeric"))
	}
	if e.Op == "+" {
		return v
	}
	out := newValue(v.kind, asTerm, cat(e.Op, v.parenthesized()), v).placed(e.Place())
	out.plain, out.real = v.plain, v.real
	return out
}

// caseOf translates CASE.
func (t *translator) caseOf(e *query.Case, s *scope) value {
	var of value
	if e.Of != nil {
		of = t.expr(e.Of, s)
	}
	ifs, thens := make([]value, len(e.Whens)), make([]value, 0, len(e.Whens)+1)
	for i, w := range e.Whens {
		if e.Of == nil {
			ifs[i] = t.boolExpr(w.If, s, "argument of CASE/WHEN")
		} else {
			ifs[i] = t.expr(w.If, s)
		}
		then := t.expr(w.Then, s)
		thens = append(thens, then)
	}
	if e.Else != nil {
		last := t.expr(e.Else, s)
		thens = append(thens, last)
	}
	k := t.unifyCase(e, thens)
	return t.writeCase(e, of, ifs, thens, k)
}

// unifyCase converts the results of CASE to a common kind. ELSE is considered first, as in
// PostgreSQL.
func (t *translator) unifyCase(e *query.Case, thens []value) kind.Kind {
	last := len(thens) - 1
	if e.Else == nil || last == 0 {
		return t.unify("CASE", thens)
	}
	all := append([]value{thens[last]}, thens[:last]...)
	k := t.unify("CASE", all)
	copy(thens, all[1:])
	thens[last] = all[0]
	return k
}

func (t *translator) writeCase(e *query.Case, of value, ifs, thens []value, k kind.Kind) value {
	text := cat("CASE")
	if e.Of != nil {
		all := append([]value{of}, ifs...)
		t.unify("CASE", all)
		of, ifs = all[0], all[1:]
		text = cat("CASE ", of.parenthesized())
	}
	for i := range ifs {
		text.add(cat(" WHEN ", ifs[i], " THEN ", thens[i]))
	}
	if e.Else != nil {
		text.add(cat(" ELSE ", thens[len(thens)-1]))
	}
	text.add(raw(" END"))
	out := newValue(k, atom, text, append(append([]value{of}, ifs...), thens...)...)
	return out.placed(e.Place())
}

// is translates IS NULL, IS TRUE, IS DISTINCT FROM and similar.
func (t *translator) is(e *query.Is, s *scope) value {
	x := t.expr(e.X, s)
	not := map[bool]string{true: "NOT "}[e.Not]
	switch e.What {
	case "NULL":
		if x.row {
			return rowNull(x, e.Not)
		}
		return newValue(kind.Boolean, asComparison, cat(x.atLevel(asTerm), " IS ", not, "NULL"), x).placed(e.Place())
	case "TRUE", "FALSE", "UNKNOWN":
		x = t.boolValue(x, e.X.Place(), "argument of IS "+not+e.What)
		what := map[string]string{"TRUE": "1", "FALSE": "0", "UNKNOWN": "NULL"}[e.What]
		return newValue(kind.Boolean, asComparison, cat(x.atLevel(asTerm), " IS ", not, what), x).placed(e.Place())
	case "DISTINCT":
		y := t.expr(e.Y, s)
		op := "IS NOT"
		if e.Not {
			op = "IS"
		}
		return t.compare(op, x, y, e.Place())
	}
	panic(unsupported(e.Place(), "IS %s is not supported", e.What))
}

// collations are the accepted collations. All of them are the byte order.
var collations = map[string]bool{
	"default": true, "c": true, "posix": true, "ucs_basic": true, "unicode": true, "en_us": true, "en_us.utf8": true, "en_us.utf-8": true,
	"c.utf8": true, "c.utf-8": true, "en-x-icu": true, "und-x-icu": true,
}

// collate translates COLLATE.
func (t *translator) collate(e *query.Collate, s *scope) value {
	v := t.expr(e.X, s)
	if name := e.Path[len(e.Path)-1].Text; !collations[strings.ToLower(name)] {
		panic(queryError(StateObject, e.Path[0].At, "collation %q does not exist", name).WithHint(`use "C", or lower(x) to ignore case`))
	}
	return t.resolveUnknown(v)
}
