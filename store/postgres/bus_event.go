package postgres

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// busEvent is an event as a message has it. Its names are short, since a notification is.
type busEvent struct {
	Kind        rota.EventKind `json:"k"`
	At          int64          `json:"at,omitempty"`
	Job         *rota.ID       `json:"j,omitempty"`
	Execution   *rota.ID       `json:"x,omitempty"` // nil: the same as the job
	Run         *rota.ID       `json:"r,omitempty"`
	Type        string         `json:"t,omitempty"`
	Name        string         `json:"n,omitempty"`
	Template    string         `json:"tm,omitempty"`
	Schedule    string         `json:"s,omitempty"`
	Group       *rota.ID       `json:"g,omitempty"`
	Attempt     int            `json:"a,omitempty"`
	PlanTime    int64          `json:"p,omitempty"`
	QueuedAt    int64          `json:"q,omitempty"`
	DueAt       int64          `json:"d,omitempty"`
	StartedAt   int64          `json:"st,omitempty"`
	Runner      string         `json:"w,omitempty"`
	ErrorCode   string         `json:"ec,omitempty"`
	Error       string         `json:"e,omitempty"`
	Reservation *rota.ID       `json:"rs,omitempty"`
	Detail      string         `json:"dt,omitempty"`
}

// textsMax bounds the error and the detail of an event that does not fit into one message.
const textsMax = 256

// encodeEvent encodes an event. An event that is longer than a message loses the ends of its texts.
func encodeEvent(e *rota.Event) json.RawMessage {
	b := busEvent{
		Kind: e.Kind, At: microsOf(e.At), Job: idOf(e.JobID), Run: idOf(e.RunID), Type: e.Type, Name: e.Name, Template: e.Template,
		Schedule: e.Schedule, Group: idOf(e.GroupID), Attempt: e.Attempt, PlanTime: microsOf(e.PlanTime), QueuedAt: microsOf(e.QueuedAt),
		DueAt: microsOf(e.DueAt), StartedAt: microsOf(e.StartedAt), Runner: e.Runner, ErrorCode: e.ErrorCode, Error: e.Error,
		Reservation: idOf(e.ReservationID), Detail: e.Detail,
	}
	if e.ExecutionID != e.JobID {
		b.Execution = &e.ExecutionID
	}
	text, _ := json.Marshal(b) // it has only texts and numbers
	if len(text) > busPayloadMax/2 {
		b.Error, b.Detail = shortText(b.Error), shortText(b.Detail)
		text, _ = json.Marshal(b)
	}
	return text
}

func shortText(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), textsMax)], "")
}

func decodeEvent(text json.RawMessage) (e rota.Event, err error) {
	var b busEvent
	if err := json.Unmarshal(text, &b); err != nil {
		return e, err
	}
	e = rota.Event{
		Kind: b.Kind, At: timeOf(b.At), JobID: idFrom(b.Job), RunID: idFrom(b.Run), Type: b.Type, Name: b.Name, Template: b.Template,
		Schedule: b.Schedule, GroupID: idFrom(b.Group), Attempt: b.Attempt, PlanTime: timeOf(b.PlanTime), QueuedAt: timeOf(b.QueuedAt),
		DueAt: timeOf(b.DueAt), StartedAt: timeOf(b.StartedAt), Runner: b.Runner, ErrorCode: b.ErrorCode, Error: b.Error,
		ReservationID: idFrom(b.Reservation), Detail: b.Detail,
	}
	if e.ExecutionID = idFrom(b.Execution); b.Execution == nil {
		e.ExecutionID = e.JobID
	}
	return e, nil
}

func idOf(id rota.ID) *rota.ID {
	if id.IsZero() {
		return nil
	}
	return &id
}

func idFrom(id *rota.ID) rota.ID {
	if id == nil {
		return rota.ID{}
	}
	return *id
}

func microsOf(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
