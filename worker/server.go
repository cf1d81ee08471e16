package worker

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/apiclient"
)

// server sends requests to a Rota server.
type server struct {
	client  apiclient.Caller
	timeout time.Duration // of an answer, without the wait of a long poll

	claimBackoff backoff                    // separate, since a server may refuse long polls
	otherBackoff backoff                    // and accept all other requests
	waitRefused  atomic.Bool                // the server is older and refuses the field wait of an extend
	denied       atomic.Pointer[rota.Error] // the server refused the token: no more requests are sent
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
func (s *server) call(ctx context.Context, act string, r apiclient.Request, into any) error {
	return s.callAfter(ctx, &s.otherBackoff, s.timeout, act, r, into)
}

// declare is call for a declaration, which the server may deny to a token with which the worker can claim.
func (s *server) declare(ctx context.Context, act string, r apiclient.Request, into any) error {
	return s.send(ctx, &s.otherBackoff, s.timeout, act, r, into)
}

// waits reports whether the server may know the wait of an extend.
func (s *server) waits() bool { return !s.waitRefused.Load() }

// callWaiting is call for a request that the server may answer only after a wait.
func (s *server) callWaiting(ctx context.Context, wait time.Duration, act string, r apiclient.Request, into any) error {
	return s.callAfter(ctx, &s.otherBackoff, wait+s.timeout, act, r, into)
}

// longPoll is call for a claim, which the server may answer only after a wait.
func (s *server) longPoll(ctx context.Context, wait time.Duration, r apiclient.Request, into any) error {
	return s.callAfter(ctx, &s.claimBackoff, wait+s.timeout, "claim", r, into)
}

// callAfter sends a request after the backoff, so that the workers do not all reach a
// restarted server at once.
func (s *server) callAfter(ctx context.Context, b *backoff, timeout time.Duration, act string, r apiclient.Request, into any) error {
	if err := s.denied.Load(); err != nil {
		return err
	}
	err := s.send(ctx, b, timeout, act, r, into)
	if rota.CodeOf(err) == rota.Denied {
		s.denied.Store(asError(err))
	}
	return err
}

// send sends one request.
func (s *server) send(ctx context.Context, b *backoff, timeout time.Duration, act string, r apiclient.Request, into any) error {
	if err := b.wait(ctx); err != nil {
		return rota.Errorf(rota.Unavailable, act, "%w", err)
	}
	ctx, done := context.WithTimeout(ctx, timeout)
	defer done()
	err := s.client.Call(ctx, act, r, into)
	var later *apiclient.RetryLater
	switch {
	case errors.As(err, &later):
		b.failed(later.After)
	case apiclient.Undecided(err):
		b.failed(0)
	default:
		b.succeeded()
	}
	return err
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
