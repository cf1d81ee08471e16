package worker

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// problem is an error as a server answers it.
type problem struct {
	Title  string `json:"title"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Hint   string `json:"hint"`
	Errors []struct {
		Field  string `json:"field"`
		Reason string `json:"reason"`
	} `json:"errors"`
}

// statusCodes are the codes of problems that only HTTP knows.
var statusCodes = map[int]rota.Code{
	http.StatusUnauthorized: rota.Denied, http.StatusForbidden: rota.Denied, http.StatusNotFound: rota.NotFound,
	http.StatusConflict: rota.Conflict, http.StatusTooManyRequests: rota.Unavailable, http.StatusRequestTimeout: rota.Unavailable,
	http.StatusBadGateway: rota.Unavailable, http.StatusServiceUnavailable: rota.Unavailable, http.StatusGatewayTimeout: rota.Unavailable,
}

// retryLater is an answer that says when to ask again.
type retryLater struct {
	error
	after time.Duration
}

// Unwrap returns what went wrong.
func (r *retryLater) Unwrap() error { return r.error }

// read reads an answer, or the error that it is.
func (s *server) read(act string, answer *http.Response, text []byte, into any) error {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode < 300 && media == "application/json" && json.Unmarshal(text, into) == nil {
		s.met.Store(true)
		return nil
	}
	var p problem
	if answer.StatusCode < 400 || media != "application/problem+json" || json.Unmarshal(text, &p) != nil || p.Code == "" {
		return s.stranger(act, answer)
	}
	s.met.Store(true)
	return later(answer, p.error(act, answer.StatusCode))
}

// error is what a problem says.
func (p *problem) error(act string, status int) *rota.Error {
	e := &rota.Error{Code: rota.Code(p.Code), Act: act, Reason: p.Detail, Hint: p.Hint}
	if !slices.Contains(rota.Codes, e.Code) {
		e.Code = codeOf(status)
	}
	if e.Reason == "" {
		e.Reason = p.Title
	}
	if len(p.Errors) == 1 {
		e.Field, e.Reason = p.Errors[0].Field, p.Errors[0].Reason
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

// stranger is the answer of somebody else at this address. Where Rota has
// answered before, it is somebody who stands in for it while it is away; else
// the address is wrong.
func (s *server) stranger(act string, answer *http.Response) error {
	e := &rota.Error{
		Code: codeOf(answer.StatusCode), Act: act, Field: "url", Hint: "see that the address is that of a Rota server",
		Reason: "what listens at " + strings.TrimSuffix(s.base, "/api/v1") + " is not a Rota server: it answers " + answer.Status,
	}
	switch {
	case s.met.Load() && answer.StatusCode == http.StatusRequestEntityTooLarge: // and will be so the next time, too
		e.Code, e.Field, e.Reason = rota.Invalid, "", "something before the server takes no request that long: it answers "+answer.Status
		e.Hint = "raise its limit to 2 MiB"
	case e.Code == rota.Unavailable, e.Code == rota.Internal, s.met.Load():
		e.Code, e.Field = rota.Unavailable, ""
	case e.Code != rota.Denied:
		e.Code = rota.Invalid
	}
	if to := answer.Header.Get("Location"); to != "" {
		e.Hint = "it sends its callers on to another address: use that"
	}
	return later(answer, e)
}

// later adds when the server asks to be called again.
func later(answer *http.Response, e *rota.Error) error {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 || !undecided(e) {
		return e
	}
	return &retryLater{e, time.Duration(seconds) * time.Second}
}
