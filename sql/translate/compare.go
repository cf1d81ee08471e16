package translate

import (
	"cmp"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// compare translates a comparison. Columns of tables stay unchanged, so that SQLite can pass
// the comparison to the table.
func (t *translator) compare(op string, x, y value, at int) value {
	if x.row || y.row {
		return t.compareRows(op, x, y, at)
	}
	x, y = t.comparable(op, x, y, at)
	if strings.ContainsAny(op, "<>") && op != "<>" {
		checkOrderable(x.kind, at)
	}
	return newValue(kind.Boolean, asComparison, cat(compareText(x), " "+op+" ", compareText(y)), x, y)
}

// comparable converts two values to kinds that can be compared.
func (t *translator) comparable(op string, x, y value, at int) (value, value) {
	a, b := t.currentKind(x), t.currentKind(y)
	k, fit := commonKind(a, b)
	if !fit {
		panic(noOperator(op, x, y, at))
	}
	switch k {
	case kind.Unknown:
		k = kind.Text
	case kind.PlainJSON:
		panic(noOperator(op, x, y, at))
	}
	if categoryOf(k) == categoryText || categoryOf(k) == categoryNumber || categoryOf(k) == categoryOID {
		return t.comparableAsIs(x, y, a, b, k)
	}
	return t.implicit(x, k), t.implicit(y, k)
}

// comparableAsIs returns values that SQLite compares correctly without a conversion.
func (t *translator) comparableAsIs(x, y value, a, b, k kind.Kind) (value, value) {
	if x.untyped() {
		x = t.implicit(x, cmp.Or(b, k))
	}
	if y.untyped() {
		y = t.implicit(y, cmp.Or(a, k))
	}
	return x, y
}

// currentKind is the kind that is known of a value so far.
func (t *translator) currentKind(v value) kind.Kind {
	if v.param > 0 && v.kind == kind.Unknown {
		return t.params[v.param-1]
	}
	return v.kind
}

// compareText is the text of a value in a comparison.
func compareText(v value) *sql {
	switch v.kind {
	case kind.Interval:
		return cat("rota_micros(", v, ")")
	case kind.JSON:
		return cat("rota_json_same(", v, ")")
	case kind.BPChar:
		return cat("rtrim(", v, ", ' ')")
	case kind.Int2s, kind.OIDs:
		return v.atLevel(asTerm)
	}
	if elem := v.kind.Elem(); elem != kind.Unknown && !isInteger(elem) { // 1.0 is 1, however it is held
		return cat("rota_json_same(", v, ")")
	}
	return v.atLevel(asTerm)
}

// checkOrderable rejects kinds whose stored text can be compared for equality but not for
// order.
func checkOrderable(k kind.Kind, at int) {
	if k != kind.JSON && k != kind.Record && k != kind.AnyArray && k.Elem() == kind.Unknown {
		return
	}
	panic(unsupported(at, "could not identify an ordering operator for type %s", typeTitle(k)).WithHint("cast the values to text (x::text), or order by a part of them"))
}

// compareRows compares (a, b) with (c, d), which SQLite supports.
func (t *translator) compareRows(op string, x, y value, at int) value {
	if !x.row || !y.row {
		panic(noOperator(op, x, y, at))
	}
	if len(x.elems) != len(y.elems) {
		panic(queryError(StateSyntax, at, "unequal number of entries in row expressions").WithHint("the first has %d, the second %d", len(x.elems), len(y.elems)))
	}
	xs, ys := make([]*sql, len(x.elems)), make([]*sql, len(x.elems))
	for i := range x.elems {
		a, b := t.comparable(op, x.elems[i], y.elems[i], at)
		if op != "=" && op != "<>" {
			checkOrderable(a.kind, at)
		}
		xs[i], ys[i] = compareText(a), compareText(b)
	}
	if len(xs) == 1 {
		return newValue(kind.Boolean, asComparison, cat(xs[0], " "+op+" ", ys[0]), x, y)
	}
	return newValue(kind.Boolean, asComparison, cat("(", list(xs), ") "+op+" (", list(ys), ")"), x, y)
}

// between translates BETWEEN.
func (t *translator) between(e *query.Between, s *scope) value {
	var vs [3]value
	for i, n := range []query.Expr{e.X, e.Low, e.High} {
		v := t.expr(n, s)
		vs[i] = v
	}
	x, low, high := vs[0], vs[1], vs[2]
	if x.untyped() {
		k := cmp.Or(t.currentKind(low), t.currentKind(high))
		x = t.implicit(x, cmp.Or(k, kind.Text))
	}
	x1, low := t.comparable("BETWEEN", x, low, e.Place())
	x2, high := t.comparable("BETWEEN", x, high, e.Place())
	checkOrderable(x1.kind, e.Place())
	text := betweenText(x1, x2, low, high)
	if e.Not {
		return newValue(kind.Boolean, asNot, cat("NOT (", text, ")"), x, low, high).placed(e.Place())
	}
	level := asComparison
	if !x1.same(x2) {
		level = asAnd
	}
	return newValue(kind.Boolean, level, text, x, low, high).placed(e.Place())
}

// betweenText writes a range condition.
func betweenText(x1, x2, low, high value) *sql {
	if x1.same(x2) {
		return cat(compareText(x1), " BETWEEN ", compareText(low), " AND ", compareText(high))
	}
	return cat(compareText(x1), " >= ", compareText(low), " AND ", compareText(x2), " <= ", compareText(high))
}

// rowNull translates (a, b) IS NULL, which is true if all are NULL, and IS NOT NULL, which is
// true if none is.
func rowNull(x value, not bool) value {
	word := " IS NULL"
	if not {
		word = " IS NOT NULL"
	}
	text := cat("(1")
	for _, e := range x.elems {
		text.add(cat(" AND ", e.parenthesized(), word))
	}
	return newValue(kind.Boolean, atom, cat(text, ")"), x)
}
