package rota

import (
	"encoding/json"
	"time"
)

// Status is what is stored of a job's life. RUNNING and CANCELLED are final as
// statuses: a job that ran ends by FinishedAt, and its outcome is its run's.
type Status string

// The stored statuses.
const (
	StatusQueued    Status = "QUEUED"
	StatusRunning   Status = "RUNNING"
	StatusCancelled Status = "CANCELLED"
)

// State is what a person wants to know of a job. It is derived, never stored.
type State string

// The states of a job.
const (
	StateScheduled State = "scheduled" // waits for its run_at
	StateBlocked   State = "blocked"   // waits for something else
	StateQueued    State = "queued"    // stands in the order
	StateRunning   State = "running"
	StateCompleted State = "completed"
	StateFailed    State = "failed"
	StateSkipped   State = "skipped"
	StateCancelled State = "cancelled"
)

// Hold is the set of reasons why a QUEUED job does not stand in the order yet.
// A job with no hold is ready.
type Hold uint8

// The reasons to hold a job back.
const (
	HoldDelay      Hold = 1 << iota // its run_at has not come
	HoldGroup                       // it is not its turn in its group
	HoldDependency                  // what it depends on has not completed
	HoldOverlap                     // an earlier execution of its schedule has not ended
	HoldKey                         // its concurrency key is at its limit
)

// Sequel is what came after a job that has ended.
type Sequel string

// The sequels. A job that has not ended has none of them.
const (
	SequelNone  Sequel = "none"  // nothing: it completed, was skipped or was cancelled
	SequelRetry Sequel = "retry" // another job, whose RetryOf names this one
	SequelDead  Sequel = "dead"  // nothing, although it failed: the execution is a dead letter
)

// Job is one attempt, in the queue or out of it.
type Job struct {
	ID          ID
	ExecutionID ID     // id of the first job of its chain
	Type        string // what to run
	Name        string // the definition it comes from; a job without one goes by its type
	Params      json.RawMessage

	Status   Status
	Hold     Hold
	Priority int
	Position int64
	Version  ID // the last Edit or Move that changed it; zero if none did

	Attempt int
	RetryOf ID // the job this one retries
	Sequel  Sequel
	Policy  Policy

	ScopeKind string // what the execution is for; both empty means global/global
	ScopeID   string
	PlanTime  time.Time // zero: not planned
	RunAt     time.Time // zero: at once
	UniqueKey string
	UniqueFor time.Duration // 0: as long as the execution is kept

	Template       string // what it was made from
	Schedule       string // what fired it
	GroupID        ID
	GroupPosition  int       // its place in the group, from 1
	ConcurrencyKey string    // how many of one key run at once is limited
	CountsAt       time.Time // of a schedule's job: when it counts for those that depend on the schedule
	WaitFrom       time.Time // of a job with dependencies: they count if they come after this
	WaitUntil      time.Time // and it waits for them until then
	RedriveOf      ID        // the execution that this one tries anew

	Trace string // the traceparent of the span that enqueued it, kept through its chain; empty: none

	CreatedBy  string
	CreatedAt  time.Time
	QueuedAt   time.Time // when it took its place in the order
	StartedAt  time.Time
	FinishedAt time.Time

	Run *Run // nil until it is dispatched
}

// Ready reports whether a job stands in the order and could be claimed.
func (j *Job) Ready() bool { return j.Status == StatusQueued && j.Hold == 0 }

// Ended reports whether nothing more can happen to this job.
func (j *Job) Ended() bool { return !j.FinishedAt.IsZero() }

// State derives what a person wants to know.
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
	return outcomeStates[j.Run.Outcome]
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

// DefinitionName is the name an execution goes by.
func (j *Job) DefinitionName() string {
	if j.Name != "" {
		return j.Name
	}
	return j.Type
}

// Lease is the proof that the claimer of a job shows with every heartbeat and
// outcome. Of a job that was read and not claimed it proves nothing.
func (j *Job) Lease() LeaseRef {
	if j.Run == nil {
		return LeaseRef{JobID: j.ID}
	}
	return LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}
}

// IdempotencyKey is the same for every attempt of one execution, for handlers
// whose effects must not be repeated.
func (j *Job) IdempotencyKey() string { return j.ExecutionID.String() }
