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
	strict("rota_json_text", 1, func(a arguments) (any, error) { return asForm(1)(decode(a.text(0))) }),
	strict("rota_get", 2, func(a arguments) (any, error) { return jsonPart(jsonGet(a)) }),
	strict("rota_get_text", 3, func(a arguments) (any, error) { return asForm(a.int(2))(jsonGet(a)) }),
	strict("rota_reach", 3, func(a arguments) (any, error) { return asForm(a.int(2))(jsonPath(a)) }),
	strict("rota_json_typeof", 1, func(a arguments) (any, error) {
		v, err := decode(a.text(0))
		return typeOfJSON(v), err
	}),
	strict("rota_json_elements", 2, func(a arguments) (any, error) { return jsonElements(a, asForm(a.int(1))) }),
	strict("rota_json_keys", 1, func(a arguments) (any, error) {
		o, err := objectOf(a.text(0))
		if err != nil {
			return nil, err
		}
		list := make([]any, len(o.keys))
		for i, key := range o.keys {
			list[i] = key
		}
		return encode(list), nil
	}),
	strict("rota_json_pairs", 2, jsonPairs),
	strict("rota_json_contains", 2, func(a arguments) (any, error) {
		x, err := decode(a.text(0))
		if err != nil {
			return nil, err
		}
		y, err := decode(a.text(1))
		if err != nil {
			return nil, err
		}
		return containsJSON(x, y)
	}),
	strict("rota_json_has", 2, func(a arguments) (any, error) {
		v, err := decode(a.text(0))
		if err != nil {
			return nil, err
		}
		return boolean(hasKey(v, a.text(1)))
	}),
}

// documentOf converts a value to JSON.
func documentOf(a arguments) (any, error) {
	k, v := a.kind(0), a[1]
	zone, err := a.zone(2)
	if err != nil {
		return nil, err
	}
	elem := k.Elem()
	switch {
	case isJSON(k) || k == kind.Record:
		return v, nil
	case elem == kind.Unknown:
		w, err := inDocument(k, v, zone)
		return encode(w), err
	}
	list, err := decodeArray(asText(v))
	for i, e := range list {
		if e != nil && err == nil {
			list[i], err = inDocument(elem, e, zone)
		}
	}
	return encode(list), err
}

// inDocument converts one value to its form in a document.
func inDocument(k kind.Kind, v any, zone *time.Location) (any, error) {
	switch k {
	case kind.Boolean:
		return arguments{v}.int(0) != 0, nil
	case kind.Timestamp, kind.Local:
		text := strings.Replace(formatIn(zone, k, v), " ", "T", 1)
		if k == kind.Timestamp && len(text) > 3 && (text[len(text)-3] == '+' || text[len(text)-3] == '-') {
			text += ":00" // an offset has its minutes there
		}
		return text, nil
	case kind.JSON, kind.PlainJSON:
		return v, nil // an element of an array, which is decoded
	case kind.Float, kind.Float4, kind.Numeric:
		if f, real := v.(float64); real && f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return int64(f), nil
		} else if real && k == kind.Numeric {
			return json.Number(formatNumeric(f)), nil
		}
		return v, nil
	case kind.Int2, kind.Int4, kind.Integer, kind.OID:
		return v, nil
	}
	if categoryOf(k) == categoryText || k == kind.UUID || k == kind.Unknown {
		return asText(v), nil
	}
	return FormatValue(k, v), nil
}

// jsonPart returns a part of a document as JSON; a missing part is NULL.
func jsonPart(v any, err error) (any, error) {
	if err != nil || v == missingValue {
		return nil, err
	}
	return encode(v), nil
}

// asForm formats a part of a document: 0 JSON, 1 text, 2 text with blanks.
func asForm(form int64) func(v any, err error) (any, error) {
	if form == 0 {
		return jsonPart
	}
	blank := map[int64]string{2: " "}[form]
	return func(v any, err error) (any, error) {
		if err != nil || v == missingValue || v == nil {
			return nil, err
		}
		switch v.(type) {
		case []any, *object:
			var b strings.Builder
			writeJSON(&b, v, blank)
			return b.String(), nil
		}
		return asText(v), nil
	}
}

// missingValue marks a missing part, which differs from JSON null.
var missingValue any = struct{ missing bool }{true}

func jsonGet(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	return jsonStep(v, a[1]), nil
}

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

func jsonPath(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	path, err := a.array(1)
	if err != nil {
		return nil, err
	}
	for _, key := range path {
		if _, list := v.([]any); list {
			n, err := strconv.ParseInt(asText(key), 10, 64)
			if err != nil {
				return missingValue, nil
			}
			key = n
		}
		if v = jsonStep(v, key); v == missingValue {
			return missingValue, nil
		}
	}
	return v, nil
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

func jsonElements(a arguments, as func(any, error) (any, error)) (any, error) {
	v, err := decode(a.text(0))
	list, is := v.([]any)
	if err == nil && !is {
		err = valueError(StateValue, "cannot extract elements from %s", describe(v))
	}
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, e := range list {
		if out[i], err = as(e, nil); err != nil {
			return nil, err
		}
	}
	return checkLength(encode(out))
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

func objectOf(text string) (*object, error) {
	v, err := decode(text)
	if err != nil {
		return nil, err
	}
	o, is := v.(*object)
	if !is {
		return nil, valueError(StateValue, "cannot get the keys of %s", describe(v))
	}
	return o, nil
}

func jsonPairs(a arguments) (any, error) {
	o, err := objectOf(a.text(0))
	if err != nil {
		return nil, err
	}
	as := asForm(a.int(1))
	list := make([]any, len(o.keys))
	for i, key := range o.keys {
		v, err := as(o.values[key], nil)
		if err != nil {
			return nil, err
		}
		list[i] = &object{keys: []string{"key", "value"}, values: map[string]any{"key": key, "value": v}}
	}
	return checkLength(encode(list))
}
