package rota

import (
	"context"
	"errors"
	"time"
)

// DefaultRetryFor is how long a client of New repeats a call while its store is unavailable.
const DefaultRetryFor = 500 * time.Millisecond

// WithRetryFor sets how long the client repeats a call while the store is unavailable,
// counted from its start. A call that takes longer than that is repeated once. With 0 the
// client repeats nothing. If a server says how long to wait (Retry-After), the client waits
// that long, or returns the error if that is too long. The end of the context always ends the call.
//
// A repeated write has the same command id, so the store applies it once.
func WithRetryFor(d time.Duration) ClientOption { return func(c *Client) { c.retryFor = d } }

// The first pause before a call is repeated, the factor of the next ones, and the longest.
const (
	retryPauseFirst  = 10 * time.Millisecond
	retryPauseFactor = 5
	retryPauseMax    = time.Second
)

// withRetry repeats a call while the store is unavailable.
func withRetry[T any](ctx context.Context, c *Client, call func() (T, error)) (T, error) {
	start, pause := time.Now(), retryPauseFirst
	for again := false; ; again = true {
		answer, err := call()
		wait := max(pause, retryAfter(err))
		if CodeOf(err) != Unavailable || ctx.Err() != nil || c.retryFor <= 0 || (again || wait > pause) && time.Since(start)+wait > c.retryFor {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(wait):
		}
		pause = min(pause*retryPauseFactor, retryPauseMax)
	}
}

// retryAfter returns how long a server asks to wait before a call is repeated; 0: it does not say.
func retryAfter(err error) time.Duration {
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		return later.RetryAfter()
	}
	return 0
}

// apply sends a command to the store of the client. It sends the same command with the
// same id again while the store is unavailable. A caller that repeats Enqueue would send a
// new command instead.
func apply[R Reply](ctx context.Context, c *Client, command Command) (R, error) {
	return withRetry(ctx, c, func() (R, error) { return Do[R](ctx, c.store, command) })
}
