package translate

import (
	"github.com/rotajobs/rota/sql/kind"
)

// arithmetic translates + - * / % ^.
func (t *translator) arithmetic(op string, x, y value, at int) value {
	a, b := t.currentKind(x), t.currentKind(y)
	if isTime(a) || isTime(b) {
		return t.timeArithmetic(op, x, y, at)
	}
	if op == "-" && a == kind.JSON {
		panic(unsupported(at, "operator - for jsonb is not supported").WithHint("build the document in the client"))
	}
	for _, k := range []kind.Kind{a, b} {
		if categoryOf(k) != categoryNumber && categoryOf(k) != categoryOID && k != kind.Unknown {
			panic(noOperator(op, x, y, at))
		}
	}
	k, fit := commonKind(a, b)
	switch {
	case !fit || categoryOf(k) == categoryOID && !isInteger(a) && !isInteger(b):
		panic(noOperator(op, x, y, at))
	case k == kind.Unknown:
		k = kind.Float
	case categoryOf(k) == categoryOID:
		k = kind.Integer
	case k == kind.Float4 && a != b && a != kind.Unknown && b != kind.Unknown:
		k = kind.Float
	}
	x = t.operand(x, k)
	y = t.operand(y, k)
	return numberArithmetic(op, x, y, k)
}

// operand converts an operand to a number. A number stays unchanged.
func (t *translator) operand(v value, k kind.Kind) value {
	if v.untyped() {
		return t.implicit(v, k)
	}
	return v
}

// numberArithmetic writes arithmetic of numbers. SQLite divides integers like PostgreSQL; a
// value of another kind that can be stored as an integer is converted to REAL first.
func numberArithmetic(op string, x, y value, k kind.Kind) value {
	switch {
	case op == "^":
		if isInteger(k) {
			k = kind.Float
		}
		return call(k, "rota_power", x, y)
	case op == "/" && !y.plain && isInteger(k):
		return call(k, "rota_div", x, y)
	case op == "/" && !y.plain:
		return call(k, "rota_quotient", x, y)
	case op == "/" && !isInteger(k) && !x.real && !y.real:
		return newValue(k, asTerm, cat("CAST(", x, " AS REAL) / ", y.parenthesized()), x, y)
	case op == "%" && (!y.plain || !isInteger(k)):
		return call(k, "rota_mod", x, y)
	}
	return newValue(k, asTerm, cat(x.parenthesized(), " "+op+" ", y.parenthesized()), x, y)
}

// isTime reports whether a kind is a time, a date or an interval.
func isTime(k kind.Kind) bool {
	return categoryOf(k) == categoryTime || k == kind.Interval || k == kind.Time
}

// timeArithmetic translates arithmetic of times and intervals.
func (t *translator) timeArithmetic(op string, x, y value, at int) value {
	x, y = t.untypedTimes(op, x, y)
	a, b := x.kind, y.kind
	if op == "+" && (b != kind.Interval && a == kind.Interval && isTime(b) || isInteger(a) && b == kind.Date || a == kind.Time && b == kind.Date) {
		x, y, a, b = y, x, b, a
	}
	if op == "*" && b == kind.Interval && categoryOf(a) == categoryNumber {
		x, y, a, b = y, x, b, a
	}
	sign := constant(kind.Int4, map[string]string{"+": "1", "-": "-1"}[op])
	switch {
	case a == kind.Interval && categoryOf(b) == categoryNumber && op == "*":
		return call(a, "rota_interval_times", x, y)
	case a == kind.Interval && categoryOf(b) == categoryNumber && op == "/":
		return call(a, "rota_interval_over", x, y)
	case op != "+" && op != "-":
	case a == kind.Interval && b == kind.Interval:
		return call(a, "rota_interval_add", x, y, sign)
	case categoryOf(a) == categoryTime && b == kind.Interval:
		if a == kind.Date {
			x, a = t.toMoment(x, kind.Local), kind.Local
		}
		return call(a, "rota_shift", t.withZone(a, x, y, sign)...)
	case a == kind.Time && b == kind.Interval:
		return call(a, "rota_time_shift", x, y, sign)
	case a == kind.Date && isInteger(b):
		if op == "-" {
			y = newValue(b, asTerm, cat("-", y.parenthesized()), y)
		}
		return call(a, "rota_date_add", x, y)
	case a == kind.Date && b == kind.Time && op == "+":
		return newValue(kind.Local, asTerm, cat(x.parenthesized(), " || 'T' || ", y.parenthesized()), x, y)
	case a == kind.Date && b == kind.Date && op == "-":
		return call(kind.Int4, "rota_days", x, y)
	case categoryOf(a) == categoryTime && categoryOf(b) == categoryTime && op == "-", a == kind.Time && b == kind.Time && op == "-":
		return t.elapsed(x, y)
	}
	panic(noOperator(op, x, y, at))
}

// elapsed is the difference of two times.
func (t *translator) elapsed(x, y value) value {
	values := []value{x, y}
	t.unify("operator -", values)
	return call(kind.Interval, "rota_between", values...)
}

// untypedTimes gives an untyped operand beside a time or an interval its kind.
func (t *translator) untypedTimes(op string, x, y value) (value, value) {
	if x.untyped() {
		x = t.implicit(x, kindBeside(op, t.currentKind(y), x))
	}
	if y.untyped() {
		y = t.implicit(y, kindBeside(op, t.currentKind(x), y))
	}
	return x, y
}

func kindBeside(op string, other kind.Kind, v value) kind.Kind {
	switch {
	case other == kind.Interval && (op == "*" || op == "/"):
		return kind.Float
	case other == kind.Interval:
		return kind.Interval
	case op == "+" && other == kind.Date && v.text != nil:
		if _, err := ParseValue(kind.Int4, *v.text); err == nil {
			return kind.Int4
		}
		return kind.Interval
	case op == "+" && other == kind.Date && v.param > 0:
		return kind.Int4
	case op == "+":
		return kind.Interval
	}
	if v.text != nil { // now() - '1 day', which PostgreSQL refuses, can mean one thing only
		if _, err := ParseValue(other, *v.text); err != nil {
			if _, err := ParseValue(kind.Interval, *v.text); err == nil {
				return kind.Interval
			}
		}
	}
	return other
}
