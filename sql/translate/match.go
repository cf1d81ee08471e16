package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// like translates LIKE or ILIKE.
func (t *translator) like(e *query.Like, s *scope) value {
	x := t.expr(e.X, s)
	y := t.expr(e.Pattern, s)
	var escape *value
	if e.Escape != nil {
		v := t.expr(e.Escape, s)
		v = t.implicit(v, kind.Text)
		escape = &v
	}
	return t.matching(e.How, e.Not, x, y, escape, e.Place()).placed(e.Place())
}

// matching writes a pattern match.
func (t *translator) matching(how string, not bool, x, y value, escape *value, at int) value {
	sign := map[string]string{"LIKE": "~~", "ILIKE": "~~*"}[how]
	if sign == "" {
		sign = how
	}
	x, y = t.bothTexts(sign, x, y, at)
	word := map[bool]string{true: "NOT "}[not]
	switch how {
	case "ILIKE":
		if escape != nil {
			return negated(call(kind.Boolean, "regexp", y, x, *escape), not)
		}
		return newValue(kind.Boolean, asComparison, cat(x.atLevel(asTerm), " ", word, "REGEXP ", y.atLevel(asTerm)), x, y)
	}
	text := cat(x.atLevel(asTerm), " ", word, "LIKE ", y.atLevel(asTerm))
	if escape != nil {
		if escape.sql.same(raw("''")) { // nothing escapes anything
			return negated(call(kind.Boolean, "like", y, x, *escape), not)
		}
		text = cat(text, " ESCAPE ", *escape)
	}
	return newValue(kind.Boolean, asComparison, text, x, y)
}

// negated returns a boolean value or its negation.
func negated(v value, not bool) value {
	if !not {
		return v
	}
	return newValue(kind.Boolean, asNot, cat("NOT ", v.atLevel(asNot)), v)
}

// likeOperator translates ~~ and similar, the operator forms of LIKE.
func (t *translator) likeOperator(op string, x, y value, at int) value {
	how := "LIKE"
	if op[len(op)-1] == '*' {
		how = "ILIKE"
	}
	return t.matching(how, op[0] == '!', x, y, nil, at)
}

// regex translates ~ and similar operators.
func (t *translator) regex(op string, x, y value, at int) value {
	x, y = t.bothTexts(op, x, y, at)
	flags := "''"
	if op[len(op)-1] == '*' {
		flags = "'i'"
	}
	return negated(call(kind.Boolean, "rota_regex", x, y, constant(kind.Text, flags)), op[0] == '!')
}
