package query

import (
	"fmt"
	"strings"
)

func expr(x Expr) string {
	switch x := x.(type) {
	case *Number:
		return x.Text
	case *String:
		return fmt.Sprintf("%q", x.Value)
	case *Bool:
		return fmt.Sprint(x.Value)
	case *Null:
		return "null"
	case *Param:
		return fmt.Sprintf("$%d", x.N)
	case *Column:
		return path(x.Path)
	case *Star:
		return showStar(x)
	case *Call:
		return showCall(x)
	case *Unary:
		return "(" + x.Op + " " + expr(x.X) + ")"
	case *Binary:
		return "(" + expr(x.X) + " " + x.Op + " " + expr(x.Y) + ")"
	case *Like:
		return "(" + expr(x.X) + when(x.Not, "NOT") + " " + x.How + " " + expr(x.Pattern) + opt("escape", x.Escape) + ")"
	case *Is:
		return "(" + expr(x.X) + " IS" + when(x.Not, "NOT") + " " + x.What + opt("from", x.Y) + ")"
	case *In:
		return "(" + expr(x.X) + when(x.Not, "NOT") + " IN" + part("", exprs(x.List)...) + sub(x.Query) + ")"
	case *Between:
		return "(" + expr(x.X) + when(x.Not, "NOT") + " BETWEEN" + " " + expr(x.Low) + " " + expr(x.High) + ")"
	case *Quantified:
		return "(" + expr(x.X) + " " + x.Op + " " + anyAll(x.All) + opt("array", x.Array) + sub(x.Query) + ")"
	}
	return exprMore(x)
}

func exprMore(x Expr) string {
	switch x := x.(type) {
	case *Exists:
		return "(exists" + sub(x.Query) + ")"
	case *Scalar:
		return "(scalar" + sub(x.Query) + ")"
	case *Array:
		return "(array" + part("", exprs(x.Elems)...) + sub(x.Query) + ")"
	case *Row:
		return "(row " + strings.Join(exprs(x.Elems), ", ") + ")"
	case *Case:
		return showCase(x)
	case *Cast:
		return "(cast" + " " + expr(x.X) + " " + showType(x.Type) + ")"
	case *Collate:
		return "(collate " + expr(x.X) + " " + path(x.Path) + ")"
	case *Zone:
		return "(zone " + expr(x.X) + " " + expr(x.Zone) + ")"
	case *Extract:
		return "(extract " + x.Field + " " + expr(x.X) + ")"
	case *Index:
		return "(index " + expr(x.X) + opt("i", x.I) + ")"
	case *Field:
		return "(field " + expr(x.X) + " " + id(x.Name) + ")"
	}
	panic(fmt.Sprintf("%T is no value", x))
}

func anyAll(all bool) string {
	if all {
		return "ALL"
	}
	return "ANY"
}

func sub(q *Query) string {
	if q == nil {
		return ""
	}
	return " " + show(q)
}

func showStar(s *Star) string {
	switch {
	case s.Of != nil:
		return "(star " + expr(s.Of) + ")"
	case s.Path != nil:
		return path(s.Path) + ".*"
	}
	return "*"
}

func showCall(c *Call) string {
	s := "(call " + path(c.Path) + when(c.Star, "*") + when(c.Distinct, "distinct")
	for i, arg := range c.Args {
		s += " "
		if c.Names != nil && c.Names[i].Text != "" {
			s += id(c.Names[i]) + "="
		}
		s += expr(arg)
	}
	s += part("order", showTerms(c.Order)...) + opt("filter", c.Filter) + part("within", showTerms(c.Within)...)
	if c.Over != nil {
		s += " over " + showWindow(c.Over)
	}
	return s + ")"
}

func showCase(c *Case) string {
	s := "(case" + opt("of", c.Of)
	for _, w := range c.Whens {
		s += " (" + expr(w.If) + " then " + expr(w.Then) + ")"
	}
	return s + opt("else", c.Else) + ")"
}

func showType(t *Type) string {
	s := strings.TrimPrefix(t.Schema+"."+id(Name{Text: t.Name, Quoted: t.Quoted}), ".")
	s = strings.ReplaceAll(s, " ", "_")
	if t.Mods != nil {
		s += "(" + strings.Join(t.Mods, ",") + ")"
	}
	if t.Field != "" {
		s += "{" + t.Field + "}"
	}
	return s + strings.Repeat("[]", t.Array)
}
