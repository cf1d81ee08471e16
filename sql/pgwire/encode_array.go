package pgwire

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/sql/kind"
)

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
