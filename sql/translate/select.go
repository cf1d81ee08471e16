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
func (t *translator) selectBlock(node *query.Select, q *query.Query, outer *scope) (*block, error) {
	sel := &selection{node: node}
	sel.scope = outer.inner()
	sel.scope.sel = sel
	p := &parts{}
	var err error
	if p.from, err = t.from(sel); err != nil {
		return nil, err
	}
	if p.where, err = t.condition(sel, "WHERE", node.Where); err != nil {
		return nil, err
	}
	if p.group, err = t.groupBy(sel); err != nil {
		return nil, err
	}
	if err = t.items(sel); err != nil {
		return nil, err
	}
	if p.having, err = t.condition(sel, "HAVING", node.Having); err != nil {
		return nil, err
	}
	var terms []term
	if q != nil {
		if terms, err = t.terms(sel, q.Order); err != nil {
			return nil, err
		}
		if p.limit, err = t.limit(q, outer); err != nil {
			return nil, err
		}
	}
	if err = t.finish(sel, terms); err != nil {
		return nil, err
	}
	return t.assemble(sel, p, terms)
}

// finish runs the checks that need all parts of the SELECT.
func (t *translator) finish(sel *selection, terms []term) error {
	if sel.node.Having != nil {
		sel.aggregated = true
	}
	if len(sel.sets) > 0 && (sel.aggregated || len(sel.groups) > 0) {
		return unsupported(sel.node.At, "set-returning functions are not supported in the select list of a grouped query").withHint("call the function in FROM")
	}
	if !sel.aggregated && len(sel.groups) == 0 {
		return nil
	}
	for _, v := range sel.items {
		if err := sel.grouped(v); err != nil {
			return err
		}
	}
	for _, o := range terms {
		if err := sel.grouped(o.value); err != nil {
			return err
		}
	}
	return nil
}

// grouped checks that a value has a single result per group.
func (sel *selection) grouped(v value) error {
	for _, l := range v.ungrouped {
		if l.scope == sel {
			return queryError(StateGrouping, l.at, "column %q must appear in the GROUP BY clause or be used in an aggregate function", l.name).
				withHint("add it to GROUP BY, or use max(%s)", l.name)
		}
	}
	return nil
}

// assemble writes the SELECT.
func (t *translator) assemble(sel *selection, p *parts, terms []term) (*block, error) {
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
		if err := t.distinctOrder(sel, terms); err != nil {
			return nil, err
		}
	}
	p.order = sel.order(terms)
	b.member = p.order == nil && p.limit == nil
	b.render = func(items []*sql) *sql {
		return cat(raw("SELECT ").from(sel.node.At), p.distinct, list(items), p.from, p.where, p.group, p.having, p.order, p.limit)
	}
	return b, nil
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
func (t *translator) condition(sel *selection, word string, e query.Expr) (*sql, error) {
	if e == nil {
		return nil, nil
	}
	sel.clause = word
	v, err := t.boolExpr(e, sel.scope, "argument of "+word)
	if err != nil {
		return nil, err
	}
	if word == "HAVING" {
		if err := sel.grouped(v); err != nil {
			return nil, err
		}
	}
	sel.addOuter(v)
	return cat(" "+word+" ", v.sql), nil
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
func (t *translator) items(sel *selection) error {
	sel.clause = "SELECT"
	for _, item := range sel.node.Items {
		if star, is := item.Expr.(*query.Star); is {
			if err := t.star(sel, star); err != nil {
				return err
			}
			continue
		}
		v, err := t.expr(item.Expr, sel.scope)
		if err != nil {
			return err
		}
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
		if err := t.add(sel, name, v); err != nil {
			return err
		}
	}
	return nil
}

func (t *translator) add(sel *selection, name string, v value) error {
	if t.columns++; t.columns > 10*columnsMax || len(sel.items) >= columnsMax {
		return queryError(StateLimit, v.at, "the query has more than %d columns", columnsMax).withHint("select only the columns that you need")
	}
	sel.items = append(sel.items, v)
	sel.columns = append(sel.columns, column{name: name, kind: v.kind, from: v.from, set: v.set, notNull: v.notNull})
	return nil
}

// star expands * to all columns of the query, of a table, or of a value.
func (t *translator) star(sel *selection, star *query.Star) error {
	s, columns := sel.scope, sel.scope.names
	switch {
	case star.Of != nil:
		return t.fields(sel, star)
	case len(star.Path) > 0:
		at, from, err := sel.scope.lookup(star.Path, star.Place())
		if err != nil {
			return err
		}
		if from == nil {
			return queryError(StateTable, star.Place(), "missing FROM-clause entry for table %q", pathText(star.Path)).
				withHint("%s", suggestion(pathText(star.Path), "FROM contains", sel.scope.sourceNames()))
		}
		s, columns = at, from.columns
	case len(sel.scope.sources) == 0:
		return queryError(StateSyntax, star.Place(), "SELECT * with no tables specified is not valid").withHint("add FROM")
	}
	for _, c := range columns {
		if err := t.add(sel, c.name, s.value(c, star.Place())); err != nil {
			return err
		}
	}
	return nil
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
func (t *translator) limit(q *query.Query, s *scope) (*sql, error) {
	if q.Limit == nil && q.Offset == nil {
		return nil, nil
	}
	limit, err := t.count(q.Limit, s, "LIMIT")
	if err != nil {
		return nil, err
	}
	offset, err := t.count(q.Offset, s, "OFFSET")
	if err != nil || limit == nil && offset == nil {
		return nil, err
	}
	if limit == nil {
		limit = raw("-1")
	}
	text := cat(" LIMIT ", limit)
	if offset != nil {
		text = cat(text, " OFFSET ", offset)
	}
	return text, nil
}

func (t *translator) count(e query.Expr, outer *scope, word string) (*sql, error) {
	if e == nil {
		return nil, nil
	}
	v, err := t.expr(e, (&scope{}).withCommonTables(outer))
	if err != nil || v.null {
		return nil, err
	}
	if categoryOf(v.kind) != categoryNumber && !v.untyped() {
		return nil, queryError(StateMismatch, e.Place(), "argument of %s must be type bigint, not type %s", word, typeTitle(v.kind))
	}
	if n, is := e.(*query.Unary); is && n.Op == "-" {
		return nil, queryError("2201W", e.Place(), "%s must not be negative", word)
	}
	v, err = t.cast(v, kind.Integer, nil)
	return v.sql, err
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
