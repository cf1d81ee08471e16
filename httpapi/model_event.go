package httpapi

import "github.com/rotajobs/rota"

// Event is one thing that happened. Fields that do not belong to its kind are
// left out.
type Event struct {
	Kind          string `json:"kind" example:"job.completed"`
	At            Time   `json:"at"`
	JobID         ID     `json:"job_id,omitzero"`
	ExecutionID   ID     `json:"execution_id,omitzero"`
	RunID         ID     `json:"run_id,omitzero"`
	Type          string `json:"type,omitempty"`
	Name          string `json:"name,omitempty"`
	Template      string `json:"template,omitempty"`
	Schedule      string `json:"schedule,omitempty"`
	GroupID       ID     `json:"group_id,omitzero"`
	Attempt       int    `json:"attempt,omitempty"`
	PlanTime      Time   `json:"plan_time,omitzero"`
	QueuedAt      Time   `json:"queued_at,omitzero"`
	StartedAt     Time   `json:"started_at,omitzero"`
	Runner        string `json:"runner,omitempty"`
	ErrorCode     string `json:"error_code,omitempty"`
	Error         string `json:"error,omitempty"`
	ReservationID ID     `json:"reservation_id,omitzero"`
	Detail        string `json:"detail,omitempty"`
}

// NewEvent shows an event.
func NewEvent(e *rota.Event) Event {
	return Event{
		Kind: string(e.Kind), At: Time{e.At}, JobID: ID{e.JobID}, ExecutionID: ID{e.ExecutionID}, RunID: ID{e.RunID},
		Type: e.Type, Name: e.Name, Template: e.Template, Schedule: e.Schedule, GroupID: ID{e.GroupID}, Attempt: e.Attempt,
		PlanTime: Time{e.PlanTime}, QueuedAt: Time{e.QueuedAt}, StartedAt: Time{e.StartedAt}, Runner: e.Runner,
		ErrorCode: e.ErrorCode, Error: e.Error, ReservationID: ID{e.ReservationID}, Detail: e.Detail,
	}
}

// Explanation is why a job does not run.
type Explanation struct {
	JobID   ID       `json:"job_id" doc:"The job it is about: the last of its execution."`
	Reasons []Reason `json:"reasons" nullable:"false" doc:"Most important first; there is at least one."`
}

// Reason is one thing that keeps a job from running.
type Reason struct {
	Code   string `json:"code" example:"delay"`
	Text   string `json:"text" doc:"What it is, as a sentence."`
	Remedy string `json:"remedy" doc:"What would change it, as a sentence."`
	Until  Time   `json:"until" doc:"When it ends by itself, if that is known."`
	Jobs   []ID   `json:"jobs" nullable:"false" doc:"Whom it waits for, if that is known; at most a few."`
}

// NewReason shows a reason.
func NewReason(r rota.Reason) Reason {
	v := Reason{Code: string(r.Code), Text: r.Text, Remedy: r.Remedy, Until: Time{r.Until}, Jobs: make([]ID, len(r.Jobs))}
	for i, id := range r.Jobs {
		v.Jobs[i] = ID{id}
	}
	return v
}

// JobCancelled is a job that was cancelled, or that runs and was asked to stop.
type JobCancelled struct {
	Job
	Stopping bool `json:"stopping" doc:"It runs, and was asked to stop."`
}

// Many is what an act on many jobs came to.
type Many struct {
	Matched   int  `json:"matched" doc:"How many the filter picked."`
	Changed   int  `json:"changed" doc:"How many were cancelled, asked to stop, or tried anew."`
	Cancelled int  `json:"cancelled" doc:"How many were cancelled at once."`
	Stopping  int  `json:"stopping" doc:"How many run, and were asked to stop."`
	Retried   int  `json:"retried" doc:"How many were tried anew."`
	Refused   int  `json:"refused" doc:"How many had left the state that allows it in the meantime."`
	More      bool `json:"more" doc:"It stopped at its limit: send it again for the others."`
}
