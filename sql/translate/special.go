package translate

import (
	"slices"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// isSpecial reports whether a function is translated in this file, because its signature cannot be
// written as a line of the table.
func isSpecial(name string) bool { return name == "make_interval" || name == "pg_typeof" }

// intervalArgs are the arguments of make_interval in order.
var intervalArgs = []string{"years", "months", "weeks", "days", "hours", "mins", "secs"}

// makeInterval translates make_interval, whose arguments can have names; missing ones are 0.
func (t *translator) makeInterval(e *query.Call, args []value) value {
	all := make([]value, len(intervalArgs))
	for i := range all {
		all[i] = constant(kind.Int4, "0")
	}
	for i, a := range args {
		at, name := i, number(i+1)
		if e.Names != nil && e.Names[i].Text != "" {
			name = e.Names[i].Text
			at = slices.Index(intervalArgs, name)
		}
		if at < 0 || at >= len(intervalArgs) {
			panic(queryError(StateFunction, e.Place(), "make_interval has no argument %s", name).WithHint("the arguments are years, months, weeks, days, hours, mins, secs"))
		}
		v := t.implicitIfUnknown(a, kind.Float)
		if categoryOf(v.kind) != categoryNumber {
			panic(queryError(StateFunction, e.Place(), "make_interval takes numbers, not %s", typeTitle(v.kind)))
		}
		all[at] = v
	}
	return call(kind.Interval, "rota_make_interval", all...)
}

// typeOf translates pg_typeof.
func (t *translator) typeOf(v value) value {
	k := t.currentKind(v)
	switch oid := number(int(k.OID())); {
	case k.OID() == 0:
		return textConstant(typeTitle(k))
	case v.row:
		return constant(kind.Regtype, oid)
	default: // the value stays in the text: it may be an aggregate
		return newValue(kind.Regtype, atom, cat("iif(", v.parenthesized(), " IS NULL, ", oid, ", ", oid, ")"), v)
	}
}
