package rota

import "time"

// EventKind names what happened.
type EventKind string

// What happens. Those of a job come one per attempt, except that dead follows
// failed, or the cancelled of a time-out, when there will be no other attempt.
const (
	EventJobEnqueued  EventKind = "job.enqueued"
	EventJobStarted   EventKind = "job.started"
	EventJobStopping  EventKind = "job.stopping" // it runs, and was asked to stop
	EventJobCompleted EventKind = "job.completed"
	EventJobFailed    EventKind = "job.failed"
	EventJobDead      EventKind = "job.dead"
	EventJobCancelled EventKind = "job.cancelled"
	EventJobSkipped   EventKind = "job.skipped"

	EventScheduleFired    EventKind = "schedule.fired"
	EventScheduleMissed   EventKind = "schedule.missed"
	EventScheduleDisabled EventKind = "schedule.disabled"

	EventGroupFinished EventKind = "group.finished" // not by a store: found by who watches the ends of its members

	EventReservationActive   EventKind = "reservation.active"
	EventReservationReleased EventKind = "reservation.released"
	EventReservationExpired  EventKind = "reservation.expired"
)

// EventKinds lists every kind.
var EventKinds = []EventKind{
	EventJobEnqueued, EventJobStarted, EventJobStopping, EventJobCompleted, EventJobFailed, EventJobDead,
	EventJobCancelled, EventJobSkipped, EventScheduleFired, EventScheduleMissed, EventScheduleDisabled,
	EventGroupFinished, EventReservationActive, EventReservationReleased, EventReservationExpired,
}

// Event is one thing that happened, small enough to keep many: who wants more
// reads the row. Fields that do not belong to its kind are zero.
type Event struct {
	Kind EventKind
	At   time.Time

	JobID       ID
	ExecutionID ID
	RunID       ID
	Type        string
	Name        string // the name that its execution goes by
	Template    string
	Schedule    string
	GroupID     ID
	Attempt     int
	PlanTime    time.Time
	QueuedAt    time.Time // of a started job: when it took its place in the order
	DueAt       time.Time // of a started job: when it could first have begun: its run_at if nothing but that held it back, else QueuedAt
	StartedAt   time.Time // of an ended job: when it began; zero if it never did
	Runner      string
	ErrorCode   string
	Error       string // cut to EventErrorMax

	ReservationID ID
	Detail        string // of a schedule: why, or how many
}
