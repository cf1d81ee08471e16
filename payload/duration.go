package payload

import (
	"time"

	"github.com/invopop/jsonschema"
	"github.com/rotajobs/rota"
)

// Duration is a duration that JSON represents as text, in Go or SQL style: "90s" or
// "90 SECONDS". A time.Duration would be a number of nanoseconds there.
type Duration time.Duration

// durationFormat is the format of a Duration in a schema. The format "duration"
// of JSON Schema differs: its values are written like PT90S.
const durationFormat = "rota-duration"

// MarshalText formats the duration in Go style.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses a duration in Go or SQL style.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := rota.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// String formats the duration in Go style.
func (d Duration) String() string { return rota.FormatDuration(time.Duration(d)) }

// JSONSchema is the schema of the text.
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
