package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/sql/session"
)

// problemKind is the status and title of one error code.
type problemKind struct {
	status int
	title  string
}

// problemKinds maps the error codes of the library. A test checks that it is complete.
var problemKinds = map[rota.Code]problemKind{
	rota.Invalid:     {http.StatusUnprocessableEntity, "Invalid request"},
	rota.NotFound:    {http.StatusNotFound, "Not found"},
	rota.Conflict:    {http.StatusConflict, "Conflict"},
	rota.Denied:      {http.StatusForbidden, "Denied"},
	rota.LeaseLost:   {http.StatusConflict, "Lease lost"},
	rota.Busy:        {http.StatusServiceUnavailable, "Busy"},
	rota.Unavailable: {http.StatusServiceUnavailable, "Unavailable"},
	rota.Internal:    {http.StatusInternalServerError, "Internal error"},
}

// Error codes that only this package uses.
const (
	codeMethod    = "method_not_allowed"
	codeTooLarge  = "too_large"
	codeMediaType = "unsupported_media_type"
	codeTooMany   = "too_many_requests"
)

// resourceBusy marks a Busy error that is about the requested resource, not about the store. Another
// request holds the resource, so an immediate retry is useless.
type resourceBusy struct{ error }

func (b resourceBusy) Unwrap() error { return b.error }

// problemOf converts an error to the problem in the response. Internal errors go to the log only.
func problemOf(err error) *api.Problem {
	var ready *api.Problem
	if errors.As(err, &ready) {
		return ready
	}
	var statement *session.Error
	if errors.As(err, &statement) {
		return sqlProblem(statement)
	}
	code := rota.CodeOf(err)
	k, known := problemKinds[code]
	if !known {
		code, k = rota.Internal, problemKinds[rota.Internal]
	}
	p := &api.Problem{Title: k.title, Status: k.status, Code: string(code)}
	var busy resourceBusy
	if code == rota.Busy && errors.As(err, &busy) {
		p.Status = http.StatusConflict
	}
	if code == rota.Internal {
		describeInternal(p)
		return p
	}
	describeError(p, err)
	return p
}

// describeInternal sets the texts of an internal error, without its cause.
func describeInternal(p *api.Problem) {
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
		for _, one := range many[:min(len(many), errorsMax)] {
			p.Errors = append(p.Errors, api.FieldError{Field: one.Field, Reason: one.Reason})
		}
		p.Detail = detailOf(p.Errors)
		return
	}
	plain.Field = ""
	p.Errors = []api.FieldError{{Field: e.Field, Reason: plain.Error()}}
}

// errorsMax is the highest number of invalid fields in one response.
const errorsMax = 20

// malformed is the error for input that cannot be parsed: 400.
func malformed(field, format string, args ...any) *api.Problem {
	reason := fmt.Sprintf(format, args...)
	p := &api.Problem{Title: "Malformed request", Status: http.StatusBadRequest, Code: string(rota.Invalid), Detail: reason}
	if field != "" {
		p.Detail = field + ": " + reason
		p.Errors = []api.FieldError{{Field: field, Reason: reason}}
	}
	return p
}

// badFields is the error for a body with invalid fields: 422.
func badFields(errs []api.FieldError) *api.Problem {
	return &api.Problem{
		Title: problemKinds[rota.Invalid].title, Status: http.StatusUnprocessableEntity, Code: string(rota.Invalid),
		Detail: detailOf(errs), Errors: errs,
	}
}

// detailOf summarizes invalid fields in one sentence.
func detailOf(errs []api.FieldError) string {
	text := errs[0].Reason
	if errs[0].Field != "" {
		text = errs[0].Field + ": " + text
	}
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// renameFields replaces field names of the library by those of the API. It takes pairs of old and new
// names, and renames the first whose old name starts the path.
func renameFields(err error, names ...string) error {
	var e *rota.Error
	if err == nil || !errors.As(err, &e) {
		return err
	}
	for i := 0; i+1 < len(names); i += 2 {
		if rest, found := cutField(e.Field, names[i]); found {
			renamed := *e
			renamed.Field = strings.TrimPrefix(names[i+1]+rest, ".")
			renamed.Err = renameProblems(e.Err, names[i], names[i+1])
			return &renamed
		}
	}
	return err
}

// cutField removes a whole name from the front of a path.
func cutField(path, name string) (rest string, found bool) {
	rest, found = strings.CutPrefix(path, name)
	return rest, found && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// renameProblems renames the fields of all problems of a payload.
func renameProblems(err error, from, to string) error {
	var many payload.Problems
	if !errors.As(err, &many) {
		return err
	}
	renamed := make(payload.Problems, len(many))
	for i, one := range many {
		if rest, found := cutField(one.Field, from); found {
			one.Field = strings.TrimPrefix(to+rest, ".")
		}
		renamed[i] = one
	}
	return renamed
}
