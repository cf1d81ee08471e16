package pgwire

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rotajobs/rota/console/kind"
)

// elements reads how an array is held: as JSON.
func elements(value any, k kind.Kind) ([]json.RawMessage, error) {
	text, is := value.(string)
	if !is {
		return nil, unfit(value, k)
	}
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, refuse(stateData, "", "the text %.40q is no %s", text, k)
	}
	return list, nil
}

// held is a value that stands in JSON as it would be held by itself.
func held(raw json.RawMessage) any {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		var text string
		_ = json.Unmarshal(raw, &text) // it was found to be JSON
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

// elementOf is a value of an array. A document stands there as it is: a text is one in
// quotes.
func elementOf(raw json.RawMessage, elem kind.Kind) any {
	if one := held(raw); one == nil || elem != kind.JSON && elem != kind.PlainJSON {
		return one
	}
	return string(raw)
}

func arrayText(elem kind.Kind) encoder {
	return func(dst []byte, value any, v *values) ([]byte, error) {
		return v.appendArray(dst, value, elem, coderOf(elem).text)
	}
}

func (v *values) appendArray(dst []byte, value any, elem kind.Kind, text encoder) ([]byte, error) {
	list, err := elements(value, elem.Array())
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

// appendQuoted writes a member of an array or a record, in quotes if it could be
// taken for something else.
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

// arrayBinary writes an array of one dimension: its shape, and the members.
func arrayBinary(elem kind.Kind, from uint32) encoder {
	return func(dst []byte, value any, v *values) ([]byte, error) {
		list, err := elements(value, elem.Array())
		if err != nil {
			return dst, err
		}
		nulls, dimensions := uint32(0), uint32(min(len(list), 1))
		for _, raw := range list {
			switch {
			case held(raw) == nil:
				nulls = 1
			case raw[0] == '[' && elem != kind.JSON && elem != kind.PlainJSON:
				return dst, refuse(stateNotSupported, "ask for it as text", "an array of several dimensions cannot be sent in binary")
			}
		}
		for _, n := range []uint32{dimensions, nulls, oidOf(elem)} {
			dst = binary.BigEndian.AppendUint32(dst, n)
		}
		if dimensions == 0 {
			return dst, nil
		}
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(list)))
		dst = binary.BigEndian.AppendUint32(dst, from)
		encode := coderOf(elem).binary
		for _, raw := range list {
			if dst, err = v.sized(dst, elementOf(raw, elem), encode); err != nil {
				return dst, err
			}
		}
		return dst, nil
	}
}

// vectorText writes numbers with blanks between them.
func vectorText(dst []byte, value any, v *values) ([]byte, error) {
	list, err := elements(value, kind.Int2s)
	if err != nil {
		return dst, err
	}
	for i, raw := range list {
		if i > 0 {
			dst = append(dst, ' ')
		}
		if dst, err = textOf(dst, held(raw), v); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// fields reads how a record is held: as an object, whose order counts.
func fields(value any) (list []any, err error) {
	text, is := value.(string)
	if !is {
		return nil, unfit(value, kind.Record)
	}
	wrong := refuse(stateData, "", "the text %.40q is no %s", text, kind.Record)
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
		list = append(list, held(raw))
	}
	return list, nil
}

// fieldKind is what a field of a record is, of which only the value is known.
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

func recordText(dst []byte, value any, v *values) ([]byte, error) {
	list, err := fields(value)
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

func recordBinary(dst []byte, value any, v *values) ([]byte, error) {
	list, err := fields(value)
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
