package translate

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// documentFunctions are the functions of JSON.
var documentFunctions = []Function{
	strict("rota_json", 2, documentOf),
	strict("rota_json", 3, documentOf),
	strict("rota_json_text", 1, func(a arguments) any { return partAs(1, a.document(0)) }),
	strict("rota_get", 2, func(a arguments) any { return partAs(0, jsonStep(a.document(0), a[1])) }),
	strict("rota_get_text", 3, func(a arguments) any { return partAs(a.int(2), jsonStep(a.document(0), a[1])) }),
	strict("rota_reach", 3, func(a arguments) any { return partAs(a.int(2), jsonPath(a.document(0), a.array(1))) }),
	strict("rota_json_typeof", 1, func(a arguments) any { return typeOfJSON(a.document(0)) }),
	strict("rota_json_elements", 2, jsonElements),
	strict("rota_json_keys", 1, func(a arguments) any {
		o := objectOf(a.text(0))
		list := make([]any, len(o.keys))
		for i, key := range o.keys {
			list[i] = key
		}
		return encode(list)
	}),
	strict("rota_json_pairs", 2, jsonPairs),
	strict("rota_json_contains", 2, func(a arguments) any { return containsJSON(a.document(0), a.document(1)) }),
	strict("rota_json_has", 2, func(a arguments) any { return boolean(hasKey(a.document(0), a.text(1))) }),
}

func (a arguments) document(i int) any { return decode(a.text(i)) }

// documentOf converts a value to JSON.
func documentOf(a arguments) any {
	k, v := a.kind(0), a[1]
	zone := a.zone(2)
	elem := k.Elem()
	switch {
	case isJSON(k) || k == kind.Record:
		return v
	case elem == kind.Unknown:
		return encode(inDocument(k, v, zone))
	}
	list := decodeArray(asText(v))
	for i, e := range list {
		if e != nil {
			list[i] = inDocument(elem, e, zone)
		}
	}
	return encode(list)
}

// inDocument converts one value to its form in a document.
func inDocument(k kind.Kind, v any, zone *time.Location) any {
	switch k {
	case kind.Boolean:
		return arguments{v}.int(0) != 0
	case kind.Timestamp, kind.Local:
		text := strings.Replace(formatIn(zone, k, v), " ", "T", 1)
		if k == kind.Timestamp && len(text) > 3 && (text[len(text)-3] == '+' || text[len(text)-3] == '-') {
			text += ":00" // an offset has its minutes there
		}
		return text
	case kind.JSON, kind.PlainJSON:
		return v // an element of an array, which is decoded
	case kind.Float, kind.Float4, kind.Numeric:
		if f, real := v.(float64); real && f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return int64(f)
		} else if real && k == kind.Numeric {
			return json.Number(strconv.FormatFloat(RoundNumeric(f), 'f', -1, 64))
		}
		return v
	case kind.Int2, kind.Int4, kind.Integer, kind.OID:
		return v
	}
	if categoryOf(k) == categoryText || k == kind.UUID || k == kind.Unknown {
		return asText(v)
	}
	return FormatValue(k, v)
}

// partAs formats a part of a document: 0 JSON, 1 text, 2 text with blanks. A missing part is NULL.
func partAs(form int64, v any) any {
	switch {
	case v == missingValue, v == nil && form != 0:
		return nil
	case form == 0:
		return encode(v)
	}
	switch v.(type) {
	case []any, *object:
		var b strings.Builder
		writeJSON(&b, v, map[int64]string{2: " "}[form])
		return b.String()
	}
	return asText(v)
}

// missingValue marks a missing part, which differs from JSON null.
var missingValue any = struct{ missing bool }{true}

// jsonStep returns a field of an object or an element of an array.
func jsonStep(v, key any) any {
	switch v := v.(type) {
	case *object:
		if name, is := key.(string); is {
			if e, there := v.values[name]; there {
				return e
			}
		}
	case []any:
		if i, is := key.(int64); is {
			if i < 0 {
				i += int64(len(v))
			}
			if i >= 0 && i < int64(len(v)) {
				return v[i]
			}
		}
	}
	return missingValue
}

func jsonPath(v any, path []any) any {
	for _, key := range path {
		if _, list := v.([]any); list {
			n, err := strconv.ParseInt(asText(key), 10, 64)
			if err != nil {
				return missingValue
			}
			key = n
		}
		v = jsonStep(v, key)
	}
	return v
}

func typeOfJSON(v any) any {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case *object:
		return "object"
	}
	return "number"
}

func jsonElements(a arguments) any {
	v := a.document(0)
	list, is := v.([]any)
	if !is {
		panic(valueError(StateValue, "cannot extract elements from %s", describe(v)))
	}
	for i, e := range list {
		list[i] = partAs(a.int(1), e)
	}
	return checkLength(encode(list))
}

func describe(v any) string {
	switch v.(type) {
	case []any:
		return "an array"
	case *object:
		return "an object"
	}
	return "a scalar"
}

func objectOf(text string) *object {
	v := decode(text)
	o, is := v.(*object)
	if !is {
		panic(valueError(StateValue, "cannot get the keys of %s", describe(v)))
	}
	return o
}

func jsonPairs(a arguments) any {
	o := objectOf(a.text(0))
	list := make([]any, len(o.keys))
	for i, key := range o.keys {
		v := partAs(a.int(1), o.values[key])
		list[i] = &object{keys: []string{"key", "value"}, values: map[string]any{"key": key, "value": v}}
	}
	return checkLength(encode(list))
}
