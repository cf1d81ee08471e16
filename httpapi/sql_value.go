package httpapi

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rotajobs/rota"
)

// SQLValue is an SQL value as JSON: a string, a number with all its digits, true, false or null.
type SQLValue json.RawMessage

// MarshalJSON writes the value.
func (v SQLValue) MarshalJSON() ([]byte, error) {
	if len(v) == 0 {
		return null, nil
	}
	return v, nil
}

// UnmarshalJSON keeps the value.
func (v *SQLValue) UnmarshalJSON(text []byte) error {
	*v = append(SQLValue{}, text...)
	return nil
}

// Schema describes a value.
func (SQLValue) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		{Type: huma.TypeString, Nullable: true}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean},
	}}
}

func quoted(text string) SQLValue { return SQLValue(rota.EncodeSpec(text)) }

// argument returns the value for the console. simple is false for a list or an object.
func (v SQLValue) argument() (value any, simple bool) {
	switch {
	case len(v) == 0 || bytes.Equal(v, null):
		return nil, true
	case v[0] == '"':
		var text string
		err := json.Unmarshal(v, &text)
		return text, err == nil
	case v[0] == 't' || v[0] == 'f':
		return v[0] == 't', true
	case v[0] == '[' || v[0] == '{':
		return nil, false
	}
	if whole, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return whole, true
	}
	number, err := strconv.ParseFloat(string(v), 64)
	return number, err == nil
}
