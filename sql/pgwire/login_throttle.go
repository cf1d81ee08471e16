package pgwire

import (
	"net"
	"sync"
	"time"
)

// loginThrottle counts wrong passwords by client address, so that the answer to the next one
// takes longer. A correct password is never delayed.
type loginThrottle struct {
	mu        sync.Mutex
	baseDelay time.Duration
	failures  map[string]failedLogins
}

type failedLogins struct {
	count int
	last  time.Time
}

const (
	throttleAddressesMax = 1000 // addresses
	throttleDoublingsMax = 3    // times that the delay is doubled
	throttleReset        = time.Minute
)

func newLoginThrottle(least time.Duration) *loginThrottle {
	return &loginThrottle{baseDelay: least, failures: map[string]failedLogins{}}
}

// delay counts a wrong password and returns how long to wait before the refusal.
func (g *loginThrottle) delay(address string) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if len(g.failures) >= throttleAddressesMax {
		g.removeExpired(now)
	}
	earlier := g.failures[address]
	if now.Sub(earlier.last) > throttleReset {
		earlier.count = 0
	}
	if _, kept := g.failures[address]; kept || len(g.failures) < throttleAddressesMax {
		g.failures[address] = failedLogins{earlier.count + 1, now}
	}
	return g.baseDelay << min(earlier.count, throttleDoublingsMax)
}

func (g *loginThrottle) removeExpired(now time.Time) {
	for address, earlier := range g.failures {
		if now.Sub(earlier.last) > throttleReset {
			delete(g.failures, address)
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
