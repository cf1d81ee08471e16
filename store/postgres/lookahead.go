package postgres

import "sync/atomic"

// lookahead is an estimate of how many jobs claims of other processes hold at the heads of the type
// queues. A claim that finds too few free jobs doubles it; any other claim reduces it.
type lookahead struct{ n atomic.Int32 }

// First step and largest value. The lookahead starts at 0 and can shrink to 0.
const (
	lookaheadMin = 64
	lookaheadMax = 1 << 16
)

func (l *lookahead) size() int { return int(l.n.Load()) }

// observe records whether a claim found too few jobs, and reports whether it is worth reading
// further.
func (l *lookahead) observe(short bool) (retry bool) {
	n := l.n.Load()
	if !short {
		l.n.CompareAndSwap(n, n-n/8-min(n, 1))
		return false
	}
	if n >= lookaheadMax {
		return false
	}
	l.n.CompareAndSwap(n, max(lookaheadMin, 2*n))
	return true
}
