package httpapi

import "fmt"

// Problem is an error as it is answered: application/problem+json.
type Problem struct {
	Title  string       `json:"title" doc:"What kind of problem it is." example:"Invalid request"`
	Status int          `json:"status" doc:"The HTTP status." example:"422"`
	Code   string       `json:"code" doc:"What kind of problem it is, for programs." example:"invalid"`
	Detail string       `json:"detail" doc:"What is wrong, in words."`
	Hint   string       `json:"hint,omitempty" doc:"What to do about it."`
	Errors []FieldError `json:"errors,omitempty" doc:"Each field that is wrong."`

	SQLState string `json:"sqlstate,omitempty" doc:"Of a statement of SQL: what PostgreSQL calls such an error." example:"42601"`
	Position int    `json:"position,omitempty" doc:"Where in the statement it is wrong, in characters from 1."`
	Line     int    `json:"line,omitempty" doc:"The line of that, from 1."`
	Column   int    `json:"column,omitempty" doc:"Where in that line, in characters from 1."`
}

// FieldError is what is wrong with one field.
type FieldError struct {
	Field  string `json:"field" doc:"Where, as a path." example:"params.items[2].count"`
	Reason string `json:"reason" doc:"What is wrong with it, in words."`
}

// Error reads as its detail and its hint.
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

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of a problem, whatever was asked for.
func (p *Problem) ContentType(string) string { return "application/problem+json" }
