package httpapi

import (
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// rateLimiter limits the request rate with a token bucket that holds the tokens of one period.
type rateLimiter struct {
	rate  rota.Rate
	clock func() time.Time

	mu         sync.Mutex
	tokens     float64
	refilledAt time.Time
}

func newRateLimiter(rate rota.Rate, clock func() time.Time) *rateLimiter {
	return &rateLimiter{rate: rate, clock: clock, tokens: float64(rate.Count), refilledAt: clock()}
}

func (l *rateLimiter) allow() bool {
	if l.rate.Count == 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock()
	if passed := now.Sub(l.refilledAt); passed > 0 {
		l.tokens = min(float64(l.rate.Count), l.tokens+passed.Seconds()/l.rate.Per.Seconds()*float64(l.rate.Count))
	}
	l.refilledAt = now
	if l.tokens < 1 {
		return false
	}
	l.tokens--
	return true
}

func rateExceeded() *api.Problem {
	return &api.Problem{
		Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
		Detail: "the request rate exceeds the limit of this server", Hint: "send fewer requests, or raise http_rate in the configuration",
	}
}
