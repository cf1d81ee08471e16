package translate

import (
	"github.com/rotajobs/rota/sql/query"
)

// groupBy translates GROUP BY: positions and names of the select list, or expressions. The
// select list is translated later, so that its values know the groups.
func (t *translator) groupBy(sel *selection) *sql {
	if len(sel.node.Group) == 0 {
		return nil
	}
	sel.clause = "GROUP BY"
	var texts []*sql
	for _, e := range sel.node.Group {
		e := t.groupExpr(sel, e)
		v := t.expr(e, sel.scope)
		if v.row {
			for _, elem := range v.elems {
				sel.groups = append(sel.groups, elem.sql)
				texts = append(texts, elem.sql)
			}
			continue
		}
		v = t.resolveUnknown(v)
		sel.addOuter(v)
		sel.groups = append(sel.groups, v.sql)
		if len(v.ungrouped) == 0 { // a number would be a position
			texts = append(texts, cat("(", v, ")"))
		} else {
			texts = append(texts, v.sql)
		}
	}
	return cat(" GROUP BY ", list(texts))
}

// groupExpr resolves one item of GROUP BY. A name means a column first, and a name of the
// select list only if there is no such column.
func (t *translator) groupExpr(sel *selection, e query.Expr) query.Expr {
	items := &selection{items: make([]value, len(sel.node.Items))}
	n := items.itemOf(e, "GROUP BY", false)
	if n > 0 {
		for _, item := range sel.node.Items[:n] {
			if _, star := item.Expr.(*query.Star); star {
				panic(unsupported(e.Place(), "a GROUP BY position after * is not supported").WithHint("write the column's name"))
			}
		}
		return sel.node.Items[n-1].Expr
	}
	c, is := e.(*query.Column)
	if !is || len(c.Path) != 1 {
		return e
	}
	if _, found := sel.scope.find(c); found {
		return e
	}
	for _, item := range sel.node.Items {
		if item.Alias != nil && item.Alias.Text == c.Path[0].Text {
			return item.Expr
		}
		if item.Alias == nil && nameOf(item.Expr) == c.Path[0].Text {
			return item.Expr
		}
	}
	return e
}

// removeGrouped removes the ungrouped columns of a value that a surrounding query groups by.
func removeGrouped(v value, s *scope) value {
	if len(v.ungrouped) == 0 || v.sql == nil {
		return v
	}
	for ; s != nil; s = s.outer {
		if s.sel == nil || len(s.sel.groups) == 0 {
			continue
		}
		for _, g := range s.sel.groups {
			if g.same(v.sql) {
				v = outerColumns(v, s.sel)
				break
			}
		}
	}
	return v
}
