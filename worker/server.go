package worker

import (
	"context"
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
	"github.com/rotajobs/rota/api/client"
)

// server sends requests to a Rota server.
type server struct {
	client  client.Client
	timeout time.Duration // of an answer, without the wait of a long poll

	claimBackoff backoff                    // separate, since a server may refuse long polls
	otherBackoff backoff                    // and accept all other requests
	answered     atomic.Bool                // a Rota server has answered
	denied       atomic.Pointer[rota.Error] // the server refused the token: no more requests are sent
}

// answerMax bounds one response: twice the params of one claim, as text.
const answerMax = 256 << 20

// checkAddress returns the URL of a server without a trailing slash.
func checkAddress(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https", u.RawQuery != "", u.Fragment != "":
		return "", rota.Invalidf("url", "is not the address of a server; write it like http://127.0.0.1:7420")
	case u.User != nil:
		return "", rota.Invalidf("url", "contains a name or a password, which would appear in logs; pass the token separately")
	}
	return strings.TrimRight(u.String(), "/"), nil
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

// call sends a request and decodes the response. The act names the operation in errors.
func (s *server) call(ctx context.Context, act string, r client.Request, into any) error {
	return s.callAfter(ctx, &s.otherBackoff, s.timeout, act, r, into)
}

// longPoll is call for a claim, which the server may answer only after a wait.
func (s *server) longPoll(ctx context.Context, wait time.Duration, r client.Request, into any) error {
	return s.callAfter(ctx, &s.claimBackoff, wait+s.timeout, "claim", r, into)
}

// callAfter sends a request after the backoff, so that the workers do not all reach a
// restarted server at once.
func (s *server) callAfter(ctx context.Context, b *backoff, timeout time.Duration, act string, r client.Request, into any) error {
	if err := s.denied.Load(); err != nil {
		return err
	}
	if err := b.wait(ctx); err != nil {
		return rota.Errorf(rota.Unavailable, act, "%w", err)
	}
	ctx, done := context.WithTimeout(ctx, timeout)
	defer done()
	err := s.send(ctx, act, r, into)
	var later *retryLater
	switch {
	case errors.As(err, &later):
		b.failed(later.after)
	case undecided(err):
		b.failed(0)
	default:
		b.succeeded()
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

func (s *server) send(ctx context.Context, act string, r client.Request, into any) error {
	answer, err := s.client.Send(ctx, r)
	if err != nil {
		return s.noAnswer(ctx, act, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, answerMax+1))
	switch {
	case err != nil:
		return s.noAnswer(ctx, act, err)
	case len(text) > answerMax:
		return rota.Errorf(rota.Internal, act, "the server's answer is longer than %d bytes", answerMax)
	}
	return s.read(act, answer, text, into)
}

// noAnswer is the error of a request without an answer. It closes the idle connections,
// which may be dead, too.
func (s *server) noAnswer(ctx context.Context, act string, err error) error {
	if invalid, is := err.(*rota.Error); is { // the request could not be built
		invalid.Act = act
		return invalid
	}
	s.client.HTTP.CloseIdleConnections()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return rota.Errorf(rota.Unavailable, act, "%w", cause)
	}
	var outer *url.Error // it repeats the URL
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return rota.Errorf(rota.Unavailable, act, "no server answers at %s: %w", s.client.Address, err)
}

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
