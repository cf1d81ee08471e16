package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// array translates ARRAY[…] or ARRAY(query).
func (t *translator) array(e *query.Array, s *scope) value {
	return t.arrayOf(e, s, kind.Unknown)
}

// arrayOf translates an array whose kind may be known already.
func (t *translator) arrayOf(e *query.Array, s *scope, want kind.Kind) value {
	if e.Query != nil {
		return t.arrayQuery(e, s, want)
	}
	elems := make([]value, len(e.Elems))
	for i, n := range e.Elems {
		v := t.expr(n, s)
		if v.kind.Elem() != kind.Unknown {
			panic(oneDimension(n.Place()))
		}
		elems[i] = v
	}
	if want == kind.Unknown && len(elems) == 0 {
		panic(queryError("42P18", e.Place(), "cannot determine type of empty array").WithHint("cast it: ARRAY[]::text[]"))
	}
	k := want.Elem()
	if want == kind.Unknown {
		k = t.unify("ARRAY", elems)
	}
	texts := make([]*sql, len(elems))
	for i := range elems {
		if want != kind.Unknown {
			elems[i] = t.cast(elems[i], k, nil)
		}
		texts[i] = inArray(elems[i]).sql
	}
	v := newValue(k.Array(), atom, cat("json_array(", list(texts), ")"), elems...)
	v.elems = elems
	return v.placed(e.Place())
}

func (t *translator) arrayQuery(e *query.Array, s *scope, want kind.Kind) value {
	b := t.subquery(e.Query, s, 1)
	name := quoted(b.columns[0].alias)
	v := value{kind: b.columns[0].kind.Array(), level: atom, at: e.Place(), ungrouped: b.ungrouped}
	v.sql = cat("(SELECT json_group_array(", name, ") FILTER (WHERE ", checkMemory(raw(name)), ") FROM (", b.write(true), "))")
	if want == kind.Unknown {
		return v
	}
	return t.convert(v, want)
}

// subquery translates a subquery with a number of columns; 0: any number.
func (t *translator) subquery(q *query.Query, s *scope, columns int) *block {
	b := t.resolveBlock(t.query(q, s))
	if columns > 0 && len(b.columns) != columns {
		if columns == 1 {
			panic(queryError(StateSyntax, q.At, "subquery must return only one column").WithHint("the subquery has %d columns; select one", len(b.columns)))
		}
		panic(queryError(StateSyntax, q.At, "subquery has %d columns, but %d are compared with it", len(b.columns), columns))
	}
	return b
}

// exists translates EXISTS.
func (t *translator) exists(e *query.Exists, s *scope) value {
	b := t.subquery(e.Query, s, 0)
	return value{kind: kind.Boolean, level: atom, at: e.Place(), ungrouped: b.ungrouped, sql: cat("EXISTS (", b.write(false), ")")}
}

// scalar translates a scalar subquery.
func (t *translator) scalar(e *query.Scalar, s *scope) value {
	b := t.subquery(e.Query, s, 1)
	return value{kind: b.columns[0].kind, level: atom, at: e.Place(), ungrouped: b.ungrouped, sql: b.scalarText()}
}

// scalarText is the text of a block that stands for a value. SQLite would take the first of many
// rows; so we count them, where there may be many. Of one row max is the value as it is.
func (b *block) scalarText() *sql {
	if b.single {
		return cat("(", b.write(false), ")")
	}
	name := quoted(b.columns[0].alias)
	two := cat("SELECT "+name+" FROM (", b.write(true), ") LIMIT 2")
	if b.member && b.render != nil {
		two = cat(b.write(true), " LIMIT 2")
	}
	return cat("(SELECT CASE WHEN count(*) > 1 THEN rota_many(count(*)) ELSE max("+name+") END FROM (", two, "))")
}

// row translates (a, b).
func (t *translator) row(e *query.Row, s *scope) value {
	v := value{kind: kind.Record, row: true, level: atom, at: e.Place()}
	texts := make([]*sql, len(e.Elems))
	for i, n := range e.Elems {
		elem := t.expr(n, s)
		v.inherit(elem)
		v.elems = append(v.elems, elem)
		texts[i] = elem.sql
	}
	v.sql = cat("(", list(texts), ")")
	return v
}

// rowJSON is a row in its stored form, a JSON object.
func (t *translator) rowJSON(v value) value { return rowJSON(v, t.shownZone) }

// rowJSON is a row as a document whose times are those of a zone.
func rowJSON(v value, zone string) value {
	checkArgs(2*len(v.elems), "the record", v.at)
	parts := make([]*sql, 0, 2*len(v.elems))
	for i, e := range v.elems {
		parts = append(parts, raw(quoteText("f"+number(i+1))), inJSON(e, zone).sql)
	}
	return newValue(kind.Record, atom, cat("json_object(", list(parts), ")"), v).placed(v.at)
}

// inJSON is a value as SQLite writes it into a document.
func (t *translator) inJSON(v value) value { return inJSON(v, t.shownZone) }

func inJSON(v value, zone string) value {
	switch {
	case v.row:
		return call(kind.PlainJSON, "json", rowJSON(v, zone))
	case v.untyped(), categoryOf(v.kind) == categoryText, isInteger(v.kind), v.kind == kind.UUID:
		return v
	case isJSON(v.kind), v.kind == kind.Record:
		return call(kind.PlainJSON, "json", v)
	}
	return call(kind.PlainJSON, "json", call(kind.PlainJSON, "rota_json", withZoneIn(zone, v.kind, textConstant(string(v.kind)), v)...))
}

// inArray is a value as SQLite writes it into an array. SQLite would write only 15 digits of a
// real number.
func inArray(v value) value {
	switch {
	case isJSON(v.kind):
		return call(v.kind, "json", v)
	case categoryOf(v.kind) == categoryNumber && !isInteger(v.kind) && !v.plain:
		return call(v.kind, "json", call(v.kind, "rota_json", textConstant(string(v.kind)), v))
	}
	return v
}

// joinArrays translates || with an array on at least one side.
func (t *translator) joinArrays(x, y value) value {
	if x.kind.Elem() == kind.Unknown {
		k, wanted := y.kind, y.kind
		if !x.untyped() {
			wanted = k.Elem()
		}
		x = t.implicit(x, wanted)
		if wanted == k {
			return call(k, "rota_array_cat", x, y)
		}
		return call(k, "rota_array_cat", call(k, "json_array", inArray(x)), y)
	}
	k, wanted := x.kind, x.kind
	if y.kind.Elem() == kind.Unknown && !y.untyped() {
		wanted = k.Elem()
	}
	y = t.implicit(y, wanted)
	if wanted != k {
		y = call(k, "json_array", inArray(y))
	}
	return call(k, "rota_array_cat", x, y)
}

// convertArray converts an array to another kind.
func (t *translator) convertArray(v value, k kind.Kind) value {
	from, to := v.kind.Elem(), k.Elem()
	same := from == to || categoryOf(from) == categoryText && categoryOf(to) == categoryText ||
		categoryOf(from) == categoryOID && (categoryOf(to) == categoryOID || isInteger(to)) || isInteger(from) && categoryOf(to) == categoryOID ||
		categoryOf(from) == categoryNumber && categoryOf(to) == categoryNumber && rank(from) <= rank(to)
	if same {
		return v.as(k)
	}
	if categoryOf(from) == categoryOther && categoryOf(to) == categoryOther && from != to {
		panic(cannotCast(v, k))
	}
	args := []value{v, textConstant(string(from)), textConstant(string(to))}
	if dependsOnZone(from) != dependsOnZone(to) {
		args = t.withZone(kind.Timestamp, args...)
	}
	return call(k, "rota_array_cast", args...)
}

// index translates x[i].
func (t *translator) index(e *query.Index, s *scope) value {
	x := t.expr(e.X, s)
	i := t.expr(e.I, s)
	switch {
	case isJSON(x.kind):
		return t.jsonOperator("->", x, i, e.Place())
	case elemOf(x.kind) == kind.Unknown:
		panic(queryError(StateMismatch, e.Place(), "cannot subscript type %s because it does not support subscripting", typeTitle(x.kind)))
	}
	first := constant(kind.Int4, "1")
	if x.kind == kind.Int2s || x.kind == kind.OIDs {
		first = constant(kind.Int4, "0")
	}
	i = t.implicit(i, kind.Int4)
	return call(elemOf(x.kind), "rota_element", x, i, first).placed(e.Place())
}
