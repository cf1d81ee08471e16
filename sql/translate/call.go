package translate

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// call translates a function call.
func (t *translator) call(e *query.Call, s *scope) value {
	name := callName(e)
	if len(e.Path) > 1 {
		schema := e.Path[len(e.Path)-2].Text
		if schema != "pg_catalog" && schema != "information_schema" && schema != "public" && schema != "sys" && len(t.in.Functions(name)) == 0 {
			panic(queryError("3F000", e.Place(), "schema %q does not exist", schema).WithHint("call functions without a schema"))
		}
	}
	known := t.functions(name)
	of := classOf(known)
	switch {
	case of == aggregateClass || of == withinClass:
		return t.aggregate(e, s, name, known)
	case len(known) == 0 && !isSpecial(name):
		panic(t.unknownFunction(e, s))
	case of == windowClass && e.Over == nil:
		panic(queryError("42809", e.Place(), "window function %s requires an OVER clause", name).WithHint("write %s(…) OVER (ORDER BY …)", name))
	case of != windowClass && e.Over != nil:
		panic(queryError("42809", e.Place(), "OVER specified, but %s is not a window function nor an aggregate function", name).WithHint("remove OVER"))
	case e.Star || e.Distinct || e.Filter != nil || e.Order != nil || e.Within != nil:
		panic(queryError("42809", e.Place(), "%s is not an aggregate function", name).WithHint("remove *, DISTINCT, FILTER, ORDER BY and WITHIN GROUP"))
	case of == windowClass:
		return t.windowFunction(e, s, name, known)
	}
	args := t.args(e, s)
	set, v := t.apply(e, known, args)
	if set != nil {
		return t.setInList(e, s, set)
	}
	return v.placed(e.Place())
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

// ArgsMax is the maximal number of arguments of a function in a translated text.
const ArgsMax = 100

// checkArgs checks the number of arguments of a function, or of names and values of a record.
func checkArgs(n int, what string, at int) {
	if n > ArgsMax {
		panic(queryError(StateLimit, at, "%s is too long: it needs %d arguments, and the limit is %d", what, n, ArgsMax).WithHint("split it into several"))
	}
}

// args translates the arguments of a call.
func (t *translator) args(e *query.Call, s *scope) []value {
	checkArgs(len(e.Args), "the call of "+callName(e), e.Place())
	args := make([]value, len(e.Args))
	for i, n := range e.Args {
		v := t.expr(n, s)
		args[i] = v
	}
	return args
}

// apply calls the function that fits the arguments. A set-returning function is returned as a
// setFunction.
func (t *translator) apply(e *query.Call, known []*function, args []value) (*setFunction, value) {
	name := callName(e)
	switch {
	case name == "make_interval":
		v := t.makeInterval(e, args)
		return nil, v
	case e.Names != nil:
		panic(unsupported(e.Place(), "%s does not support named arguments", name).WithHint("pass the arguments by position"))
	case name == "pg_typeof" && len(args) == 1:
		return nil, t.typeOf(args[0])
	}
	f, args, k := t.pick(name, known, args, e.Place())
	v := f.call(args, k, t.shownZone)
	if f.class != setClass {
		return nil, v
	}
	set := &setFunction{json: v, elem: k, fields: slices.Clone(f.fields)}
	for i, c := range set.fields {
		if c.kind == "elem" {
			set.fields[i].kind = elemOf(args[0].kind)
		}
	}
	return set, v
}

// pick selects the overload that fits the arguments best.
func (t *translator) pick(name string, known []*function, args []value, at int) (*function, []value, kind.Kind) {
	var best *function
	least := -1
	for _, f := range known {
		if cost := f.cost(args, t); cost >= 0 && (least < 0 || cost < least) {
			best, least = f, cost
		}
	}
	if best == nil {
		panic(noFunction(name, known, args, at, t))
	}
	if hint, is := strings.CutPrefix(best.text, "! "); is {
		panic(unsupported(at, "function %s is not supported", best.spec()).WithHint("%s", hint))
	}
	args, k := best.take(args, t)
	return best, args, k
}

// callOf calls a function of the table by its name.
func (t *translator) callOf(name string, at int, args ...value) value {
	f, args, k := t.pick(name, functions[name], args, at)
	return f.call(args, k, t.shownZone).placed(at)
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
		WithHint("available: %s; cast the arguments, for example x::text", strings.Join(ways, ", "))
}

// unknownFunction is the error of a call of a function that Rota does not have.
func (t *translator) unknownFunction(e *query.Call, s *scope) *Error {
	name, hint := callName(e), ""
	if r, found := refusals[name]; found {
		return unsupported(e.Place(), "%s", r.message).WithHint("%s", r.hint)
	}
	if KnownToPostgreSQL(name) {
		return unsupported(e.Place(), "function %s is not supported", name).WithHint("the SQL reference lists the functions")
	}
	if meant := suggest.Nearest(name, functionNames); meant != "" {
		hint = "did you mean " + meant + "?"
	}
	args := t.args(e, s)
	return noFunction(name, nil, args, e.Place(), t).WithHint("%s", hint)
}
