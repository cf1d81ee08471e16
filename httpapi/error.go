package httpapi

import (
	"errors"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/sql/session"
)

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
	var statement *session.Error
	if errors.As(err, &statement) {
		return sqlProblem(statement)
	}
	p := problem.Of(err)
	var busy resourceBusy
	if p.Code == string(rota.Busy) && errors.As(err, &busy) {
		p.Status = http.StatusConflict
	}
	return p
}
