package apiclient

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// Caller sends requests to one server and decodes the answers. Each of its errors is a rota.Error, or wraps one in a
// RetryLater.
type Caller struct {
	Client
	answered atomic.Bool // a Rota server has answered
}

// RetryLater is an error with the Retry-After of the server.
type RetryLater struct {
	error
	After time.Duration
}

// RetryAfter returns how long to wait before the request is sent again. rota.Client calls it.
func (r *RetryLater) RetryAfter() time.Duration { return r.After }

// Unwrap returns the error.
func (r *RetryLater) Unwrap() error { return r.error }

// answerMax bounds one answer: twice the params of one claim, as text.
const answerMax = 256 << 20

// CheckAddress returns the URL of a server without a trailing slash.
func CheckAddress(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return "", rota.Invalidf("url", "is not the address of a server; write it like http://127.0.0.1:7420")
	case u.User != nil:
		return "", rota.Invalidf("url", "contains a name or a password, which would appear in logs; pass the token separately")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// CheckToken refuses a missing token, unless the client logs in by certificate.
func CheckToken(token string, config *tls.Config) error {
	if token == "" && !HasCertificate(config) {
		return rota.Invalidf("token", "is empty; pass the token of the file admin.token in the data directory of the server")
	}
	if UnsendableToken(token) {
		return rota.Invalidf("token", "contains a line break or a control character; pass the token alone")
	}
	return nil
}

// UnsendableToken reports whether a token has a character that no header can have, so that it cannot be sent.
func UnsendableToken(token string) bool {
	return strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// Undecided reports whether an error leaves open if the request was executed.
func Undecided(err error) bool {
	switch rota.CodeOf(err) {
	case rota.Unavailable, rota.Busy, rota.Internal:
		return true
	}
	return false
}

// Call sends a request and decodes the answer. The act names the operation in errors. Without an answer the error is
// Unavailable.
func (c *Caller) Call(ctx context.Context, act string, r Request, into any) error {
	answer, err := c.Send(ctx, r)
	if err != nil {
		return c.noAnswer(ctx, act, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	switch {
	case err != nil:
		return c.noAnswer(ctx, act, err)
	case len(text) > answerMax:
		return rota.Errorf(rota.Internal, act, "the server's answer is longer than %d bytes", answerMax)
	}
	return c.read(act, answer, text, into)
}

// noAnswer is the error of a request without an answer. It closes the idle connections, which may be dead, too.
func (c *Caller) noAnswer(ctx context.Context, act string, err error) error {
	if invalid, is := err.(*rota.Error); is { // the request could not be built
		invalid.Act = act
		return invalid
	}
	c.HTTP.CloseIdleConnections()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return rota.Errorf(rota.Unavailable, act, "%w", cause)
	}
	if fault, reason := TLSFaultOf(c.Address, err); fault != NoFault {
		return c.tlsError(act, fault, reason)
	}
	var outer *url.Error // it repeats the URL
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return rota.Errorf(rota.Unavailable, act, "no server answers at %s: %w", c.Address, err)
}

// read decodes an answer, or returns the error that it carries.
func (c *Caller) read(act string, answer *http.Response, text []byte, into any) error {
	media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if answer.StatusCode < 300 && media == "application/json" && json.Unmarshal(text, into) == nil {
		c.answered.Store(true)
		return nil
	}
	if AnsweredByTLS(answer, text) {
		return c.tlsError(act, ServerIsTLS, PlainToTLS(c.Address))
	}
	p := Problem(answer, text)
	if p == nil || p.Code == "" {
		return c.notRotaError(act, answer)
	}
	c.answered.Store(true)
	return withRetryAfter(answer, problemError(p, act, answer.StatusCode))
}

// Unreadable is the error of an answer that cannot be read.
func Unreadable(act string, err error) *rota.Error {
	return rota.Errorf(rota.Internal, act, "the server's answer cannot be read: %w", err)
}

// withRetryAfter adds the Retry-After of the server to an error.
func withRetryAfter(answer *http.Response, e *rota.Error) error {
	seconds, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	if err != nil || seconds <= 0 || !Undecided(e) {
		return e
	}
	return &RetryLater{e, time.Duration(seconds) * time.Second}
}
