package api

import (
	"encoding/json"

	"github.com/rotajobs/rota"
)

// Execution is a job and its retries, as lists show it: with the number of attempts.
type Execution struct {
	ID          ID     `json:"id" nullable:"false" doc:"Id of its first job."`
	Name        string `json:"name" doc:"Name: that of its schedule, otherwise its type."`
	Type        string `json:"type" doc:"Type of its jobs."`
	State       string `json:"state" enum:"pending,running,completed,failed,dead,skipped,cancelled" doc:"State of the execution; failed means that a retry is pending."`
	RetryCount  int    `json:"retry_count" doc:"Retries so far."`
	MaxAttempts int    `json:"max_attempts" doc:"Highest number of attempts: retries + 1."`
	Priority    int    `json:"priority" doc:"Priority of its last attempt; higher runs first."`

	Template  Text   `json:"template" doc:"Template it was created from."`
	Schedule  Text   `json:"schedule" doc:"Schedule that fired it."`
	GroupID   ID     `json:"group_id" doc:"Group it belongs to."`
	RedriveOf ID     `json:"redrive_of" doc:"Execution that it retries or repeats."`
	PlanTime  Time   `json:"plan_time" doc:"Planned time."`
	ScopeKind string `json:"scope_kind" doc:"Kind of its scope; global/global means no particular scope."`
	ScopeID   string `json:"scope_id" doc:"Id of its scope; see scope_kind."`

	CreatedAt   Time `json:"created_at" nullable:"false" doc:"Time its first job was created."`
	StartedAt   Time `json:"started_at" doc:"Time its first attempt started."`
	FinishedAt  Time `json:"finished_at" doc:"Time its last attempt ended."`
	NextRetryAt Time `json:"next_retry_at" doc:"Time of the next retry, if it failed."`
	LastJobID   ID   `json:"last_job_id" doc:"Job of its last attempt."`
	Error       Text `json:"error" doc:"Error text of the last attempt that ended."`
	ErrorCode   Text `json:"error_code" doc:"Error code, for programs."`

	Progress json.RawMessage `json:"progress" doc:"Last progress report of its last attempt: any JSON."`

	AttemptCount int `json:"attempt_count" doc:"Number of attempts."`
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
	ExecutionFailed    = "failed"    // a retry is pending
	ExecutionDead      = "dead"      // failed, and will not be retried
	ExecutionSkipped   = "skipped"   //
	ExecutionCancelled = "cancelled" //
)

// ExecutionStates lists the states for filters.
var ExecutionStates = []string{
	ExecutionPending, ExecutionRunning, ExecutionCompleted, ExecutionFailed, ExecutionDead, ExecutionSkipped, ExecutionCancelled,
}

// ExecutionState derives the state of an execution from its last attempt.
func ExecutionState(tail *rota.Job) string {
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

// NewExecution converts an execution from its first and its last attempt, which may be the same job.
func NewExecution(first, tail *rota.Job) Execution {
	v := Execution{
		ID: ID{tail.ExecutionID}, Name: tail.DefinitionName(), Type: tail.Type, State: ExecutionState(tail),
		RetryCount: tail.Attempt - 1, MaxAttempts: tail.Policy.MaxAttempts, Priority: tail.Priority,
		Template: Text(tail.Template), Schedule: Text(tail.Schedule), GroupID: ID{tail.GroupID}, RedriveOf: ID{first.RedriveOf},
		PlanTime: Time{tail.PlanTime}, CreatedAt: Time{first.CreatedAt}, StartedAt: Time{first.StartedAt},
		FinishedAt: Time{tail.FinishedAt}, LastJobID: ID{tail.ID}, AttemptCount: tail.Attempt,
	}
	v.ScopeKind, v.ScopeID = scope(tail)
	if v.State == ExecutionFailed {
		v.NextRetryAt = Time{tail.RunAt}
	}
	if tail.Run != nil {
		v.Error, v.ErrorCode, v.Progress = Text(tail.Run.Error), Text(tail.Run.ErrorCode), tail.Run.Progress
	}
	return v
}

// NewExecutionDetail converts an execution with its attempts, first to last; there is at least one.
func NewExecutionDetail(attempts []*rota.Job) ExecutionDetail {
	tail := attempts[len(attempts)-1]
	v := ExecutionDetail{Execution: NewExecution(attempts[0], tail), Attempts: NewJobs(attempts)}
	if n := len(attempts); tail.Run == nil && n > 1 && attempts[n-2].Run != nil {
		v.Error, v.ErrorCode = Text(attempts[n-2].Run.Error), Text(attempts[n-2].Run.ErrorCode)
	}
	return v
}
