package rota

import (
	"context"
	"iter"
	"time"
)

// Store holds jobs and applies commands to them. Implementations are safe for
// concurrent use and pass the suite in store/storetest.
type Store interface {
	// Apply applies a batch in order and answers one Result per command.
	//
	// A command is atomic with all its effects and durable when Apply returns.
	// A refused command has an Err in its Result, changes nothing and leaves
	// its neighbours alone. When Apply itself returns an error (Unavailable,
	// Internal, or the context's), part of the batch may have been applied;
	// sending the same batch again is harmless and settles it.
	Apply(ctx context.Context, b Batch) ([]Result, error)

	Reader

	// View returns the store as it stands now. It lasts until it is closed, the
	// context ends or the store is closed. One that cannot be had is Unavailable.
	View(ctx context.Context) (View, error)

	// NextDue says when which upkeep is to be done next.
	NextDue(ctx context.Context) (Due, error)

	// DueSchedules lists the ENABLED schedules that owe a fire, oldest first,
	// by the clock of the store's authority, and says what that shows. PlanFire
	// turns each into a command.
	DueSchedules(ctx context.Context, limit int) (DuePage, error)

	// Prunable finds executions that need no longer be kept.
	Prunable(ctx context.Context, q PruneQuery) (PrunePage, error)

	// Verify checks every invariant and yields what breaks it. It may run
	// beside writers.
	Verify(ctx context.Context) iter.Seq2[Violation, error]

	// Limits states the largest atomic command of this store.
	Limits() Limits

	// Wake returns a channel that receives when jobs may have become ready or
	// NextDue may have come nearer, and a function that gives it back. It is a
	// hint: it may come for nothing, but none is missed while it is read.
	Wake() (<-chan struct{}, func())

	// Watch calls a function with what happened, after each commit that this
	// store made and before the next: it must be quick, and must not call the
	// store. The function that it returns ends that.
	Watch(see func([]Event)) (stop func())

	// Close waits for what is under way and closes the store.
	Close() error
}

// Due says when which upkeep is to be done next. A zero time is never.
type Due struct {
	Now    time.Time // by the clock of the store's authority, for the times below
	Ready  time.Time // the earliest run_at of a delayed job
	Fire   time.Time // the earliest next fire of an ENABLED schedule
	Expire time.Time // the earliest end of a wait for dependencies, or of a reservation
	Sweep  bool      // something was decided that a Sweep is to carry out
}

// DuePage is some schedules that owe a fire, and the time by which they do.
type DuePage struct {
	Now       time.Time
	Schedules []*Schedule
}

// NameQuery pages through what has a name.
type NameQuery struct {
	After string // names that sort after this
	Limit int    // at most PageMax; 0 means 100
}

// Validate refuses a limit out of range, and a place to go on from that no text is.
func (q *NameQuery) Validate() error {
	return asError(first(checkUTF8("after", q.After), checkInt("limit", q.Limit, 0, PageMax)))
}

// ScheduleQuery picks schedules to list. Zero fields pick everything.
type ScheduleQuery struct {
	After    string // names that sort after this
	State    ScheduleState
	Template string
	Ahead    time.Time // those whose calendar was moved after this: the clock was set back since
	Idle     bool      // only those without a next fire
	Limit    int       // at most PageMax; 0 means 100

	// ByNext lists those that have a next fire by it, and then by name. A page goes
	// on behind the schedule with this NextAfter and this After. NextFrom and
	// NextUntil bound the next fire, both inclusive; zero leaves that side open.
	ByNext              bool
	NextAfter           time.Time
	NextFrom, NextUntil time.Time
}

// Validate refuses what could only ever pick nothing, and what does not go together.
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
			return Invalidf("idle", "picks those without a next fire, which by_next leaves out; ask for one of the two")
		case !q.Ahead.IsZero():
			return Invalidf("ahead", "does not go together with by_next; list by name")
		case q.After != "" && q.NextAfter.IsZero():
			return Invalidf("next_after", "is needed beside after; by_next goes on behind a next fire and a name")
		}
		return nil
	}
	for _, one := range []struct {
		field string
		at    time.Time
	}{{"next_after", q.NextAfter}, {"next_from", q.NextFrom}, {"next_until", q.NextUntil}} {
		if !one.at.IsZero() {
			return Invalidf(one.field, "goes together with by_next alone")
		}
	}
	return nil
}

// JobQuery picks jobs to list. Zero fields pick everything.
type JobQuery struct {
	Status   Status
	Type     string // empty: all but internal ones
	Template string
	Schedule string
	GroupID  ID
	State    State // what a person calls it; beside a Status that cannot have it, nothing is picked
	Tails    bool  // only the last attempt of each execution
	Dead     bool  // only dead letters that were not redriven
	Before   ID    // jobs with a smaller id: the pages of newest first
	After    ID    // jobs with a greater id: the pages of oldest first
	Oldest   bool  // oldest first
	Lean     bool  // leaves out Params, and of the run Result, Progress and Artifacts, which are not even read
	Limit    int   // at most PageMax; 0 means 100
}

// Validate refuses what could only ever pick nothing.
func (q *JobQuery) Validate() error {
	err := first(
		checkName("type", q.Type, false), checkName("template", q.Template, false),
		checkName("schedule", q.Schedule, false), checkInt("limit", q.Limit, 0, PageMax),
	)
	if err == nil && q.Status != "" {
		err = checkOneOf("status", q.Status, StatusQueued, StatusRunning, StatusCancelled)
	}
	if err == nil && q.State != "" {
		err = checkOneOf("state", q.State, StateScheduled, StateBlocked, StateQueued, StateRunning,
			StateCompleted, StateFailed, StateSkipped, StateCancelled)
	}
	return asError(err)
}

// Limits states the largest atomic command of a store.
type Limits struct {
	Jobs  int // jobs in one Enqueue
	Claim int // jobs in one Claim
	Items int // leases in one Extend, Note or Finish

	// Batches is how many it works on at once, if they come at once; 0 means
	// one after the other.
	Batches int
}

// AuditEntry is one line of the append-only audit.
type AuditEntry struct {
	Seq     int64 // its number: entries are numbered as they are written, from 1
	ID      ID    // from the command and the job, so that a command is written down once
	At      time.Time
	Actor   string
	Act     string // such as JOB_CANCELLED
	JobID   ID
	Subject string // what else it is about, such as "schedule nightly"
	Detail  string
}

// The acts that are written to the audit.
const (
	AuditJobCancelled = "JOB_CANCELLED"
	AuditJobModified  = "JOB_MODIFIED"
	AuditJobRecovered = "JOB_RECOVERED"
	AuditJobRedriven  = "JOB_REDRIVEN"

	AuditScheduleCreated  = "JOB_CREATED" // a schedule is what others call a job
	AuditScheduleModified = AuditJobModified
	AuditScheduleDeleted  = "JOB_DELETED"
	AuditScheduleFired    = "JOB_EXECUTED"      // by hand: triggered or backfilled
	AuditScheduleDisabled = "SCHEDULE_DISABLED" // by Rota, with the reason
	AuditScheduleMissed   = "SCHEDULE_MISSED"   // times that were given up

	AuditTypeCreated  = "TYPE_CREATED"
	AuditTypeModified = "TYPE_MODIFIED"
	AuditTypePaused   = "TYPE_PAUSED"
	AuditTypeResumed  = "TYPE_RESUMED"

	AuditTemplateCreated    = "TEMPLATE_CREATED"
	AuditTemplateModified   = "TEMPLATE_MODIFIED"
	AuditTemplateArchived   = "TEMPLATE_ARCHIVED"
	AuditTemplateUnarchived = "TEMPLATE_UNARCHIVED"

	AuditThrottleModified   = "LIMITS_MODIFIED"
	AuditWebhooksModified   = "WEBHOOKS_MODIFIED"
	AuditGroupCancelled     = "GROUP_CANCELLED"
	AuditReservationExpired = "RESERVATION_EXPIRED"
)

// Violation is a row, or some rows, that break an invariant.
type Violation struct {
	Check  string // the name of the invariant
	Rows   []string
	Detail string
}

// Checked counts the rows that a verification has looked at.
type Checked struct{ Jobs, Runs, Keys, Audit int }
