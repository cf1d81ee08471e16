package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// aggregate translates the call of an aggregate, which belongs to the surrounding SELECT.
func (t *translator) aggregate(e *query.Call, s *scope, name string, known []*function) value {
	sel := s.selection()
	sel.checkAggregate(e, name)
	if e.Over == nil {
		sel.aggregateDepth++
		defer func() { sel.aggregateDepth-- }()
	}
	args := t.aggregateArgs(e, s)
	g := &aggregateCall{name: "count", of: newValue(kind.Integer, atom, nil)}
	if !e.Star {
		g = t.pickAggregate(e, name, known, args)
	}
	return t.writeAggregate(e, s, sel, g)
}

// aggregateArgs translates the arguments of an aggregate and the values of WITHIN GROUP (ORDER BY …).
func (t *translator) aggregateArgs(e *query.Call, s *scope) []value {
	args := t.args(e, s)
	for _, term := range e.Within {
		args = append(args, t.resolveUnknown(t.expr(term.Expr, s)))
	}
	for _, a := range args {
		if a.over && e.Over == nil {
			panic(queryError(StateGrouping, e.Place(), "aggregate function calls cannot contain window function calls").WithHint("put the window function into a subquery in FROM"))
		}
	}
	return args
}

// checkAggregate reports an aggregate where none is allowed.
func (sel *selection) checkAggregate(e *query.Call, name string) {
	what, state := "aggregate functions", StateGrouping
	if e.Over != nil {
		what, state = "window functions", StateWindow
	}
	switch {
	case sel == nil:
		panic(queryError(state, e.Place(), "%s are not allowed here", what))
	case e.Star && name != "count":
		panic(queryError(StateFunction, e.Place(), "function %s() does not exist", name).WithHint("pass a value instead of *"))
	case sel.aggregateDepth > 0 && e.Over == nil:
		panic(queryError(state, e.Place(), "aggregate function calls cannot be nested").WithHint("put the inner call into a subquery in FROM"))
	case sel.clause == "WHERE", sel.clause == "FROM", sel.clause == "GROUP BY", sel.clause == "HAVING" && e.Over != nil:
		e := queryError(state, e.Place(), "%s are not allowed in %s", what, sel.clause)
		if sel.clause == "WHERE" && state == StateGrouping {
			panic(e.WithHint("use HAVING"))
		}
		panic(e.WithHint("put %s into a subquery in FROM", name))
	}
}

// aggregateCall is an aggregate as SQLite computes it: a function of SQLite and the text around
// it. Values that SQLite cannot aggregate are collected into one document, from which one of
// our functions computes the result.
type aggregateCall struct {
	name          string // of the function of SQLite
	args          []value
	before, after *sql
	of            value // the result, without its text
}

// pickAggregate selects the aggregate that fits the arguments.
func (t *translator) pickAggregate(e *query.Call, name string, known []*function, args []value) *aggregateCall {
	switch within := known[0].class == withinClass; {
	case within && len(e.Within) != 1:
		panic(queryError("42809", e.Place(), "WITHIN GROUP is required for ordered-set aggregate %s", name).WithHint("write %s(…) WITHIN GROUP (ORDER BY x)", name))
	case !within && e.Within != nil:
		panic(queryError("42809", e.Place(), "%s is not an ordered-set aggregate", name).WithHint("remove WITHIN GROUP"))
	case name == "count" && len(args) == 0:
		panic(queryError("42809", e.Place(), "count(*) must be used to call a parameterless aggregate function"))
	}
	f, args, k := t.pick(name, known, args, e.Place())
	text := f.text
	if e.Distinct && f.other != "" {
		text = f.other
	}
	before, rest, _ := strings.Cut(text, "{")
	inner, after, _ := strings.Cut(rest, "}")
	native, marks, _ := strings.Cut(strings.TrimSuffix(inner, ")"), "(")
	descending := len(e.Within) > 0 && e.Within[0].Desc
	g := &aggregateCall{
		name: native, of: newValue(k, atom, nil, args...),
		before: expand(before, args, t.shownZone, descending), after: expand(after, args, t.shownZone, descending),
	}
	for i, a := range args {
		mark := "$" + number(i+1)
		if strings.Contains(marks, mark) {
			g.args = append(g.args, a)
		} else if strings.Contains(before+after, mark) && len(a.ungrouped) > 0 {
			panic(unsupported(e.Place(), "argument %d of %s must be a constant", i+1, name))
		}
	}
	return g
}

// writeAggregate writes an aggregate.
func (t *translator) writeAggregate(e *query.Call, s *scope, sel *selection, g *aggregateCall) value {
	v := g.of
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
	order := t.aggregateOrder(e, s, &v, g)
	filter := t.aggregateFilter(e, s, &v, g)
	text = cat(text, order, ")", filter)
	if e.Over == nil {
		sel.aggregated = true
		v = outerColumns(v, sel)
	} else {
		text = t.over(e, s, &v, text)
	}
	v.sql = cat(text, g.after)
	return v.placed(e.Place())
}

// accumulating are the aggregates of SQLite that keep all their input.
var accumulating = map[string]bool{"json_group_array": true, "group_concat": true}

// aggregateFilter writes the FILTER of an aggregate. Aggregates that keep all their input check
// the memory for each row, so that the caller can stop the query before it uses all memory.
func (t *translator) aggregateFilter(e *query.Call, s *scope, v *value, g *aggregateCall) *sql {
	var conditions []*sql
	if e.Filter != nil {
		f := t.boolExpr(e.Filter, s, "argument of FILTER")
		v.inherit(f)
		conditions = append(conditions, f.atLevel(asNot))
	}
	if accumulating[g.name] {
		for _, a := range g.args {
			conditions = append(conditions, checkMemory(a.sql))
		}
	}
	if len(conditions) == 0 {
		return nil
	}
	return cat(" FILTER (WHERE ", join(conditions, " AND "), ")")
}

// checkMemory writes a condition that is always true and reports the kept bytes to the function
// that limits the query. It passes the length, because SQLite would copy the text.
func checkMemory(text *sql) *sql { return cat("rota_weigh(octet_length(", text, "))") }

// aggregateOrder writes the ORDER BY inside an aggregate. PostgreSQL sorts the elements of an aggregate with DISTINCT.
func (t *translator) aggregateOrder(e *query.Call, s *scope, v *value, g *aggregateCall) *sql {
	if len(e.Order) == 0 {
		if e.Distinct && g.name == "json_group_array" {
			return cat(" ORDER BY ", g.args[0], " NULLS LAST")
		}
		return nil
	}
	texts := make([]*sql, len(e.Order))
	for i, node := range e.Order {
		o := t.resolveUnknown(t.expr(node.Expr, s))
		checkOrderable(o.kind, node.Expr.Place())
		v.inherit(o)
		texts[i] = cat(sortKey(o), direction(node, o.notNull))
	}
	return cat(" ORDER BY ", list(texts))
}
