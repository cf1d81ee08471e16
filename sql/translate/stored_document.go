package translate

import (
	"bytes"
	"encoding/json"
	"math"
	"sort"
	"strconv"
	"strings"
)

// normalizeJSON normalises a document like jsonb: keys sorted by length and then bytes, without
// duplicates. blanks adds the blanks that PostgreSQL prints.
func normalizeJSON(text string, blanks bool) string {
	v := decode(text)
	sortKeys(v)
	var b strings.Builder
	blank := ""
	if blanks {
		blank = " "
	}
	writeJSON(&b, v, blank)
	return b.String()
}

// canonicalJSON returns a text that is equal for equal documents, independent of how numbers
// are written.
func canonicalJSON(text string) string {
	v := decode(text)
	sortKeys(v)
	return encode(canonicalNumbers(v))
}

// canonicalNumbers replaces each number by its canonical form.
func canonicalNumbers(v any) any {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = canonicalNumbers(e)
		}
	case *object:
		for key, e := range v.values {
			v.values[key] = canonicalNumbers(e)
		}
	case int64:
		return json.Number(canonicalNumber(strconv.FormatInt(v, 10)))
	case json.Number:
		return json.Number(canonicalNumber(v.String()))
	}
	return v
}

// canonicalNumber is a number as digits without leading and trailing zeros, and a power of ten.
func canonicalNumber(text string) string {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	exponent, _ := strconv.ParseInt(power, 10, 64) // none: 0; beyond all numbers: the largest
	sign := ""
	if strings.HasPrefix(mantissa, "-") {
		sign, mantissa = "-", mantissa[1:]
	}
	before, after, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(before+after, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	exponent += int64(len(digits)-len(short)) - int64(len(after))
	return sign + short + "e" + strconv.FormatInt(exponent, 10)
}

func sortKeys(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			sortKeys(e)
		}
	case *object:
		sort.Slice(v.keys, func(i, j int) bool {
			a, b := v.keys[i], v.keys[j]
			if len(a) != len(b) {
				return len(a) < len(b)
			}
			return a < b
		})
		for _, e := range v.values {
			sortKeys(e)
		}
	}
}

// object is one of JSON, with its keys in their order.
type object struct {
	keys   []string
	values map[string]any
}

func (o *object) put(key string, v any) {
	if _, twice := o.values[key]; !twice {
		o.keys = append(o.keys, key)
	}
	o.values[key] = v
}

// decode reads a document: nil, bool, int64, json.Number, string, []any or *object.
func decode(text string) any {
	d := documentDecoder{json.NewDecoder(strings.NewReader(text)), text, new(int)}
	d.UseNumber()
	v := d.value(0)
	if _, more := d.Token(); more == nil {
		panic(d.bad())
	}
	return v
}

type documentDecoder struct {
	*json.Decoder
	text  string
	count *int // values read so far
}

// documentValuesMax limits the values of a document that a function reads: a value takes many times the bytes of its text.
// It is more than params of the largest size can have.
const documentValuesMax = 600_000

func (d documentDecoder) bad() *Error {
	return valueError(StateBadText, "invalid input syntax for type json").WithHint("the text is not valid JSON: %s", shorten(d.text))
}

func (d documentDecoder) next() json.Token {
	token, err := d.Token()
	if err != nil {
		panic(d.bad())
	}
	return token
}

func (d documentDecoder) value(depth int) any {
	if depth > 1000 {
		panic(d.bad())
	}
	if *d.count++; *d.count > documentValuesMax {
		panic(valueError(StateLimit, "a document or array has more than %d values", documentValuesMax))
	}
	switch token := d.next().(type) {
	case json.Number:
		return plainNumber(token.String())
	case json.Delim:
		if token == '[' {
			return d.array(depth)
		}
		return d.object(depth)
	default:
		return token
	}
}

func (d documentDecoder) array(depth int) []any {
	list := []any{}
	for d.More() {
		list = append(list, d.value(depth+1))
	}
	d.next()
	return list
}

func (d documentDecoder) object(depth int) *object {
	o := &object{values: map[string]any{}}
	for d.More() {
		key := d.next()
		o.put(key.(string), d.value(depth+1))
	}
	d.next()
	return o
}

func plainNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return json.Number(text)
}

// scalarOf converts a JSON scalar to its stored form in SQLite.
func scalarOf(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := v.Float64() // what is too large is infinite
		return f
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case []any, *object:
		return encode(v)
	}
	return v
}

// decodeArray reads an array that is held.
func decodeArray(stored string) []any {
	list, is := decode(stored).([]any)
	if !is {
		panic(valueError(StateBadText, "%q is not an array", shorten(stored)))
	}
	return list
}

// encode writes a document, without blanks.
func encode(v any) string {
	var b strings.Builder
	writeJSON(&b, v, "")
	return b.String()
}

// writeJSON writes a document, with something behind colons and commas.
func writeJSON(b *strings.Builder, v any, blank string) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		writeJSONString(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString("," + blank)
			}
			writeJSON(b, e, blank)
		}
		b.WriteByte(']')
	case *object:
		b.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				b.WriteString("," + blank)
			}
			writeJSONString(b, key)
			b.WriteString(":" + blank)
			writeJSON(b, v.values[key], blank)
		}
		b.WriteByte('}')
	case json.Number:
		b.WriteString(v.String())
	case []byte:
		writeJSONString(b, string(v))
	case float64:
		b.WriteString(jsonReal(v))
	default:
		b.WriteString(asText(v))
	}
}

// jsonReal writes a real number so that it is read as real again.
func jsonReal(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return "null"
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if len(text) > 25 {
		text = strconv.FormatFloat(f, 'e', -1, 64)
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

func writeJSONString(b *strings.Builder, s string) {
	var buffer bytes.Buffer
	e := json.NewEncoder(&buffer)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be written
	b.Write(bytes.TrimRight(buffer.Bytes(), "\n"))
}
