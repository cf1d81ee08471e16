package httpapi

import "github.com/rotajobs/rota"

// Event is one thing that happened. Fields that do not belong to its kind are
// left out.
type Event struct {
	Kind          string `json:"kind" example:"job.completed" doc:"What happened."`
	At            Time   `json:"at" doc:"When."`
	JobID         ID     `json:"job_id,omitzero" doc:"The job."`
	ExecutionID   ID     `json:"execution_id,omitzero" doc:"Its execution."`
	RunID         ID     `json:"run_id,omitzero" doc:"Its run."`
	Type          string `json:"type,omitempty" doc:"The job's type."`
	Name          string `json:"name,omitempty" doc:"The name that the execution goes by."`
	Template      string `json:"template,omitempty" doc:"The template."`
	Schedule      string `json:"schedule,omitempty" doc:"The schedule."`
	GroupID       ID     `json:"group_id,omitzero" doc:"The group."`
	Attempt       int    `json:"attempt,omitempty" doc:"Which attempt of its execution the job is, from 1."`
	PlanTime      Time   `json:"plan_time,omitzero" doc:"The time for which it was planned."`
	QueuedAt      Time   `json:"queued_at,omitzero" doc:"When it took its place in the order."`
	StartedAt     Time   `json:"started_at,omitzero" doc:"When it started."`
	Runner        string `json:"runner,omitempty" doc:"Who runs it, or ran it."`
	ErrorCode     string `json:"error_code,omitempty" doc:"What went wrong, for programs."`
	Error         string `json:"error,omitempty" doc:"What went wrong, for people."`
	ReservationID ID     `json:"reservation_id,omitzero" doc:"The reservation."`
	Detail        string `json:"detail,omitempty" doc:"More about it, if there is more."`
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
	Code   string `json:"code" example:"delay" doc:"What it is, for programs."`
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
