package api

import (
	"time"

	"github.com/rotajobs/rota"
)

// JobRequest submits a job. Exactly one of template and type is set.
type JobRequest struct {
	Template       string   `json:"template,omitempty" doc:"Template to create the job from."`
	Type           string   `json:"type,omitempty" doc:"Type, for a job without a template." example:"mail"`
	Name           string   `json:"name,omitempty" doc:"Name of the execution. Omitted: the type."`
	Params         Document `json:"params,omitempty" doc:"Params for the handler: a JSON object."`
	Priority       *int     `json:"priority,omitempty" doc:"Priority; higher runs first; default 0."`
	RunAt          Time     `json:"run_at,omitzero" doc:"Earliest start. Set at most one of run_at and delay."`
	Delay          Duration `json:"delay,omitempty" doc:"Delay before the earliest start."`
	UniqueKey      string   `json:"unique_key,omitempty" doc:"Unique key. While it is held, enqueuing another job of this type and key returns the first job."`
	UniqueFor      Duration `json:"unique_for,omitempty" doc:"Shortest time the unique key is held. Omitted: as long as the execution is kept."`
	ScopeKind      string   `json:"scope_kind,omitempty" doc:"Kind of the scope. Set both scope_kind and scope_id, or neither."`
	ScopeID        string   `json:"scope_id,omitempty" doc:"Id of the scope; see scope_kind."`
	PlanTime       Time     `json:"plan_time,omitzero" doc:"Planned time. It is unique together with name and scope: the same plan is not created twice."`
	ConcurrencyKey *string  `json:"concurrency_key,omitempty" doc:"Concurrency key. PUT /limits sets how many jobs of one key run at the same time."`
	PolicyRequest
	Class     anyValue `json:"class,omitzero" doc:"Not supported yet."`
	Partition anyValue `json:"partition,omitzero" doc:"Not supported yet."`
	Webhooks  anyValue `json:"webhooks,omitzero" doc:"Not supported yet."`
}

// NewJob converts the request to a job of the library.
func (r *JobRequest) NewJob() (rota.NewJob, error) {
	if err := refuseUnsupported("class", r.Class); err != nil {
		return rota.NewJob{}, err
	}
	if err := refuseUnsupported("partition", r.Partition); err != nil {
		return rota.NewJob{}, err
	}
	if err := refuseUnsupported("webhooks", r.Webhooks); err != nil {
		return rota.NewJob{}, err
	}
	var p rota.PolicyPatch
	r.Apply(&p)
	job := rota.NewJob{
		Type: r.Type, Name: r.Name, Template: r.Template, Params: r.Params.Raw(), Priority: r.Priority,
		RunAt: r.RunAt.Time, Delay: time.Duration(r.Delay), UniqueKey: r.UniqueKey, UniqueFor: time.Duration(r.UniqueFor),
		ScopeKind: r.ScopeKind, ScopeID: r.ScopeID, PlanTime: r.PlanTime.Time, ConcurrencyKey: r.ConcurrencyKey,
		MaxRetries: p.MaxRetries, Backoff: p.Backoff, BackoffMax: p.BackoffMax, Jitter: p.Jitter, Timeout: p.Timeout,
	}
	return job, job.TypeOrTemplate()
}

// NewJobRequest converts a job of the library to a request.
func NewJobRequest(n *rota.NewJob) JobRequest {
	return JobRequest{
		Template: n.Template, Type: n.Type, Name: n.Name, Params: Document(n.Params), Priority: n.Priority, RunAt: Time{n.RunAt}, Delay: Duration(n.Delay),
		UniqueKey: n.UniqueKey, UniqueFor: Duration(n.UniqueFor), ScopeKind: n.ScopeKind, ScopeID: n.ScopeID, PlanTime: Time{n.PlanTime},
		ConcurrencyKey: n.ConcurrencyKey, PolicyRequest: newPolicyRequest(n.Patch()),
	}
}

// BatchRequest submits jobs, atomically.
type BatchRequest struct {
	Jobs []JobRequest `json:"jobs" doc:"Jobs in the order in which to run them, 1 to 10,000."`
}

// Batch is the response to a BatchRequest, one item per job in order.
type Batch struct {
	Items []Job `json:"items" nullable:"false" doc:"Jobs, in request order."`
}

// DirectRequest requests an immediate run outside the queue. Exactly one of template
// and type is set.
type DirectRequest struct {
	Template string    `json:"template,omitempty" doc:"Template to run, of a type that this server handles."`
	Type     string    `json:"type,omitempty" doc:"Type that this server handles, for a run without a template." example:"sleep"`
	Params   Document  `json:"params,omitempty" doc:"Params for the handler: a JSON object."`
	Wait     *Duration `json:"wait,omitempty" doc:"Longest time to wait for a slot, up to 1h; default 30s."`
	Timeout  *Duration `json:"timeout,omitempty" doc:"Longest duration of the run. Omitted: the timeout of the template or the type."`
}

// CancelRequest has the reason of a cancellation.
type CancelRequest struct {
	Reason string `json:"reason,omitempty" doc:"Reason, recorded in the audit and sent to the worker."`
}

// JobCancelled is a job that was cancelled, or is running and was asked to stop.
type JobCancelled struct {
	Job
	Stopping bool `json:"stopping" doc:"Whether the job is running and was asked to stop."`
}

// MoveRequest names the new position of a job. Exactly one of its fields is set.
type MoveRequest struct {
	Before ID     `json:"before,omitzero" doc:"Job to move in front of; the moved job takes its priority."`
	After  ID     `json:"after,omitzero" doc:"Job to move behind; the moved job takes its priority."`
	To     string `json:"to,omitempty" enum:"top,bottom" doc:"End of its own priority to move to."`
}

// SetPlace sets the position in the command, and returns the field that names it.
func (r *MoveRequest) SetPlace(command *rota.Move) (field string, err error) {
	given := 0
	for name, is := range map[string]bool{"before": !r.Before.IsZero(), "after": !r.After.IsZero(), "to": r.To != ""} {
		if is {
			field, given = name, given+1
		}
	}
	if given != 1 {
		return "", rota.Invalidf("to", "%d of before, after and to are set; set exactly one", given)
	}
	switch field {
	case "before":
		command.Place, command.Anchor = rota.PlaceBefore, r.Before.ID
	case "after":
		command.Place, command.Anchor = rota.PlaceAfter, r.After.ID
	default:
		to := OneOf(r.To, []string{"top", "bottom"})
		if to == "" {
			return "", rota.Invalidf("to", "must be top or bottom")
		}
		command.Place = rota.Place(to)
	}
	return field, nil
}

// EditRequest changes a queued job.
type EditRequest struct {
	Priority    *int      `json:"priority,omitempty" doc:"New priority; the job moves to the end of that priority."`
	Params      Document  `json:"params,omitempty" doc:"New params, which replace the old ones. Set at most one of params and merge_params."`
	MergeParams Document  `json:"merge_params,omitempty" doc:"Params to change: each key replaces that key of the old params, and the other keys stay."`
	RunAt       Time      `json:"run_at,omitzero" doc:"New earliest start, also of a waiting retry. A time in the past is now. Set at most one of run_at and delay."`
	Delay       *Duration `json:"delay,omitempty" doc:"New delay before the earliest start, measured from now."`
}

// Edit converts the request to a command of the library.
func (r *EditRequest) Edit(meta rota.Meta, job rota.ID) *rota.Edit {
	return &rota.Edit{
		Meta: meta, JobID: job, Priority: r.Priority, Params: r.Params.Raw(), MergeParams: r.MergeParams.Raw(),
		RunAt: r.RunAt.Time, Delay: (*time.Duration)(r.Delay),
	}
}

// RepeatRequest changes params of an execution that runs again.
type RepeatRequest struct {
	Params Document `json:"params,omitempty" doc:"Params to change: each key replaces that key of the old params, and the other keys stay."`
}

// FilterRequest selects the jobs of a bulk action. Selecting all jobs requires all.
type FilterRequest struct {
	State     string `json:"state,omitempty" filter:"true" example:"queued,scheduled" doc:"States of the jobs in either case, separated by commas: scheduled, blocked, queued and running for a cancel; dead, failed, skipped and cancelled for a retry."`
	Type      string `json:"type,omitempty" filter:"true" doc:"Type of the jobs."`
	Template  string `json:"template,omitempty" filter:"true" doc:"Template the jobs were created from."`
	Schedule  string `json:"schedule,omitempty" filter:"true" doc:"Schedule that fired the jobs."`
	Group     ID     `json:"group,omitzero" filter:"true" doc:"Group of the jobs."`
	Execution ID     `json:"execution,omitzero" filter:"true" doc:"Execution of the jobs."`
	Since     string `json:"since,omitempty" filter:"true" example:"24h" doc:"Created at or after this time, or within this duration until now."`
	Until     string `json:"until,omitempty" filter:"true" example:"2026-11-15T07:00:00Z" doc:"Created before this time, or longer ago than this duration."`
	Name      string `json:"name,omitempty" filter:"true" doc:"Name of the execution: that of its schedule or template, otherwise its type."`
	UniqueKey string `json:"unique_key,omitempty" filter:"true" doc:"Unique key of the jobs, also one that is free again."`
	ScopeKind string `json:"scope_kind,omitempty" filter:"true" doc:"Kind of the scope of the jobs."`
	ScopeID   string `json:"scope_id,omitempty" filter:"true" doc:"Id of the scope of the jobs."`
	ErrorCode string `json:"error_code,omitempty" filter:"true" doc:"Error code of the run."`
	Q         string `json:"q,omitempty" filter:"true" doc:"Part of the name, type, template, schedule, unique key, scope id (but not global, that of jobs without a scope) or error. The case of the letters A to Z is ignored."`
	All       bool   `json:"all,omitempty" doc:"Selects all jobs; required if there is no other filter."`
	Limit     int    `json:"limit,omitempty" default:"10000" doc:"Highest number of jobs, 1 to 100,000."`
	Reason    string `json:"reason,omitempty" doc:"Reason of a cancel."`
}

// Detail returns a filter that jobs, executions and the audit share, by its name.
func (r *FilterRequest) Detail(name string) string {
	return map[string]string{
		"since": r.Since, "until": r.Until, "name": r.Name, "unique_key": r.UniqueKey, "scope_kind": r.ScopeKind, "scope_id": r.ScopeID,
		"error_code": r.ErrorCode, "q": r.Q,
	}[name]
}

// RetryManyRequest selects the executions of a bulk retry.
type RetryManyRequest struct {
	FilterRequest
	RepeatRequest
}

// Many counts the results of a bulk action.
type Many struct {
	Matched   int  `json:"matched" doc:"Jobs that matched the filter."`
	Changed   int  `json:"changed" doc:"Jobs that were cancelled, asked to stop, or retried."`
	Cancelled int  `json:"cancelled" doc:"Jobs that were cancelled immediately."`
	Stopping  int  `json:"stopping" doc:"Running jobs that were asked to stop."`
	Retried   int  `json:"retried" doc:"Executions that were retried."`
	Refused   int  `json:"refused" doc:"Jobs whose state changed in the meantime, so the action no longer applied, and jobs that the user may see and not change."`
	More      bool `json:"more" doc:"Whether the limit was reached: send the request again for the rest."`
}
