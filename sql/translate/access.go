package translate

import (
	"cmp"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// jsonOperator translates ->, ->> and similar operators.
func (t *translator) jsonOperator(op string, x, y value, at int) value {
	if x.untyped() {
		x = t.implicit(x, kind.JSON)
	}
	if !isJSON(x.kind) && categoryOf(x.kind) != categoryText {
		panic(noOperator(op, x, y, at))
	}
	as := x.kind
	if !isJSON(as) {
		as = kind.JSON
	}
	if strings.HasSuffix(op, ">>") {
		as = kind.Text
	}
	if op[0] == '#' {
		y := t.implicit(y, kind.Text.Array())
		if y.kind != kind.Text.Array() {
			panic(noOperator(op, x, y, at))
		}
		return call(as, "rota_reach", x, y, form(as, x.kind))
	}
	y = t.implicitIfUnknown(y, kind.Text)
	if categoryOf(y.kind) != categoryText && !isInteger(y.kind) {
		panic(noOperator(op, x, y, at))
	}
	if as == kind.Text {
		return call(as, "rota_get_text", x, y, form(as, x.kind))
	}
	if isInteger(y.kind) || y.key {
		return newValue(as, asTerm, cat(x.parenthesized(), " -> ", y.parenthesized()), x, y)
	}
	return call(as, "rota_get", x, y)
}

// form is the output format of a part of a document: 0 JSON, 1 text, 2 text with blanks as
// jsonb prints it.
func form(as, of kind.Kind) value {
	switch {
	case as != kind.Text:
		return constant(kind.Int4, "0")
	case of == kind.JSON:
		return constant(kind.Int4, "2")
	}
	return constant(kind.Int4, "1")
}

// implicitIfUnknown gives an untyped value a kind.
func (t *translator) implicitIfUnknown(v value, k kind.Kind) value {
	if v.untyped() {
		return t.implicit(v, k)
	}
	return v
}

// contains translates @>, <@, && and ? for arrays and documents.
func (t *translator) contains(op string, x, y value, at int) value {
	k := cmp.Or(t.currentKind(x), t.currentKind(y))
	if op == "?" {
		if k != kind.JSON {
			panic(noOperator(op, x, y, at))
		}
		y = t.implicit(y, kind.Text)
		return call(kind.Boolean, "rota_json_has", x, y)
	}
	k, values := t.operands(op, x, y, at)
	if op == "<@" {
		values[0], values[1] = values[1], values[0]
	}
	switch {
	case k == kind.JSON && op != "&&":
		return call(kind.Boolean, "rota_json_contains", values...)
	case k.Elem() == kind.Unknown:
		panic(noOperator(op, x, y, at))
	case op == "&&":
		return call(kind.Boolean, "rota_array_overlap", values...)
	}
	return call(kind.Boolean, "rota_array_contains", values...)
}

// field translates (x).name.
func (t *translator) field(e *query.Field, s *scope) value {
	x := t.expr(e.X, s)
	if x.of != nil {
		c := &query.Column{At: e.At, Path: []query.Name{{Text: x.of.name}, e.Name}}
		return t.column(c, s)
	}
	if x.kind != kind.Record {
		panic(queryError("42809", e.Place(), "column notation .%s applied to type %s, which is not a composite type", e.Name.Text, typeTitle(x.kind)))
	}
	if x.set == nil {
		panic(unsupported(e.Place(), "the fields of this value are not known").WithHint("select the columns by name"))
	}
	k, known := kind.Unknown, false
	for _, f := range x.set.fields {
		if f.name == e.Name.Text {
			k, known = f.kind, true
		}
	}
	if !known {
		panic(queryError(StateColumn, e.Name.At, "could not identify column %q in record data type", e.Name.Text).WithHint("%s", suggestion(e.Name.Text, "its fields are", columnNames(x.set.fields))))
	}
	return newValue(k, atom, cat("json_extract(", x, ", ", quoteText("$."+jsonKey(e.Name.Text)), ")"), x).placed(e.Place())
}

// jsonKey is a key as SQLite's paths write it.
func jsonKey(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }

// inZone translates AT TIME ZONE.
func (t *translator) inZone(e *query.Zone, s *scope) value {
	x := t.expr(e.X, s)
	zone := t.expr(e.Zone, s)
	return t.callOf("timezone", e.Place(), zone, x)
}

// extract translates EXTRACT(field FROM x).
func (t *translator) extract(e *query.Extract, s *scope) value {
	x := t.expr(e.X, s)
	if x.kind == kind.Date && clockUnits[partOf(e.Field)] > 0 {
		panic(unsupported(e.Place(), "unit %q not supported for type date", e.Field).WithHint("a date has no time of day; cast it to timestamp"))
	}
	return t.part(e.Field, x, kind.Numeric, e.Place()).placed(e.Place())
}

// part extracts a field of a time.
func (t *translator) part(field string, x value, as kind.Kind, at int) value {
	if x.untyped() {
		panic(queryError(StateFunction, at, "function pg_catalog.extract(unknown, unknown) is not unique").WithHint("specify the type: timestamptz '…'"))
	}
	if !isTime(x.kind) {
		panic(queryError(StateFunction, at, "function pg_catalog.extract(unknown, %s) does not exist", typeTitle(x.kind)).
			WithHint("cast it: x::timestamptz; for milliseconds since 1970 use to_timestamp(x / 1000.0)"))
	}
	if _, known := partNames[partOf(field)]; !known {
		panic(queryError(StateValue, at, "unit %q not recognized for type %s", field, typeTitle(x.kind)).WithHint("%s", suggestion(field, "use one of", partList)))
	}
	return call(as, "rota_extract", t.withZone(x.kind, textConstant(field), x)...)
}
