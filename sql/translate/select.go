package translate

import (
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// selection is one SELECT during its translation.
type selection struct {
	node           *query.Select
	scope          *scope
	items          []value
	columns        []column
	groups         []*sql
	aggregated     bool
	clause         string // the current clause; aggregates are allowed only in some
	aggregateDepth int    // number of surrounding aggregates
	sets           []*sql // set-returning functions of the select list
	setAlias       string
	outer          []ungroupedColumn // columns of outer queries
}

// parts are the texts of a SELECT without its select list.
type parts struct {
	distinct                                 string
	from, where, group, having, order, limit *sql
}

// selectBlock translates one SELECT with the ORDER BY and LIMIT of its query.
func (t *translator) selectBlock(node *query.Select, q *query.Query, outer *scope) *block {
	sel := &selection{node: node}
	sel.scope = outer.inner()
	sel.scope.sel = sel
	p := &parts{}
	p.from = t.from(sel)
	p.where = t.condition(sel, "WHERE", node.Where)
	p.group = t.groupBy(sel)
	t.items(sel)
	p.having = t.condition(sel, "HAVING", node.Having)
	var terms []term
	if q != nil {
		terms = t.terms(sel, q.Order)
		p.limit = t.limit(q, outer)
	}
	t.finish(sel, terms)
	return t.assemble(sel, p, terms)
}

// finish runs the checks that need all parts of the SELECT.
func (t *translator) finish(sel *selection, terms []term) {
	if sel.node.Having != nil {
		sel.aggregated = true
	}
	if len(sel.sets) > 0 && (sel.aggregated || len(sel.groups) > 0) {
		panic(unsupported(sel.node.At, "set-returning functions are not supported in the select list of a grouped query").WithHint("call the function in FROM"))
	}
	if !sel.aggregated && len(sel.groups) == 0 {
		return
	}
	for _, v := range sel.items {
		sel.grouped(v)
	}
	for _, o := range terms {
		sel.grouped(o.value)
	}
}

// grouped checks that a value has a single result per group.
func (sel *selection) grouped(v value) {
	for _, l := range v.ungrouped {
		if l.scope == sel {
			panic(queryError(StateGrouping, l.at, "column %q must appear in the GROUP BY clause or be used in an aggregate function", l.name).
				WithHint("add it to GROUP BY, or use max(%s)", l.name))
		}
	}
}

// assemble writes the SELECT.
func (t *translator) assemble(sel *selection, p *parts, terms []term) *block {
	b := &block{columns: sel.columns, items: sel.items}
	b.single = len(sel.groups) == 0 && (sel.aggregated || len(sel.node.From) == 0 && len(sel.sets) == 0)
	nameColumns(b.columns)
	for _, v := range sel.items {
		b.addUngrouped(outerColumns(v, sel))
	}
	for _, l := range sel.outer {
		b.addUngrouped(value{ungrouped: []ungroupedColumn{l}})
	}
	if len(sel.sets) > 0 {
		each := cat("json_each(rota_zip(", list(sel.sets), ")) AS ", quoted(sel.setAlias))
		if p.from == nil {
			p.from = cat(" FROM ", each)
		} else {
			p.from = cat(p.from, ", ", each)
		}
	}
	if len(sel.node.On) > 0 {
		return t.distinctOn(sel, p, terms, b)
	}
	if sel.node.Distinct {
		p.distinct = "DISTINCT "
		t.distinctOrder(sel, terms)
	}
	p.order = sel.order(terms)
	b.member = p.order == nil && p.limit == nil
	b.render = func(items []*sql) *sql {
		return cat(raw("SELECT "), p.distinct, list(items), p.from, p.where, p.group, p.having, p.order, p.limit)
	}
	return b
}

// outerColumns keeps only the ungrouped columns that belong to outer queries.
func outerColumns(v value, sel *selection) value {
	var rest []ungroupedColumn
	for _, l := range v.ungrouped {
		if l.scope != sel {
			rest = append(rest, l)
		}
	}
	v.ungrouped = rest
	return v
}

// condition translates WHERE or HAVING.
func (t *translator) condition(sel *selection, word string, e query.Expr) *sql {
	if e == nil {
		return nil
	}
	sel.clause = word
	v := t.boolExpr(e, sel.scope, "argument of "+word)
	if word == "HAVING" {
		sel.grouped(v)
	}
	sel.addOuter(v)
	return cat(" "+word+" ", v.sql)
}

// addOuter records the columns of outer queries.
func (sel *selection) addOuter(v value) {
	for _, l := range v.ungrouped {
		if l.scope != sel {
			holder := value{ungrouped: sel.outer}
			holder.addUngrouped([]ungroupedColumn{l})
			sel.outer = holder.ungrouped
		}
	}
}

// items translates the select list.
func (t *translator) items(sel *selection) {
	sel.clause = "SELECT"
	for _, item := range sel.node.Items {
		if star, is := item.Expr.(*query.Star); is {
			t.star(sel, star)
			continue
		}
		v := t.expr(item.Expr, sel.scope)
		if v.row {
			v = t.rowJSON(v)
		}
		if _, plain := item.Expr.(*query.Column); !plain {
			v.from = Origin{}
		}
		name := nameOf(item.Expr)
		if item.Alias != nil {
			name = item.Alias.Text
		}
		t.add(sel, name, v)
	}
}

func (t *translator) add(sel *selection, name string, v value) {
	if t.columns++; t.columns > 10*columnsMax || len(sel.items) >= columnsMax {
		panic(queryError(StateLimit, v.at, "the query has more than %d columns", columnsMax).WithHint("select only the columns that you need"))
	}
	sel.items = append(sel.items, v)
	sel.columns = append(sel.columns, column{name: name, kind: v.kind, from: v.from, set: v.set, notNull: v.notNull})
}

// star expands * to all columns of the query, of a table, or of a value.
func (t *translator) star(sel *selection, star *query.Star) {
	s, columns := sel.scope, sel.scope.names
	switch {
	case star.Of != nil:
		panic(unsupported(star.Place(), "(x).* is not supported").WithHint("name the fields: (x).name"))
	case len(star.Path) > 0:
		at, from := sel.scope.lookup(star.Path, star.Place())
		if from == nil {
			panic(queryError(StateTable, star.Place(), "missing FROM-clause entry for table %q", pathText(star.Path)).
				WithHint("%s", suggestion(pathText(star.Path), "FROM contains", sel.scope.sourceNames())))
		}
		s, columns = at, from.columns
	case len(sel.scope.sources) == 0:
		panic(queryError(StateSyntax, star.Place(), "SELECT * with no tables specified is not valid").WithHint("add FROM"))
	}
	for _, c := range columns {
		t.add(sel, c.name, s.value(c, star.Place()))
	}
}

// nameColumns gives the columns unique names for the text.
func nameColumns(columns []column) {
	taken := map[string]bool{}
	for i := range columns {
		name := columns[i].name
		if name == "" || strings.ContainsRune(name, 0) {
			name = "_"
		}
		out := name
		for n := 2; taken[strings.ToLower(out)]; n++ {
			out = name + "_" + strconv.Itoa(i+n)
		}
		taken[strings.ToLower(out)] = true
		columns[i].alias = out
	}
}

// limit translates LIMIT and OFFSET.
func (t *translator) limit(q *query.Query, s *scope) *sql {
	if q.Limit == nil && q.Offset == nil {
		return nil
	}
	limit := t.count(q.Limit, s, "LIMIT")
	offset := t.count(q.Offset, s, "OFFSET")
	if limit == nil && offset == nil {
		return nil
	}
	if limit == nil {
		limit = raw("-1")
	}
	text := cat(" LIMIT ", limit)
	if offset != nil {
		text = cat(text, " OFFSET ", offset)
	}
	return text
}

func (t *translator) count(e query.Expr, outer *scope, word string) *sql {
	if e == nil {
		return nil
	}
	v := t.expr(e, (&scope{}).withCommonTables(outer))
	if v.null {
		return nil
	}
	if categoryOf(v.kind) != categoryNumber && !v.untyped() {
		panic(queryError(StateMismatch, e.Place(), "argument of %s must be type bigint, not type %s", word, typeTitle(v.kind)))
	}
	if n, is := e.(*query.Unary); is && n.Op == "-" {
		panic(queryError("2201W", e.Place(), "%s must not be negative", word))
	}
	v = t.cast(v, kind.Integer, nil)
	return v.sql
}

// withCommonTables returns an empty scope that knows the common tables of another scope.
func (s *scope) withCommonTables(outer *scope) *scope {
	for at := outer; at != nil; at = at.outer {
		for name, c := range at.with {
			if s.with == nil {
				s.with = map[string]*commonTable{}
			}
			if s.with[name] == nil {
				s.with[name] = c
			}
		}
	}
	return s
}
