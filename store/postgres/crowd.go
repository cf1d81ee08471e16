package postgres

import "sync/atomic"

// crowd is how many claimers of other processes take from the same lanes at the
// same time, as far as it shows: a claim that finds too many jobs locked doubles
// it, any other lets it shrink.
type crowd struct{ n atomic.Int32 }

// crowdMax bounds how far a claim looks past those that others have locked.
const crowdMax = 64

func (c *crowd) size() int { return int(c.n.Load()) }

// met notes whether a claim came too short, and says whether it is worth another
// that looks further.
func (c *crowd) met(short bool) (again bool) {
	n := c.n.Load()
	if !short {
		if n > 0 {
			c.n.CompareAndSwap(n, n-1)
		}
		return false
	}
	if n >= crowdMax {
		return false
	}
	c.n.CompareAndSwap(n, max(1, 2*n))
	return true
}
