package apiclient

import (
	"net/http"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// statusCodes maps HTTP statuses to codes, for problems whose code is not one of Rota's.
var statusCodes = map[int]rota.Code{
	http.StatusUnauthorized: rota.Denied, http.StatusForbidden: rota.Denied, http.StatusNotFound: rota.NotFound,
	http.StatusConflict: rota.Conflict, http.StatusPreconditionFailed: rota.Conflict,
	http.StatusTooManyRequests: rota.Unavailable, http.StatusRequestTimeout: rota.Unavailable,
	http.StatusBadGateway: rota.Unavailable, http.StatusServiceUnavailable: rota.Unavailable, http.StatusGatewayTimeout: rota.Unavailable,
}

// problemError returns a problem as a rota.Error.
func problemError(p *api.Problem, act string, status int) *rota.Error {
	e := &rota.Error{Code: rota.Code(p.Code), Act: act, Reason: p.Detail, Hint: p.Hint}
	if !slices.Contains(rota.Codes, e.Code) {
		e.Code = codeOf(status)
	}
	if e.Reason == "" {
		e.Reason = p.Title
	}
	if len(p.Errors) > 0 {
		e.Field, e.Reason = p.Errors[0].Field, p.Errors[0].Reason
	}
	if status == http.StatusPreconditionFailed && e.Field == "" {
		e.Field = "version" // as the store names it
	}
	for _, more := range p.Errors[min(1, len(p.Errors)):] {
		e.Reason += "; " + more.Field + ": " + more.Reason
	}
	return e
}

func codeOf(status int) rota.Code {
	code, known := statusCodes[status]
	switch {
	case known:
		return code
	case status >= http.StatusInternalServerError:
		return rota.Internal
	}
	return rota.Invalid
}

// notRotaError is the error for an answer that does not come from a Rota server. If Rota has answered at this address
// before, a proxy answers while Rota is away; otherwise the address is wrong.
func (c *Caller) notRotaError(act string, answer *http.Response) error {
	e := &rota.Error{
		Code: codeOf(answer.StatusCode), Act: act, Field: "url", Hint: "use the address of a Rota server",
		Reason: "what listens at " + c.Address + " is not a Rota server: it answers " + answer.Status,
	}
	switch {
	case c.answered.Load() && answer.StatusCode == http.StatusRequestEntityTooLarge: // a retry has the same result
		e.Code, e.Field, e.Reason = rota.Invalid, "", "a proxy in front of the server refuses a request of this size: it answers "+answer.Status
		e.Hint = "raise its limit to 2 MiB"
	case e.Code == rota.Unavailable, e.Code == rota.Internal, c.answered.Load():
		e.Code, e.Field = rota.Unavailable, ""
	case e.Code != rota.Denied:
		e.Code = rota.Invalid
	}
	if to := answer.Header.Get("Location"); to != "" {
		e.Hint = "it redirects to another address: use that one"
	}
	return withRetryAfter(answer, e)
}
