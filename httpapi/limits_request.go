package httpapi

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// crowd bounds how many requests are under way at once.
type crowd chan struct{}

func (c crowd) enter() bool {
	select {
	case c <- struct{}{}:
		return true
	default:
		return false
	}
}

func (c crowd) leave() { <-c }

// bodiesWait is how long a large body waits for its turn to be read.
const bodiesWait = 10 * time.Second

// wait enters as soon as there is room, if that comes in time.
func (c crowd) wait(ctx context.Context, most time.Duration) error {
	late := time.NewTimer(most)
	defer late.Stop()
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return crowded("as many large bodies are being read as this server is set to read at once")
	}
}

func crowded(detail string) *Problem {
	return &Problem{
		Title: kinds[rota.Unavailable].title, Status: http.StatusServiceUnavailable, Code: string(rota.Unavailable),
		Detail: detail, Hint: "try again in a moment",
	}
}

// pace bounds how many requests are answered in a stretch of time: a bucket that
// fills evenly and holds what may come in one period.
type pace struct {
	rate  rota.Rate
	clock func() time.Time

	mu   sync.Mutex
	room float64
	at   time.Time
}

func newPace(rate rota.Rate, clock func() time.Time) *pace {
	return &pace{rate: rate, clock: clock, room: float64(rate.Count), at: clock()}
}

func (p *pace) allow() bool {
	if p.rate.Count == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock()
	if passed := now.Sub(p.at); passed > 0 {
		p.room = min(float64(p.rate.Count), p.room+passed.Seconds()/p.rate.Per.Seconds()*float64(p.rate.Count))
	}
	p.at = now
	if p.room < 1 {
		return false
	}
	p.room--
	return true
}

func tooFast() *Problem {
	return &Problem{
		Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
		Detail: "more requests come than this server is set to answer", Hint: "slow down, or raise http_rate in the configuration",
	}
}
