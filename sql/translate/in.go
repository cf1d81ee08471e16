package translate

import (
	"cmp"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// inList translates IN with a list or a subquery.
func (t *translator) inList(e *query.In, s *scope) value {
	x := t.expr(e.X, s)
	if e.Query != nil {
		return t.inQuery(x, e.Not, e.Query, s).placed(e.Place())
	}
	values := make([]value, len(e.List))
	for i, n := range e.List {
		values[i] = t.expr(n, s)
	}
	return t.inValues(x, e.Not, values, e.Place()).placed(e.Place())
}

// inValues compares a value with a list of values.
func (t *translator) inValues(x value, not bool, values []value, at int) value {
	if x.row {
		return t.inRows(x, not, values, at)
	}
	k := t.currentKind(x)
	for _, v := range values {
		next, fit := commonKind(k, t.currentKind(v))
		if !fit {
			panic(noOperator("=", x, v, at))
		}
		k = next
	}
	if x.untyped() {
		x = t.implicit(x, cmp.Or(k, kind.Text))
	}
	texts, all := make([]*sql, len(values)), []value{x}
	for i, v := range values {
		_, y := t.comparable("=", x, v, at)
		texts[i] = compareText(y)
		all = append(all, y)
	}
	if k != x.kind && categoryOf(k) == categoryTime {
		x = t.implicit(x, k)
	}
	return newValue(kind.Boolean, asComparison, cat(compareText(x), notWord(not), "IN (", list(texts), ")"), all...)
}

func notWord(not bool) string {
	if not {
		return " NOT "
	}
	return " "
}

// inRows compares (a, b) with a list of rows.
func (t *translator) inRows(x value, not bool, rows []value, at int) value {
	var parts []value
	for _, row := range rows {
		v := t.compareRows("=", x, row, at)
		parts = append(parts, v)
	}
	if len(parts) == 1 {
		return negated(parts[0], not)
	}
	return negated(balanced("OR", parts), not)
}

// inQuery compares a value with the rows of a subquery.
func (t *translator) inQuery(x value, not bool, q *query.Query, s *scope) value {
	want := 1
	if x.row {
		want = len(x.elems)
	}
	b := t.subquery(q, s, want)
	elems := []value{x}
	if x.row {
		elems = append([]value{}, x.elems...)
	}
	texts, outs := make([]*sql, len(elems)), make([]*sql, len(elems))
	plain := true
	for i := range elems {
		y := value{sql: raw(quoted(b.columns[i].alias)), kind: b.columns[i].kind, level: atom, at: elems[i].at}
		before := y.sql
		a, y := t.comparable("=", elems[i], y, elems[i].at)
		elems[i], texts[i], outs[i] = a, compareText(a), compareText(y)
		plain = plain && outs[i].same(before)
	}
	inner := b.write(false)
	if !plain {
		inner = cat("SELECT ", list(outs), " FROM (", b.write(true), ")")
	}
	left := texts[0]
	if x.row {
		left = cat("(", list(texts), ")")
	}
	v := newValue(kind.Boolean, asComparison, cat(left, notWord(not), "IN (", inner, ")"), elems...)
	v.addUngrouped(b.ungrouped)
	return v
}

// quantified translates = ANY (…), <> ALL (…) and similar, with an array or a subquery.
func (t *translator) quantified(e *query.Quantified, s *scope) value {
	x := t.expr(e.X, s)
	is, isNot := e.Op == "=" && !e.All, e.Op == "<>" && e.All
	if e.Query != nil {
		if is || isNot {
			return t.inQuery(x, isNot, e.Query, s).placed(e.Place())
		}
		b := t.subquery(e.Query, s, 1)
		alias := t.alias("any")
		y := value{sql: raw(quoted(alias) + "." + quoted(b.columns[0].alias)), kind: b.columns[0].kind, level: atom, at: e.Place(), ungrouped: b.ungrouped}
		return t.each(e, x, y, cat("(", b.write(true), ") AS ", quoted(alias)))
	}
	array := t.expr(e.Array, s)
	array = t.arrayFor(x, array, e)
	if (is || isNot) && array.elems != nil && len(array.elems) > 0 {
		return t.inValues(x, isNot, array.elems, e.Place()).placed(e.Place())
	}
	if array.elems == nil && !array.bound {
		array = newValue(array.kind, atom, cat("ifnull(", array, ", '[null]')"), array) // of no array nothing is known
	}
	if is || isNot {
		return t.inArray(x, isNot, array, e)
	}
	alias := t.alias("any")
	y := value{sql: raw(quoted(alias) + `."value"`), kind: elemOf(array.kind), level: atom, at: e.Place(), ungrouped: array.ungrouped}
	return t.each(e, x, y, cat("json_each(", array, ") AS ", quoted(alias)))
}

// arrayFor converts the right side to an array of the kind of the left side.
func (t *translator) arrayFor(x, array value, e *query.Quantified) value {
	if array.untyped() {
		elem := cmp.Or(t.currentKind(x), kind.Text)
		if categoryOf(elem) == categoryText {
			elem = kind.Text
		}
		return t.implicit(array, elem.Array())
	}
	if elemOf(array.kind) == kind.Unknown {
		panic(queryError("42809", e.Array.Place(), "op ANY/ALL (array) requires array on right side").WithHint("write IN (…), or cast it: x::text[]"))
	}
	return array
}

// inArray tests whether a value is an element of an array.
func (t *translator) inArray(x value, not bool, array value, e *query.Quantified) value {
	y := value{sql: raw(`"value"`), kind: elemOf(array.kind), level: atom, at: e.Place()}
	x, y = t.comparable("=", x, y, e.Place())
	text := cat(compareText(x), notWord(not), "IN (SELECT ", compareText(y), " FROM json_each(", array, "))")
	return newValue(kind.Boolean, asComparison, text, x, array).placed(e.Place())
}

// each compares with every element. For ANY one true comparison decides, for ALL one false
// comparison; otherwise the result is NULL if any comparison is NULL.
func (t *translator) each(e *query.Quantified, x, y value, from *sql) value {
	var v value
	if how, not := likeOperators[e.Op], len(e.Op) > 4 && e.Op[:4] == "NOT "; how != "" {
		v = t.matching(how, not, x, y, nil, e.Place())
	} else {
		v = t.applyOperator(e.Op, x, y, e.Place())
	}
	if v.kind != kind.Boolean {
		panic(queryError(StateMismatch, e.Place(), "op ANY/ALL (array) requires operator to yield boolean"))
	}
	decides := "max(v) = 1 THEN 1 WHEN count(*) = count(v) THEN 0"
	if e.All {
		decides = "min(v) = 0 THEN 0 WHEN count(*) = count(v) THEN 1"
	}
	return newValue(kind.Boolean, atom, cat("(SELECT CASE WHEN "+decides+" END FROM (SELECT ", v, " AS v FROM ", from, "))"), v).placed(e.Place())
}

var likeOperators = map[string]string{"LIKE": "LIKE", "ILIKE": "ILIKE", "NOT LIKE": "LIKE", "NOT ILIKE": "ILIKE"}
