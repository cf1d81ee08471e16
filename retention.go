package rota

import (
	"math"
	"time"

	"github.com/rotajobs/rota/cron"
)

// Retention says how long executions are kept once they have ended.
type Retention struct {
	Completed Keep
	Skipped   Keep
	Cancelled Keep
	Dead      Keep
}

// Keep bounds by age and by count. A zero bound is none.
type Keep struct {
	Age   time.Duration // since the execution ended
	Count int           // the newest so many, by id
}

// DefaultRetention keeps 30 days of what ended well or was called off, and 90
// of dead letters.
var DefaultRetention = Retention{
	Completed: Keep{Age: 30 * day},
	Skipped:   Keep{Age: 30 * day},
	Cancelled: Keep{Age: 30 * day},
	Dead:      Keep{Age: 90 * day},
}

// For is the bound of an execution, given its last attempt.
func (r *Retention) For(tail *Job) Keep {
	switch {
	case tail.Sequel == SequelDead:
		return r.Dead
	case tail.State() == StateCompleted:
		return r.Completed
	case tail.State() == StateSkipped:
		return r.Skipped
	}
	return r.Cancelled
}

// Counts reports whether any bound is a count, so that everything has to be
// looked at.
func (r *Retention) Counts() bool {
	return r.Completed.Count > 0 || r.Skipped.Count > 0 || r.Cancelled.Count > 0 || r.Dead.Count > 0
}

// PruneQuery asks for executions that need no longer be kept, a page at a time.
type PruneQuery struct {
	Retention Retention
	Now       time.Time   // zero: by the clock of the store
	From      PruneCursor // zero: at the beginning
	Limit     int         // executions looked at, at most PageMax; 0: PageMax
}

// Validate refuses bounds that could only be meant otherwise.
func (q *PruneQuery) Validate() error {
	err := first(checkInt("limit", q.Limit, 0, PageMax), checkTime("now", q.Now))
	for _, k := range []struct {
		name string
		keep Keep
	}{
		{"completed", q.Retention.Completed},
		{"skipped", q.Retention.Skipped},
		{"cancelled", q.Retention.Cancelled},
		{"dead", q.Retention.Dead},
	} {
		err = first(err, checkDuration(k.name+".age", k.keep.Age, 0, cron.EveryMax), checkInt(k.name+".count", k.keep.Count, 0, math.MaxInt32))
	}
	return asError(err)
}

// PruneCursor is where the next page begins.
type PruneCursor struct {
	Last ID         // the last execution that was looked at
	Seen GroupTally // how many of each outcome have been
	Own  GroupTally // how many of each, of internal types, which are counted apart
}

// SeenOf is the count to which an execution belongs, given its last attempt.
func (c *PruneCursor) SeenOf(tail *Job) *GroupTally {
	if InternalType(tail.Type) {
		return &c.Own
	}
	return &c.Seen
}

// PrunePage is what a PruneQuery finds. Send its executions in a Prune, then ask
// for the next page, until there is no More.
type PrunePage struct {
	Executions []ID
	Next       PruneCursor
	More       bool
}
