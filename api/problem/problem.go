// Package problem converts errors of the library to problems of the HTTP API: a status and a title for each error
// code, and the fields under the names that requests use.
package problem

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/payload"
)

// Kind is the status and title of one error code.
type Kind struct {
	Status int
	Title  string
}

// Kinds maps the error codes of the library. A test checks that it is complete.
var Kinds = map[rota.Code]Kind{
	rota.Invalid:     {http.StatusUnprocessableEntity, "Invalid request"},
	rota.NotFound:    {http.StatusNotFound, "Not found"},
	rota.Conflict:    {http.StatusConflict, "Conflict"},
	rota.Denied:      {http.StatusForbidden, "Denied"},
	rota.LeaseLost:   {http.StatusConflict, "Lease lost"},
	rota.Busy:        {http.StatusServiceUnavailable, "Busy"},
	rota.Unavailable: {http.StatusServiceUnavailable, "Unavailable"},
	rota.Internal:    {http.StatusInternalServerError, "Internal error"},
}

// New returns an error about a field, with a hint. An empty field stands for the whole request.
func New(code rota.Code, field, hint, reason string, args ...any) *rota.Error {
	return &rota.Error{Code: code, Field: field, Reason: fmt.Sprintf(reason, args...), Hint: hint}
}

// Of converts an error of the library to the problem of a response. An internal error keeps its cause to itself.
func Of(err error) *api.Problem {
	var ready *api.Problem
	if errors.As(err, &ready) {
		return ready
	}
	code := rota.CodeOf(err)
	k, known := Kinds[code]
	if !known {
		code, k = rota.Internal, Kinds[rota.Internal]
	}
	p := &api.Problem{Title: k.Title, Status: k.Status, Code: string(code)}
	if code == rota.Internal {
		Hide(p)
		return p
	}
	describeError(p, err)
	return p
}

// Hide sets the texts of an internal error, without its cause.
func Hide(p *api.Problem) {
	p.Detail, p.Hint = "internal error", "see the server log for the cause; if the error persists, run rota verify"
}

// describeError sets the texts and fields of a problem.
func describeError(p *api.Problem, err error) {
	var e *rota.Error
	if !errors.As(err, &e) { // the context has ended
		p.Detail, p.Hint = "the request ended before its result was known", "send it again; with an Idempotency-Key it takes effect once"
		return
	}
	plain := *e
	plain.Hint, plain.Act = "", ""
	p.Detail, p.Hint = plain.Error(), e.Hint
	if code := rota.Code(p.Code); e.Field == "" || code != rota.Invalid && code != rota.Conflict {
		if e.Field != "" && code == rota.NotFound {
			plain.Field = ""
			p.Detail = plain.Error()
		}
		return
	}
	var many payload.Problems
	if errors.As(err, &many) && len(many) > 0 {
		for _, one := range many[:min(len(many), Max)] {
			p.Errors = append(p.Errors, api.FieldError{Field: one.Field, Reason: one.Reason})
		}
		p.Detail = Detail(p.Errors)
		return
	}
	plain.Field = ""
	p.Errors = []api.FieldError{{Field: e.Field, Reason: plain.Error()}}
}

// Max is the highest number of invalid fields in one response.
const Max = 20

// Malformed is the error for input that cannot be parsed: 400.
func Malformed(field, format string, args ...any) *api.Problem {
	reason := fmt.Sprintf(format, args...)
	p := &api.Problem{Title: "Malformed request", Status: http.StatusBadRequest, Code: string(rota.Invalid), Detail: reason}
	if field != "" {
		p.Detail = field + ": " + reason
		p.Errors = []api.FieldError{{Field: field, Reason: reason}}
	}
	return p
}

// Fields is the error for a body with invalid fields: 422.
func Fields(errs []api.FieldError) *api.Problem {
	return &api.Problem{
		Title: Kinds[rota.Invalid].Title, Status: http.StatusUnprocessableEntity, Code: string(rota.Invalid),
		Detail: Detail(errs), Errors: errs,
	}
}

// Detail summarizes invalid fields in one sentence.
func Detail(errs []api.FieldError) string {
	text := errs[0].Reason
	if errs[0].Field != "" {
		text = errs[0].Field + ": " + text
	}
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
