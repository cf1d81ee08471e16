package engine

import (
	"sync/atomic"
	"time"
)

// stopwatch measures the time since its last restart by the monotonic clock. It may
// be restarted while another goroutine reads it.
type stopwatch struct {
	from  time.Time
	nanos *atomic.Int64 // from `from` to the last restart
}

// newStopwatch returns a stopwatch that shows at least an hour.
func newStopwatch() stopwatch {
	return stopwatch{from: time.Now().Add(-time.Hour), nanos: new(atomic.Int64)}
}

func (s stopwatch) restart() { s.nanos.Store(int64(time.Since(s.from))) }

func (s stopwatch) elapsed() time.Duration { return time.Since(s.from) - time.Duration(s.nanos.Load()) }
