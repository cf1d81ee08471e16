package translate

import (
	_ "embed"
	"sort"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

//go:embed data/functions.txt
var functionLines string

//go:embed data/hints.txt
var hintLines string

// functions are the functions of queries by name.
var functions = parseFunctions(functionLines)

// functionNames are the names of all functions, for suggestions.
var functionNames = func() (names []string) {
	for name := range functions {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}()

// FunctionNames are the names of the functions of a class, sorted: "" for functions of values, "set" for functions that
// return rows, "aggregate", "within" and "over".
func FunctionNames(of string) (names []string) {
	for _, name := range functionNames {
		if string(functions[name][0].class) == of && name[0] != '_' {
			names = append(names, name)
		}
	}
	return names
}

// refusal is the error of a function that does not exist.
type refusal struct{ message, hint string }

// refusals are the refusals of functions for which there is a hint, by name.
var refusals = func() map[string]refusal {
	all := map[string]refusal{}
	for line := range strings.Lines(hintLines) {
		if line[0] == '#' {
			continue
		}
		names, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		message, hint, found := strings.Cut(text, " | ")
		for name := range strings.FieldsSeq(names) {
			if all[name] = (refusal{message, hint}); !found {
				all[name] = refusal{"function " + name + " is not supported", text}
			}
		}
	}
	return all
}()

// function is the signature of a function with its text for SQLite. An argument is a kind or
//
//	any       of any kind
//	number    a number of any kind
//	same      of the same kind as the other arguments marked same
//	ordered   the same, of a kind that has an order
//	scalar    of a kind that has an order, and not a boolean
//	array     an array
//	elem      an element of that array
//	words     an array whose elements are written as in an answer
//	output    a value written as in an answer
//	document  a value written as in a JSON document
//	key       a value written as the name of a field of one
//	element   a value written as an element of an array
//
// and the result is a kind, or one of these words for the kind of that argument.
type function struct {
	name     string
	class    class
	args     []string
	optional int      // arguments at the end that can be missing
	repeat   int      // arguments at the end that can be repeated together
	returns  string   // of a set of records: record
	fields   []column // of a set
	text     string   // $1 is the first argument, $* all, $k the kind of the last, $z the zone, $d 1 for DESC
	other    string   // text in a zone other than UTC; of an aggregate, its text with DISTINCT
}

// class says where a function can be called.
type class string

const (
	scalarClass    class = ""
	setClass       class = "set"
	windowClass    class = "over"
	aggregateClass class = "aggregate"
	withinClass    class = "within" // an aggregate with WITHIN GROUP
)

// parseFunctions parses lines of the form: name(kinds) result = text | other. An argument that ends in ? is optional;
// one that ends in … can be repeated.
func parseFunctions(lines string) map[string][]*function {
	all := map[string][]*function{}
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		head, text, _ := strings.Cut(line, " = ")
		name, rest, _ := strings.Cut(head, "(")
		args, result, _ := strings.Cut(rest, ") ")
		f := &function{name: name}
		f.text, f.other, _ = strings.Cut(text, " | ")
		if text == "" {
			f.text = name + "($*)"
		}
		for _, a := range strings.Split(args, ",") {
			f.declareArg(strings.TrimSpace(a))
		}
		f.declareResult(result)
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
		f.repeat++
	}
	f.args = append(f.args, kindName(strings.TrimRight(a, "?…")))
}

// declareResult parses the class of the function and its result. A set has one column or several.
func (f *function) declareResult(result string) {
	first, rest, more := strings.Cut(result, " ")
	switch c := class(first); {
	case strings.Contains(f.text, "{") && c != withinClass:
		f.class = aggregateClass
	case more:
		f.class, result = c, rest
	}
	if f.class != setClass {
		f.returns = kindName(result)
		return
	}
	for _, field := range strings.Split(result, ", ") {
		name, k, named := strings.Cut(field, " ")
		if !named {
			name, k = "", name
		}
		f.fields = append(f.fields, column{name: name, kind: kind.Kind(kindName(k))})
	}
	if f.returns = string(kind.Record); len(f.fields) == 1 {
		f.returns = string(f.fields[0].kind)
	}
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

// fromCatalogue converts a signature of the catalogue.
func fromCatalogue(sig Signature) *function {
	f := &function{name: sig.Name, returns: string(sig.Returns), optional: sig.Optional}
	if sig.Variadic {
		f.repeat = 1
	}
	for _, k := range sig.Args {
		arg := string(k)
		if k == kind.Unknown {
			arg = "any"
		}
		f.args = append(f.args, arg)
	}
	if sig.Set {
		f.class, f.fields = setClass, []column{{kind: sig.Returns}}
	}
	for i, c := range sig.Fields {
		f.fields = append(f.fields[:i], column{name: c.Name, kind: c.Kind})
	}
	f.text = sig.Name + "($*)"
	if sig.As != "" {
		f.text = sig.As + "($*)"
	}
	return f
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
func (f *function) arg(i int) string {
	if i >= len(f.args) {
		i = len(f.args) - f.repeat + (i-len(f.args))%f.repeat
	}
	return f.args[i]
}

// takes reports whether the function takes a number of arguments.
func (f *function) takes(n int) bool {
	if f.repeat > 0 {
		fixed := len(f.args) - f.repeat
		return n >= fixed && (n-fixed)%f.repeat == 0
	}
	return n >= len(f.args)-f.optional && n <= len(f.args)
}

// cost is the amount of conversion for a call with these arguments; negative: not callable.
func (f *function) cost(args []value, t *translator) int {
	if !f.takes(len(args)) {
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
	switch to {
	case "scalar":
		return costIf(from != kind.Boolean, 3)
	case "any", "same", "ordered", "elem", "output", "document", "key", "element":
		if from == kind.Unknown {
			return 1
		}
		return 3
	case "array", "words":
		return costIf(from == kind.Unknown || elemOf(from) != kind.Unknown, 1)
	case "number":
		return costIf(from == kind.Unknown || categoryOf(from) == categoryNumber, 1)
	}
	switch {
	case from == k:
		return 0
	case from == kind.Unknown && k == kind.Text:
		return 1
	case from == kind.Unknown:
		return 2
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
