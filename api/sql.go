package api

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/rotajobs/rota"
)

// SQLRequest is one or several SQL statements.
type SQLRequest struct {
	Statement string     `json:"statement" minLength:"1" doc:"One statement, or several separated by semicolons, which run as one transaction. At most 1 MiB."`
	Args      []SQLValue `json:"args,omitempty" doc:"Values for $1, $2 … of a query; the request may then contain only one statement. Each value is a string, a number, true, false or null."`
}

// SQLAnswer is the result of the last statement, and of each if there are several.
type SQLAnswer struct {
	SQLResult
	Results []SQLResult `json:"results,omitempty" doc:"Result of each statement, if there are several."`
}

// SQLResult is the result of one statement.
type SQLResult struct {
	Columns []SQLColumn  `json:"columns" nullable:"false" doc:"Columns; empty if the statement returns no rows."`
	Rows    [][]SQLValue `json:"rows" nullable:"false" doc:"Rows, with one value per column. A bytea value is a string: \\x and hexadecimal digits."`
	Tag     string       `json:"tag" doc:"Command tag." example:"SELECT 3"`
	Notices []string     `json:"notices" nullable:"false" doc:"Notices that are not errors."`
}

// SQLColumn is one column of a result.
type SQLColumn struct {
	Name string `json:"name" doc:"Name of the column." example:"job_name"`
	Type string `json:"type" doc:"PostgreSQL type of the column." example:"text"`
}

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

// Argument returns the value for the console. simple is false for a list or an object.
func (v SQLValue) Argument() (value any, simple bool) {
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

// SQLText is a text as an SQL value.
func SQLText(text string) SQLValue { return SQLValue(rota.EncodeSpec(text)) }
