package dialect

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/console/kind"
)

// heldArray reads {a,b}, which becomes a JSON array.
func heldArray(k kind.Kind, text string) (any, error) {
	r := &arrayReader{text: strings.TrimSpace(text), kind: k}
	v, err := r.array(0)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(r.text[r.at:]) != "" {
		return nil, r.bad()
	}
	return encode(v), nil
}

type arrayReader struct {
	text string
	at   int
	kind kind.Kind
}

func (r *arrayReader) bad() error {
	return fault(StateBadText, "malformed array literal: %q", brief(r.text)).hinting("write {a,b}, with double quotes around what has commas")
}

func (r *arrayReader) array(depth int) ([]any, error) {
	if r.at >= len(r.text) || r.text[r.at] != '{' || depth > 6 {
		return nil, r.bad()
	}
	r.at++
	list := []any{}
	for {
		r.blank()
		if r.at >= len(r.text) {
			return nil, r.bad()
		}
		switch r.text[r.at] {
		case '}':
			r.at++
			return list, nil
		case ',':
			if len(list) == 0 {
				return nil, r.bad()
			}
			r.at++
			continue
		case '{':
			inner, err := r.array(depth + 1)
			if err != nil {
				return nil, err
			}
			list = append(list, inner)
		default:
			v, err := r.element()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
	}
}

func (r *arrayReader) blank() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *arrayReader) element() (any, error) {
	var b strings.Builder
	quoted := r.text[r.at] == '"'
	if quoted {
		r.at++
	}
	for ; r.at < len(r.text); r.at++ {
		c := r.text[r.at]
		switch {
		case c == '\\' && r.at+1 < len(r.text):
			r.at++
			b.WriteByte(r.text[r.at])
			continue
		case quoted && c == '"':
			r.at++
			return Held(r.kind.Elem(), b.String())
		case !quoted && (c == ',' || c == '}'):
			word := strings.TrimSpace(b.String())
			if strings.EqualFold(word, "null") {
				return nil, nil
			}
			return Held(r.kind.Elem(), word)
		}
		b.WriteByte(c)
	}
	return nil, r.bad()
}

// heldVector reads the numbers of a vector.
func heldVector(k kind.Kind, text string) (any, error) {
	list := []any{}
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, badText(k, text)
		}
		list = append(list, n)
	}
	return encode(list), nil
}

func writtenVector(held string) string {
	list, err := decodeArray(held)
	if err != nil {
		return held
	}
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = asText(v)
	}
	return strings.Join(words, " ")
}

// writtenArray writes an array as {a,b}.
func writtenArray(k kind.Kind, held string) string {
	list, err := decodeArray(held)
	if err != nil {
		return held
	}
	return braces(k.Elem(), list)
}

func braces(elem kind.Kind, list []any) string {
	words := make([]string, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case nil:
			words[i] = "NULL"
		case []any:
			words[i] = braces(elem, v)
		case *object:
			words[i] = quoteElement(encode(v))
		default:
			words[i] = quoteElement(Written(elem, v))
		}
	}
	return "{" + strings.Join(words, ",") + "}"
}

func quoteElement(text string) string {
	if text != "" && !strings.EqualFold(text, "null") && !strings.ContainsAny(text, "{},\"\\ \t\r\n") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// writtenRecord writes a record as (a,b).
func writtenRecord(held string) string {
	v, err := decode(held)
	o, is := v.(*object)
	if err != nil || !is {
		return held
	}
	words := make([]string, len(o.keys))
	for i, key := range o.keys {
		switch field := o.values[key].(type) {
		case nil:
		case bool:
			words[i] = map[bool]string{true: "t", false: "f"}[field]
		case []any, *object:
			words[i] = quoteField(encode(field))
		default:
			words[i] = quoteField(asText(field))
		}
	}
	return "(" + strings.Join(words, ",") + ")"
}

func quoteField(text string) string {
	if text != "" && !strings.ContainsAny(text, "(),\"\\ \t\r\n") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `""`).Replace(text) + `"`
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
func decode(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := decodeNext(d, 0)
	if err == nil {
		if _, more := d.Token(); more == nil {
			return nil, badText("json", text)
		}
	}
	if err != nil {
		return nil, fault(StateBadText, "invalid input syntax for type json").hinting("it is no JSON: %s", brief(text))
	}
	return v, nil
}

func decodeNext(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil || depth > 1000 {
		return nil, badText("json", "")
	}
	switch token := token.(type) {
	case json.Number:
		return plainNumber(token.String()), nil
	case json.Delim:
		if token == '[' {
			return decodeList(d, depth)
		}
		return decodeObject(d, depth)
	}
	return token, nil
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	list := []any{}
	for d.More() {
		v, err := decodeNext(d, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.Token()
	return list, err
}

func decodeObject(d *json.Decoder, depth int) (any, error) {
	o := &object{values: map[string]any{}}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeNext(d, depth+1)
		if err != nil {
			return nil, err
		}
		o.put(key.(string), v)
	}
	_, err := d.Token()
	return o, err
}

func plainNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return json.Number(text)
}

// loosened is a value of a document as SQLite holds it by itself.
func loosened(v any) any {
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
func decodeArray(held string) ([]any, error) {
	v, err := decode(held)
	list, is := v.([]any)
	if err != nil || !is {
		return nil, fault(StateBadText, "%q is not an array", brief(held))
	}
	return list, nil
}

// encode writes a document, without blanks.
func encode(v any) string {
	var b strings.Builder
	put(&b, v, "")
	return b.String()
}

// put writes a document, with something behind colons and commas.
func put(b *strings.Builder, v any, blank string) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case string:
		putString(b, v)
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteString("," + blank)
			}
			put(b, e, blank)
		}
		b.WriteByte(']')
	case *object:
		b.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				b.WriteString("," + blank)
			}
			putString(b, key)
			b.WriteString(":" + blank)
			put(b, v.values[key], blank)
		}
		b.WriteByte('}')
	case json.Number:
		b.WriteString(v.String())
	case []byte:
		putString(b, string(v))
	case float64:
		b.WriteString(jsonReal(v))
	default:
		b.WriteString(asText(v))
	}
}

// jsonReal is a real number that stays one when it is read again.
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

func putString(b *strings.Builder, s string) {
	var buffer bytes.Buffer
	e := json.NewEncoder(&buffer)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a text can always be written
	b.Write(bytes.TrimRight(buffer.Bytes(), "\n"))
}
