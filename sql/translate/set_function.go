package translate

import (
	"slices"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// setFunction is the call of a set-returning function. Its result is a JSON array.
type setFunction struct {
	json   value
	elem   kind.Kind
	fields []column // one for single values, several for records
}

// records reports whether the elements are records.
func (y *setFunction) records() bool { return len(y.fields) > 1 }

// setInList translates a set-returning function in the select list as an additional source.
// Several of them advance together.
func (t *translator) setInList(e *query.Call, s *scope, yields *setFunction) value {
	sel := s.selection()
	if sel == nil || sel.clause != "SELECT" && sel.clause != "ORDER BY" || sel.aggregateDepth > 0 {
		panic(unsupported(e.Place(), "set-returning functions are not allowed here").WithHint("call the function in FROM"))
	}
	if sel.setAlias == "" {
		sel.setAlias = t.alias("_set")
	}
	sel.sets = append(sel.sets, yields.json.sql)
	op := " ->> "
	if yields.records() {
		op = " -> "
	}
	text := cat("(", quoted(sel.setAlias), `."value"`, op, number(len(sel.sets)-1), ")")
	v := newValue(yields.elem, atom, text, yields.json).placed(e.Place())
	v.set = yields
	return v
}

// funcSource translates a function in FROM.
func (t *translator) funcSource(src *query.FuncSource, s *scope) *relation {
	name := callName(src.Call)
	known := t.functions(name)
	switch of := classOf(known); {
	case of == aggregateClass || of == withinClass:
		panic(queryError(StateGrouping, src.At, "aggregate functions are not allowed in functions in FROM"))
	case len(known) == 0 && !isSpecial(name):
		panic(t.unknownFunction(src.Call, s))
	}
	args := t.args(src.Call, s)
	t.at = src.At
	yields, v := t.apply(src.Call, known, args)
	if yields == nil {
		yields = &setFunction{json: call(v.kind.Array(), "json_array", v), elem: v.kind, fields: []column{{kind: v.kind}}}
	}
	if sel := s.selection(); sel != nil {
		sel.addOuter(yields.json)
	}
	return t.setSource(src, yields, name)
}

// setSource writes a set-returning function as a source, which SQLite reads from a JSON array.
func (t *translator) setSource(src *query.FuncSource, yields *setFunction, name string) *relation {
	from := &source{name: name, columns: slices.Clone(yields.fields), single: !yields.records() && !src.Ordinality}
	if one := &from.columns[0]; one.name == "" {
		one.name = name
		if src.Alias.Name != nil {
			one.name = src.Alias.Name.Text
		}
	}
	if src.Ordinality {
		from.columns = append(from.columns, column{name: "ordinality", kind: kind.Integer})
	}
	r := t.nameSource(from, cat("json_each(", yields.json, ")"), "", src.Alias, src.At)
	of := quoted(from.alias)
	for i := range from.columns {
		text := of + `."value"`
		switch {
		case i == len(yields.fields):
			text = "(" + of + `."key" + 1)`
		case yields.records():
			text = "json_extract(" + text + ", " + quoteText("$."+jsonKey(yields.fields[i].name)) + ")"
		}
		from.columns[i].sql = raw(text)
	}
	return r
}
