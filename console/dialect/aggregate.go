package dialect

import (
	"github.com/rotajobs/rota/console/kind"
	"github.com/rotajobs/rota/console/query"
)

// gathering is an aggregate as SQLite is asked for it: a function of its own, and what
// stands around that. What SQLite cannot gather is gathered as one document, of which a
// function makes the answer.
type gathering struct {
	name          string
	args          []value
	before, after string
	kind          kind.Kind
	sorted        bool // its elements are in the order of PostgreSQL's DISTINCT
}

// aggregates say how values of many rows become one.
var aggregates map[string]func(t *translator, e *query.Call, args []value) (gathering, error)

// scalarToo are the aggregates that are functions of several arguments, too.
var scalarToo = map[string]bool{"max": true, "min": true}

func init() {
	aggregates = map[string]func(*translator, *query.Call, []value) (gathering, error){
		"count": count, "sum": sum, "avg": avg, "min": extreme, "max": extreme,
		"bool_and": every("min"), "bool_or": every("max"), "every": every("min"),
		"string_agg": stringAgg, "group_concat": groupConcat, "total": total,
		"array_agg": arrayAgg, "json_agg": jsonAgg(kind.PlainJSON), "jsonb_agg": jsonAgg(kind.JSON),
		"json_object_agg": objectAgg(kind.PlainJSON), "jsonb_object_agg": objectAgg(kind.JSON),
		"json_group_array": groupArray, "json_group_object": objectAgg(kind.PlainJSON),
		"bit_and": bitAgg, "bit_or": bitAgg, "bit_xor": bitAgg,
		"stddev": statistic, "stddev_samp": statistic, "stddev_pop": statistic, "variance": statistic, "var_samp": statistic, "var_pop": statistic,
		"corr": paired, "covar_pop": paired, "covar_samp": paired, "regr_slope": paired, "regr_intercept": paired, "regr_r2": paired, "regr_count": paired,
		"percentile_cont": percentile, "percentile_disc": percentile, "mode": percentile,
	}
}

// aggregate is an aggregate with what it is given, which belongs to the SELECT around it.
func (t *translator) aggregate(e *query.Call, s *scope, name string, how func(*translator, *query.Call, []value) (gathering, error)) (value, error) {
	sel := s.selection()
	if err := sel.admits(e, name); err != nil {
		return value{}, err
	}
	if e.Over == nil {
		sel.within++
		defer func() { sel.within-- }()
	}
	args, err := t.args(e, s)
	if err != nil {
		return value{}, err
	}
	for i := range args {
		if args[i].over && e.Over == nil {
			return value{}, refuse(StateGrouping, e.Place(), "aggregate function calls cannot contain window function calls").hinting("put the window function into a subquery in FROM")
		}
		if args[i], err = t.settleRow(args[i]); err != nil {
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
		return value{}, placed(err, e.Place())
	}
	return t.gathered(e, s, sel, g)
}

// admits says whether an aggregate may stand where it does.
func (sel *selection) admits(e *query.Call, name string) error {
	what, state := "aggregate functions", StateGrouping
	if e.Over != nil {
		what, state = "window functions", StateWindowing
	}
	switch {
	case sel == nil:
		return refuse(state, e.Place(), "%s are not allowed here", what)
	case sel.within > 0 && e.Over == nil:
		return refuse(state, e.Place(), "aggregate function calls cannot be nested").hinting("put the inner call into a subquery in FROM")
	case sel.clause == "WHERE", sel.clause == "FROM", sel.clause == "GROUP BY", sel.clause == "HAVING" && e.Over != nil:
		e := refuse(state, e.Place(), "%s are not allowed in %s", what, sel.clause)
		if sel.clause == "WHERE" && state == StateGrouping {
			return e.hinting("use HAVING")
		}
		return e.hinting("put %s into a subquery in FROM", name)
	}
	return nil
}

// settleRow is an argument that may be a whole row.
func (t *translator) settleRow(v value) (value, error) {
	if v.row {
		return t.rowJSON(v), nil
	}
	return v, nil
}

// withinArgs are the values of WITHIN GROUP (ORDER BY …).
func (t *translator) withinArgs(e *query.Call, s *scope) (args []value, err error) {
	for _, term := range e.Within {
		v, err := t.expr(term.Expr, s)
		if err != nil {
			return nil, err
		}
		if v, err = t.settle(v); err != nil {
			return nil, err
		}
		args = append(args, v)
	}
	return args, nil
}

// gathered writes an aggregate.
func (t *translator) gathered(e *query.Call, s *scope, sel *selection, g gathering) (value, error) {
	v := made(g.kind, atom, nil, g.args...)
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
	order, err := t.gatherOrder(e, s, &v, g)
	if err != nil {
		return v, err
	}
	filter, err := t.gatherFilter(e, s, &v, g)
	if err != nil {
		return v, err
	}
	text = cat(text, order, ")", filter)
	if e.Over == nil {
		sel.aggregated = true
		v = outside(v, sel)
	} else if text, err = t.over(e, s, &v, text); err != nil {
		return v, err
	}
	v.sql = cat(text, g.after)
	return v.placed(e.Place()), nil
}

// hoards are the aggregates of SQLite that keep all that they are given.
var hoards = map[string]bool{"json_group_array": true, "json_group_object": true, "group_concat": true}

// gatherFilter says which rows are gathered. What is kept of them is weighed, so that who
// runs the query can stop it before it takes all memory.
func (t *translator) gatherFilter(e *query.Call, s *scope, v *value, g gathering) (*sql, error) {
	var conditions []*sql
	if e.Filter != nil {
		f, err := t.truth(e.Filter, s, "argument of FILTER")
		if err != nil {
			return nil, err
		}
		v.take(f)
		conditions = append(conditions, f.in(asNot))
	}
	if hoards[g.name] {
		for _, a := range g.args {
			conditions = append(conditions, weighed(a.sql))
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

// weighed is true, and lets who runs the query know how much is kept.
func weighed(text *sql) *sql { return cat("rota_weigh(", text, ")") }

// gatherOrder is the order in which values are gathered.
func (t *translator) gatherOrder(e *query.Call, s *scope, v *value, g gathering) (*sql, error) {
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
		if o, err = t.settle(o); err != nil {
			return nil, err
		}
		if err := ranked(o.kind, node.Expr.Place()); err != nil {
			return nil, err
		}
		v.take(o)
		texts[i] = cat(sortable(o), direction(node, true))
	}
	return cat(" ORDER BY ", list(texts)), nil
}

// given says whether an aggregate has as many arguments as it takes.
func given(e *query.Call, args []value, n int, t *translator) error {
	if len(args) == n && !e.Star {
		return nil
	}
	return noFunction(e.Path[len(e.Path)-1].Text, nil, args, e.Place(), t)
}

func count(t *translator, e *query.Call, args []value) (gathering, error) {
	g := gathering{name: "count", kind: kind.Integer}
	if e.Star {
		return g, nil
	}
	if len(args) == 0 {
		return g, refuse("42809", e.Place(), "count(*) must be used to call a parameterless aggregate function")
	}
	err := given(e, args, 1, t)
	if err == nil {
		args[0], err = t.settle(args[0])
	}
	g.args = args
	return g, err
}

func sum(t *translator, e *query.Call, args []value) (gathering, error) {
	g := gathering{name: "sum", args: args}
	if err := given(e, args, 1, t); err != nil {
		return g, err
	}
	switch k := args[0].kind; {
	case k == kind.Int2, k == kind.Int4:
		g.kind = kind.Integer
	case k == kind.Integer:
		g.kind = kind.Numeric
	case sortOf(k) == sortNumber, k == dynamic:
		g.kind = k
	case k == kind.Interval:
		g = gathering{name: "json_group_array", args: args, before: "rota_interval_sum(", after: ", 0)", kind: k}
	default:
		return g, noFunction("sum", nil, args, e.Place(), t)
	}
	return g, nil
}

func avg(t *translator, e *query.Call, args []value) (gathering, error) {
	g := gathering{name: "avg", args: args, kind: kind.Numeric}
	if err := given(e, args, 1, t); err != nil {
		return g, err
	}
	switch k := args[0].kind; {
	case k == kind.Float, k == kind.Float4, k == dynamic:
		g.kind = kind.Float
	case k == kind.Interval:
		g = gathering{name: "json_group_array", args: args, before: "rota_interval_sum(", after: ", 1)", kind: k}
	case sortOf(k) != sortNumber:
		return g, noFunction("avg", nil, args, e.Place(), t)
	}
	return g, nil
}

func extreme(t *translator, e *query.Call, args []value) (gathering, error) {
	name := e.Path[len(e.Path)-1].Text
	if err := given(e, args, 1, t); err != nil {
		return gathering{}, err
	}
	v, err := t.settle(args[0])
	g := gathering{name: name, args: []value{v}, kind: v.kind}
	switch v.kind {
	case kind.Boolean, kind.JSON, kind.PlainJSON, kind.Record:
		return g, noFunction(name, nil, args, e.Place(), t)
	case kind.Interval:
		g = gathering{name: "json_group_array", args: args, before: "rota_interval_" + name + "(", after: ")", kind: v.kind}
	case kind.Varchar, kind.Name:
		g.kind = kind.Text
	}
	if err == nil {
		err = ranked(v.kind, e.Place())
	}
	return g, err
}

func every(name string) func(*translator, *query.Call, []value) (gathering, error) {
	return func(t *translator, e *query.Call, args []value) (gathering, error) {
		g := gathering{name: name, args: args, kind: kind.Boolean}
		if err := given(e, args, 1, t); err != nil {
			return g, err
		}
		var err error
		args[0], err = t.truthOf(args[0], e.Place(), "argument of "+e.Path[len(e.Path)-1].Text)
		return g, err
	}
}

func total(t *translator, e *query.Call, args []value) (gathering, error) {
	return gathering{name: "total", args: args, kind: kind.Float}, given(e, args, 1, t)
}
