package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

// function is the signature of a function with its text for SQLite. In addition to kinds an
// argument can be
//
//	any      of any kind
//	number   a number of any kind
//	same     of the same kind as the other arguments marked same
//	array    an array
//	elem     an element of that array
type function struct {
	name     string
	args     []string
	optional int
	variadic bool
	set      bool
	returns  string
	fields   []column
	as       string // the text: $1 is the first argument, $* are all, $- all but the first
	zoned    string // the text where the session's zone is not UTC: it is $z; empty: the same
}

// parseFunctions parses lines of the form: name(kinds) returns = text. After a bar follows the
// text for sessions whose zone is not UTC. An argument that ends in ? is optional; one that ends
// in … can be repeated.
func parseFunctions(lines string) map[string][]*function {
	all := map[string][]*function{}
	for _, line := range strings.Split(lines, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		head, as, _ := strings.Cut(line, " = ")
		name, rest, _ := strings.Cut(head, "(")
		args, returns, _ := strings.Cut(rest, ") ")
		f := &function{name: name, returns: kindName(returns)}
		f.as, f.zoned, _ = strings.Cut(as, " | ")
		for _, a := range strings.Split(args, ",") {
			f.declareArg(strings.TrimSpace(a))
		}
		if as == "" {
			f.as = name + "($*)"
		}
		all[name] = append(all[name], f)
	}
	return all
}

func (f *function) declareArg(a string) {
	switch {
	case a == "":
		return
	case strings.HasSuffix(a, "?"):
		f.optional++
	case strings.HasSuffix(a, "…"):
		f.variadic = true
	}
	f.args = append(f.args, kindName(strings.TrimRight(a, "?…")))
}

// kindName is the canonical name of a kind.
func kindName(name string) string {
	elem, array := strings.CutSuffix(name, "[]")
	if k, known := kind.Named(elem); known {
		if array {
			k = k.Array()
		}
		return string(k)
	}
	return name
}

// spec is the signature for messages.
func (f *function) spec() string {
	args := make([]string, len(f.args))
	for i, a := range f.args {
		args[i] = typeTitle(kind.Kind(a))
	}
	return f.name + "(" + strings.Join(args, ", ") + ")"
}

// arg is the kind of the argument at a position.
func (f *function) arg(i int) string { return f.args[min(i, len(f.args)-1)] }

// cost is the amount of conversion for a call with these arguments; negative: not callable.
func (f *function) cost(args []value, t *translator) int {
	if len(args) < len(f.args)-f.optional && !(f.variadic && len(args) == len(f.args)-1) || len(args) > len(f.args) && !f.variadic {
		return -1
	}
	sum := 0
	for i, a := range args {
		c := costOf(t.currentKind(a), f.arg(i))
		if c < 0 {
			return -1
		}
		sum += c
	}
	return sum
}

// costOf is the cost of converting a value between kinds.
func costOf(from kind.Kind, to string) int {
	k := kind.Kind(to)
	switch {
	case to == "any" || to == "same" || to == "elem":
		return 3
	case from == k:
		return 0
	case from == kind.Unknown && k == kind.Text:
		return 1
	case from == kind.Unknown && to == "number":
		return 3
	case from == kind.Unknown:
		return 2
	case from == dynamic:
		return 4
	case to == "number":
		return costIf(categoryOf(from) == categoryNumber, 1)
	case to == "array" || k == kind.AnyArray:
		return costIf(from.Elem() != kind.Unknown || from == kind.AnyArray, 1)
	case isInteger(from) && k == kind.Float: // PostgreSQL prefers it
		return 3
	case isInteger(from) && k == kind.Numeric:
		return 4
	case categoryOf(from) == categoryNumber && categoryOf(k) == categoryNumber && rank(from) < rank(k):
		return 1 + rank(k) - rank(from)
	case categoryOf(from) == categoryTime && categoryOf(k) == categoryTime && rank(from) < rank(k):
		return 3 + rank(from) - rank(k) + 2
	case categoryOf(from) == categoryText && categoryOf(k) == categoryText:
		return 1
	case categoryOf(k) == categoryOID && (isInteger(from) || categoryOf(from) == categoryOID), categoryOf(from) == categoryOID && isInteger(k):
		return 2
	case isJSON(from) && isJSON(k):
		return 2
	case from.Elem() != kind.Unknown && k.Elem() != kind.Unknown:
		return costOf(from.Elem(), string(k.Elem()))
	}
	return -1
}

func costIf(fits bool, cost int) int {
	if fits {
		return cost
	}
	return -1
}

// take converts the arguments and returns the kind of the result.
func (f *function) take(args []value, t *translator) ([]value, kind.Kind, error) {
	args = append([]value{}, args...)
	returns := kind.Kind(f.returns)
	var alike []int
	elem := kind.Unknown
	for i := range args {
		want := f.arg(i)
		var err error
		switch {
		case want == "same":
			alike = append(alike, i)
		case want == "array":
			args[i], err = t.implicitIfUnknown(args[i], kind.Text.Array())
			if elem = args[i].kind.Elem(); elem == kind.Unknown {
				elem = dynamic
			}
			if f.returns == "array" {
				returns = args[i].kind
			}
		case want == "elem":
			args[i], err = t.implicitIfUnknown(args[i], elem)
		case want == "number":
			args[i], err = t.implicitIfUnknown(args[i], kind.Float)
			if f.returns == "number" {
				returns = args[i].kind
			}
		case want == "any":
			args[i], err = t.resolveUnknown(args[i])
		default:
			args[i], err = t.fitArgument(args[i], kind.Kind(want))
		}
		if err != nil {
			return nil, "", err
		}
	}
	if f.returns == "elem" {
		returns = elem
	}
	return t.unifyArgs(f, args, alike, returns)
}

// fitArgument converts an argument to the kind of the parameter. A number is not converted to
// another kind of number: functions accept all of them.
func (t *translator) fitArgument(v value, k kind.Kind) (value, error) {
	if categoryOf(v.kind) == categoryNumber && categoryOf(k) == categoryNumber && !v.untyped() {
		return v, nil
	}
	return t.implicit(v, k)
}

func (t *translator) unifyArgs(f *function, args []value, alike []int, returns kind.Kind) ([]value, kind.Kind, error) {
	if len(alike) == 0 {
		return args, returns, nil
	}
	some := make([]value, len(alike))
	for i, at := range alike {
		some[i] = args[at]
	}
	k, err := t.unify(f.name, some)
	if err != nil {
		return nil, "", err
	}
	for i, at := range alike {
		args[at] = some[i]
	}
	if f.returns == "same" {
		returns = k
	}
	return args, returns, nil
}

// text is the call for SQLite in a session with a zone.
func (f *function) text(args []value, k kind.Kind, zone string) value {
	out := cat()
	as := f.as
	if zone != "" && f.zoned != "" {
		as = f.zoned
	}
	rest := as
	for rest != "" {
		before, after, found := strings.Cut(rest, "$")
		out.add(raw(before))
		if !found {
			break
		}
		switch c := after[0]; {
		case c == 'z':
			out.add(raw(quoteText(zone)))
		case c == '*' || c == '-':
			some := args
			if c == '-' { // all but the first
				some = args[1:]
			}
			for i, a := range some {
				if i > 0 {
					out.add(comma)
				}
				out.add(a.sql)
			}
		case int(c-'1') < len(args):
			a := args[c-'1']
			if rest := after[1:]; rest != "" && rest[0] != ',' && rest[0] != ')' || !strings.HasSuffix(before, "(") && !strings.HasSuffix(before, ", ") {
				out.add(a.parenthesized())
			} else {
				out.add(a.sql)
			}
		default:
			out.add(raw("NULL"))
		}
		rest = after[1:]
	}
	return newValue(k, levelOf(as), out, args...)
}

// levelOf is the precedence of a text of this package.
func levelOf(text string) int {
	if strings.HasSuffix(text, ")") && !strings.HasPrefix(text, "(") && !strings.Contains(text, ") ") {
		return atom
	}
	return asOr
}
