package pgwire

import (
	"net"
	"sync"
	"time"
)

// guard remembers who has guessed passwords, by address, so that the next guess
// takes longer. Who knows the password is never kept waiting.
type guard struct {
	mu    sync.Mutex
	least time.Duration
	wrong map[string]guesses
}

type guesses struct {
	count int
	last  time.Time
}

const (
	guardMost   = 1000 // addresses
	guardDouble = 3    // times that the delay is doubled
	guardForget = time.Minute
)

func newGuard(least time.Duration) *guard {
	return &guard{least: least, wrong: map[string]guesses{}}
}

// delay counts a wrong guess and says how long its refusal takes.
func (g *guard) delay(address string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if len(g.wrong) >= guardMost {
		g.forget(now)
	}
	was := g.wrong[address]
	if now.Sub(was.last) > guardForget {
		was.count = 0
	}
	if _, kept := g.wrong[address]; kept || len(g.wrong) < guardMost {
		g.wrong[address] = guesses{was.count + 1, now}
	}
	return g.least << min(was.count, guardDouble)
}

func (g *guard) forget(now time.Time) {
	for address, was := range g.wrong {
		if now.Sub(was.last) > guardForget {
			delete(g.wrong, address)
		}
	}
}

// host is an address without its port.
func host(address net.Addr) string {
	if name, _, err := net.SplitHostPort(address.String()); err == nil {
		return name
	}
	return address.String()
}
