package translate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// call translates a function call.
func (t *translator) call(e *query.Call, s *scope) (value, error) {
	name := callName(e)
	if len(e.Path) > 1 {
		schema := e.Path[len(e.Path)-2].Text
		if schema != "pg_catalog" && schema != "information_schema" && schema != "public" && len(t.in.Functions(name)) == 0 {
			return value{}, queryError("3F000", e.Place(), "schema %q does not exist", schema).withHint("call functions without a schema")
		}
	}
	if e.Variadic {
		return value{}, unsupported(e.Place(), "VARIADIC is not supported").withHint("use array_to_string")
	}
	known := t.functions(name)
	of := classOf(known)
	switch {
	case of == aggregateClass || of == withinClass:
		return t.aggregate(e, s, name, known)
	case len(known) == 0 && !isSpecial(name):
		return value{}, t.unknownFunction(e, s)
	case of == windowClass && e.Over == nil:
		return value{}, queryError("42809", e.Place(), "window function %s requires an OVER clause", name).withHint("write %s(…) OVER (ORDER BY …)", name)
	case of != windowClass && e.Over != nil:
		return value{}, queryError("42809", e.Place(), "OVER specified, but %s is not a window function nor an aggregate function", name).withHint("remove OVER")
	case e.Star || e.Distinct || e.Filter != nil || e.Order != nil || e.Within != nil:
		return value{}, queryError("42809", e.Place(), "%s is not an aggregate function", name).withHint("remove *, DISTINCT, FILTER, ORDER BY and WITHIN GROUP")
	case of == windowClass:
		return t.windowFunction(e, s, name, known)
	}
	args, err := t.args(e, s)
	if err != nil {
		return value{}, err
	}
	set, v, err := t.apply(e, known, args)
	if err != nil {
		return value{}, withOffset(err, e.Place())
	}
	if set != nil {
		return t.setInList(e, s, set)
	}
	return v.placed(e.Place()), nil
}

func callName(e *query.Call) string { return e.Path[len(e.Path)-1].Text }

// functions returns the functions of a name.
func (t *translator) functions(name string) []*function {
	known := slices.Clip(functions[name])
	for _, sig := range t.in.Functions(name) {
		known = append(known, fromCatalogue(sig))
	}
	return known
}

// classOf is the class of functions of the same name.
func classOf(known []*function) class {
	if len(known) == 0 {
		return scalarClass
	}
	return known[0].class
}

// args translates the arguments of a call.
func (t *translator) args(e *query.Call, s *scope) ([]value, error) {
	args := make([]value, len(e.Args))
	for i, n := range e.Args {
		v, err := t.expr(n, s)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return args, nil
}

// apply calls the function that fits the arguments. A set-returning function is returned as a
// setFunction.
func (t *translator) apply(e *query.Call, known []*function, args []value) (*setFunction, value, error) {
	name := callName(e)
	switch {
	case name == "make_interval":
		v, err := t.makeInterval(e, args)
		return nil, v, err
	case e.Names != nil:
		return nil, value{}, unsupported(e.Place(), "%s does not support named arguments", name).withHint("pass the arguments by position")
	case name == "pg_typeof" && len(args) == 1:
		return nil, t.typeOf(args[0]), nil
	}
	f, args, k, err := t.pick(name, known, args, e.Place())
	if err != nil {
		return nil, value{}, err
	}
	v := f.call(args, k, t.shownZone)
	if f.class != setClass {
		return nil, v, nil
	}
	set := &setFunction{json: v, elem: k, fields: slices.Clone(f.fields)}
	for i, c := range set.fields {
		if c.kind == "elem" {
			set.fields[i].kind = elemOf(args[0].kind)
		}
	}
	return set, v, nil
}

// pick selects the overload that fits the arguments best.
func (t *translator) pick(name string, known []*function, args []value, at int) (*function, []value, kind.Kind, error) {
	var best *function
	least := -1
	for _, f := range known {
		if cost := f.cost(args, t); cost >= 0 && (least < 0 || cost < least) {
			best, least = f, cost
		}
	}
	if best == nil {
		return nil, nil, "", noFunction(name, known, args, at, t)
	}
	if hint, is := strings.CutPrefix(best.text, "! "); is {
		return nil, nil, "", unsupported(at, "function %s is not supported", best.spec()).withHint("%s", hint)
	}
	args, k, err := best.take(args, t)
	return best, args, k, err
}

// callOf calls a function of the table by its name.
func (t *translator) callOf(name string, at int, args ...value) (value, error) {
	f, args, k, err := t.pick(name, functions[name], args, at)
	if err != nil {
		return value{}, err
	}
	return f.call(args, k, t.shownZone).placed(at), nil
}

// noFunction is the error of a call whose arguments fit no function of the name.
func noFunction(name string, known []*function, args []value, at int, t *translator) *Error {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = typeTitle(t.currentKind(a))
	}
	ways := make([]string, 0, len(known))
	for _, f := range known {
		ways = append(ways, f.spec())
	}
	return queryError(StateFunction, at, "function %s(%s) does not exist", name, strings.Join(kinds, ", ")).
		withHint("available: %s; cast the arguments, for example x::text", strings.Join(ways, ", "))
}

// unknownFunction is the error of a call of a function that Rota does not have.
func (t *translator) unknownFunction(e *query.Call, s *scope) error {
	name, hint := callName(e), ""
	if meant := suggest.Nearest(name, functionNames); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	if instead := replacements[name]; instead != "" {
		return unsupported(e.Place(), "function %s is not supported", name).withHint("%s", instead)
	}
	if KnownToPostgreSQL(name) {
		return unsupported(e.Place(), "function %s is not supported", name).withHint("%s", cmp.Or(hint, "the SQL reference lists the functions"))
	}
	args, err := t.args(e, s)
	if err != nil {
		return err
	}
	return noFunction(name, nil, args, e.Place(), t).withHint("%s", hint)
}
