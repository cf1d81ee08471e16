package rota

import "time"

// EventKind is the kind of an event.
type EventKind string

// The kinds. A job event other than job.changed is published once per attempt. If there
// will be no other attempt, job.dead follows job.failed. The detail of an event named
// changed says what changed: "created", "paused" or the names of the fields, never a value.
const (
	EventJobEnqueued  EventKind = "job.enqueued"
	EventJobStarted   EventKind = "job.started"
	EventJobChanged   EventKind = "job.changed"  // a queued job was edited or moved, or its delay is over
	EventJobStopping  EventKind = "job.stopping" // a running job was asked to stop
	EventJobCompleted EventKind = "job.completed"
	EventJobFailed    EventKind = "job.failed"
	EventJobDead      EventKind = "job.dead"
	EventJobCancelled EventKind = "job.cancelled"
	EventJobSkipped   EventKind = "job.skipped"

	EventScheduleFired    EventKind = "schedule.fired"
	EventScheduleMissed   EventKind = "schedule.missed"
	EventScheduleDisabled EventKind = "schedule.disabled"
	EventScheduleChanged  EventKind = "schedule.changed"
	EventScheduleDeleted  EventKind = "schedule.deleted"

	EventTypeChanged     EventKind = "type.changed"
	EventTemplateChanged EventKind = "template.changed"
	EventLimitsChanged   EventKind = "limits.changed"
	EventWebhooksChanged EventKind = "webhooks.changed"
	EventAccessChanged   EventKind = "access.changed" // a user, a role, a grant, a token or the key of secrets was changed; webhooks cannot receive it
	EventHistoryPruned   EventKind = "history.pruned" // ended executions were removed

	EventGroupFinished EventKind = "group.finished" // published by the engine, which watches the members, not by a store

	// The events of nodes are published by the engine, where several nodes share a store.
	EventNodeJoined EventKind = "node.joined"
	EventNodeLeft   EventKind = "node.left"
	EventNodeLeader EventKind = "node.leader" // a node leads from now on

	EventReservationActive   EventKind = "reservation.active"
	EventReservationReleased EventKind = "reservation.released"
	EventReservationExpired  EventKind = "reservation.expired"
)

// NodeLeaseEnded is the detail of the node.left of a node that has not left by itself. Its
// last events may be missing.
const NodeLeaseEnded = "its lease ended"

// EventKinds lists every kind.
var EventKinds = []EventKind{
	EventJobEnqueued, EventJobChanged, EventJobStarted, EventJobStopping, EventJobCompleted, EventJobFailed, EventJobDead,
	EventJobCancelled, EventJobSkipped, EventScheduleFired, EventScheduleMissed, EventScheduleDisabled, EventScheduleChanged,
	EventScheduleDeleted, EventTypeChanged, EventTemplateChanged, EventLimitsChanged, EventWebhooksChanged, EventAccessChanged, EventHistoryPruned,
	EventGroupFinished, EventReservationActive, EventReservationReleased, EventReservationExpired,
	EventNodeJoined, EventNodeLeft, EventNodeLeader,
}

// Event is something that happened. It is small, so that many can be kept; a reader
// that needs more reads the row. Fields that do not belong to the kind are zero.
type Event struct {
	Kind EventKind `wire:"1"`
	At   time.Time `wire:"2"`

	JobID       ID        `wire:"3"`
	ExecutionID ID        `wire:"4"`
	RunID       ID        `wire:"5"`
	Type        string    `wire:"6"`
	Name        string    `wire:"7"` // definition name of the execution, or name of the definition, principal or node; of a token: its user
	Template    string    `wire:"8"`
	Schedule    string    `wire:"9"`
	GroupID     ID        `wire:"10"`
	Attempt     int       `wire:"11"`
	PlanTime    time.Time `wire:"12"`
	QueuedAt    time.Time `wire:"13"` // of a started job: when it became ready
	DueAt       time.Time `wire:"14"` // of a started job: run_at if only the delay held it back, else QueuedAt
	StartedAt   time.Time `wire:"15"` // of an ended job: when it started; zero: never
	Runner      string    `wire:"16"`
	ErrorCode   string    `wire:"17"`
	Error       string    `wire:"18"` // truncated to EventErrorMax

	ReservationID ID     `wire:"19"`
	Detail        string `wire:"20"` // of a schedule: the reason, or the number of jobs; of a change: what changed
}
