// Package diff computes what changed between two versions of a JSON document, for the audit: each
// field that differs, with its old and its new value. It leaves secrets out and bounds the size of
// the values.
package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/textproto"
	"slices"
	"unicode/utf8"

	"github.com/rotajobs/rota/internal/scrub"
)

// ValueMax is the size of a value, as JSON, that is shown whole. Of a longer one the beginning is
// shown, as text, and of one above scrubMax nothing: to look for its secrets would take too long.
const (
	ValueMax = 4096
	scrubMax = 64 << 10
)

// change is a field that differs.
type change struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// Documents returns the fields that differ between two JSON objects:
//
//	{"cron": {"old": "0 2 * * *", "new": "0 3 * * *"}}
//
// An empty document stands for an object that does not exist; a field that one object lacks is null
// there, and does not differ from an empty one. Documents returns nil if nothing differs. A secret is shown as [hidden] on both sides, so
// that the entry says that it changed.
func Documents(was, is []byte) json.RawMessage {
	return encodeChanges(differences(fields(was), fields(is)))
}

func differences(old, next map[string]json.RawMessage) map[string]change {
	changed := map[string]change{}
	for _, both := range []map[string]json.RawMessage{old, next} {
		for name := range both {
			if !bytes.Equal(old[name], next[name]) && !(blank(old[name]) && blank(next[name])) {
				changed[name] = change{shown(name, old[name]), shown(name, next[name])}
			}
		}
	}
	return changed
}

func encodeChanges(changed map[string]change) json.RawMessage {
	if len(changed) == 0 {
		return nil
	}
	return encode(changed)
}

// WithTemplate returns the document of a schedule together with the fields of its template, whose names begin with
// "template.". An empty document has no fields.
func WithTemplate(schedule, template []byte) []byte {
	all := map[string]json.RawMessage{}
	maps.Copy(all, fields(schedule))
	for name, value := range fields(template) {
		all["template."+name] = value
	}
	return encode(all)
}

// blank reports whether a value says no more than a missing one.
func blank(value json.RawMessage) bool {
	switch string(value) {
	case "", "null", "{}", "[]", `""`:
		return true
	}
	return false
}

func fields(document []byte) (all map[string]json.RawMessage) {
	if len(document) > 0 {
		_ = json.Unmarshal(document, &all) // anything but an object has no fields
	}
	return all
}

// shown returns the value of a field without its secrets, cut to a bounded size.
func shown(name string, value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	if len(value) > scrubMax {
		return encode(fmt.Sprintf("(left out: the value has %d bytes)", len(value)))
	}
	value = hideHeaders(value)
	if scrub.Key(name) { // scrub.JSON looks at the names inside the value
		value = json.RawMessage(`"` + scrub.Hidden + `"`)
	} else {
		value = scrub.JSON(value)
	}
	return cut(value)
}

// cut returns the beginning of a long value.
func cut(value json.RawMessage) json.RawMessage {
	if len(value) <= ValueMax {
		return value
	}
	start := value[:ValueMax]
	for !utf8.Valid(start) {
		start = start[:len(start)-1]
	}
	return encode(fmt.Sprintf("%s … (cut: the value has %d bytes)", start, len(value)))
}

// hideHeaders hides the headers of HTTP requests at any depth, except those that never hold a
// secret: no list of secret headers is complete.
func hideHeaders(value json.RawMessage) json.RawMessage {
	if !bytes.Contains(value, []byte(`"headers"`)) {
		return value
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(value, &object) != nil {
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return value
		}
		for i := range list {
			list[i] = hideHeaders(list[i])
		}
		return encode(list)
	}
	for name, one := range object {
		if name == "headers" {
			object[name] = withoutHeaders(one)
		} else {
			object[name] = hideHeaders(one)
		}
	}
	return encode(object)
}

func withoutHeaders(value json.RawMessage) json.RawMessage {
	var headers map[string]json.RawMessage
	if json.Unmarshal(value, &headers) != nil {
		return json.RawMessage(`"` + scrub.Hidden + `"`)
	}
	for name := range headers {
		if !scrub.Harmless(textproto.CanonicalMIMEHeaderKey(name)) {
			headers[name] = json.RawMessage(`"` + scrub.Hidden + `"`)
		}
	}
	return encode(headers)
}

// encode writes JSON as a store keeps it: without escapes for HTML, members sorted by name.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(value) != nil {
		return json.RawMessage("null")
	}
	return slices.Clip(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}
