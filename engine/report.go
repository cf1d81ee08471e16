package engine

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Reporter receives failures, wherever the job ran: in this process, on a worker
// elsewhere, or on a worker that disappeared. The engine calls its methods one after
// the other, outside of every handler; a slow call delays only the next report. While
// too many reports wait, the engine drops new ones.
type Reporter interface {
	Report(ctx context.Context, r Report)
}

// Report is one attempt that failed, timed out, or whose lease expired. An attempt that
// a shutdown has cut off is reported only if it was the last: it did not fail by
// itself, and is retried at once. The same holds for Rota's own jobs.
type Report struct {
	Job  *rota.Job // with its run: params, error, stack of a panic
	Dead bool      // no further attempt follows
}

// Monitor is a Reporter that also receives the check-ins of schedules.
type Monitor interface {
	Reporter
	CheckIn(ctx context.Context, c CheckIn)
}

// CheckIn reports one execution of a schedule, or times that were missed. An execution
// that is retried starts once and ends once.
type CheckIn struct {
	Schedule *rota.Schedule // only with its name if it was deleted
	Job      *rota.Job      // as it is at the time of the call; nil if times were missed
	Status   CheckInStatus
	At       time.Time     // when it happened
	Late     time.Duration // for a start: how long after its planned time
	Missed   string        // for missed times: how many, and why
}

// CheckInStatus is what a CheckIn reports.
type CheckInStatus string

// Statuses of a CheckIn.
const (
	CheckInStarted   CheckInStatus = "started"
	CheckInCompleted CheckInStatus = "completed"
	CheckInFailed    CheckInStatus = "failed" // finally: no further attempt follows
	CheckInMissed    CheckInStatus = "missed" // planned times were skipped
)
