package translate

import (
	"github.com/rotajobs/rota/sql/query"
)

// groupBy translates GROUP BY: positions and names of the select list, or expressions. The
// select list is translated later, so that its values know the groups.
func (t *translator) groupBy(sel *selection) (*sql, error) {
	if len(sel.node.Group) == 0 {
		return nil, nil
	}
	sel.clause = "GROUP BY"
	var texts []*sql
	for _, e := range sel.node.Group {
		e, err := t.groupExpr(sel, e)
		if err != nil {
			return nil, err
		}
		v, err := t.expr(e, sel.scope)
		if err != nil {
			return nil, err
		}
		if v.row {
			for _, elem := range v.elems {
				sel.groups = append(sel.groups, elem.sql)
				texts = append(texts, elem.sql)
			}
			continue
		}
		if v, err = t.resolveUnknown(v); err != nil {
			return nil, err
		}
		sel.addOuter(v)
		sel.groups = append(sel.groups, v.sql)
		if len(v.ungrouped) == 0 { // a number would be a position
			texts = append(texts, cat("(", v, ")"))
		} else {
			texts = append(texts, v.sql)
		}
	}
	return cat(" GROUP BY ", list(texts)), nil
}

// groupExpr resolves one item of GROUP BY. A name means a column first, and a name of the
// select list only if there is no such column.
func (t *translator) groupExpr(sel *selection, e query.Expr) (query.Expr, error) {
	items := &selection{items: make([]value, len(sel.node.Items))}
	n, err := items.itemOf(e, "GROUP BY", false)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		for _, item := range sel.node.Items[:n] {
			if _, star := item.Expr.(*query.Star); star {
				return nil, unsupported(e.Place(), "a GROUP BY position after * is not supported").withHint("write the column's name")
			}
		}
		return sel.node.Items[n-1].Expr, nil
	}
	c, is := e.(*query.Column)
	if !is || len(c.Path) != 1 {
		return e, nil
	}
	if _, found, _ := sel.scope.find(c); found {
		return e, nil
	}
	for _, item := range sel.node.Items {
		if item.Alias != nil && item.Alias.Text == c.Path[0].Text {
			return item.Expr, nil
		}
		if item.Alias == nil && nameOf(item.Expr) == c.Path[0].Text {
			return item.Expr, nil
		}
	}
	return e, nil
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
