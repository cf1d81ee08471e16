package postgres

import "sync/atomic"

// lookahead is how many jobs claimers of other processes hold at the head of the
// lanes, as far as it shows: a claim that finds too few free doubles it, any other
// lets it shrink.
type lookahead struct{ n atomic.Int32 }

// How far a claim looks past what others hold, at first and at most.
const (
	lookaheadMin = 64
	lookaheadMax = 1 << 16
)

func (c *lookahead) size() int { return int(c.n.Load()) }

// observe notes whether a claim came too short, and says whether it is worth another
// that looks further.
func (c *lookahead) observe(short bool) (again bool) {
	n := c.n.Load()
	if !short {
		c.n.CompareAndSwap(n, n-n/8-min(n, 1))
		return false
	}
	if n >= lookaheadMax {
		return false
	}
	c.n.CompareAndSwap(n, max(lookaheadMin, 2*n))
	return true
}
