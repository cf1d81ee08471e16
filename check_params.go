package rota

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// CheckParams checks the params of a job as every command does: a JSON object in which each reader finds the same
// values. The error is Invalid and names the member, such as params.user.id.
func CheckParams(params json.RawMessage) error {
	return asError(checkObject("params", params, ParamsMax))
}

// CheckDocument checks a result or the progress of a run where it enters: JSON of at most a number of bytes in which each
// reader finds the same values. Commands accept any JSON, since refusing the Finish of an earlier version would lose the
// outcome of its work. The error is Invalid and names the member, such as result.rows[2].
func CheckDocument(field string, doc json.RawMessage, most int) error {
	if err := checkJSON(field, doc, most); err != nil || doc == nil {
		return asError(err)
	}
	return asError(checkMembers(field, doc))
}

// checkMembers refuses members that JSON readers understand differently: a key that occurs twice in an object, half of a
// surrogate pair, and a number outside the range of float64. The document is valid JSON.
func checkMembers(field string, doc json.RawMessage) *Error {
	var keys [keysCompared][]byte // enough for most documents, without an allocation
	s := memberScan{doc: doc, keys: keys[:0]}
	if fault := s.value(); fault != nil {
		return Invalidf(field+fault.path, "%s", fault.reason)
	}
	return nil
}

// CheckSurrogates refuses half of a surrogate pair anywhere in valid JSON: the decoder would replace each by U+FFFD, so
// that different texts become equal. The error is Invalid and names the member, such as jobs[1].unique_key.
func CheckSurrogates(doc []byte) error {
	if checkSurrogates(doc) == nil { // escapes occur only in texts, and the quote between two texts separates their halves
		return nil
	}
	s := memberScan{doc: doc, surrogates: true}
	if fault := s.value(); fault != nil {
		// The reason of the fault repeats a part of the text, which may be a secret.
		return Invalidf(strings.TrimPrefix(fault.path, "."), "contains one half of a surrogate pair without the other; write both halves, or remove it")
	}
	return nil
}

// memberScan reads valid JSON once.
type memberScan struct {
	doc  []byte
	at   int
	keys [][]byte // keys of the open objects, the innermost object last

	surrogates bool // only surrogates are checked
}

// memberFault is a refused member.
type memberFault struct {
	path   string // path from the root of the document, such as .user.ids[2]
	reason string
}

func (s *memberScan) value() *memberFault {
	s.skipBlanks()
	switch s.doc[s.at] {
	case '{':
		return s.object()
	case '[':
		return s.list()
	case '"':
		return checkSurrogates(s.text())
	case 't', 'n':
		s.at += len("true")
	case 'f':
		s.at += len("false")
	default:
		if number := s.number(); !s.surrogates {
			return checkRange(number)
		}
	}
	return nil
}

// keysCompared is the number of keys of an object that are compared one by one; a larger object gets a map.
const keysCompared = 16

func (s *memberScan) object() *memberFault {
	start := len(s.keys)
	var many map[string]bool
	s.at++
	for s.more('}') {
		raw := s.text()
		key := decodeKey(raw)
		if fault := checkSurrogates(raw); fault != nil {
			fault.path = memberPath(key)
			return fault
		}
		many = s.mapKeys(start, many)
		if !s.surrogates && (many[string(key)] || many == nil && containsKey(s.keys[start:], key)) {
			return &memberFault{memberPath(key), "is given twice in one object; keep one of the two"}
		}
		if many == nil {
			s.keys = append(s.keys, key)
		} else {
			many[string(key)] = true
		}
		s.skipBlanks()
		s.at++ // the colon
		if fault := s.value(); fault != nil {
			fault.path = memberPath(key) + fault.path
			return fault
		}
	}
	s.keys = s.keys[:start]
	return nil
}

// mapKeys moves the keys of an object into a map when there are too many to compare one by one.
func (s *memberScan) mapKeys(start int, many map[string]bool) map[string]bool {
	if many != nil || len(s.keys)-start < keysCompared {
		return many
	}
	many = map[string]bool{}
	for _, key := range s.keys[start:] {
		many[string(key)] = true
	}
	s.keys = s.keys[:start]
	return many
}

func containsKey(keys [][]byte, key []byte) bool {
	for _, k := range keys {
		if bytes.Equal(k, key) {
			return true
		}
	}
	return false
}

func (s *memberScan) list() *memberFault {
	s.at++
	for i := 0; s.more(']'); i++ {
		if fault := s.value(); fault != nil {
			fault.path = "[" + strconv.Itoa(i) + "]" + fault.path
			return fault
		}
	}
	return nil
}

// more moves to the next element of a list or object, and reports false at its end.
func (s *memberScan) more(end byte) bool {
	s.skipBlanks()
	switch s.doc[s.at] {
	case end:
		s.at++
		return false
	case ',':
		s.at++
		s.skipBlanks()
	}
	return true
}

func (s *memberScan) skipBlanks() {
	for s.doc[s.at] <= ' ' {
		s.at++
	}
}

// text returns the text between quotes, with its escapes.
func (s *memberScan) text() []byte {
	s.at++
	start := s.at
	for {
		end := bytes.IndexByte(s.doc[s.at:], '"')
		s.at += end + 1
		back := s.at - 2
		for back >= start && s.doc[back] == '\\' {
			back--
		}
		if (s.at-2-back)%2 == 0 { // the quote is not escaped
			return s.doc[start : s.at-1]
		}
	}
}

func (s *memberScan) number() []byte {
	start := s.at
	for s.at < len(s.doc) {
		switch c := s.doc[s.at]; {
		case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E':
			s.at++
			continue
		}
		break
	}
	return s.doc[start:s.at]
}

// decodeKey decodes the escapes of a key, because "a" and "\u0061" are the same key.
func decodeKey(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	var text string
	quoted := append(append([]byte{'"'}, raw...), '"')
	_ = json.Unmarshal(quoted, &text) // the document is valid
	return []byte(text)
}

// checkSurrogates requires that each \u escape of a surrogate is a half of a pair. Readers replace a lone half by other
// characters, or refuse the document.
func checkSurrogates(raw []byte) *memberFault {
	for at := 0; ; {
		next := bytes.IndexByte(raw[at:], '\\')
		if next < 0 {
			return nil
		}
		at += next
		if raw[at+1] != 'u' {
			at += 2
			continue
		}
		high := escapedUnit(raw[at:])
		at += 6
		switch {
		case high < 0xD800 || high > 0xDFFF:
			continue
		case high < 0xDC00 && at+6 <= len(raw) && raw[at] == '\\' && raw[at+1] == 'u':
			if low := escapedUnit(raw[at:]); low >= 0xDC00 && low <= 0xDFFF {
				at += 6
				continue
			}
		}
		return &memberFault{reason: "contains " + string(raw[at-6:at]) + ", one half of a surrogate pair without the other; write both halves, or remove it"}
	}
}

// escapedUnit is the UTF-16 unit of an escape \uXXXX.
func escapedUnit(raw []byte) uint64 {
	unit, _ := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return unit
}

// digitsSafe is the length of a number without an exponent that is certainly in range.
const digitsSafe = 300

// checkRange refuses numbers above the range of float64, which most readers use.
func checkRange(raw []byte) *memberFault {
	if len(raw) <= digitsSafe && bytes.IndexByte(raw, 'e') < 0 && bytes.IndexByte(raw, 'E') < 0 {
		return nil
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil && !math.IsInf(f, 0) {
		return nil
	}
	return &memberFault{reason: "is " + quote(string(raw)) + ", which no 64-bit floating-point number holds; use a number between -1.7e308 and 1.7e308, or a text"}
}

// memberPath is the step to a member: .name, or ["any text"].
func memberPath(key []byte) string {
	simple := len(key) > 0 && len(key) <= NameMax
	for _, c := range key {
		simple = simple && (c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z')
	}
	if simple {
		return "." + string(key)
	}
	return "[" + quote(string(key)) + "]"
}
