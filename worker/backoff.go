package worker

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

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
