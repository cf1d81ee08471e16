package rota

import (
	"math"
	"time"

	"github.com/rotajobs/rota/cron"
)

// Retention is how long ended executions and the audit are kept.
type Retention struct {
	Completed Keep
	Skipped   Keep
	Cancelled Keep
	Dead      Keep
	Audit     time.Duration // since the act; 0: no bound
}

// Keep bounds ended executions by age and by count. Zero means no bound.
type Keep struct {
	Age   time.Duration // since the execution ended
	Count int           // number of newest executions, by id
}

// DefaultRetention keeps dead letters for 90 days, other executions for 30 and the audit for a year.
var DefaultRetention = Retention{
	Completed: Keep{Age: 30 * day},
	Skipped:   Keep{Age: 30 * day},
	Cancelled: Keep{Age: 30 * day},
	Dead:      Keep{Age: 90 * day},
	Audit:     365 * day,
}

// For returns the bound of an execution, given its last attempt.
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

// Counts reports whether any bound is a count. Pruning by count reads all ended
// executions.
func (r *Retention) Counts() bool {
	return r.Completed.Count > 0 || r.Skipped.Count > 0 || r.Cancelled.Count > 0 || r.Dead.Count > 0
}

// PruneQuery finds executions that exceed the retention, in pages.
type PruneQuery struct {
	Retention Retention
	Now       time.Time   // zero: the store's clock
	From      PruneCursor // zero: the first page
	Limit     int         // executions to examine, at most PageMax; 0: PageMax
}

// Validate refuses bounds that are out of range.
func (q *PruneQuery) Validate() error {
	err := first(
		checkInt("limit", q.Limit, 0, PageMax), checkTime("now", q.Now), checkDuration("audit", q.Retention.Audit, 0, cron.EveryMax),
	)
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

// PruneCursor is where the next page starts.
type PruneCursor struct {
	Last ID         // last execution that was examined
	Seen GroupTally // executions examined so far, by outcome
	Own  GroupTally // the same for internal types, which are counted separately
}

// SeenOf returns the tally that counts an execution, given its last attempt.
func (c *PruneCursor) SeenOf(tail *Job) *GroupTally {
	if InternalType(tail.Type) {
		return &c.Own
	}
	return &c.Seen
}

// PrunePage is the answer to a PruneQuery. Send its executions in a Prune and read the
// next page, until there is no More.
type PrunePage struct {
	Executions []ID
	Next       PruneCursor
	More       bool
}
