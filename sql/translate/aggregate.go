package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// aggregateCall is an aggregate as SQLite computes it: a function of SQLite and the text around
// it. Values that SQLite cannot aggregate are collected into one document, from which one of
// our functions computes the result.
type aggregateCall struct {
	name          string
	args          []value
	before, after string
	kind          kind.Kind
	sorted        bool // elements are sorted, as PostgreSQL's DISTINCT does
}

// aggregates are the aggregate functions by name.
var aggregates map[string]func(t *translator, e *query.Call, args []value) (aggregateCall, error)

// scalarToo are aggregates that are also functions of several arguments.
var scalarToo = map[string]bool{"max": true, "min": true}

func init() {
	aggregates = map[string]func(*translator, *query.Call, []value) (aggregateCall, error){
		"count": count, "sum": sum, "avg": avg, "min": minMax, "max": minMax,
		"bool_and": boolAggregate("min"), "bool_or": boolAggregate("max"), "every": boolAggregate("min"),
		"string_agg": stringAgg, "group_concat": groupConcat, "total": total,
		"array_agg": arrayAgg, "json_agg": jsonAgg(kind.PlainJSON), "jsonb_agg": jsonAgg(kind.JSON),
		"json_object_agg": objectAgg(kind.PlainJSON), "jsonb_object_agg": objectAgg(kind.JSON),
		"json_group_array": groupArray, "json_group_object": objectAgg(kind.PlainJSON),
		"bit_and": bitAgg, "bit_or": bitAgg, "bit_xor": bitAgg,
		"stddev": statistic, "stddev_samp": statistic, "stddev_pop": statistic, "variance": statistic, "var_samp": statistic, "var_pop": statistic,
		"corr": regression, "covar_pop": regression, "covar_samp": regression, "regr_slope": regression, "regr_intercept": regression, "regr_r2": regression, "regr_count": regression,
		"percentile_cont": percentile, "percentile_disc": percentile, "mode": percentile,
	}
}

// aggregate translates the call of an aggregate, which belongs to the surrounding SELECT.
func (t *translator) aggregate(e *query.Call, s *scope, name string, how func(*translator, *query.Call, []value) (aggregateCall, error)) (value, error) {
	sel := s.selection()
	if err := sel.checkAggregate(e, name); err != nil {
		return value{}, err
	}
	if e.Over == nil {
		sel.aggregateDepth++
		defer func() { sel.aggregateDepth-- }()
	}
	args, err := t.args(e, s)
	if err != nil {
		return value{}, err
	}
	for i := range args {
		if args[i].over && e.Over == nil {
			return value{}, queryError(StateGrouping, e.Place(), "aggregate function calls cannot contain window function calls").withHint("put the window function into a subquery in FROM")
		}
		if args[i], err = t.resolveRow(args[i]); err != nil {
			return value{}, err
		}
	}
	if e.Within != nil {
		more, err := t.withinArgs(e, s)
		if err != nil {
			return value{}, err
		}
		args = append(args, more...)
	}
	g, err := how(t, e, args)
	if err != nil {
		return value{}, withOffset(err, e.Place())
	}
	return t.writeAggregate(e, s, sel, g)
}

// checkAggregate reports an aggregate where none is allowed.
func (sel *selection) checkAggregate(e *query.Call, name string) error {
	what, state := "aggregate functions", StateGrouping
	if e.Over != nil {
		what, state = "window functions", StateWindow
	}
	switch {
	case sel == nil:
		return queryError(state, e.Place(), "%s are not allowed here", what)
	case sel.aggregateDepth > 0 && e.Over == nil:
		return queryError(state, e.Place(), "aggregate function calls cannot be nested").withHint("put the inner call into a subquery in FROM")
	case sel.clause == "WHERE", sel.clause == "FROM", sel.clause == "GROUP BY", sel.clause == "HAVING" && e.Over != nil:
		e := queryError(state, e.Place(), "%s are not allowed in %s", what, sel.clause)
		if sel.clause == "WHERE" && state == StateGrouping {
			return e.withHint("use HAVING")
		}
		return e.withHint("put %s into a subquery in FROM", name)
	}
	return nil
}

// resolveRow resolves an argument that can be a whole row.
func (t *translator) resolveRow(v value) (value, error) {
	if v.row {
		return t.rowJSON(v), nil
	}
	return v, nil
}

// withinArgs translates the values of WITHIN GROUP (ORDER BY …).
func (t *translator) withinArgs(e *query.Call, s *scope) (args []value, err error) {
	for _, term := range e.Within {
		v, err := t.expr(term.Expr, s)
		if err != nil {
			return nil, err
		}
		if v, err = t.resolveUnknown(v); err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

// writeAggregate writes an aggregate.
func (t *translator) writeAggregate(e *query.Call, s *scope, sel *selection, g aggregateCall) (value, error) {
	v := newValue(g.kind, atom, nil, g.args...)
	text := cat(g.before, g.name, "(")
	if e.Distinct {
		text.add(raw("DISTINCT "))
	}
	if e.Star {
		text.add(raw("*"))
	}
	for i, a := range g.args {
		if i > 0 {
			text.add(comma)
		}
		text.add(a.sql)
	}
	order, err := t.aggregateOrder(e, s, &v, g)
	if err != nil {
		return v, err
	}
	filter, err := t.aggregateFilter(e, s, &v, g)
	if err != nil {
		return v, err
	}
	text = cat(text, order, ")", filter)
	if e.Over == nil {
		sel.aggregated = true
		v = outerColumns(v, sel)
	} else if text, err = t.over(e, s, &v, text); err != nil {
		return v, err
	}
	v.sql = cat(text, g.after)
	return v.placed(e.Place()), nil
}

// accumulating are the aggregates of SQLite that keep all their input.
var accumulating = map[string]bool{"json_group_array": true, "json_group_object": true, "group_concat": true}

// aggregateFilter writes the FILTER of an aggregate. Aggregates that keep all their input check
// the memory for each row, so that the caller can stop the query before it uses all memory.
func (t *translator) aggregateFilter(e *query.Call, s *scope, v *value, g aggregateCall) (*sql, error) {
	var conditions []*sql
	if e.Filter != nil {
		f, err := t.boolExpr(e.Filter, s, "argument of FILTER")
		if err != nil {
			return nil, err
		}
		v.inherit(f)
		conditions = append(conditions, f.atLevel(asNot))
	}
	if accumulating[g.name] {
		for _, a := range g.args {
			conditions = append(conditions, checkMemory(a.sql))
		}
	}
	if len(conditions) == 0 {
		return nil, nil
	}
	text := cat(" FILTER (WHERE ", conditions[0])
	for _, c := range conditions[1:] {
		text = cat(text, " AND ", c)
	}
	return cat(text, ")"), nil
}

// checkMemory writes a condition that is always true and reports the kept bytes to the function
// that limits the query.
func checkMemory(text *sql) *sql { return cat("rota_weigh(", text, ")") }

// aggregateOrder writes the ORDER BY inside an aggregate.
func (t *translator) aggregateOrder(e *query.Call, s *scope, v *value, g aggregateCall) (*sql, error) {
	if len(e.Order) == 0 {
		if e.Distinct && g.sorted {
			return cat(" ORDER BY ", g.args[0], " NULLS LAST"), nil
		}
		return nil, nil
	}
	texts := make([]*sql, len(e.Order))
	for i, node := range e.Order {
		o, err := t.expr(node.Expr, s)
		if err != nil {
			return nil, err
		}
		if o, err = t.resolveUnknown(o); err != nil {
			return nil, err
		}
		if err := checkOrderable(o.kind, node.Expr.Place()); err != nil {
			return nil, err
		}
		v.inherit(o)
		texts[i] = cat(sortKey(o), direction(node, true))
	}
	return cat(" ORDER BY ", list(texts)), nil
}

// checkArgCount checks the number of arguments of an aggregate.
func checkArgCount(e *query.Call, args []value, n int, t *translator) error {
	if len(args) == n && !e.Star {
		return nil
	}
	return noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
}

func count(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	g := aggregateCall{name: "count", kind: kind.Integer}
	if e.Star {
		return g, nil
	}
	if len(args) == 0 {
		return g, queryError("42809", e.Place(), "count(*) must be used to call a parameterless aggregate function")
	}
	err := checkArgCount(e, args, 1, t)
	if err == nil {
		args[0], err = t.resolveUnknown(args[0])
	}
	g.args = args
	return g, err
}

func sum(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	g := aggregateCall{name: "sum", args: args}
	if err := checkArgCount(e, args, 1, t); err != nil {
		return g, err
	}
	switch k := args[0].kind; {
	case k == kind.Int2, k == kind.Int4:
		g.kind = kind.Integer
	case k == kind.Integer:
		g.kind = kind.Numeric
	case categoryOf(k) == categoryNumber, k == dynamic:
		g.kind = k
	case k == kind.Interval:
		g = aggregateCall{name: "json_group_array", args: args, before: "rota_interval_sum(", after: ", 0)", kind: k}
	default:
		return g, noFunction("sum", nil, args, e.Place(), t)
	}
	return g, nil
}

func avg(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	g := aggregateCall{name: "avg", args: args, kind: kind.Numeric}
	if err := checkArgCount(e, args, 1, t); err != nil {
		return g, err
	}
	switch k := args[0].kind; {
	case k == kind.Float, k == kind.Float4, k == dynamic:
		g.kind = kind.Float
	case k == kind.Interval:
		g = aggregateCall{name: "json_group_array", args: args, before: "rota_interval_sum(", after: ", 1)", kind: k}
	case categoryOf(k) != categoryNumber:
		return g, noFunction("avg", nil, args, e.Place(), t)
	}
	return g, nil
}

func minMax(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	name := e.Path[len(e.Path)-1].Text
	if err := checkArgCount(e, args, 1, t); err != nil {
		return aggregateCall{}, err
	}
	v, err := t.resolveUnknown(args[0])
	g := aggregateCall{name: name, args: []value{v}, kind: v.kind}
	switch v.kind {
	case kind.Boolean, kind.JSON, kind.PlainJSON, kind.Record:
		return g, noFunction(name, nil, args, e.Place(), t)
	case kind.Interval:
		g = aggregateCall{name: "json_group_array", args: args, before: "rota_interval_" + name + "(", after: ")", kind: v.kind}
	case kind.Varchar, kind.Name:
		g.kind = kind.Text
	}
	if err == nil {
		err = checkOrderable(v.kind, e.Place())
	}
	return g, err
}

func boolAggregate(name string) func(*translator, *query.Call, []value) (aggregateCall, error) {
	return func(t *translator, e *query.Call, args []value) (aggregateCall, error) {
		g := aggregateCall{name: name, args: args, kind: kind.Boolean}
		if err := checkArgCount(e, args, 1, t); err != nil {
			return g, err
		}
		var err error
		args[0], err = t.boolValue(args[0], e.Place(), "argument of "+e.Path[len(e.Path)-1].Text)
		return g, err
	}
}

func total(t *translator, e *query.Call, args []value) (aggregateCall, error) {
	return aggregateCall{name: "total", args: args, kind: kind.Float}, checkArgCount(e, args, 1, t)
}
