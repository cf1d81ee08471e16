package scrub

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// depthMax bounds the nesting that is scrubbed. Deeper values are hidden without a
// check.
const depthMax = 64

// JSON hides the secrets of a JSON value: the values of keys that name one,
// and in strings what Text hides. It keeps the structure, the order and the numbers.
// A text that is not JSON is hidden whole.
func JSON(text []byte) json.RawMessage {
	if len(bytes.TrimSpace(text)) == 0 {
		return json.RawMessage("null")
	}
	if !json.Valid(text) {
		return json.RawMessage(`"[not JSON]"`)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var b bytes.Buffer
	write(&b, hideIn(read(decoder), 0))
	return b.Bytes()
}

// object keeps the order of its members, and duplicate keys.
type object []member

type member struct {
	key   string
	value any
}

// read reads one value of a valid JSON text.
func read(decoder *json.Decoder) any {
	token, err := decoder.Token()
	if err != nil { // cannot happen: Valid accepted the text
		return Hidden
	}
	switch token {
	case json.Delim('{'):
		members := object{}
		for decoder.More() {
			key, _ := read(decoder).(string)
			members = append(members, member{key, read(decoder)})
		}
		_, _ = decoder.Token()
		return members
	case json.Delim('['):
		items := []any{}
		for decoder.More() {
			items = append(items, read(decoder))
		}
		_, _ = decoder.Token()
		return items
	}
	return token
}

func hideIn(value any, depth int) any {
	if depth > depthMax {
		return hide("", value)
	}
	switch v := value.(type) {
	case string:
		return Text(v)
	case []any:
		return hideInArray(v, depth)
	case object:
		return hideInObject(v, depth)
	}
	return value
}

func hideInObject(members object, depth int) object {
	named := namesSecret(members)
	for i, m := range members {
		key := Text(m.key)
		switch {
		case Key(m.key) || Key(key):
			members[i].value = hide(m.key, m.value)
		case named && slices.Contains(pairValues, strings.ToLower(m.key)):
			members[i].value = hide("", m.value)
		default:
			members[i].value = hideIn(m.value, depth+1)
		}
		members[i].key = key
	}
	return members
}

// Keys of a name-value pair: {"name": "Authorization", "value": "…"}.
var (
	pairNames  = []string{"name", "key", "header", "field", "variable"}
	pairValues = []string{"value", "values", "val", "content"}
)

func namesSecret(members object) bool {
	return slices.ContainsFunc(members, func(m member) bool {
		name, isText := m.value.(string)
		return isText && slices.Contains(pairNames, strings.ToLower(m.key)) && Key(name)
	})
}

// hideInArray recognizes two more forms: ["--password", "…"], the arguments of a
// program, and ["Authorization", "…"], a pair.
func hideInArray(items []any, depth int) []any {
	pair := len(items) == 2
	named := false
	for i, item := range items {
		text, isText := item.(string)
		if named {
			items[i] = hide("", item)
		} else {
			items[i] = hideIn(item, depth+1)
		}
		named = isText && !named && (pair || strings.HasPrefix(text, "-")) && !strings.ContainsAny(text, "=: ") && Key(text)
	}
	return items
}

// hide hides a value whole. Empty values, booleans and null are not
// secrets.
func hide(key string, value any) any {
	switch v := value.(type) {
	case nil, bool:
		return v
	case string:
		if v == "" {
			return v
		}
	case json.Number:
		if counts(key) {
			return v
		}
	}
	return Hidden
}

func write(b *bytes.Buffer, value any) {
	switch v := value.(type) {
	case object:
		b.WriteByte('{')
		for i, m := range v {
			comma(b, i)
			writeScalar(b, m.key)
			b.WriteByte(':')
			write(b, m.value)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			comma(b, i)
			write(b, item)
		}
		b.WriteByte(']')
	default:
		writeScalar(b, v)
	}
}

func comma(b *bytes.Buffer, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func writeScalar(b *bytes.Buffer, value any) {
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // strings, numbers that were read, booleans and null
	b.Truncate(b.Len() - 1)   // the line end
}
