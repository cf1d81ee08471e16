package mask

import (
	"bytes"
	"encoding/json"
	"strings"
)

// levelsMax bounds how many levels of JSON in strings of JSON are decoded. Each costs as much as the document.
const levelsMax = 8

// JSON returns a document in which each string, keys included, is masked without its escapes. A string that is a document itself is masked
// like one. The rest of the document stays as it is.
func (s *Set) JSON(document []byte) []byte {
	if s.Empty() {
		return document
	}
	return s.document(document, levelsMax)
}

// Document is JSON for a document that is stored as one of at most limit bytes. A value may be a number or a part of the syntax: if what is
// left does not pass the check, its text becomes a document.
func (s *Set) Document(document []byte, limit int, check func([]byte) error) []byte {
	if s.Empty() {
		return document
	}
	shown := s.Bytes(s.JSON(document))
	if bytes.Equal(shown, document) || check(shown) == nil {
		return shown
	}
	quoted, err := json.Marshal(string(shown))
	if err != nil || len(quoted) > limit {
		return []byte(`"` + Text + `"`)
	}
	return quoted
}

func (s *Set) document(text []byte, levels int) []byte {
	var out []byte
	for {
		begin := bytes.IndexByte(text, '"')
		if begin < 0 {
			return append(out, text...)
		}
		end := begin + stringLen(text[begin:])
		out = append(out, text[:begin]...)
		out = append(out, s.jsonString(text[begin:end], levels)...)
		text = text[end:]
	}
}

// stringLen is the length of the string of JSON at the beginning of a text, with its quotes.
func stringLen(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func (s *Set) jsonString(quoted []byte, levels int) []byte {
	var text string
	if json.Unmarshal(quoted, &text) != nil { // not in a valid document
		return quoted
	}
	shown := text
	if levels > 0 && strings.Contains(text, `"`) && json.Valid([]byte(text)) {
		shown = string(s.document([]byte(text), levels-1))
	}
	if shown = s.whole(shown); shown == text {
		return quoted
	}
	masked, err := json.Marshal(shown)
	if err != nil { // cannot happen for a text
		return []byte(`"` + Text + `"`)
	}
	return masked
}

// whole is String for a text that was not cut: half a value at its end stays. The byte behind it belongs to no value.
func (s *Set) whole(text string) string {
	return strings.TrimSuffix(string(s.Bytes([]byte(text+"\x00"))), "\x00")
}
