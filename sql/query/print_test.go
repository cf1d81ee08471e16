package query

import (
	"fmt"
	"strings"
)

// show prints a tree in one line: what is not there is not printed.
func show(q *Query) string {
	var b strings.Builder
	b.WriteString("(query")
	if q.Recursive {
		b.WriteString(" recursive")
	}
	for _, c := range q.With {
		fmt.Fprintf(&b, " (with %s%s %s)", id(c.Name), ids(c.Columns), show(c.Query))
	}
	b.WriteString(" " + showBody(q.Body))
	b.WriteString(part("order", showTerms(q.Order)...))
	b.WriteString(opt("limit", q.Limit) + opt("offset", q.Offset))
	if q.Params > 0 {
		fmt.Fprintf(&b, " params=%d", q.Params)
	}
	return b.String() + ")"
}

func showBody(body Body) string {
	switch x := body.(type) {
	case *Query:
		return show(x)
	case *Values:
		s := "(values"
		for _, row := range x.Rows {
			s += part("", exprs(row)...)
		}
		return s + ")"
	case *Compound:
		return fmt.Sprintf("(%s%s %s %s)", x.Op, when(x.All, "all"), showBody(x.Left), showBody(x.Right))
	}
	return showSelect(body.(*Select))
}

func showSelect(s *Select) string {
	var items, from, windows []string
	for _, item := range s.Items {
		text := expr(item.Expr)
		if item.Alias != nil {
			text += " as " + id(*item.Alias)
		}
		items = append(items, text)
	}
	for _, source := range s.From {
		from = append(from, showSource(source))
	}
	for _, w := range s.Windows {
		windows = append(windows, showWindow(w))
	}
	return "(select" + when(s.Distinct, "distinct") + part("on", exprs(s.On)...) + part("items", items...) +
		part("from", from...) + opt("where", s.Where) + part("group", exprs(s.Group)...) +
		opt("having", s.Having) + part("window", windows...) + ")"
}

func showSource(source Source) string {
	switch x := source.(type) {
	case *Table:
		return "(table " + path(x.Path) + alias(x.Alias) + ")"
	case *Derived:
		return "(derived" + when(x.Lateral, "lateral") + " " + show(x.Query) + alias(x.Alias) + ")"
	case *FuncSource:
		return "(func" + when(x.Lateral, "lateral") + " " + expr(x.Call) + when(x.Ordinality, "ordinality") + alias(x.Alias) + ")"
	}
	j := source.(*Join)
	return "(" + j.Kind + when(j.Natural, "natural") + " " + showSource(j.Left) + " " + showSource(j.Right) +
		opt("on", j.On) + ids(j.Using) + ")"
}

func alias(a Alias) (s string) {
	if a.Name != nil {
		s = " as " + id(*a.Name)
	}
	return s + ids(a.Columns)
}

func showTerms(terms []*Term) (all []string) {
	for _, t := range terms {
		s := expr(t.Expr) + when(t.Desc, "desc")
		if t.Nulls != "" {
			s += " nulls " + t.Nulls
		}
		all = append(all, s)
	}
	return all
}

func showWindow(w *Window) string {
	s := "(w"
	if w.Name != nil {
		s += " name=" + id(*w.Name)
	}
	s += part("partition", exprs(w.Partition)...) + part("order", showTerms(w.Order)...)
	if w.Frame != "" {
		s += " frame={" + w.Frame + "}"
	}
	return s + ")"
}

func part(name string, parts ...string) string {
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.TrimSpace(name+" "+strings.Join(parts, ", ")) + ")"
}

func opt(name string, x Expr) string {
	if x == nil {
		return ""
	}
	return " (" + name + " " + expr(x) + ")"
}

func when(on bool, name string) string {
	if on {
		return " " + name
	}
	return ""
}

func id(n Name) string {
	if n.Quoted {
		return `"` + n.Text + `"`
	}
	return n.Text
}

func ids(names []Name) string {
	if names == nil {
		return ""
	}
	var all []string
	for _, n := range names {
		all = append(all, id(n))
	}
	return " [" + strings.Join(all, " ") + "]"
}

func path(names []Name) string {
	var all []string
	for _, n := range names {
		all = append(all, id(n))
	}
	return strings.Join(all, ".")
}

func exprs(list []Expr) (all []string) {
	for _, x := range list {
		all = append(all, expr(x))
	}
	return all
}
