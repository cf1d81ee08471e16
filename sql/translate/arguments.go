package translate

import (
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

// take converts the arguments and returns the kind of the result.
func (f *function) take(args []value, t *translator) ([]value, kind.Kind) {
	args = append([]value{}, args...)
	kinds := map[string]kind.Kind{} // of the words of the signature
	f.unifySame(args, kinds, t)
	for i := range args {
		word := f.arg(i)
		v := t.argument(args[i], word, kinds)
		args[i] = v
		if _, known := kinds[word]; !known {
			kinds[word] = v.kind
		}
		switch word {
		case "array":
			kinds["elem"] = elemOf(v.kind)
		case "element":
			kinds["array"] = v.kind.Array()
		}
	}
	if k, word := kinds[f.returns]; word && !isKind(f.returns) {
		return args, k
	}
	return args, kind.Kind(f.returns)
}

// unifySame converts the arguments that must have the same kind.
func (f *function) unifySame(args []value, kinds map[string]kind.Kind, t *translator) {
	var some []value
	var at []int
	word := ""
	for i := range args {
		if w := f.arg(i); w == "same" || w == "ordered" {
			some, at, word = append(some, args[i]), append(at, i), w
		}
	}
	if len(some) == 0 {
		return
	}
	k := t.unify(strings.ToUpper(f.name), some)
	for i, v := range some {
		args[at[i]] = v
	}
	kinds[word] = k
	if word == "ordered" {
		checkOrderable(k, some[0].at)
	}
}

// argument converts an argument as a word of a signature says.
func (t *translator) argument(v value, word string, kinds map[string]kind.Kind) value {
	switch word {
	case "same", "ordered":
		return v
	case "array":
		return t.implicitIfUnknown(v, kind.Text.Array())
	case "elem":
		return t.implicitIfUnknown(v, kinds["elem"])
	case "number":
		return t.implicitIfUnknown(v, kind.Float)
	case "words":
		return t.words(v)
	case "output":
		return t.output(v)
	case "key":
		return t.jsonName(v)
	}
	if isKind(word) {
		return t.fitArgument(v, kind.Kind(word))
	}
	v = t.resolveUnknown(v)
	switch word {
	case "scalar":
		checkOrderable(v.kind, v.at)
	case "document":
		v = t.inJSON(v)
	case "element":
		if v.kind.Elem() != kind.Unknown {
			panic(oneDimension(v.at))
		}
		v = inArray(v)
	}
	return v
}

// isKind reports whether a word of a signature is a kind.
func isKind(word string) bool {
	_, known := kind.Named(strings.TrimSuffix(word, "[]"))
	return known
}

// fitArgument converts an argument to the kind of the parameter. A number is not converted to
// another kind of number: functions accept all of them.
func (t *translator) fitArgument(v value, k kind.Kind) value {
	if categoryOf(v.kind) == categoryNumber && categoryOf(k) == categoryNumber && !v.untyped() {
		return v
	}
	return t.implicit(v, k)
}

// output converts a value to its output text: true becomes t.
func (t *translator) output(v value) value {
	if v.kind == kind.Boolean {
		return newValue(kind.Text, atom, cat("CASE ", v.parenthesized(), " WHEN 1 THEN 't' WHEN 0 THEN 'f' END"), v)
	}
	return t.cast(v, kind.Text, nil)
}

// words converts an array so that its elements are output texts.
func (t *translator) words(v value) value {
	switch elem := v.kind.Elem(); {
	case v.untyped():
		return t.implicit(v, kind.Text.Array())
	case elem == kind.Boolean:
		return call(kind.Text.Array(), "rota_array_truths", v)
	case isTime(elem):
		return t.convert(v, kind.Text.Array())
	}
	return v
}

// jsonName converts a value to the name of a JSON field; times use the JSON format.
func (t *translator) jsonName(v value) value {
	if v.kind == kind.Timestamp || v.kind == kind.Local {
		return call(kind.Text, "rota_json_text", call(kind.PlainJSON, "rota_json", t.withZone(v.kind, textConstant(string(v.kind)), v)...))
	}
	return t.cast(v, kind.Text, nil)
}

// call writes the call of the function in a session with a zone.
func (f *function) call(args []value, k kind.Kind, zone string) value {
	text := f.text
	if zone != "" && f.other != "" {
		text = f.other
	}
	return newValue(k, levelOf(text), expand(text, args, zone, false), args...)
}

// expand replaces the marks of a text by the arguments.
func expand(text string, args []value, zone string, descending bool) *sql {
	out := cat()
	for text != "" {
		before, after, found := strings.Cut(text, "$")
		out.add(raw(before))
		if !found {
			break
		}
		text = after[1:]
		switch c := after[0]; {
		case c == 'z':
			out.add(raw(quoteText(zone)))
		case c == 'k':
			out.add(raw(quoteText(string(args[len(args)-1].kind))))
		case c == 'd':
			out.add(raw(map[bool]string{true: "1", false: "0"}[descending]))
		case c == '*':
			texts := make([]*sql, len(args))
			for i, a := range args {
				texts[i] = a.sql
			}
			out.add(list(texts))
		case int(c-'1') < len(args):
			out.add(args[c-'1'].sql)
		}
	}
	return out
}

// levelOf is the precedence of a text of the signatures.
func levelOf(text string) int {
	if strings.HasSuffix(text, ")") && !strings.Contains(text, ") ") {
		return atom
	}
	return asOr
}
