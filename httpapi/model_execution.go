package httpapi

import "github.com/rotajobs/rota"

// Execution is a job and its retries, as a list shows it: attempts are counted.
type Execution struct {
	ID          ID     `json:"id" nullable:"false" doc:"The id of its first job."`
	Name        string `json:"name" doc:"The name that it goes by: its schedule's, else its type."`
	Type        string `json:"type" doc:"What it runs."`
	State       string `json:"state" enum:"pending,running,completed,failed,dead,skipped,cancelled" doc:"How it stands; failed means that it waits for its retry."`
	RetryCount  int    `json:"retry_count" doc:"How many retries there were so far."`
	MaxAttempts int    `json:"max_attempts" doc:"How many attempts there may be: retries + 1."`
	Priority    int    `json:"priority" doc:"Of its last attempt; higher ones go first."`

	Template  Text   `json:"template" doc:"The template that it was made from."`
	Schedule  Text   `json:"schedule" doc:"The schedule that fired it."`
	GroupID   ID     `json:"group_id" doc:"The group that it is in."`
	RedriveOf ID     `json:"redrive_of" doc:"The execution that it tries anew."`
	PlanTime  Time   `json:"plan_time" doc:"The time for which it was planned."`
	ScopeKind string `json:"scope_kind" doc:"What it is for; global/global is nothing in particular."`
	ScopeID   string `json:"scope_id" doc:"See scope_kind."`

	CreatedAt   Time `json:"created_at" nullable:"false" doc:"When its first job was made."`
	StartedAt   Time `json:"started_at" doc:"When its first attempt started."`
	FinishedAt  Time `json:"finished_at" doc:"When its last attempt ended."`
	NextRetryAt Time `json:"next_retry_at" doc:"Of a failed one: when it is tried again."`
	LastJobID   ID   `json:"last_job_id" doc:"Its last attempt."`
	Error       Text `json:"error" doc:"The error of its last attempt that ended."`
	ErrorCode   Text `json:"error_code" doc:"What went wrong, for programs."`

	Attempts int `json:"attempts" doc:"How many attempts there are."`
}

// ExecutionDetail is a job and its retries, with the jobs themselves.
type ExecutionDetail struct {
	Execution
	Attempts []Job `json:"attempts" nullable:"false" doc:"Its jobs, first to last."`
}

// The states of an execution.
const (
	ExecutionPending   = "pending"   // its first attempt has not started
	ExecutionRunning   = "running"   //
	ExecutionCompleted = "completed" //
	ExecutionFailed    = "failed"    // waits for its retry
	ExecutionDead      = "dead"      // failed, and will not be retried
	ExecutionSkipped   = "skipped"   //
	ExecutionCancelled = "cancelled" //
)

// executionStates lists them for filters.
var executionStates = []string{
	ExecutionPending, ExecutionRunning, ExecutionCompleted, ExecutionFailed, ExecutionDead, ExecutionSkipped, ExecutionCancelled,
}

// executionState derives how an execution stands from its last attempt.
func executionState(tail *rota.Job) string {
	switch {
	case tail.Sequel == rota.SequelDead:
		return ExecutionDead
	case tail.Status == rota.StatusQueued && tail.Attempt > 1:
		return ExecutionFailed
	case tail.Status == rota.StatusQueued:
		return ExecutionPending
	}
	return string(tail.State())
}

// newExecution shows an execution by its first and its last attempt, which may
// be the same.
func newExecution(first, tail *rota.Job) Execution {
	v := Execution{
		ID: ID{tail.ExecutionID}, Name: tail.DefinitionName(), Type: tail.Type, State: executionState(tail),
		RetryCount: tail.Attempt - 1, MaxAttempts: tail.Policy.MaxAttempts, Priority: tail.Priority,
		Template: Text(tail.Template), Schedule: Text(tail.Schedule), GroupID: ID{tail.GroupID}, RedriveOf: ID{first.RedriveOf},
		PlanTime: Time{tail.PlanTime}, CreatedAt: Time{first.CreatedAt}, StartedAt: Time{first.StartedAt},
		FinishedAt: Time{tail.FinishedAt}, LastJobID: ID{tail.ID}, Attempts: tail.Attempt,
	}
	v.ScopeKind, v.ScopeID = scope(tail)
	if v.State == ExecutionFailed {
		v.NextRetryAt = Time{tail.RunAt}
	}
	if tail.Run != nil {
		v.Error, v.ErrorCode = Text(tail.Run.Error), Text(tail.Run.ErrorCode)
	}
	return v
}

// NewExecution shows an execution with its attempts, first to last; there is at
// least one.
func NewExecution(attempts []*rota.Job) ExecutionDetail {
	tail := attempts[len(attempts)-1]
	v := ExecutionDetail{Execution: newExecution(attempts[0], tail), Attempts: NewJobs(attempts)}
	if n := len(attempts); tail.Run == nil && n > 1 && attempts[n-2].Run != nil {
		v.Error, v.ErrorCode = Text(attempts[n-2].Run.Error), Text(attempts[n-2].Run.ErrorCode)
	}
	return v
}
