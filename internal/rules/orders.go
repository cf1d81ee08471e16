package rules

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// Orders are the queries that lock what they find: each is asked once, when
// everything that bounds it is known.
type Orders struct {
	ClaimedBefore *ClaimedBefore
	Heads         *Heads
	Due           *Due
	Stale         *Stale
	Unsettled     *Unsettled
}

// Orders returns the orders that are to be loaded.
func (u *UnitOfWork) Orders() Orders { return u.orders }

// ClaimedBefore queries the jobs that an earlier sending of a claim took, in
// full, in dispatch order.
type ClaimedBefore struct{ Command rota.ID }

// Heads queries the first ready jobs of some types, in full, in dispatch order.
// A store merges the heads of the type queues, so a type that is not listed, or
// has no capacity, costs nothing.
type Heads struct {
	Types    []string // distinct
	Capacity []int    // at most so many of each type
	Limit    int
	Shared   int // at most so many of all types but the internal ones, which do not count
	Bytes    int // of params; the first job is returned even if it is longer
}

// Unlimited reports whether every type has capacity for the whole claim.
func (h *Heads) Unlimited() bool {
	return h.Shared >= h.Limit && !slices.ContainsFunc(h.Capacity, func(capacity int) bool { return capacity < h.Limit })
}

// Due queries delayed jobs whose time has come, in run_at order.
type Due struct {
	Now   time.Time
	Limit int
}

// Stale queries open runs whose lease ended before Before or ends after Ahead,
// except those of one incarnation, in (stale_after, job id) order. It also
// queries the runs of remote workers that were to stop before StopBefore, because
// of a cancel or a timeout. A zero time selects none.
type Stale struct {
	Before, Ahead time.Time
	StopBefore    time.Time
	Except        rota.ID
	Limit         int
}

// Unsettled queries RUNNING jobs that were not settled, except those with an
// open run of another process, in id order.
type Unsettled struct {
	Runner      string
	Incarnation rota.ID
	Limit       int
}

// OrderPage queries QUEUED jobs of one priority, held ones included, in
// dispatch order from a job on, or in reverse, without that job itself. With a
// zero From it begins at the first or last job.
type OrderPage struct {
	Priority int
	From     rota.ID
	Back     bool
	Limit    int
}

// Tail queries the last QUEUED jobs of a priority, last first, at most Count.
type Tail struct{ Priority, Count int }

// LastJob is one of the last jobs of a priority.
type LastJob struct {
	ID       rota.ID
	Position int64
}

// tailCount is how many of the last jobs of a priority are loaded. Mostly the
// last one is still there.
const tailCount = 4
