package pgwire

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

// arrayElements decodes an array, which the console stores as JSON.
func arrayElements(value any, k kind.Kind) ([]json.RawMessage, error) {
	text, is := value.(string)
	if !is {
		return nil, wrongType(value, k)
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, errorf(stateData, "", "text %.40q is not a valid %s", text, k)
	}
	return list, nil
}

// jsonValue converts a JSON value to the Go type that the console uses for a single value.
func jsonValue(raw json.RawMessage) any {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // the JSON was validated before
		return text
	case raw[0] == 't' || raw[0] == 'f':
		return raw[0] == 't'
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return f
	}
	return string(raw) // an array or an object
}

// elementOf converts an element of an array. A JSON element stays JSON: a string keeps its
// quotes.
func elementOf(raw json.RawMessage, elem kind.Kind) any {
	if one := jsonValue(raw); one == nil || elem != kind.JSON && elem != kind.PlainJSON {
		return one
	}
	return string(raw)
}

func arrayText(elem kind.Kind) encoder {
	return func(dst []byte, value any, v *formatSettings) ([]byte, error) {
		return v.appendArray(dst, value, elem, coderOf(elem).text)
	}
}

func (v *formatSettings) appendArray(dst []byte, value any, elem kind.Kind, text encoder) ([]byte, error) {
	list, err := arrayElements(value, elem.Array())
	if err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for i, raw := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		one := elementOf(raw, elem)
		switch {
		case one == nil:
			dst = append(dst, "NULL"...)
		case raw[0] == '[' && elem != kind.JSON && elem != kind.PlainJSON:
			dst, err = v.appendArray(dst, one, elem, text)
		default:
			var plain []byte
			plain, err = text(nil, one, v)
			dst = appendQuoted(dst, plain, `{},"\`, `\`)
		}
		if err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// appendQuoted appends an element of an array or a record, in quotes where the syntax needs
// them.
func appendQuoted(dst, plain []byte, special, escape string) []byte {
	text := string(plain)
	if text != "" && !strings.ContainsAny(text, special+" \t\n\r\v\f") && (escape != `\` || !strings.EqualFold(text, "null")) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for i := range len(text) {
		switch {
		case text[i] == '"' && escape == `"`:
			dst = append(dst, '"')
		case text[i] == '"' || text[i] == '\\':
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}

// vectorText writes numbers separated by blanks.
func vectorText(dst []byte, value any, v *formatSettings) ([]byte, error) {
	list, err := arrayElements(value, kind.Int2s)
	if err != nil {
		return dst, err
	}
	for i, raw := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if dst, err = textOf(dst, jsonValue(raw), v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// recordFields decodes a record, which the console stores as a JSON object with ordered keys.
func recordFields(value any) (list []any, err error) {
	text, is := value.(string)
	if !is {
		return nil, wrongType(value, kind.Record)
	}
	wrong := errorf(stateData, "", "text %.40q is not a valid %s", text, kind.Record)
	from := json.NewDecoder(strings.NewReader(text))
	if open, err := from.Token(); err != nil || open != json.Delim('{') {
		return nil, wrong
	}
	for from.More() {
		var raw json.RawMessage
		if _, err := from.Token(); err != nil {
			return nil, wrong
		}
		if err := from.Decode(&raw); err != nil {
			return nil, wrong
		}
		list = append(list, jsonValue(raw))
	}
	return list, nil
}

// fieldKind derives the kind of a record's field from its value.
func fieldKind(value any) kind.Kind {
	switch value.(type) {
	case int64:
		return kind.Integer
	case float64:
		return kind.Float
	case bool:
		return kind.Boolean
	}
	return kind.Text
}

func recordText(dst []byte, value any, v *formatSettings) ([]byte, error) {
	list, err := recordFields(value)
	if err != nil {
		return dst, err
	}
	dst = append(dst, '(')
	for i, one := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if one == nil {
			continue
		}
		plain, err := coderOf(fieldKind(one)).text(nil, one, v)
		if err != nil {
			return dst, err
		}
		dst = appendQuoted(dst, plain, `(),"\`, `"`)
	}
	return append(dst, ')'), nil
}

func recordBinary(dst []byte, value any, v *formatSettings) ([]byte, error) {
	list, err := recordFields(value)
	if err != nil {
		return dst, err
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(list)))
	for _, one := range list {
		k := fieldKind(one)
		dst = binary.BigEndian.AppendUint32(dst, k.OID())
		if dst, err = v.sized(dst, one, coderOf(k).binary); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
