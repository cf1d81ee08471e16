package translate

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// numberLiteral translates a number.
func numberLiteral(e *query.Number) value {
	v := value{level: atom, at: e.Place()}
	if n, err := strconv.ParseInt(e.Text, 10, 64); err == nil {
		v.kind, v.plain, v.sql = kind.Integer, n != 0, raw(strconv.FormatInt(n, 10))
		if n <= math.MaxInt32 {
			v.kind = kind.Int4
		}
		return v
	}
	f, err := strconv.ParseFloat(e.Text, 64)
	if err != nil || math.IsInf(f, 0) {
		panic(queryError(StateRange, e.Place(), "number %s is too large", shorten(e.Text)))
	}
	v.kind, v.plain, v.real, v.sql = kind.Numeric, f != 0, true, raw(realText(f))
	return v
}

// realText writes a number so that SQLite reads it as REAL.
func realText(f float64) string {
	if math.IsInf(f, 1) {
		return "9e999"
	}
	if math.IsInf(f, -1) {
		return "-9e999"
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// valueLiteral writes a stored value as an SQLite literal.
func valueLiteral(v any) string {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return realText(v)
	case string:
		return quoteText(v)
	case []byte:
		return "x'" + hex.EncodeToString(v) + "'"
	}
	return "NULL"
}

// implicit converts a value where a kind is expected. An untyped text or parameter becomes a
// value of that kind.
func (t *translator) implicit(v value, k kind.Kind) value {
	if v.row {
		v = t.rowJSON(v)
	}
	switch {
	case v.kind == k || k == kind.Unknown:
		return v
	case v.param > 0 && v.kind == kind.Unknown:
		return t.resolveParam(v, k)
	case v.null:
		v.kind = k
		return v
	case v.text != nil && v.kind == kind.Unknown:
		return t.literal(v, k)
	}
	return t.convert(v, k)
}

// resolveParam sets the kind of a parameter. A parameter that has a kind already is converted.
func (t *translator) resolveParam(v value, k kind.Kind) value {
	known := t.params[v.param-1]
	if known == kind.Unknown {
		t.params[v.param-1] = k
		v.kind = k
		return v
	}
	v.kind, v.param = known, 0
	if known == k {
		return v
	}
	return t.convert(v, k)
}

// literal converts a string literal to a kind.
func (t *translator) literal(v value, k kind.Kind) value {
	out := value{kind: k, level: atom, at: v.at}
	if text := t.special(*v.text, k); text != "" {
		out.sql = raw(text)
		return out
	}
	before := t.at
	t.at = v.at
	stored := parseIn(sessionZone(t.writtenZone), k, *v.text)
	t.at = before
	text := valueLiteral(stored)
	if strings.HasPrefix(text, "-") {
		out.level = asTerm
	}
	out.sql = raw(text)
	if n, is := stored.(int64); is {
		out.plain = n != 0
	}
	if k.Elem() != kind.Unknown {
		out.elems = elementsOf(k, stored, v.at)
	}
	out.key = k == kind.Text && isSimpleKey(*v.text)
	if n, is := stored.(float64); is {
		out.plain, out.real = n != 0, true
	}
	return out
}

// elementsOf returns the elements of an array literal.
func elementsOf(k kind.Kind, stored any, at int) (elems []value) {
	for _, e := range decodeArray(asText(stored)) {
		v := value{kind: k.Elem(), level: asTerm, at: at, sql: raw(valueLiteral(scalarOf(e)))}
		elems = append(elems, v)
	}
	return elems
}

// isSimpleKey reports whether SQLite reads the text as a key and not as a path.
func isSimpleKey(text string) bool {
	for _, c := range text {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return text != "" && (text[0] < '0' || text[0] > '9')
}

// special is the text of literals that depend on the clock or the catalogue, such as 'now'.
func (t *translator) special(text string, k kind.Kind) string {
	word := strings.ToLower(strings.TrimSpace(text))
	if categoryOf(k) == categoryOID && k != kind.OID && k != kind.XID {
		if _, err := strconv.ParseUint(word, 10, 32); err == nil || word == "-" {
			return ""
		}
		return "rota_" + string(k) + "(" + quoteText(text) + ")"
	}
	return ""
}

// resolveUnknown gives an untyped value its final kind, which is text.
func (t *translator) resolveUnknown(v value) value {
	if v.row {
		return t.rowJSON(v)
	}
	if v.untyped() {
		return t.implicit(v, kind.Text)
	}
	return v
}

// unify converts values to a common kind.
func (t *translator) unify(what string, values []value) kind.Kind {
	k := kind.Unknown
	for _, v := range values {
		if v.param > 0 && v.kind == kind.Unknown {
			v.kind = t.params[v.param-1]
		}
		next, fit := commonKind(k, v.kind)
		if !fit {
			panic(queryError(StateMismatch, v.at, "%s types %s and %s cannot be matched", what, typeTitle(k), typeTitle(v.kind)).WithHint("cast one of them to the other's type"))
		}
		k = next
	}
	if k == kind.Unknown {
		k = kind.Text
		if allNull(values) {
			return k
		}
	}
	for i := range values {
		v := t.implicit(values[i], k)
		values[i] = v
	}
	return k
}

func allNull(values []value) bool {
	for _, v := range values {
		if !v.null {
			return false
		}
	}
	return true
}
