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
	w := s.selection().window(e.Over, 0)
	parts := make([]*sql, 0, 3)
	if len(w.Partition) > 0 {
		texts := make([]*sql, len(w.Partition))
		for i, n := range w.Partition {
			p := t.windowValue(n, s, v)
			texts[i] = p.sql
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
	words := strings.Fields(w.Frame)
	first := strings.Join(words[1:min(3, len(words))], " ")
	if len(words) > 3 && words[1] == "BETWEEN" {
		first = words[2] + " " + words[3]
	}
	_, last, _ := strings.Cut(w.Frame, " AND ")
	switch {
	case first == "UNBOUNDED FOLLOWING":
		panic(queryError(StateWindow, w.At, "frame start cannot be UNBOUNDED FOLLOWING"))
	case strings.HasPrefix(last, "UNBOUNDED PRECEDING"):
		panic(queryError(StateWindow, w.At, "frame end cannot be UNBOUNDED PRECEDING"))
	case last == "" && strings.Contains(w.Frame, "FOLLOWING"):
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

// window is what a window looks at, with what those have that it is built upon.
func (sel *selection) window(w *query.Window, depth int) *query.Window {
	base := w.Base
	if depth == 0 && w.Base == nil && w.Name != nil {
		return sel.windowNamed(w.Name, depth)
	}
	if base == nil {
		return w
	}
	under := sel.windowNamed(base, depth)
	both := *w
	both.Partition = under.Partition
	if len(w.Partition) > 0 {
		panic(queryError(StateWindow, w.At, "cannot override PARTITION BY clause of window %q", base.Text))
	}
	if len(w.Order) == 0 {
		both.Order = under.Order
	}
	return &both
}

func (sel *selection) windowNamed(name *query.Name, depth int) *query.Window {
	var names []string
	for _, w := range sel.node.Windows {
		if w.Name.Text == name.Text && depth < 20 {
			return sel.window(w, depth+1)
		}
		names = append(names, w.Name.Text)
	}
	panic(queryError(StateObject, name.At, "window %q does not exist", name.Text).WithHint("%s", suggestion(name.Text, "the windows are", names)))
}
