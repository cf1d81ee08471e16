package engine

import (
	"sync/atomic"
	"time"
)

// stopwatch is how long something is ago, by a clock that nobody sets. One may mark
// it while another looks.
type stopwatch struct {
	from  time.Time
	nanos *atomic.Int64 // after from
}

// newStopwatch begins long ago.
func newStopwatch() stopwatch {
	return stopwatch{from: time.Now().Add(-time.Hour), nanos: new(atomic.Int64)}
}

func (s stopwatch) restart() { s.nanos.Store(int64(time.Since(s.from))) }

func (s stopwatch) elapsed() time.Duration { return time.Since(s.from) - time.Duration(s.nanos.Load()) }
