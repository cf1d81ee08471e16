package rota

import (
	"cmp"
	"encoding/json"
	"time"
)

// Status is the stored status of a job. RUNNING and CANCELLED are final: a job that ran
// keeps RUNNING, FinishedAt marks its end, and its run has the outcome.
type Status string

// The stored statuses.
const (
	StatusQueued    Status = "QUEUED"
	StatusRunning   Status = "RUNNING"
	StatusCancelled Status = "CANCELLED"
)

// State is the state of a job for people. It is derived, never stored.
type State string

// The states of a job.
const (
	StateScheduled State = "scheduled" // waits for run_at
	StateBlocked   State = "blocked"   // waits for a dependency, a group, an overlap or a key
	StateQueued    State = "queued"    // ready to be claimed
	StateRunning   State = "running"
	StateCompleted State = "completed"
	StateFailed    State = "failed"
	StateSkipped   State = "skipped"
	StateCancelled State = "cancelled"
)

// Hold is the set of reasons why a QUEUED job is not ready. A job without a hold is
// ready.
type Hold uint8

// The reasons.
const (
	HoldDelay      Hold = 1 << iota // run_at is in the future
	HoldGroup                       // earlier members of its sequential group have not ended
	HoldDependency                  // a dependency has not completed
	HoldOverlap                     // an earlier execution of its schedule has not ended
	HoldKey                         // the limit of its concurrency key is reached; there is then no other hold
)

// Sequel is what follows the end of a job.
type Sequel string

// The sequels. A job that has not ended has no sequel.
const (
	SequelNone  Sequel = "none"  // nothing: the job completed, was skipped or was cancelled
	SequelRetry Sequel = "retry" // a retry: another job whose RetryOf is this job
	SequelDead  Sequel = "dead"  // nothing: the job failed for good, and the execution is a dead letter
)

// Job is one attempt, in the queue or out of it.
type Job struct {
	ID          ID              `wire:"1"`
	ExecutionID ID              `wire:"2"` // id of the first attempt
	Type        string          `wire:"3"` // what to run
	Name        string          `wire:"4"` // name of its definition; empty: the type
	Params      json.RawMessage `wire:"5"`

	Status   Status `wire:"6"`
	Hold     Hold   `wire:"7"`
	Priority int    `wire:"8"`
	Position int64  `wire:"9"`
	Version  ID     `wire:"10"` // id of the last Edit or Move that changed it; zero: none

	Attempt int    `wire:"11"`
	RetryOf ID     `wire:"12"` // job that this job retries
	Sequel  Sequel `wire:"13"`
	Policy  Policy `wire:"14"`

	ScopeKind string        `wire:"15"` // what the execution is for; both empty: global/global
	ScopeID   string        `wire:"16"`
	PlanTime  time.Time     `wire:"17"` // zero: not planned
	RunAt     time.Time     `wire:"18"` // zero: no delay; only Edit changes it
	UniqueKey string        `wire:"19"`
	UniqueFor time.Duration `wire:"20"` // 0: the key is held as long as the execution is kept

	Template       string    `wire:"21"` // template it was created from
	Schedule       string    `wire:"22"` // schedule that fired it
	GroupID        ID        `wire:"23"`
	GroupPosition  int       `wire:"24"` // index in the group, from 1
	ConcurrencyKey string    `wire:"25"` // jobs with the same key share a concurrency limit
	CountsAt       time.Time `wire:"26"` // of a scheduled job: time at which it counts for dependent schedules
	WaitFrom       time.Time `wire:"27"` // of a job with dependencies: start of the window in which they count
	WaitUntil      time.Time `wire:"28"` // end of the wait for dependencies
	RedriveOf      ID        `wire:"29"` // execution that this one repeats

	Trace string `wire:"30"` // traceparent of the span that enqueued it, kept by retries; empty: none

	Owner string `wire:"31"` // owner of its template when it was created, kept by retries and redrives; empty: it has no template

	CreatedBy  string    `wire:"32"`
	CreatedAt  time.Time `wire:"33"`
	QueuedAt   time.Time `wire:"34"` // when it became ready; zero while it is held for another reason than its key
	StartedAt  time.Time `wire:"35"`
	FinishedAt time.Time `wire:"36"`

	Run *Run `wire:"37"` // nil until it is dispatched
}

// Ready reports whether the job can be claimed.
func (j *Job) Ready() bool { return j.Status == StatusQueued && j.Hold == 0 }

// Ended reports whether the job has ended.
func (j *Job) Ended() bool { return !j.FinishedAt.IsZero() }

// State derives the state for people.
func (j *Job) State() State {
	switch {
	case j.Status == StatusCancelled:
		return StateCancelled
	case j.Status == StatusQueued && j.Hold&HoldDelay != 0:
		return StateScheduled
	case j.Status == StatusQueued && j.Hold != 0:
		return StateBlocked
	case j.Status == StatusQueued:
		return StateQueued
	case j.Run == nil || j.Run.Outcome == "":
		return StateRunning
	}
	return outcomeStates[j.Run.ShownOutcome()]
}

var outcomeStates = map[Outcome]State{
	OutcomeCompleted: StateCompleted,
	OutcomeFailed:    StateFailed,
	OutcomeSkipped:   StateSkipped,
	OutcomeCancelled: StateCancelled,
}

// Before reports whether j comes before other in dispatch order: priority
// DESC, position ASC, created_at ASC, id ASC.
func (j *Job) Before(other *Job) bool {
	if j.Priority != other.Priority {
		return j.Priority > other.Priority
	}
	if j.Position != other.Position {
		return j.Position < other.Position
	}
	if !j.CreatedAt.Equal(other.CreatedAt) {
		return j.CreatedAt.Before(other.CreatedAt)
	}
	return j.ID.Compare(other.ID) < 0
}

// DefinitionName returns the name of the definition, or the type if there is none.
func (j *Job) DefinitionName() string {
	if j.Name != "" {
		return j.Name
	}
	return j.Type
}

// RunsFor returns the user whose rights the job runs with: its owner, or the creator of a job without a
// definition.
func (j *Job) RunsFor() string { return cmp.Or(j.Owner, j.CreatedBy, AdminUser) }

// Lease returns the reference that a worker sends with every heartbeat and outcome. It
// is valid only for a job that was returned by a claim: other reads omit the token.
func (j *Job) Lease() LeaseRef {
	if j.Run == nil {
		return LeaseRef{JobID: j.ID}
	}
	return LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
}

// IdempotencyKey returns a key that is the same for all attempts of an execution, for
// handlers whose effects must not be repeated.
func (j *Job) IdempotencyKey() string { return j.ExecutionID.String() }
