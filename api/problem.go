package api

import (
	"fmt"
	"strings"
)

// Problem is the body of an error response: application/problem+json.
type Problem struct {
	Title  string       `json:"title" doc:"Kind of the problem, for people." example:"Invalid request"`
	Status int          `json:"status" doc:"HTTP status." example:"422"`
	Code   string       `json:"code" doc:"Kind of the problem, for programs." example:"invalid"`
	Detail string       `json:"detail" doc:"What is wrong."`
	Hint   string       `json:"hint,omitempty" doc:"What to do about it."`
	Errors []FieldError `json:"errors,omitempty" doc:"Each invalid field."`

	SQLState string `json:"sqlstate,omitempty" doc:"SQLSTATE, for an error in SQL." example:"42601"`
	Position int    `json:"position,omitempty" doc:"Position of the error in the statement, in characters from 1."`
	Line     int    `json:"line,omitempty" doc:"Line of the error, from 1."`
	Column   int    `json:"column,omitempty" doc:"Column of the error in its line, in characters from 1."`
}

// FieldError is an invalid field.
type FieldError struct {
	Field  string `json:"field" doc:"Path of the field." example:"params.items[2].count"`
	Reason string `json:"reason" doc:"What is wrong with the field."`
}

// Error returns the detail and the hint.
func (p *Problem) Error() string {
	text := p.Detail
	if text == "" {
		text = p.Title
	}
	for _, e := range p.Errors {
		if len(p.Errors) > 1 {
			text += fmt.Sprintf("; %s: %s", e.Field, e.Reason)
		}
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type of a problem for any requested type.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// FieldPath returns the path of a field. Field names come from the request, so long ones are cut.
func FieldPath(path, name string) string {
	const shown = 64
	if len(name) > shown {
		name = strings.ToValidUTF8(name[:shown], "") + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// OneOf returns the allowed word that equals a text in any letter case, or an empty text.
func OneOf(text string, allowed []string) string {
	for _, a := range allowed {
		if strings.EqualFold(a, text) {
			return a
		}
	}
	return ""
}
