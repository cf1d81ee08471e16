package api

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rotajobs/rota"
)

var null = []byte("null")

// readText reads a JSON text; null is the zero value.
func readText[T any](text []byte, into *T, parse func(string) (T, error)) (err error) {
	*into = *new(T)
	if bytes.Equal(text, null) {
		return nil
	}
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		return err
	}
	*into, err = parse(word)
	return err
}

// Time is a time in JSON: RFC 3339 in UTC, null for the zero time.
type Time struct{ time.Time }

// MarshalJSON writes null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return null, nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(time.RFC3339Nano)+2), `"`+time.RFC3339Nano+`"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(text []byte) error {
	return readText(text, t, func(word string) (Time, error) {
		read, err := ParseTime(word)
		return Time{read}, err
	})
}

// Schema describes a time.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-11-15T07:00:00Z"}}
}

// ParseTime reads a time in RFC 3339.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, rota.Invalidf("", "is not a time in RFC 3339; write it like 2026-11-15T07:00:00Z")
	}
	return t.UTC(), nil
}

// ID is an id in JSON, null for the zero id.
type ID struct{ rota.ID }

// MarshalJSON writes null for the zero id.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return null, nil
	}
	return []byte(`"` + id.String() + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (id *ID) UnmarshalJSON(text []byte) error {
	return readText(text, id, func(word string) (ID, error) {
		read, err := rota.ParseID(word)
		return ID{read}, err
	})
}

// Schema describes an id.
func (ID) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "uuid", Nullable: true, Examples: []any{ExampleID}}
}

// ExampleID is an id for examples.
const ExampleID = "01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"

// Text is a string in JSON, null if empty.
type Text string

// MarshalJSON writes null for an empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return null, nil
	}
	return rota.EncodeSpec(string(t)), nil // does not escape <, > and &
}

// Schema describes a text.
func (Text) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// Duration is a duration as text. It is read in Go notation, with days, or in SQL notation, and
// written in Go notation.
type Duration time.Duration

// MarshalJSON writes Go notation.
func (d Duration) MarshalJSON() ([]byte, error) {
	return []byte(`"` + rota.FormatDuration(time.Duration(d)) + `"`), nil
}

// UnmarshalJSON reads both notations. It refuses a number, which has no unit.
func (d *Duration) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, null) {
		return nil
	}
	var word string
	if json.Unmarshal(text, &word) != nil {
		return rota.Invalidf("", "is not a duration; write it with a unit, such as \"90s\" or \"5 MINUTES\"")
	}
	read, err := rota.ParseDuration(word)
	*d = Duration(read)
	return err
}

// Schema describes a duration.
func (Duration) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Examples: []any{"1h30m"},
		Description: "Duration in Go notation (90s, 1h30m), with days (2d, 1d12h), or in SQL notation (90 SECONDS, 5 MINUTES).",
	}
}

// List is one page. NextCursor is null on the last page.
type List[T any] struct {
	Items      []T  `json:"items" nullable:"false" doc:"One page, in list order."`
	NextCursor Text `json:"next_cursor" doc:"Cursor of the next page. Null: this is the last page."`
}
