package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// server sends requests to a Rota server.
type server struct {
	base    string // of all URLs
	token   string
	http    *http.Client
	timeout time.Duration // of an answer, without the wait of a long poll

	claimBackoff backoff                    // separate, since a server may refuse long polls
	otherBackoff backoff                    // and accept all other requests
	answered     atomic.Bool                // a Rota server has answered
	denied       atomic.Pointer[rota.Error] // the server refused the token: no more requests are sent
}

// request is one request to the server.
type request struct {
	act     string // the operation, for errors
	method  string
	path    string // appended to the base
	body    any
	key     string        // idempotency key, the same when the request is sent again; empty: none is needed
	wait    time.Duration // how long the server may wait before it answers
	backoff *backoff
}

// answerMax bounds one response: twice the params of one claim, as text.
const answerMax = 256 << 20

// apiURL returns the URL of the API of a server.
func apiURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return "", rota.Invalidf("url", "is not the address of a server; write it like http://127.0.0.1:7420")
	case u.User != nil:
		return "", rota.Invalidf("url", "contains a name or a password, which would appear in logs; pass the token separately")
	}
	return strings.TrimRight(u.String(), "/") + "/api/v1", nil
}

// newClient returns the HTTP client of one worker. HTTP/1 suffices for its three concurrent
// requests, and a dead connection then affects only the request that uses it.
func newClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP1(true)
	transport.ForceAttemptHTTP2 = false
	return &http.Client{Transport: transport}
}

// withoutRedirects returns a client that follows no redirect: a person should learn that the
// server has moved, and the token must not reach another server.
func withoutRedirects(client *http.Client) *http.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// call sends a request and decodes the response. After a failure it first waits for the
// backoff, so that the workers do not all reach a restarted server at once.
func (s *server) call(ctx context.Context, r request, into any) error {
	if err := s.denied.Load(); err != nil {
		return err
	}
	if err := r.backoff.wait(ctx); err != nil {
		return rota.Errorf(rota.Unavailable, r.act, "%w", err)
	}
	err := s.send(ctx, r, into)
	var later *retryLater
	switch {
	case errors.As(err, &later):
		r.backoff.failed(later.after)
	case undecided(err):
		r.backoff.failed(0)
	default:
		r.backoff.succeeded()
	}
	if rota.CodeOf(err) == rota.Denied {
		s.denied.Store(asError(err))
	}
	return err
}

// undecided reports whether an error leaves open if the request was executed.
func undecided(err error) bool {
	switch rota.CodeOf(err) {
	case rota.Unavailable, rota.Busy, rota.Internal:
		return true
	}
	return false
}

func (s *server) send(ctx context.Context, r request, into any) error {
	ctx, done := context.WithTimeout(ctx, r.wait+s.timeout)
	defer done()
	req, err := s.req(ctx, r)
	if err != nil {
		return err
	}
	answer, err := s.http.Do(req)
	if err != nil {
		return s.noAnswer(ctx, r.act, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	switch {
	case err != nil:
		return s.noAnswer(ctx, r.act, err)
	case len(text) > answerMax:
		return rota.Errorf(rota.Internal, r.act, "the server's answer is longer than %d bytes", answerMax)
	}
	return s.read(r.act, answer, text, into)
}

func (s *server) req(ctx context.Context, r request) (*http.Request, error) {
	var body io.Reader
	if r.body != nil {
		text, err := encode(r.body)
		if err != nil {
			return nil, rota.Errorf(rota.Invalid, r.act, "cannot be written as JSON: %w", err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, s.base+r.path, body)
	if err != nil {
		return nil, rota.Errorf(rota.Invalid, r.act, "%w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	return req, nil
}

// encode returns JSON in which embedded documents stay unescaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// noAnswer is the error of a request without an answer. It closes the idle connections,
// which may be dead, too.
func (s *server) noAnswer(ctx context.Context, act string, err error) error {
	s.http.CloseIdleConnections()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return rota.Errorf(rota.Unavailable, act, "%w", cause)
	}
	var outer *url.Error // it repeats the URL
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return rota.Errorf(rota.Unavailable, act, "no server answers at %s: %w", s.address(), err)
}

// address is the address of the server as the user gave it.
func (s *server) address() string { return strings.TrimSuffix(s.base, "/api/v1") }

// backoff is how long to wait before the next request to a server that has failed: longer
// after each failure, and slightly different for each worker.
type backoff struct {
	mu    sync.Mutex
	last  time.Duration
	until time.Time
}

const (
	backoffFirst  = 50 * time.Millisecond
	backoffMax    = time.Second
	retryAfterMax = time.Minute // the longest Retry-After that is honoured
)

// failed starts or extends the backoff: at least to the Retry-After of the server.
func (b *backoff) failed(retryAfter time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = min(max(2*b.last, backoffFirst), backoffMax)
	wait := b.last/2 + rand.N(b.last/2)
	if retryAfter = min(retryAfter, retryAfterMax); retryAfter > 0 {
		wait = retryAfter + rand.N(retryAfter/4+1)
	}
	if until := time.Now().Add(wait); until.After(b.until) {
		b.until = until
	}
}

// succeeded resets the backoff.
func (b *backoff) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.until = 0, time.Time{}
}

// wait waits until the backoff is over. If ctx has a deadline, it waits for at most half
// of the remaining time, so that the request is still sent.
func (b *backoff) wait(ctx context.Context) error {
	b.mu.Lock()
	left := time.Until(b.until)
	b.mu.Unlock()
	if end, bounded := ctx.Deadline(); bounded {
		left = min(left, time.Until(end)/2)
	}
	if left <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
