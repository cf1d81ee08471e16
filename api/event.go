package api

import "github.com/rotajobs/rota"

// Event is one event. Fields that do not apply to its kind are omitted.
type Event struct {
	Kind          string `json:"kind" example:"job.completed" doc:"Kind of the event."`
	At            Time   `json:"at" doc:"Time of the event."`
	JobID         ID     `json:"job_id,omitzero" doc:"Job."`
	ExecutionID   ID     `json:"execution_id,omitzero" doc:"Execution of the job."`
	RunID         ID     `json:"run_id,omitzero" doc:"Run of the job."`
	Type          string `json:"type,omitempty" doc:"Type of the job."`
	Name          string `json:"name,omitempty" doc:"Name of the execution."`
	Template      string `json:"template,omitempty" doc:"Template of the job."`
	Schedule      string `json:"schedule,omitempty" doc:"Schedule."`
	GroupID       ID     `json:"group_id,omitzero" doc:"Group."`
	Attempt       int    `json:"attempt,omitempty" doc:"Attempt number of the job, from 1."`
	PlanTime      Time   `json:"plan_time,omitzero" doc:"Planned time of the execution."`
	QueuedAt      Time   `json:"queued_at,omitzero" doc:"Time the job became ready."`
	StartedAt     Time   `json:"started_at,omitzero" doc:"Time the run started."`
	Runner        string `json:"runner,omitempty" doc:"Worker that runs or ran the job."`
	ErrorCode     string `json:"error_code,omitempty" doc:"Error code, for programs."`
	Error         string `json:"error,omitempty" doc:"Error text, for people."`
	ReservationID ID     `json:"reservation_id,omitzero" doc:"Reservation."`
	Detail        string `json:"detail,omitempty" doc:"Details, if any."`
}

// NewEvent converts an event.
func NewEvent(e *rota.Event) Event {
	return Event{
		Kind: string(e.Kind), At: Time{e.At}, JobID: ID{e.JobID}, ExecutionID: ID{e.ExecutionID}, RunID: ID{e.RunID},
		Type: e.Type, Name: e.Name, Template: e.Template, Schedule: e.Schedule, GroupID: ID{e.GroupID}, Attempt: e.Attempt,
		PlanTime: Time{e.PlanTime}, QueuedAt: Time{e.QueuedAt}, StartedAt: Time{e.StartedAt}, Runner: e.Runner,
		ErrorCode: e.ErrorCode, Error: e.Error, ReservationID: ID{e.ReservationID}, Detail: e.Detail,
	}
}

// Explanation lists why a job does not run.
type Explanation struct {
	JobID   ID       `json:"job_id" doc:"Job that the reasons are about: the last attempt of the execution."`
	Reasons []Reason `json:"reasons" nullable:"false" doc:"Reasons, most important first; at least one."`
}

// Reason is one reason why a job does not run.
type Reason struct {
	Code   string `json:"code" example:"delay" doc:"Reason code, for programs."`
	Text   string `json:"text" doc:"Reason, as a sentence."`
	Remedy string `json:"remedy" doc:"What would change it, as a sentence."`
	Until  Time   `json:"until" doc:"Time at which the reason ends by itself, if known."`
	Jobs   []ID   `json:"jobs" nullable:"false" doc:"Jobs that the job waits for, if known; at most a few."`
}

// NewReason converts a reason.
func NewReason(r rota.Reason) Reason {
	v := Reason{Code: string(r.Code), Text: r.Text, Remedy: r.Remedy, Until: Time{r.Until}, Jobs: make([]ID, len(r.Jobs))}
	for i, id := range r.Jobs {
		v.Jobs[i] = ID{id}
	}
	return v
}

// Entity converts a reason back.
func (v *Reason) Entity() rota.Reason {
	r := rota.Reason{Code: rota.ReasonCode(v.Code), Text: v.Text, Remedy: v.Remedy, Until: v.Until.Time}
	for _, id := range v.Jobs {
		r.Jobs = append(r.Jobs, id.ID)
	}
	return r
}
