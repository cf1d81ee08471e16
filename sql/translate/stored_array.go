package translate

import (
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// parseArray parses {a,b} to a JSON array.
func parseArray(k kind.Kind, text string, zone *time.Location) any {
	r := &arrayReader{text: strings.TrimSpace(text), kind: k, zone: zone}
	v := r.array()
	if strings.TrimSpace(r.text[r.at:]) != "" {
		panic(r.bad())
	}
	return encode(v)
}

type arrayReader struct {
	text string
	at   int
	kind kind.Kind
	zone *time.Location
}

func (r *arrayReader) bad() *Error {
	return valueError(StateBadText, "malformed array literal: %q", shorten(r.text)).WithHint("write {a,b}, with double quotes around elements that contain commas")
}

func (r *arrayReader) array() []any {
	if !strings.HasPrefix(r.text, "{") {
		panic(r.bad())
	}
	r.at++
	list := []any{}
	for {
		r.blank()
		if r.at >= len(r.text) {
			panic(r.bad())
		}
		switch r.text[r.at] {
		case '}':
			r.at++
			return list
		case ',':
			if len(list) == 0 {
				panic(r.bad())
			}
			r.at++
			continue
		case '{':
			panic(oneDimension(-1))
		}
		list = append(list, r.element())
	}
}

func (r *arrayReader) blank() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

func (r *arrayReader) element() any {
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
			return parseIn(r.zone, r.kind.Elem(), b.String())
		case !quoted && (c == ',' || c == '}'):
			word := strings.TrimSpace(b.String())
			if strings.EqualFold(word, "null") {
				return nil
			}
			return parseIn(r.zone, r.kind.Elem(), word)
		}
		b.WriteByte(c)
	}
	panic(r.bad())
}

// parseVector parses the numbers of a vector.
func parseVector(k kind.Kind, text string) any {
	list := []any{}
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			panic(badText(k, text))
		}
		list = append(list, n)
	}
	return encode(list)
}

func formatVector(stored string) string {
	list := decodeArray(stored)
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = asText(v)
	}
	return strings.Join(words, " ")
}

// formatArray formats an array as {a,b}.
func formatArray(k kind.Kind, stored string, zone *time.Location) string {
	list := decodeArray(stored)
	words := make([]string, len(list))
	for i, v := range list {
		_, nested := v.([]any)
		switch {
		case v == nil:
			words[i] = "NULL"
		case isJSON(k.Elem()):
			words[i] = quoteElement(encode(v))
		case k.Elem() == kind.Record:
			words[i] = quoteElement(formatRecord(encode(v)))
		case nested:
			words[i] = formatArray(k, encode(v), zone)
		default:
			words[i] = quoteElement(formatIn(zone, k.Elem(), v))
		}
	}
	return "{" + strings.Join(words, ",") + "}"
}

// Escapes of the elements of arrays and of the fields of records.
var (
	elementEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	fieldEscapes   = strings.NewReplacer(`\`, `\\`, `"`, `""`)
)

func quoteElement(text string) string {
	if text != "" && !strings.EqualFold(text, "null") && !strings.ContainsAny(text, "{},\"\\ \t\r\n") {
		return text
	}
	return `"` + elementEscapes.Replace(text) + `"`
}

// formatRecord formats a record as (a,b).
func formatRecord(stored string) string {
	o, is := decode(stored).(*object)
	if !is {
		return stored
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
	return `"` + fieldEscapes.Replace(text) + `"`
}
