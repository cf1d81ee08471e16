package rota

import (
	"context"
	"iter"
	"time"
)

// Store holds jobs and applies commands to them. Implementations are safe for
// concurrent use and pass the suite in store/storetest.
type Store interface {
	// Apply applies a batch in order and returns one Result per command.
	//
	// A command is atomic with all its effects, and durable when Apply returns. A
	// refused command has an Err in its Result, changes nothing and does not affect
	// the other commands. If Apply itself returns an error (Unavailable, Internal,
	// or that of the context), part of the batch may have been applied. The caller
	// sends the same batch again.
	Apply(ctx context.Context, b Batch) ([]Result, error)

	Reader

	// View returns a snapshot of the store. It is valid until it is closed, the
	// context ends or the store is closed. If the store cannot provide one, the
	// error is Unavailable.
	View(ctx context.Context) (View, error)

	// NextDue returns the times of the next maintenance commands.
	NextDue(ctx context.Context) (Due, error)

	// DueSchedules lists the ENABLED schedules whose next fire is due by the clock
	// of the store's authority, oldest first. PlanFire builds the command for each.
	DueSchedules(ctx context.Context, limit int) (DuePage, error)

	// Prunable lists executions that exceed the retention.
	Prunable(ctx context.Context, q PruneQuery) (PrunePage, error)

	// Verify checks every invariant and yields the violations. Writers may run at
	// the same time.
	Verify(ctx context.Context) iter.Seq2[Violation, error]

	// Limits returns the largest atomic command of this store.
	Limits() Limits

	// Wake returns a channel that receives a wake-up when jobs may have become
	// ready or NextDue may have become earlier, and a function that releases the
	// channel. A wake-up is a hint: it may be spurious, but a reader misses none.
	Wake() (<-chan struct{}, func())

	// Watch calls a function with the events of each commit of this store, before
	// the next commit. The function must be fast and must not call the store. The
	// returned function ends the subscription.
	Watch(see func([]Event)) (stop func())

	// Close waits for running operations and closes the store.
	Close() error
}

// Due holds the times of the next maintenance commands. A zero time means never.
type Due struct {
	Now    time.Time // current time by the clock of the store's authority
	Ready  time.Time // earliest run_at of a delayed job
	Fire   time.Time // earliest next fire of an ENABLED schedule
	Expire time.Time // earliest end of a wait for dependencies or of a reservation
	Sweep  bool      // there are intent records for Sweep
}

// DuePage is a list of schedules that are due at the time Now.
type DuePage struct {
	Now       time.Time
	Schedules []*Schedule
}

// NameQuery selects a page of named objects.
type NameQuery struct {
	After string // lists names that sort after this one
	Limit int    // at most PageMax; 0 means 100
}

// Validate checks the query.
func (q *NameQuery) Validate() error {
	return asError(first(checkUTF8("after", q.After), checkInt("limit", q.Limit, 0, PageMax)))
}

// ScheduleQuery selects schedules. A zero field selects all.
type ScheduleQuery struct {
	After    string // lists names that sort after this one
	State    ScheduleState
	Template string
	Ahead    time.Time // schedules whose MovedAt is later than this: the clock was set back
	Idle     bool      // only schedules without a next fire
	Limit    int       // at most PageMax; 0 means 100

	// ByNext lists schedules with a next fire, sorted by next fire, then by name.
	// A page continues after the schedule with next fire NextAfter and name After.
	// NextFrom and NextUntil bound the next fire, both inclusive; zero: no bound.
	ByNext              bool
	NextAfter           time.Time
	NextFrom, NextUntil time.Time
}

// Validate refuses values that no schedule has, and fields that exclude each other.
func (q *ScheduleQuery) Validate() error {
	err := first(checkUTF8("after", q.After), checkName("template", q.Template, false), checkInt("limit", q.Limit, 0, PageMax))
	if err == nil && q.State != "" {
		err = checkState(q.State)
	}
	if err == nil {
		err = q.checkNext()
	}
	return asError(err)
}

func (q *ScheduleQuery) checkNext() *Error {
	if q.ByNext {
		switch {
		case q.Idle:
			return Invalidf("idle", "selects schedules without a next fire, which by_next excludes; use one of the two")
		case !q.Ahead.IsZero():
			return Invalidf("ahead", "cannot be combined with by_next; list by name")
		case q.After != "" && q.NextAfter.IsZero():
			return Invalidf("next_after", "is required with after; by_next continues after a next fire and a name")
		}
		return nil
	}
	for _, one := range []struct {
		field string
		at    time.Time
	}{{"next_after", q.NextAfter}, {"next_from", q.NextFrom}, {"next_until", q.NextUntil}} {
		if !one.at.IsZero() {
			return Invalidf(one.field, "requires by_next")
		}
	}
	return nil
}

// Limits is the largest atomic command of a store.
type Limits struct {
	Jobs  int // jobs in one Enqueue
	Claim int // jobs in one Claim
	Items int // leases in one Extend, Note or Finish

	// Batches is how many concurrent batches the store processes in parallel; 0
	// means one.
	Batches int
}

// Violation is one or more rows that break an invariant.
type Violation struct {
	Check  string // name of the invariant
	Rows   []string
	Detail string
}

// Checked counts the rows that a verification has checked.
type Checked struct{ Jobs, Runs, Keys, Audit int }
