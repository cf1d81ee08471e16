package worker

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// lull is for how long a server that has failed is left alone: longer after each
// failure, and for each worker a little different.
type lull struct {
	mu    sync.Mutex
	last  time.Duration
	until time.Time
}

const (
	lullFirst = 50 * time.Millisecond
	lullMax   = time.Second
	lullAsked = time.Minute // if the server itself asks for more
)

// failed begins a lull, or makes it longer: at least as long as the server asks.
func (l *lull) failed(asked time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = min(max(2*l.last, lullFirst), lullMax)
	wait := l.last/2 + rand.N(l.last/2)
	if asked = min(asked, lullAsked); asked > 0 {
		wait = asked + rand.N(asked/4+1)
	}
	if until := time.Now().Add(wait); until.After(l.until) {
		l.until = until
	}
}

// passed ends it.
func (l *lull) passed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.until = 0, time.Time{}
}

// wait waits until it is over. Who has to be done by a certain time waits for
// half of it at most, and then tries.
func (l *lull) wait(ctx context.Context) error {
	l.mu.Lock()
	rest := time.Until(l.until)
	l.mu.Unlock()
	if end, bounded := ctx.Deadline(); bounded {
		rest = min(rest, time.Until(end)/2)
	}
	if rest <= 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
