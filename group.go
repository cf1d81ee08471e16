package rota

import "time"

// GroupMode is how the members of a group run.
type GroupMode string

// The modes.
const (
	GroupParallel   GroupMode = "parallel" // default
	GroupSequential GroupMode = "sequential"
)

// OnFailure is what happens to the members that have not started when a member dies.
type OnFailure string

// The policies.
const (
	FailureContinue OnFailure = "continue" // they run; default
	FailureStop     OnFailure = "stop"     // they are cancelled
	FailureSkip     OnFailure = "skip"     // they are recorded as SKIPPED
)

// GroupStatus is the status of a group. It is derived from its executions.
type GroupStatus string

// The statuses of a group.
const (
	GroupQueued    GroupStatus = "QUEUED"    // none has started
	GroupRunning   GroupStatus = "RUNNING"   // some have not ended
	GroupCompleted GroupStatus = "COMPLETED" // all completed
	GroupPartial   GroupStatus = "PARTIAL"   // all ended, neither all completed nor all cancelled
	GroupCancelled GroupStatus = "CANCELLED" // all cancelled
)

// Ending is how a group was ended early. It applies to all members that have not
// started, at once, even before Sweep has updated their rows.
type Ending string

// The endings. A group that was not ended early has none.
const (
	EndingCancel Ending = "cancel" // running members are asked to stop too
	EndingStop   Ending = "stop"
	EndingSkip   Ending = "skip"
)

// Group is a set of jobs that were enqueued together.
type Group struct {
	ID           ID         `wire:"1"`
	Name         string     `wire:"2"`
	Mode         GroupMode  `wire:"3"`
	OnFailure    OnFailure  `wire:"4"`
	Size         int        `wire:"5"` // number of executions
	Ending       Ending     `wire:"6"`
	EndingReason string     `wire:"7"`
	EndingBy     string     `wire:"8"`
	CreatedBy    string     `wire:"9"`
	CreatedAt    time.Time  `wire:"10"`
	Pruned       GroupTally `wire:"11"` // members that were pruned
	Tally        GroupTally `wire:"12"` // all members, including pruned ones; derived when the group is read
}

// GroupTally counts executions by state.
type GroupTally struct {
	Queued    int `wire:"1"` // first attempt not started
	Running   int `wire:"2"` // running, or waiting for a retry
	Completed int `wire:"3"`
	Dead      int `wire:"4"`
	Skipped   int `wire:"5"`
	Cancelled int `wire:"6"`
}

// Status derives the status of the group from its executions.
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
