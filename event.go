package rota

import "time"

// EventKind is the kind of an event.
type EventKind string

// The kinds. A job event is published once per attempt. If there will be no other
// attempt, job.dead follows job.failed.
const (
	EventJobEnqueued  EventKind = "job.enqueued"
	EventJobStarted   EventKind = "job.started"
	EventJobStopping  EventKind = "job.stopping" // a running job was asked to stop
	EventJobCompleted EventKind = "job.completed"
	EventJobFailed    EventKind = "job.failed"
	EventJobDead      EventKind = "job.dead"
	EventJobCancelled EventKind = "job.cancelled"
	EventJobSkipped   EventKind = "job.skipped"

	EventScheduleFired    EventKind = "schedule.fired"
	EventScheduleMissed   EventKind = "schedule.missed"
	EventScheduleDisabled EventKind = "schedule.disabled"

	EventGroupFinished EventKind = "group.finished" // published by the engine, which watches the members, not by a store

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

// Event is something that happened. It is small, so that many can be kept; a reader
// that needs more reads the row. Fields that do not belong to the kind are zero.
type Event struct {
	Kind EventKind
	At   time.Time

	JobID       ID
	ExecutionID ID
	RunID       ID
	Type        string
	Name        string // definition name of the execution
	Template    string
	Schedule    string
	GroupID     ID
	Attempt     int
	PlanTime    time.Time
	QueuedAt    time.Time // of a started job: when it became ready
	DueAt       time.Time // of a started job: run_at if only the delay held it back, else QueuedAt
	StartedAt   time.Time // of an ended job: when it started; zero: never
	Runner      string
	ErrorCode   string
	Error       string // truncated to EventErrorMax

	ReservationID ID
	Detail        string // of a schedule: the reason, or the number of jobs
}
