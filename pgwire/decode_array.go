package pgwire

import (
	"encoding/binary"
	"encoding/json"
	"strings"

	"github.com/rotajobs/rota/console/kind"
)

// membersMost bounds an array that came as an argument.
const membersMost = 1 << 20

// inJSON is a value as a member of an array, which is held as JSON.
func inJSON(value any, elem kind.Kind) (json.RawMessage, error) {
	if text, is := value.(string); is && (elem == kind.JSON || elem == kind.PlainJSON) {
		return json.RawMessage(text), nil
	}
	return json.Marshal(value)
}

func asArray(list []json.RawMessage) (any, error) {
	if list == nil {
		return "[]", nil
	}
	text, err := json.Marshal(list)
	return string(text), err
}

// arrayFromBinary reads an array of one dimension, or none.
func (v *values) arrayFromBinary(k, elem kind.Kind, raw []byte) (any, error) {
	word := func(at int) int { return int(int32(binary.BigEndian.Uint32(raw[at:]))) }
	if len(raw) < 12 || word(0) < 0 {
		return nil, badBinary(k)
	}
	switch dimensions := word(0); {
	case dimensions == 0:
		return "[]", nil
	case dimensions > 1:
		return nil, refuse(stateNotSupported, "", "arrays of more than one dimension are not supported as arguments")
	case len(raw) < 20 || word(12) < 0 || word(12) > membersMost || word(12) > len(raw)/4:
		return nil, badBinary(k)
	}
	count := word(12)
	list := make([]json.RawMessage, count)
	raw = raw[20:]
	for i := range list {
		one, rest, fine := member(raw)
		if !fine {
			return nil, badBinary(k)
		}
		raw, list[i] = rest, json.RawMessage("null")
		if one == nil {
			continue
		}
		value, err := v.fromBinary(elem, one)
		if err != nil {
			return nil, err
		}
		if list[i], err = inJSON(value, elem); err != nil {
			return nil, badBinary(k)
		}
	}
	return asArray(list)
}

// member cuts a value off that stands behind its length; nil is NULL.
func member(raw []byte) (one, rest []byte, fine bool) {
	if len(raw) < 4 {
		return nil, nil, false
	}
	length := int(int32(binary.BigEndian.Uint32(raw)))
	raw = raw[4:]
	switch {
	case length == -1:
		return nil, raw, true
	case length < 0 || length > len(raw):
		return nil, nil, false
	}
	return raw[:length:length], raw[length:], true
}

// arrayFromText reads {a,"b c",NULL}.
func (v *values) arrayFromText(elem kind.Kind, raw []byte) (any, error) {
	list, fine := members(strings.TrimSpace(string(raw)))
	if !fine {
		return nil, refuse(stateBadText, "write it as {a,b,c}", "malformed array literal: %.60q", raw)
	}
	return v.membersFromText(elem, raw, list)
}

func pointers(list []string) []*string {
	all := make([]*string, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

func (v *values) membersFromText(elem kind.Kind, raw []byte, list []*string) (any, error) {
	all := make([]json.RawMessage, len(list))
	for i, one := range list {
		all[i] = json.RawMessage("null")
		if one == nil {
			continue
		}
		value, err := v.fromText(elem, []byte(*one))
		if err != nil {
			return nil, err
		}
		if all[i], err = inJSON(value, elem); err != nil {
			return nil, badText(elem.Array(), raw)
		}
	}
	return asArray(all)
}

// members cuts the text of an array into those of its members; nil is NULL.
func members(text string) (list []*string, fine bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	text = text[1 : len(text)-1]
	if strings.TrimSpace(text) == "" {
		return nil, true
	}
	for {
		one, rest, fine := cutMember(text)
		if !fine {
			return nil, false
		}
		list = append(list, one)
		if rest == "" {
			return list, true
		}
		text = rest[1:] // behind the comma
	}
}

const blanks = " \t\n\r\v\f"

// cutMember reads up to the next comma that is not in quotes.
func cutMember(text string) (one *string, rest string, fine bool) {
	var plain []byte
	text = strings.TrimLeft(text, blanks)
	quoted, within, closed := false, false, false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\\' && i+1 < len(text) && !closed:
			i++
			plain, quoted = append(plain, text[i]), true
		case b == '"' && !closed && (within || len(plain) == 0):
			quoted, within, closed = true, !within, within
		case b == ',' && !within:
			return named(plain, quoted), text[i:], quoted || len(plain) > 0
		case closed && strings.IndexByte(blanks, b) >= 0:
		case closed || strings.IndexByte(`{}"`, b) >= 0 && !within:
			return nil, "", false
		default:
			plain = append(plain, b)
		}
	}
	return named(plain, quoted), "", !within && (quoted || len(plain) > 0)
}

func named(plain []byte, quoted bool) *string {
	text := string(plain)
	if !quoted {
		text = strings.TrimRight(text, blanks)
		if strings.EqualFold(text, "null") {
			return nil
		}
	}
	return &text
}
