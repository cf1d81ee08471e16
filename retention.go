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
	Audit     time.Duration // since the act, at least AuditKeepMin; 0: no bound
}

// AuditKeepMin is the shortest retention of the audit. A store recognises a change that is sent
// again, such as an Edit, a Move or a Put, by its audit entry.
const AuditKeepMin = time.Hour

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
	return asError(first(checkInt("limit", q.Limit, 0, PageMax), checkTime("now", q.Now), q.Retention.check("")))
}

// Validate refuses bounds that are out of range. The field of its error begins with "retention.".
func (r *Retention) Validate() error { return asError(r.check("retention.")) }

func (r *Retention) check(section string) *Error {
	err := checkDuration(section+"audit", r.Audit, 0, cron.EveryMax)
	if err == nil && r.Audit != 0 && r.Audit < AuditKeepMin {
		err = Invalidf(section+"audit", "is %s; a change that is sent again within 1h is recognised by its audit entry, so keep entries for at least 1h, or use 0 to keep them without a limit", FormatDuration(r.Audit))
	}
	for _, k := range []struct {
		name string
		keep Keep
	}{
		{"completed", r.Completed},
		{"skipped", r.Skipped},
		{"cancelled", r.Cancelled},
		{"dead", r.Dead},
	} {
		field := section + k.name
		err = first(err, checkDuration(field+".age", k.keep.Age, 0, cron.EveryMax), checkInt(field+".count", k.keep.Count, 0, math.MaxInt32))
	}
	return err
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
