package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/query"
)

// windowFunction translates the call of a window function.
func (t *translator) windowFunction(e *query.Call, s *scope, name string, known []*function) value {
	s.selection().checkAggregate(e, name)
	args := t.args(e, s)
	f, args, k := t.pick(name, known, args, e.Place())
	v := f.call(args, k, t.shownZone)
	v.sql = t.over(e, s, &v, v.sql)
	return v.placed(e.Place())
}

// over writes the OVER clause.
func (t *translator) over(e *query.Call, s *scope, v *value, text *sql) *sql {
	if v.over {
		panic(queryError(StateWindow, e.Place(), "window function calls cannot be nested").WithHint("put the inner call into a subquery in FROM"))
	}
	v.over = true
	w := s.selection().window(e.Over)
	parts := make([]*sql, 0, 3)
	if len(w.Partition) > 0 {
		texts := make([]*sql, len(w.Partition))
		for i, n := range w.Partition {
			texts[i] = t.windowValue(n, s, v).sql
		}
		parts = append(parts, cat("PARTITION BY ", list(texts)))
	}
	if len(w.Order) > 0 {
		texts := make([]*sql, len(w.Order))
		for i, node := range w.Order {
			o := t.windowValue(node.Expr, s, v)
			checkOrderable(o.kind, node.Expr.Place())
			texts[i] = cat(sortKey(o), direction(node, o.notNull))
		}
		parts = append(parts, cat("ORDER BY ", list(texts)))
	}
	if w.Frame != "" {
		frame(w)
		parts = append(parts, raw(w.Frame))
	}
	return cat(text, " OVER (", join(parts, " "), ")")
}

// frame checks that the frame starts before it ends.
func frame(w *query.Window) {
	_, first, between := strings.Cut(w.Frame, " BETWEEN ")
	first, last, _ := strings.Cut(first, " AND ")
	if !between {
		_, first, _ = strings.Cut(w.Frame, " ")
	}
	switch {
	case first == "UNBOUNDED FOLLOWING":
		panic(queryError(StateWindow, w.At, "frame start cannot be UNBOUNDED FOLLOWING"))
	case last == "UNBOUNDED PRECEDING":
		panic(queryError(StateWindow, w.At, "frame end cannot be UNBOUNDED PRECEDING"))
	case !between && strings.HasSuffix(first, "FOLLOWING"):
		panic(queryError(StateWindow, w.At, "frame starting from following row cannot end with current row"))
	}
}

func (t *translator) windowValue(n query.Expr, s *scope, v *value) value {
	o := t.expr(n, s)
	if o.over {
		panic(queryError(StateWindow, n.Place(), "window functions are not allowed in window definitions").WithHint("put the inner call into a subquery in FROM"))
	}
	o = t.resolveUnknown(o)
	v.addUngrouped(o.ungrouped)
	if o.plain && o.level == atom { // a number would be no constant
		o.sql = cat("(", o.sql, ")")
	}
	return o
}

// window returns the definition of a window. OVER name refers to one of the WINDOW clause.
func (sel *selection) window(w *query.Window) *query.Window {
	if w.Name == nil {
		return w
	}
	var names []string
	for _, named := range sel.node.Windows {
		if named.Name.Text == w.Name.Text {
			return named
		}
		names = append(names, named.Name.Text)
	}
	panic(queryError(StateObject, w.Name.At, "window %q does not exist", w.Name.Text).WithHint("%s", suggestion(w.Name.Text, "the windows are", names)))
}
