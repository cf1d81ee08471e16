package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// setFunction is a set-returning function. Its result is a JSON array.
type setFunction struct {
	json        value
	elem        kind.Kind
	fields      []column // columns of records
	nativeTable string   // name of a table-valued function of SQLite
}

// setFunctions are the set-returning functions by name.
var setFunctions map[string]func(t *translator, e *query.Call, args []value) (*setFunction, error)

func init() {
	setFunctions = map[string]func(*translator, *query.Call, []value) (*setFunction, error){
		"unnest": unnest, "generate_series": series, "generate_subscripts": subscripts, "_pg_expandarray": expand,
		"json_array_elements": elements("rota_json_elements", kind.PlainJSON, "0"), "jsonb_array_elements": elements("rota_json_elements", kind.JSON, "0"),
		"json_array_elements_text": elements("rota_json_elements", kind.Text, "1"), "jsonb_array_elements_text": elements("rota_json_elements", kind.Text, "2"),
		"json_object_keys": elements("rota_json_keys", kind.Text, ""), "jsonb_object_keys": elements("rota_json_keys", kind.Text, ""),
		"jsonb_each": pairsOf(kind.JSON, "0"), "jsonb_each_text": pairsOf(kind.Text, "2"), "json_each_text": pairsOf(kind.Text, "1"),
		"json_each": sqliteEach, "json_tree": sqliteEach,
		"regexp_split_to_table": textSet("rota_regex_split", kind.Text), "string_to_table": textSet("rota_string_to_array", kind.Text),
		"regexp_matches": textSet("rota_regex_matches", kind.Text.Array()),
	}
}

func unnest(t *translator, e *query.Call, args []value) (*setFunction, error) {
	if len(args) != 1 {
		return nil, noFunction("unnest", nil, args, e.Place(), t)
	}
	v, err := t.implicitIfUnknown(args[0], kind.Text.Array())
	if err != nil {
		return nil, err
	}
	elem := v.kind.Elem()
	if v.kind == kind.AnyArray || v.kind == dynamic {
		elem = dynamic
	}
	if elem == kind.Unknown {
		return nil, noFunction("unnest", nil, args, e.Place(), t)
	}
	return &setFunction{json: v, elem: elem}, nil
}

func series(t *translator, e *query.Call, args []value) (*setFunction, error) {
	if len(args) != 2 && len(args) != 3 {
		return nil, noFunction("generate_series", nil, args, e.Place(), t)
	}
	bounds := args[:2]
	k, err := t.unify("generate_series", bounds)
	if err != nil {
		return nil, err
	}
	if categoryOf(k) == categoryTime {
		if k == kind.Date {
			k = kind.Timestamp
		}
		for i := range bounds {
			if bounds[i], err = t.implicit(bounds[i], k); err != nil {
				return nil, err
			}
		}
		if len(args) != 3 {
			return nil, noFunction("generate_series", nil, args, e.Place(), t)
		}
		if args[2], err = t.implicit(args[2], kind.Interval); err != nil || args[2].kind != kind.Interval {
			return nil, noFunction("generate_series", nil, args, e.Place(), t)
		}
		return &setFunction{json: call(k.Array(), "rota_time_series", t.withZone(k, args...)...), elem: k}, nil
	}
	if categoryOf(k) != categoryNumber || isFloat(k) {
		return nil, noFunction("generate_series", nil, args, e.Place(), t)
	}
	if len(args) == 3 {
		if k, err = t.unify("generate_series", args); err != nil {
			return nil, err
		}
	} else {
		args = append(args, constant(k, "1"))
	}
	return &setFunction{json: call(k.Array(), "rota_series", args...), elem: k}, nil
}

func subscripts(t *translator, e *query.Call, args []value) (*setFunction, error) {
	if len(args) < 2 || args[0].kind.Elem() == kind.Unknown {
		return nil, noFunction("generate_subscripts", nil, args, e.Place(), t)
	}
	low := "1"
	if args[0].kind == kind.Int2s || args[0].kind == kind.OIDs {
		low = "0"
	}
	return &setFunction{json: call(kind.Int4.Array(), "rota_subscripts", args[0], constant(kind.Int4, low)), elem: kind.Int4}, nil
}

// expand is information_schema._pg_expandarray: the elements with their numbers.
func expand(t *translator, e *query.Call, args []value) (*setFunction, error) {
	if len(args) != 1 || args[0].kind.Elem() == kind.Unknown {
		return nil, noFunction("_pg_expandarray", nil, args, e.Place(), t)
	}
	fields := []column{{name: "x", kind: args[0].kind.Elem()}, {name: "n", kind: kind.Int4}}
	return &setFunction{json: call(kind.Record.Array(), "rota_expand", args[0]), elem: kind.Record, fields: fields}, nil
}

func elements(as string, elem kind.Kind, form string) func(*translator, *query.Call, []value) (*setFunction, error) {
	return func(t *translator, e *query.Call, args []value) (*setFunction, error) {
		if len(args) != 1 {
			return nil, noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
		}
		v, err := t.implicitIfUnknown(args[0], kind.JSON)
		if err == nil && !isJSON(v.kind) && v.kind != dynamic {
			err = noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
		}
		given := []value{v}
		if form != "" {
			given = append(given, constant(kind.Int4, form))
		}
		return &setFunction{json: call(elem.Array(), as, given...), elem: elem}, err
	}
}

func pairsOf(elem kind.Kind, text string) func(*translator, *query.Call, []value) (*setFunction, error) {
	return func(t *translator, e *query.Call, args []value) (*setFunction, error) {
		if len(args) != 1 {
			return nil, noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
		}
		v, err := t.implicitIfUnknown(args[0], kind.JSON)
		fields := []column{{name: "key", kind: kind.Text}, {name: "value", kind: elem}}
		return &setFunction{json: call(kind.Record.Array(), "rota_json_pairs", v, constant(kind.Int4, text)), elem: kind.Record, fields: fields}, err
	}
}

// sqliteEach is json_each or json_tree of SQLite.
func sqliteEach(t *translator, e *query.Call, args []value) (*setFunction, error) {
	name := e.Path[len(e.Path)-1].Text
	if len(args) != 1 && len(args) != 2 {
		return nil, noFunction(name, nil, args, e.Place(), t)
	}
	for i := range args {
		v, err := t.resolveUnknown(args[i])
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	fields := []column{
		{name: "key", kind: dynamic},
		{name: "value", kind: dynamic},
		{name: "type", kind: kind.Text},
		{name: "atom", kind: dynamic},
		{name: "id", kind: kind.Integer},
		{name: "parent", kind: kind.Integer},
		{name: "fullkey", kind: kind.Text},
		{name: "path", kind: kind.Text},
	}
	return &setFunction{json: call(kind.Record.Array(), name, args...), elem: kind.Record, fields: fields, nativeTable: name}, nil
}

func textSet(as string, elem kind.Kind) func(*translator, *query.Call, []value) (*setFunction, error) {
	return func(t *translator, e *query.Call, args []value) (*setFunction, error) {
		name := e.Path[len(e.Path)-1].Text
		if len(args) != 2 && len(args) != 3 {
			return nil, noFunction(name, nil, args, e.Place(), t)
		}
		for i := range args {
			if !isText(args[i]) {
				return nil, noFunction(name, nil, args, e.Place(), t)
			}
			v, err := t.implicit(args[i], kind.Text)
			if err != nil {
				return nil, err
			}
			args[i] = v
		}
		if as != "rota_regex_split" && len(args) == 2 {
			args = append(args, constant(kind.Text, map[bool]string{true: "NULL", false: "''"}[as == "rota_string_to_array"]))
		}
		return &setFunction{json: call(elem.Array(), as, args...), elem: elem}, nil
	}
}

// setInList translates a set-returning function in the select list as an additional source.
// Several of them advance together.
func (t *translator) setInList(e *query.Call, s *scope, yields *setFunction) (value, error) {
	sel := s.selection()
	if sel == nil || sel.clause != "SELECT" && sel.clause != "ORDER BY" || sel.aggregateDepth > 0 || yields.nativeTable != "" {
		return value{}, unsupported(e.Place(), "set-returning functions are not allowed here").withHint("call the function in FROM")
	}
	if sel.setAlias == "" {
		sel.setAlias = t.alias("_set")
	}
	sel.sets = append(sel.sets, yields.json.sql)
	op := " ->> "
	if yields.elem == kind.Record || yields.elem.Elem() != kind.Unknown {
		op = " -> "
	}
	text := cat("(", quoted(sel.setAlias), `."value"`, op, number(len(sel.sets)-1), ")")
	v := newValue(yields.elem, atom, text, yields.json).placed(e.Place())
	v.set = yields
	return v, nil
}

// funcSource translates a function in FROM.
func (t *translator) funcSource(src *query.FuncSource, s *scope) (*relation, error) {
	name := src.Call.Path[len(src.Call.Path)-1].Text
	args, err := t.args(src.Call, s)
	if err != nil {
		return nil, err
	}
	if _, is := aggregates[name]; is && !scalarToo[name] {
		return nil, queryError(StateGrouping, src.At, "aggregate functions are not allowed in functions in FROM")
	}
	yields, v, err := t.apply(src.Call, name, args)
	if err != nil {
		return nil, withOffset(err, src.At)
	}
	if yields == nil {
		yields = &setFunction{json: call(v.kind.Array(), "json_array", v), elem: v.kind}
	}
	if sel := s.selection(); sel != nil {
		sel.addOuter(yields.json)
	}
	return t.setSource(src, yields, name)
}

// setSource writes a set-returning function as a source.
func (t *translator) setSource(src *query.FuncSource, yields *setFunction, name string) (*relation, error) {
	from := &source{name: name}
	text := cat("json_each(", yields.json, ")")
	switch {
	case yields.nativeTable != "":
		text, from.columns = yields.json.sql, append(from.columns, yields.fields...)
	case yields.fields != nil:
		from.columns = append(from.columns, yields.fields...)
	default:
		column := column{name: name, kind: yields.elem}
		if src.Alias.Name != nil {
			column.name = src.Alias.Name.Text
		}
		from.columns, from.single = append(from.columns, column), true
		if name == "json_array_elements" || name == "jsonb_array_elements" || name == "json_array_elements_text" || name == "jsonb_array_elements_text" {
			from.columns[0].name = "value"
		}
	}
	if src.Ordinality {
		from.columns, from.single = append(from.columns, column{name: "ordinality", kind: kind.Integer}), false
	}
	for i := range from.columns {
		from.columns[i].alias = from.columns[i].name
	}
	r, err := t.nameSource(from, text, "", src.Alias, src.At)
	if err != nil {
		return nil, err
	}
	yields.columnsOf(from, src.Ordinality)
	return r, nil
}

// columnsOf sets the columns of a source that SQLite reads from a JSON array.
func (y *setFunction) columnsOf(from *source, ordinality bool) {
	of := quoted(from.alias)
	last := len(from.columns)
	if ordinality {
		last--
		from.columns[last].sql = raw("(" + of + `."key" + 1)`)
	}
	if y.nativeTable != "" {
		return
	}
	for i := range from.columns[:last] {
		from.columns[i].sql = raw(of + `."value"`)
		if y.fields != nil {
			from.columns[i].sql = raw("json_extract(" + of + `."value", ` + quoteText("$."+jsonKey(y.fields[i].name)) + ")")
		}
	}
}
