package rota

import "time"

// GroupMode says how the members of a group follow each other.
type GroupMode string

// The modes.
const (
	GroupParallel   GroupMode = "parallel" // all at once; the default
	GroupSequential GroupMode = "sequential"
)

// OnFailure says what the death of a member means for those that have not
// started.
type OnFailure string

// The ways to meet a failure.
const (
	FailureContinue OnFailure = "continue" // nothing; the default
	FailureStop     OnFailure = "stop"     // they are cancelled
	FailureSkip     OnFailure = "skip"     // they are recorded as SKIPPED
)

// GroupStatus is derived from the executions of a group.
type GroupStatus string

// The statuses of a group.
const (
	GroupQueued    GroupStatus = "QUEUED"    // none has started
	GroupRunning   GroupStatus = "RUNNING"   // some have not ended
	GroupCompleted GroupStatus = "COMPLETED" // all completed
	GroupPartial   GroupStatus = "PARTIAL"   // all ended, neither all completed nor all cancelled
	GroupCancelled GroupStatus = "CANCELLED" // all were cancelled
)

// Ending is what was decided about the members of a group that have not started.
// It holds from then on, also where it has not been carried out yet.
type Ending string

// The endings; a group that nobody ended has none.
const (
	EndingCancel Ending = "cancel" // those that run are asked to stop, too
	EndingStop   Ending = "stop"
	EndingSkip   Ending = "skip"
)

// Group is some jobs that belong together.
type Group struct {
	ID           ID
	Name         string
	Mode         GroupMode
	OnFailure    OnFailure
	Size         int // executions
	Ending       Ending
	EndingReason string
	EndingBy     string
	CreatedBy    string
	CreatedAt    time.Time
	Pruned       GroupTally // members that are no longer kept
	Tally        GroupTally // all members, Pruned included: derived when the group is read
}

// GroupTally counts executions by how they stand.
type GroupTally struct {
	Queued    int // their first attempt has not started
	Running   int // all others that have not ended: running, or waiting for a retry
	Completed int
	Dead      int
	Skipped   int
	Cancelled int
}

// Status derives how the group stands from its executions.
func (g *Group) Status() GroupStatus {
	t := &g.Tally
	switch {
	case t.Queued == g.Size:
		return GroupQueued
	case t.Queued+t.Running > 0:
		return GroupRunning
	case t.Completed == g.Size:
		return GroupCompleted
	case t.Cancelled == g.Size:
		return GroupCancelled
	}
	return GroupPartial
}

// Count adds an execution, given its last attempt.
func (t *GroupTally) Count(tail *Job) {
	switch {
	case tail.Sequel == SequelDead:
		t.Dead++
	case tail.Ended():
		*t.outcome(tail.State())++
	case tail.Status == StatusQueued && tail.Attempt == 1:
		t.Queued++
	default:
		t.Running++
	}
}

func (t *GroupTally) outcome(s State) *int {
	switch s {
	case StateCompleted:
		return &t.Completed
	case StateSkipped:
		return &t.Skipped
	}
	return &t.Cancelled
}

// Add adds another tally.
func (t *GroupTally) Add(o GroupTally) {
	t.Queued += o.Queued
	t.Running += o.Running
	t.Completed += o.Completed
	t.Dead += o.Dead
	t.Skipped += o.Skipped
	t.Cancelled += o.Cancelled
}
