package engine

import (
	"sync/atomic"
	"time"
)

// since is how long something is ago, by a clock that nobody sets. One may mark
// it while another looks.
type since struct {
	from  time.Time
	nanos *atomic.Int64 // after from
}

// newSince begins long ago.
func newSince() since { return since{from: time.Now().Add(-time.Hour), nanos: new(atomic.Int64)} }

func (s since) mark() { s.nanos.Store(int64(time.Since(s.from))) }

func (s since) passed() time.Duration { return time.Since(s.from) - time.Duration(s.nanos.Load()) }
