package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// stringAgg translates string_agg(x, separator). SQLite does not support DISTINCT with two
// arguments.
func stringAgg(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	if err := checkArgCount(e, args, 2, t); err != nil {
		return aggregateCall{}, err
	}
	x, y, err := t.bothTexts("string_agg", args[0], args[1], e.Place())
	if err != nil {
		return aggregateCall{}, noFunction("string_agg", nil, args, e.Place(), t)
	}
	if !e.Distinct {
		return aggregateCall{name: "group_concat", args: []value{x, y}, kind: kind.Text}, nil
	}
	text, err := y.sql.write(false)
	if err != nil || len(y.ungrouped) > 0 {
		return aggregateCall{}, unsupported(e.Place(), "the separator of string_agg(DISTINCT …) must be a constant")
	}
	return aggregateCall{name: "json_group_array", args: []value{x}, before: "nullif(rota_array_text(", after: ", " + text.SQL + ", NULL), '')", kind: kind.Text, sorted: true}, nil
}

// groupConcat is SQLite's group_concat, whose separator is optional.
func groupConcat(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	if len(args) != 1 && len(args) != 2 {
		return aggregateCall{}, noFunction("group_concat", nil, args, e.Place(), t)
	}
	for i := range args {
		v, err := t.cast(args[i], kind.Text, nil)
		if err != nil {
			return aggregateCall{}, err
		}
		args[i] = v
	}
	return aggregateCall{name: "group_concat", args: args, kind: kind.Text}, nil
}

// arrayAgg translates array_agg(x), which is NULL for no rows.
func arrayAgg(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	if err := checkArgCount(e, args, 1, t); err != nil {
		return aggregateCall{}, err
	}
	v, err := t.resolveUnknown(args[0])
	k := v.kind.Array()
	if v.kind.Elem() != kind.Unknown {
		k = v.kind
	}
	return aggregateCall{name: "json_group_array", args: []value{inArray(v)}, before: "nullif(", after: ", '[]')", kind: k, sorted: true}, err
}

func jsonAgg(k kind.Kind) func(*translator, *query.Call, []value) (aggregateCall, error) {
	return func(t *translator, e *query.Call, args []value) (aggregateCall, error) {
		if err := checkArgCount(e, args, 1, t); err != nil {
			return aggregateCall{}, err
		}
		v, err := t.resolveUnknown(args[0])
		return aggregateCall{name: "json_group_array", args: []value{t.inJSON(v)}, before: "nullif(", after: ", '[]')", kind: k, sorted: true}, err
	}
}

// groupArray is SQLite's json_group_array, which is an empty array for no rows.
func groupArray(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	if err := checkArgCount(e, args, 1, t); err != nil {
		return aggregateCall{}, err
	}
	v, err := t.resolveUnknown(args[0])
	return aggregateCall{name: "json_group_array", args: []value{t.inJSON(v)}, kind: kind.PlainJSON}, err
}

func objectAgg(k kind.Kind) func(*translator, *query.Call, []value) (aggregateCall, error) {
	return func(t *translator, e *query.Call, args []value) (aggregateCall, error) {
		if err := checkArgCount(e, args, 2, t); err != nil {
			return aggregateCall{}, err
		}
		key, err := t.jsonName(args[0])
		if err != nil {
			return aggregateCall{}, err
		}
		v, err := t.resolveUnknown(args[1])
		return aggregateCall{name: "json_group_object", args: []value{key, t.inJSON(v)}, before: "nullif(", after: ", '{}')", kind: k}, err
	}
}

// bitAgg translates bit_and, bit_or and similar.
func bitAgg(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	name := e.Path[len(e.Path)-1].Text
	if err := checkArgCount(e, args, 1, t); err != nil {
		return aggregateCall{}, err
	}
	if !isInteger(args[0].kind) {
		return aggregateCall{}, noFunction(name, nil, args, e.Place(), t)
	}
	return aggregateCall{name: "json_group_array", args: args, before: "rota_bits('" + name + "', ", after: ")", kind: args[0].kind}, nil
}

// statistic translates variance and standard deviation.
func statistic(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	name := e.Path[len(e.Path)-1].Text
	if err := checkArgCount(e, args, 1, t); err != nil {
		return aggregateCall{}, err
	}
	v, err := t.implicitIfUnknown(args[0], kind.Float)
	if err != nil || categoryOf(v.kind) != categoryNumber && v.kind != dynamic {
		return aggregateCall{}, noFunction(name, nil, args, e.Place(), t)
	}
	k := kind.Numeric
	if isFloat(v.kind) || v.kind == dynamic {
		k = kind.Float
	}
	return aggregateCall{name: "json_group_array", args: []value{v}, before: "rota_statistic('" + name + "', ", after: ")", kind: k}, nil
}

// regression translates aggregates of two arguments such as corr and regr_slope.
func regression(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	name := e.Path[len(e.Path)-1].Text
	if err := checkArgCount(e, args, 2, t); err != nil {
		return aggregateCall{}, err
	}
	for i := range args {
		v, err := t.implicitIfUnknown(args[i], kind.Float)
		if err != nil || categoryOf(v.kind) != categoryNumber && v.kind != dynamic {
			return aggregateCall{}, noFunction(name, nil, args, e.Place(), t)
		}
		args[i] = v
	}
	k := kind.Float
	if name == "regr_count" {
		k = kind.Integer
	}
	pair := call(kind.PlainJSON, "json_array", args...)
	return aggregateCall{name: "json_group_array", args: []value{pair}, before: "rota_paired('" + name + "', ", after: ")", kind: k}, nil
}

// percentile translates percentile_cont, percentile_disc and mode.
func percentile(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	name := e.Path[len(e.Path)-1].Text
	want := 2
	if name == "mode" {
		want = 1
	}
	if len(e.Within) != 1 || len(args) != want {
		return aggregateCall{}, queryError("42809", e.Place(), "WITHIN GROUP is required for ordered-set aggregate %s", name).withHint("write %s(…) WITHIN GROUP (ORDER BY x)", name)
	}
	v := args[want-1]
	g := aggregateCall{name: "json_group_array", before: "rota_percentile('" + name + "', ", kind: v.kind}
	if name == "percentile_cont" {
		if categoryOf(v.kind) != categoryNumber && v.kind != kind.Interval {
			return g, noFunction(name, nil, args, e.Place(), t)
		}
		if v.kind != kind.Interval {
			g.kind = kind.Float
		}
	}
	share := "NULL"
	if want == 2 {
		if args[0].kind.Elem() != kind.Unknown {
			return g, unsupported(e.Place(), "%s with an array of fractions is not supported", name).withHint("call it once for each fraction")
		}
		f, err := t.implicit(args[0], kind.Float)
		if err != nil {
			return g, err
		}
		text, err := f.sql.write(false)
		if err != nil || len(f.ungrouped) > 0 {
			return g, unsupported(e.Place(), "the fraction of %s must be a constant", name)
		}
		share = text.SQL
	}
	descending := map[bool]string{true: "1", false: "0"}[e.Within[0].Desc]
	g.args, g.after = []value{v}, ", "+share+", "+descending+", "+quoteText(string(v.kind))+")"
	return g, nil
}
