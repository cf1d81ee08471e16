package payload

import (
	"time"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
)

// Duration is a duration that is text in JSON, in Go or SQL style: "90s" or
// "90 SECONDS". A time.Duration would be a number of nanoseconds there.
type Duration time.Duration

// durationFormat is the format of a Duration in a schema. The format "duration"
// of JSON Schema is another: it is written PT90S.
const durationFormat = "rota-duration"

// MarshalText writes it in Go style.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads it in Go or SQL style.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := rota.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// String is the duration in Go style.
func (d Duration) String() string { return rota.FormatDuration(time.Duration(d)) }

// JSONSchema describes the text.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Format: durationFormat, Examples: []any{"90s"},
		Description: "a duration, such as 90s, 1h30m or 2 DAYS",
	}
}

func checkDuration(v any) error {
	text, is := v.(string)
	if !is {
		return nil
	}
	_, err := rota.ParseDuration(text)
	return err
}
