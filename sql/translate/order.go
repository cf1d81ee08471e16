package translate

import (
	"cmp"
	"strconv"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// term is one item of ORDER BY.
type term struct {
	value
	node *query.Term
	item int // number of the select list item, from 1; 0: none
}

func number(n int) string { return strconv.Itoa(n) }

// terms translates ORDER BY of a SELECT: positions and names of the select list, or
// expressions.
func (t *translator) terms(sel *selection, order []*query.Term) []term {
	sel.clause = "ORDER BY"
	out := make([]term, 0, len(order))
	for _, node := range order {
		item := sel.itemOf(node.Expr, "ORDER BY", true)
		if item > 0 {
			out = append(out, term{sel.items[item-1], node, item})
			checkOrderable(sel.items[item-1].kind, node.Expr.Place())
			continue
		}
		v := t.expr(node.Expr, sel.scope)
		sel.addOuter(v)
		keys := []value{v}
		if v.row { // by the first of it, then by the second
			keys, node = v.elems, &query.Term{Expr: node.Expr, Desc: node.Desc}
		}
		for _, key := range keys {
			checkOrderable(key.kind, node.Expr.Place())
			out = append(out, term{value: key, node: node, item: sel.same(key)})
		}
	}
	return out
}

// itemOf returns the item of the select list that a position or a name means, from 1; 0: none.
func (sel *selection) itemOf(e query.Expr, clause string, names bool) int {
	switch e := e.(type) {
	case *query.Number:
		n, err := strconv.Atoi(e.Text)
		if err != nil {
			panic(queryError(StateSyntax, e.Place(), "non-integer constant in %s", clause).WithHint("write the number of a column, or a name"))
		}
		if n < 1 || n > len(sel.items) {
			panic(queryError(StatePosition, e.Place(), "%s position %d is not in select list", clause, n).WithHint("the select list has %d columns", len(sel.items)))
		}
		return n
	case *query.String:
		panic(queryError(StateSyntax, e.Place(), "non-integer constant in %s", clause).WithHint("write a name without quotes or in double quotes"))
	case *query.Column:
		if !names || len(e.Path) != 1 {
			return 0
		}
		return sel.itemNamed(e)
	}
	return 0
}

func (sel *selection) itemNamed(e *query.Column) (found int) {
	for i, c := range sel.columns {
		if c.name != e.Path[0].Text {
			continue
		}
		if found > 0 && !sel.items[found-1].same(sel.items[i]) {
			panic(queryError(StateAmbiguous, e.Place(), "ORDER BY %q is ambiguous", c.name).WithHint("use its position, or give one of the columns another name"))
		}
		if found == 0 {
			found = i + 1
		}
	}
	return found
}

// same reports whether two values have the same text.
func (v value) same(other value) bool {
	return v.sql != nil && other.sql != nil && v.sql.same(other.sql)
}

// same returns the item of the select list with the same text, or 0.
func (sel *selection) same(v value) int {
	for i, item := range sel.items {
		if item.same(v) {
			return i + 1
		}
	}
	return 0
}

// order writes ORDER BY.
func (sel *selection) order(terms []term) *sql {
	if len(terms) == 0 {
		return nil
	}
	texts := make([]*sql, len(terms))
	for i, o := range terms {
		if o.value.order != nil && o.usualNulls() && !sel.node.Distinct && !sel.aggregated && len(sel.groups) == 0 {
			texts[i] = cat(o.value.order, direction(o.node, true))
			continue
		}
		texts[i] = cat(o.text(sel), direction(o.node, o.notNull))
	}
	return cat(" ORDER BY ", list(texts))
}

// usualNulls reports whether NULLs are where PostgreSQL puts them by default: they are greater than all values.
func (o term) usualNulls() bool {
	return o.node.Nulls == "" || (o.node.Nulls == "FIRST") == o.node.Desc
}

// text is the sort key of an item. An expression of the select list is written as its position,
// so that it is computed only once.
func (o term) text(sel *selection) *sql {
	v := o.value
	switch {
	case o.item > 0 && (v.sql == nil || v.kind != kind.Interval && !o.column()):
		return raw(number(o.item))
	case v.sql == nil || v.plain: // a constant must not be read as a position
		return raw("NULL")
	}
	return sortKey(v)
}

// column reports whether the value is an unchanged column.
func (o term) column() bool {
	_, is := o.node.Expr.(*query.Column)
	return is && o.level == atom && len(o.ungrouped) > 0
}

// sortKey is the text by which SQLite sorts like PostgreSQL.
func sortKey(v value) *sql {
	if v.kind == kind.Interval {
		return cat("rota_micros(", v, ")")
	}
	return v.sql
}

// direction writes DESC and the order of NULLs, which SQLite puts first and PostgreSQL last. A value that is never NULL
// needs none, and only without it SQLite offers the order to a virtual table.
func direction(node *query.Term, notNull bool) string {
	text, nulls := "", "LAST"
	if node.Desc {
		text, nulls = " DESC", "FIRST"
	}
	if notNull {
		return text
	}
	return text + " NULLS " + cmp.Or(node.Nulls, nulls)
}

// outputOrder translates ORDER BY of a compound query: only positions and names.
func (t *translator) outputOrder(order []*query.Term, b *block) *sql {
	if len(order) == 0 {
		return nil
	}
	sel := &selection{columns: b.columns, items: make([]value, len(b.columns))}
	texts := make([]*sql, len(order))
	for i, node := range order {
		item := sel.itemOf(node.Expr, "ORDER BY", true)
		if item == 0 {
			if c, is := node.Expr.(*query.Column); is && len(c.Path) == 1 {
				panic(queryError(StateColumn, c.Place(), "column %q does not exist", c.Path[0].Text).WithHint("%s", suggestion(c.Path[0].Text, "the columns are", columnNames(b.columns))))
			}
			panic(unsupported(node.Expr.Place(), "invalid UNION/INTERSECT/EXCEPT ORDER BY clause").WithHint("only result column names can be used, not expressions or functions; put the query into a subquery in FROM"))
		}
		checkOrderable(b.columns[item-1].kind, node.Expr.Place())
		texts[i] = cat(number(item), direction(node, b.columns[item-1].notNull))
	}
	return cat(" ORDER BY ", list(texts))
}

// distinctOrder checks ORDER BY of SELECT DISTINCT.
func (t *translator) distinctOrder(sel *selection, terms []term) {
	for _, o := range terms {
		if o.item == 0 {
			panic(queryError(StatePosition, o.node.Expr.Place(), "for SELECT DISTINCT, ORDER BY expressions must appear in select list").WithHint("add it to the select list, or remove DISTINCT"))
		}
	}
}

// distinctOn translates DISTINCT ON.
func (t *translator) distinctOn(sel *selection, p *parts, terms []term, b *block) *block {
	on := make([]*sql, len(sel.node.On))
	for i, e := range sel.node.On {
		item := sel.itemOf(e, "SELECT DISTINCT ON", true)
		var v value
		if item > 0 {
			v = sel.items[item-1]
		} else {
			v = t.expr(e, sel.scope)
		}
		v = t.resolveUnknown(v)
		on[i] = v.sql
	}
	checkDistinctOnOrder(sel, terms, on)
	for i, v := range sel.items {
		v := t.resolveUnknown(v)
		sel.items[i], b.columns[i].kind = v, v.kind
	}
	b.items, b.member = nil, len(terms) == 0 && p.limit == nil
	b.inner = func(bool) *sql { return sel.distinctOnText(p, terms, on, b.columns) }
	return b
}

// checkDistinctOnOrder checks that ORDER BY starts with the expressions of DISTINCT ON.
func checkDistinctOnOrder(sel *selection, terms []term, on []*sql) {
	for i, o := range terms {
		if i >= len(on) {
			break
		}
		fits := false
		for _, v := range on {
			fits = fits || o.sql != nil && o.sql.same(v)
		}
		if !fits {
			panic(queryError(StatePosition, o.node.Expr.Place(), "SELECT DISTINCT ON expressions must match initial ORDER BY expressions").WithHint("put the DISTINCT ON expressions first in ORDER BY"))
		}
	}
}

// distinctOnText writes DISTINCT ON with row numbers per group of equal values.
func (sel *selection) distinctOnText(p *parts, terms []term, on []*sql, columns []column) *sql {
	inner := make([]*sql, 0, len(sel.items)+len(terms)+1)
	outer := make([]*sql, len(sel.items))
	for i, v := range sel.items {
		name := "_c" + number(i+1)
		inner = append(inner, cat(v, " AS ", name))
		outer[i] = cat(name, " AS ", quoted(columns[i].alias))
	}
	if len(outer) == 0 { // SQLite wants some
		outer = append(outer, raw("NULL"))
	}
	keys, orders := make([]*sql, len(terms)), make([]*sql, len(terms))
	for i, o := range terms {
		name := "_o" + number(i+1)
		text := raw("NULL")
		if o.sql != nil {
			text = sortKey(o.value)
		}
		inner = append(inner, cat(text, " AS ", name))
		keys[i], orders[i] = cat(text, direction(o.node, o.notNull)), cat(name, direction(o.node, o.notNull))
	}
	window := cat("PARTITION BY ", list(on))
	order := raw("")
	if len(terms) > 0 {
		window = cat(window, " ORDER BY ", list(keys))
		order = cat(" ORDER BY ", list(orders))
	}
	inner = append(inner, cat("row_number() OVER (", window, ") AS _nth"))
	return cat("SELECT ", list(outer), " FROM (SELECT ", p.distinct, list(inner), p.from, p.where, p.group, p.having, ") WHERE _nth = 1", order, p.limit)
}
