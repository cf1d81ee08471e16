package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// specials are functions whose result does not follow from the kinds of the arguments alone.
var specials map[string]func(t *translator, e *query.Call, args []value) (value, error)

func init() {
	specials = map[string]func(*translator, *query.Call, []value) (value, error){
		"coalesce": coalesce, "ifnull": coalesce, "nullif": nullif,
		"greatest": greatestLeast, "least": greatestLeast, "max": scalarMinMax, "min": scalarMinMax,
		"iif": iif, "if": iif, "concat": concatAll, "concat_ws": concatAll, "format": format,
		"date_part": datePart, "timezone": timezone, "date": date,
		"to_json": toJSON(kind.PlainJSON), "to_jsonb": toJSON(kind.JSON), "row_to_json": toJSON(kind.PlainJSON),
		"json_build_object": buildObject(kind.PlainJSON), "jsonb_build_object": buildObject(kind.JSON),
		"json_build_array": buildArray(kind.PlainJSON), "jsonb_build_array": buildArray(kind.JSON),
		"array_prepend": arrayPrepend, "make_interval": makeIntervalPlain, "random": random,
		"array_to_json": arrayToJSON, "array_to_string": timesAsText, "quote_literal": timesAsText, "quote_nullable": timesAsText,
		"pg_typeof": typeOf, "num_nulls": numNulls, "num_nonnulls": numNulls,
	}
}

func coalesce(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) == 0 {
		return value{}, noFunction("coalesce", nil, args, e.Place(), t)
	}
	k, err := t.unify("COALESCE", args)
	if err != nil || len(args) == 1 {
		if err == nil {
			args[0].kind = k
		}
		return args[0], err
	}
	return call(k, "coalesce", args...), nil
}

func nullif(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 2 {
		return value{}, noFunction("nullif", nil, args, e.Place(), t)
	}
	x, y, err := t.comparable("=", args[0], args[1], e.Place())
	return call(x.kind, "nullif", x, y), err
}

// greatestLeast translates greatest or least, which ignore NULLs.
func greatestLeast(t *translator, e *query.Call, args []value) (value, error) {
	name := e.Path[len(e.Path)-1].Text
	if len(args) == 0 {
		return value{}, noFunction(name, nil, args, e.Place(), t)
	}
	k, err := t.unify(strings.ToUpper(name), args)
	if k == kind.Interval && err == nil {
		which := map[string]string{"greatest": "rota_interval_max", "least": "rota_interval_min"}[name]
		return call(k, which, call(k.Array(), "json_array", args...)), nil
	}
	if err == nil {
		err = checkOrderable(k, e.Place())
	}
	return call(k, name, args...), err
}

// scalarMinMax translates SQLite's max or min of several values.
func scalarMinMax(t *translator, e *query.Call, args []value) (value, error) {
	name := e.Path[len(e.Path)-1].Text
	k, err := t.unify(name, args)
	if err == nil {
		err = checkOrderable(k, e.Place())
	}
	return call(k, name, args...), err
}

func iif(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 3 && len(args) != 2 {
		return value{}, noFunction("iif", nil, args, e.Place(), t)
	}
	truth, err := t.boolValue(args[0], e.Place(), "the first argument of iif")
	if err != nil {
		return truth, err
	}
	k, err := t.unify("iif", args[1:])
	args[0] = truth
	if len(args) == 2 {
		args = append(args, constant(k, "NULL"))
	}
	return call(k, "iif", args...), err
}

// concatAll translates concat or concat_ws, which ignore NULLs.
func concatAll(t *translator, e *query.Call, args []value) (value, error) {
	name := e.Path[len(e.Path)-1].Text
	if len(args) == 0 || name == "concat_ws" && len(args) < 2 {
		return value{}, noFunction(name, nil, args, e.Place(), t)
	}
	if err := t.outputs(args); err != nil {
		return value{}, err
	}
	if e.Variadic {
		return value{}, unsupported(e.Place(), "VARIADIC is not supported").withHint("use array_to_string(x, '')")
	}
	if name == "concat_ws" { // SQLite's leaves out texts that are empty, too
		name = "rota_concat_ws"
	}
	return call(kind.Text, name, args...), nil
}

// format translates PostgreSQL's format(); that of SQLite is printf().
func format(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) == 0 || e.Variadic {
		return value{}, noFunction("format", nil, args, e.Place(), t)
	}
	if err := t.outputs(args); err != nil {
		return value{}, err
	}
	return call(kind.Text, "rota_format", args...), nil
}

// outputs converts arguments to their output texts: true becomes t.
func (t *translator) outputs(args []value) error {
	for i, a := range args {
		if a.kind == kind.Boolean {
			args[i] = newValue(kind.Text, atom, cat("CASE ", a.parenthesized(), " WHEN 1 THEN 't' WHEN 0 THEN 'f' END"), a)
			continue
		}
		v, err := t.cast(a, kind.Text, nil)
		if err != nil {
			return err
		}
		args[i] = v
	}
	return nil
}

// datePart translates date_part('field', x), the older form of extract.
func datePart(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 2 || args[0].text == nil {
		if len(args) == 2 && isText(args[0]) && isTime(args[1].kind) {
			field, err := t.implicitIfUnknown(args[0], kind.Text)
			return call(kind.Float, "rota_extract", t.withZone(args[1].kind, field, args[1])...), err
		}
		return value{}, noFunction("date_part", nil, args, e.Place(), t)
	}
	return t.part(strings.ToLower(*args[0].text), args[1], kind.Float, e.Place())
}

func timezone(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 2 {
		return value{}, noFunction("timezone", nil, args, e.Place(), t)
	}
	return t.atZone(args[0], args[1], e.Place())
}

// date is the date of a time; with more arguments it is SQLite's function.
func date(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) == 1 && (!args[0].untyped() || args[0].text != nil && t.special(*args[0].text, kind.Date) == "") {
		return t.cast(args[0], kind.Date, nil)
	}
	for i := range args {
		v, err := t.resolveUnknown(args[i])
		if err != nil {
			return v, err
		}
		args[i] = v
	}
	return call(kind.Date, "date", args...), nil
}

func toJSON(k kind.Kind) func(*translator, *query.Call, []value) (value, error) {
	return func(t *translator, e *query.Call, args []value) (value, error) {
		if len(args) != 1 && !(len(args) == 2 && args[1].kind == kind.Boolean) {
			return value{}, noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
		}
		v, err := t.resolveUnknown(args[0])
		if err != nil {
			return v, err
		}
		if isJSON(v.kind) || v.kind == kind.Record {
			return v.as(k), nil
		}
		return call(k, "rota_json", t.withZone(v.kind, textConstant(string(outputKind(v.kind))), v)...), nil
	}
}

func buildObject(k kind.Kind) func(*translator, *query.Call, []value) (value, error) {
	return func(t *translator, e *query.Call, args []value) (value, error) {
		if len(args)%2 != 0 {
			return value{}, queryError(StateValue, e.Place(), "argument list must have even number of elements").withHint("pass pairs of keys and values")
		}
		for i := range args {
			v, err := t.resolveUnknown(args[i])
			if err != nil {
				return v, err
			}
			if i%2 == 1 {
				args[i] = t.inJSON(v)
			} else if args[i], err = t.jsonName(v); err != nil {
				return v, err
			}
		}
		return call(k, "json_object", args...), nil
	}
}

// jsonName converts a value to the name of a JSON field; times use the JSON format.
func (t *translator) jsonName(v value) (value, error) {
	if v.kind == kind.Timestamp || v.kind == kind.Local {
		return call(kind.Text, "rota_json_text", call(kind.PlainJSON, "rota_json", t.withZone(v.kind, textConstant(string(v.kind)), v)...)), nil
	}
	return t.cast(v, kind.Text, nil)
}

func buildArray(k kind.Kind) func(*translator, *query.Call, []value) (value, error) {
	return func(t *translator, e *query.Call, args []value) (value, error) {
		for i := range args {
			v, err := t.resolveUnknown(args[i])
			if err != nil {
				return v, err
			}
			args[i] = t.inJSON(v)
		}
		return call(k, "json_array", args...), nil
	}
}

func arrayPrepend(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 2 || args[1].kind.Elem() == kind.Unknown {
		return value{}, noFunction("array_prepend", nil, args, e.Place(), t)
	}
	v, err := t.implicit(args[0], args[1].kind.Elem())
	return call(args[1].kind, "rota_array_cat", call(args[1].kind, "json_array", v), args[1]), err
}

// units are the arguments of make_interval in order.
var units = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}

func (t *translator) makeInterval(e *query.Call, args []value) (value, error) {
	all := make([]value, len(units))
	for i := range all {
		all[i] = constant(kind.Int4, "0")
	}
	for i, a := range args {
		at := i
		if e.Names[i].Text != "" {
			at = -1
			for u, name := range units {
				if name == e.Names[i].Text {
					at = u
				}
			}
		}
		if at < 0 || at >= len(units) {
			return a, queryError(StateFunction, e.Place(), "make_interval has no argument %s", e.Names[i].Text).withHint("%s", suggestion(e.Names[i].Text, "the arguments are", units))
		}
		v, err := t.implicitIfUnknown(a, kind.Float)
		if err != nil {
			return v, err
		}
		if categoryOf(v.kind) != categoryNumber {
			return v, noFunction("make_interval", nil, args, e.Place(), t)
		}
		all[at] = v
	}
	return call(kind.Interval, "rota_make_interval", all...).placed(e.Place()), nil
}

func makeIntervalPlain(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) > len(units) {
		return value{}, noFunction("make_interval", nil, args, e.Place(), t)
	}
	named := *e
	named.Names = make([]query.Name, len(args))
	return t.makeInterval(&named, args)
}

func random(_ *translator, e *query.Call, _ []value) (value, error) {
	return value{}, unsupported(e.Place(), "random() is not supported: the same query must return the same rows").withHint("use ORDER BY md5(x)")
}

func typeOf(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) != 1 {
		return value{}, noFunction("pg_typeof", nil, args, e.Place(), t)
	}
	k := t.currentKind(args[0])
	switch oid := number(int(k.OID())); {
	case k.OID() == 0:
		return textConstant(typeTitle(k)), nil
	case args[0].row:
		return constant(kind.Regtype, oid), nil
	default: // the value stays in the text: it may be an aggregate
		return newValue(kind.Regtype, atom, cat("iif(", args[0].parenthesized(), " IS NULL, ", oid, ", ", oid, ")"), args[0]), nil
	}
}

func numNulls(t *translator, e *query.Call, args []value) (value, error) {
	word := map[string]string{"num_nulls": " IS NULL)", "num_nonnulls": " IS NOT NULL)"}[e.Path[len(e.Path)-1].Text]
	text := cat("(0")
	for _, a := range args {
		v, err := t.resolveUnknown(a)
		if err != nil {
			return v, err
		}
		text.add(cat(" + (", v.parenthesized(), word))
	}
	return newValue(kind.Int4, atom, cat(text, ")"), args...), nil
}
