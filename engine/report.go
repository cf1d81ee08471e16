package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Reporter is told of what failed, wherever it ran: here, on a worker elsewhere,
// or on one that was never heard of again. Its methods are called one after the
// other, outside of every handler; one that takes long delays the next report
// and nothing else. What comes while too much waits to be told is left out.
type Reporter interface {
	Report(ctx context.Context, r Report)
}

// Report is one attempt that failed, ran out of time, or whose lease ran out. One
// that a shutdown has cut off is told of only if it was the last: it has not
// failed by itself, and is tried again at once. So are Rota's own jobs.
type Report struct {
	Job  *rota.Job // with its run: params, error, stack of a panic
	Dead bool      // there will be no other attempt
}

// Monitor is a Reporter that also wants to know how schedules fare.
type Monitor interface {
	Reporter
	CheckIn(ctx context.Context, c CheckIn)
}

// CheckIn is how one execution of a schedule stands, or that there was none. An
// execution that is retried begins once, and ends once.
type CheckIn struct {
	Schedule *rota.Schedule // if it is gone, all that is known is its name
	Job      *rota.Job      // as it is when it is told; nil of one that was missed
	Status   CheckInStatus
	At       time.Time     // when it happened
	Late     time.Duration // of one that began: how long after its planned time
	Missed   string        // of one that was missed: how many, and why
}

// CheckInStatus says what a CheckIn tells.
type CheckInStatus string

// What is told of the executions of schedules.
const (
	CheckInStarted   CheckInStatus = "started"
	CheckInCompleted CheckInStatus = "completed"
	CheckInFailed    CheckInStatus = "failed" // for good: there will be no other attempt
	CheckInMissed    CheckInStatus = "missed" // times were given up
)
