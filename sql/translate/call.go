package translate

import (
	"strings"

	"github.com/rotajobs/rota/internal/suggest"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// call translates a function call.
func (t *translator) call(e *query.Call, s *scope) (value, error) {
	name := e.Path[len(e.Path)-1].Text
	if len(e.Path) > 1 {
		schema := e.Path[len(e.Path)-2].Text
		if schema != "pg_catalog" && schema != "information_schema" && schema != "public" && len(t.in.Functions(name)) == 0 {
			return value{}, queryError("3F000", e.Place(), "schema %q does not exist", schema).withHint("call functions without a schema")
		}
	}
	if aggregate, is := aggregates[name]; is && (!scalarToo[name] || len(e.Args) < 2) {
		return t.aggregate(e, s, name, aggregate)
	}
	if e.Over != nil {
		return t.windowFunction(e, s, name)
	}
	if e.Star || e.Distinct || e.Filter != nil || e.Order != nil || e.Within != nil {
		return value{}, queryError("42809", e.Place(), "%s is not an aggregate function", name).withHint("remove *, DISTINCT, FILTER, ORDER BY and WITHIN GROUP")
	}
	if _, is := windowFunctions[name]; is {
		return value{}, queryError("42809", e.Place(), "window function %s requires an OVER clause", name).withHint("write %s(…) OVER (ORDER BY …)", name)
	}
	return t.plainCall(e, s, name)
}

// plainCall translates a call of an ordinary function.
func (t *translator) plainCall(e *query.Call, s *scope, name string) (value, error) {
	args, err := t.args(e, s)
	if err != nil {
		return value{}, err
	}
	if e.Names != nil {
		if name != "make_interval" {
			return value{}, unsupported(e.Place(), "%s does not support named arguments", name).withHint("pass the arguments by position")
		}
		return t.makeInterval(e, args)
	}
	set, v, err := t.apply(e, name, args)
	if err != nil {
		return value{}, withOffset(err, e.Place())
	}
	if set == nil {
		return v.placed(e.Place()), nil
	}
	return t.setInList(e, s, set)
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

// apply selects the function for the arguments. A set-returning function is returned as a
// setFunction.
func (t *translator) apply(e *query.Call, name string, args []value) (*setFunction, value, error) {
	if special, is := specials[name]; is {
		v, err := special(t, e, args)
		return nil, v, err
	}
	if yields, is := setFunctions[name]; is {
		set, err := yields(t, e, args)
		return set, value{}, err
	}
	known := scalars[name]
	for _, sig := range t.in.Functions(name) {
		known = append(known[:len(known):len(known)], fromCatalogue(sig))
	}
	f, args, k, err := t.pick(name, known, args, e.Place())
	if err != nil {
		return nil, value{}, err
	}
	v := f.text(args, k, t.shownZone)
	if f.set {
		return &setFunction{json: v, elem: k, fields: f.fields}, v, nil
	}
	return nil, v, nil
}

// fromCatalogue converts a signature of the catalogue.
func fromCatalogue(sig Signature) *function {
	f := &function{name: sig.Name, returns: string(sig.Returns), set: sig.Set, optional: sig.Optional, variadic: sig.Variadic}
	for _, k := range sig.Args {
		arg := string(k)
		if k == kind.Unknown {
			arg = "any"
		}
		f.args = append(f.args, arg)
	}
	for _, c := range sig.Fields {
		f.fields = append(f.fields, column{name: c.Name, kind: c.Kind})
	}
	as := sig.As
	if as == "" {
		as = sig.Name
	}
	f.as = as + "($*)"
	return f
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
	args, k, err := best.take(args, t)
	return best, args, k, err
}

func noFunction(name string, known []*function, args []value, at int, t *translator) error {
	kinds := make([]string, len(args))
	for i, a := range args {
		kinds[i] = typeTitle(t.currentKind(a))
	}
	e := queryError(StateFunction, at, "function %s(%s) does not exist", name, strings.Join(kinds, ", "))
	if len(known) == 0 {
		if meant := suggest.Nearest(name, functionNames); meant != "" {
			e.Hint = "did you mean " + meant + "?"
		}
		return e
	}
	ways := make([]string, 0, len(known))
	for _, f := range known {
		ways = append(ways, f.spec())
	}
	return e.withHint("available: %s; cast the arguments, for example x::text", strings.Join(ways, ", "))
}
