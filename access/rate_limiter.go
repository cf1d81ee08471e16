package access

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// RateLimiter limits how many requests and statements each principal sends. It remembers a bounded number of principals;
// one that it forgets has its whole rate again.
type RateLimiter struct {
	clock func() time.Time
	seed  maphash.Seed

	mu    sync.Mutex
	names *budgets
}

const (
	limitedMax  = 1 << 14 // principals that are remembered
	rateDebtMax = time.Minute
)

// NewRateLimiter creates a limiter for a rate above zero. It is safe for concurrent use. A nil clock is the wall clock.
func NewRateLimiter(rate rota.Rate, clock func() time.Time) *RateLimiter {
	if clock == nil {
		clock = time.Now
	}
	interval := max(1, rate.Per/time.Duration(max(1, rate.Count)))
	return &RateLimiter{clock: clock, seed: maphash.MakeSeed(), names: newBudgets(interval, rate.Count, rateDebtMax, limitedMax)}
}

// Allow counts a request of a principal. If its rate is used up, it counts nothing, and returns how long to wait. A nil
// limiter allows everything.
func (l *RateLimiter) Allow(name string) (wait time.Duration, allowed bool) {
	if l == nil {
		return 0, true
	}
	key := maphash.String(l.seed, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if wait := l.names.wait(key, now); wait > 0 {
		return wait, false
	}
	l.names.use(key, now)
	return 0, true
}

// Count counts a request that cannot be refused any more. Later ones wait for it.
func (l *RateLimiter) Count(name string) {
	if l == nil {
		return
	}
	key := maphash.String(l.seed, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names.use(key, l.clock())
}
