package api

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// Job is one attempt.
type Job struct {
	ID          ID              `json:"id" nullable:"false" doc:"Id of the job."`
	ExecutionID ID              `json:"execution_id" nullable:"false" doc:"Id of the first job of its chain of retries."`
	Type        string          `json:"type" doc:"Type of the job." example:"mail"`
	Name        string          `json:"name" doc:"Name of its execution: that of its schedule, otherwise its type."`
	Params      json.RawMessage `json:"params" doc:"Params for the handler: a JSON object."`
	Status      string          `json:"status" enum:"QUEUED,RUNNING,CANCELLED" doc:"Stored status. It stays RUNNING after the run ends; read state instead."`
	State       string          `json:"state" enum:"scheduled,blocked,queued,running,completed,failed,skipped,cancelled" doc:"State of the job: whether it waits, runs, or how it ended."`

	Priority    int   `json:"priority" doc:"Priority; higher runs first."`
	Position    int64 `json:"position" doc:"Position among jobs of the same priority; lower runs first."`
	Attempt     int   `json:"attempt" doc:"Attempt number within its execution, from 1."`
	MaxAttempts int   `json:"max_attempts" doc:"Highest number of attempts: retries + 1."`
	RetryOf     ID    `json:"retry_of" doc:"Job that it retries."`
	RedriveOf   ID    `json:"redrive_of" doc:"Execution that it retries or repeats."`

	Backoff    Duration  `json:"backoff" doc:"Pause before the first retry. It doubles with each retry."`
	BackoffMax *Duration `json:"backoff_max" nullable:"true" doc:"Longest pause between retries. Null: no limit."`
	Jitter     float64   `json:"jitter" doc:"Fraction of each pause that is removed at random, 0 to 1."`
	Timeout    *Duration `json:"timeout" nullable:"true" doc:"Longest duration of one run. Null: no limit."`

	Template       Text `json:"template" doc:"Template it was created from."`
	Schedule       Text `json:"schedule" doc:"Schedule that fired it."`
	GroupID        ID   `json:"group_id" doc:"Group it belongs to."`
	GroupPosition  *int `json:"group_position" doc:"Position in the group, from 1."`
	ConcurrencyKey Text `json:"concurrency_key" doc:"Concurrency key. PUT /limits sets how many jobs of one key run at the same time."`

	ScopeKind string    `json:"scope_kind" doc:"Kind of its scope; global/global means no particular scope."`
	ScopeID   string    `json:"scope_id" doc:"Id of its scope; see scope_kind."`
	PlanTime  Time      `json:"plan_time" doc:"Planned time."`
	RunAt     Time      `json:"run_at" doc:"Earliest start. Null: no delay."`
	UniqueKey Text      `json:"unique_key" doc:"Unique key. While it is held, enqueuing another job of this type and key returns this job."`
	UniqueFor *Duration `json:"unique_for" nullable:"true" doc:"Shortest time the unique key is held. Null: as long as the execution is kept."`
	Class     Text      `json:"class" doc:"Class of workers that may run it."`
	Shard     Text      `json:"shard" doc:"Shard it belongs to."`

	Trace      Text `json:"trace" doc:"W3C traceparent of the request that submitted it; its run continues that trace."`
	Owner      Text `json:"owner" doc:"User whose rights it runs with: the owner of its definition when it was created. Null: it has no definition and runs with the rights of its creator."`
	RunAs      Text `json:"run_as,omitempty" doc:"Role that a job of the type sql, call or exec runs as. Omitted: none."`
	CreatedBy  Text `json:"created_by" doc:"Actor that created it. Null: Rota."`
	CreatedAt  Time `json:"created_at" nullable:"false" doc:"Time of its creation."`
	QueuedAt   Time `json:"queued_at" doc:"Time it became ready."`
	StartedAt  Time `json:"started_at" doc:"Time it was dispatched."`
	FinishedAt Time `json:"finished_at" doc:"Time it ended."`
	Worker     Text `json:"worker" doc:"Worker that runs or ran it."`
	Run        *Run `json:"run" doc:"Lease and outcome. Null until dispatch."`

	Holds  []string `json:"holds" nullable:"false" enum:"delay,group,dependency,overlap,key" doc:"Reasons why a queued job is not ready. Empty: it is ready, or has left the queue."`
	Sequel Text     `json:"sequel" enum:"none,retry,dead" doc:"What follows its end: none, a retry, or dead, if it failed for good. Null until it ends."`

	Version   ID   `json:"version" doc:"Changes with every edit and move; the ETag of the job. Null: it was never edited or moved."`
	Duplicate bool `json:"duplicate,omitempty" doc:"Whether its unique key or plan was taken: this is the job that holds it."`
}

// Run is the lease and the outcome of one job.
type Run struct {
	ID             ID              `json:"id" nullable:"false" doc:"Id of the run."`
	Status         string          `json:"status" enum:"RUNNING,COMPLETED,FAILED,SKIPPED,CANCELLED" doc:"Outcome; RUNNING until the run ends. A run that timed out is CANCELLED with the error_code timeout; the state of its job is failed."`
	StartedAt      Time            `json:"started_at" doc:"Start of the run."`
	FinishedAt     Time            `json:"finished_at" doc:"End of the run."`
	ExitCode       *int            `json:"exit_code" doc:"Exit code of the process, if the handler ran one."`
	Error          Text            `json:"error" doc:"Error text, for people."`
	ErrorCode      Text            `json:"error_code" doc:"Error code, for programs."`
	RowsAffected   *int64          `json:"rows_affected" doc:"Number of rows the handler reports as changed."`
	Result         json.RawMessage `json:"result" doc:"Result of the handler: any JSON."`
	Artifacts      []string        `json:"artifacts" nullable:"false" doc:"Paths of the files it created."`
	LogPath        Text            `json:"log_path" doc:"Where its log is stored: a file below the data directory of the server that ran it, or the path of the log in this API. Empty: it wrote nothing, or is not recorded yet."`
	Runner         Text            `json:"runner" doc:"Worker that holds or held the lease."`
	HeartbeatAt    Time            `json:"heartbeat_at" doc:"Time of the last heartbeat of its worker."`
	StaleAfter     Time            `json:"stale_after" doc:"Time the lease expires unless extended."`
	ParamsSnapshot json.RawMessage `json:"params_snapshot" doc:"Params it was started with."`
	Progress       json.RawMessage `json:"progress" doc:"Last progress report of the handler: any JSON."`
	CancelAt       Time            `json:"cancel_at" doc:"Time it was asked to stop."`
	CancelBy       Text            `json:"cancel_by" doc:"Actor that asked it to stop."`
	CancelReason   Text            `json:"cancel_reason" doc:"Reason for the request to stop."`
}

// runOpen is the status of a run without an outcome.
const runOpen = "RUNNING"

// NewJob converts a job.
func NewJob(j *rota.Job) Job {
	v := Job{
		ID: ID{j.ID}, ExecutionID: ID{j.ExecutionID}, Type: j.Type, Name: j.DefinitionName(), Params: object(j.Params),
		Status: string(j.Status), State: string(j.State()),
		Priority: j.Priority, Position: j.Position,
		Attempt: j.Attempt, MaxAttempts: j.Policy.MaxAttempts, RetryOf: ID{j.RetryOf}, RedriveOf: ID{j.RedriveOf},
		Backoff: Duration(j.Policy.Backoff), BackoffMax: bound(j.Policy.BackoffMax), Jitter: j.Policy.Jitter, Timeout: bound(j.Policy.Timeout),
		Template: Text(j.Template), Schedule: Text(j.Schedule), GroupID: ID{j.GroupID}, ConcurrencyKey: Text(j.ConcurrencyKey),
		PlanTime: Time{j.PlanTime}, RunAt: Time{j.RunAt}, UniqueKey: Text(j.UniqueKey), UniqueFor: bound(j.UniqueFor),
		Trace: Text(j.Trace), Owner: Text(j.Owner), RunAs: Text(runAs(j)), CreatedBy: Text(j.CreatedBy), CreatedAt: Time{j.CreatedAt}, QueuedAt: Time{j.QueuedAt},
		StartedAt: Time{j.StartedAt}, FinishedAt: Time{j.FinishedAt}, Run: newRun(j), Version: ID{j.Version}, Holds: holdNames(j.Hold), Sequel: Text(j.Sequel),
	}
	v.ScopeKind, v.ScopeID = scope(j)
	if !j.GroupID.IsZero() {
		v.GroupPosition = new(j.GroupPosition)
	}
	if v.Run != nil {
		v.Worker = v.Run.Runner
	}
	return v
}

// runAs returns the role that a job of a built-in type names in its params.
func runAs(j *rota.Job) string {
	switch j.Type {
	case "sql", "call", "exec":
		var p struct {
			RunAs string `json:"run_as"`
		}
		_ = json.Unmarshal(j.Params, &p) // other params name no role
		return p.RunAs
	}
	return ""
}

// NewJobs converts jobs.
func NewJobs(jobs []*rota.Job) []Job {
	views := make([]Job, len(jobs))
	for i, j := range jobs {
		views[i] = NewJob(j)
	}
	return views
}

func newRun(j *rota.Job) *Run {
	r := j.Run
	if r == nil {
		return nil
	}
	v := &Run{
		ID: ID{r.ID}, Status: string(r.Outcome), StartedAt: Time{r.StartedAt}, FinishedAt: Time{r.FinishedAt},
		ExitCode: r.ExitCode, Error: Text(r.Error), ErrorCode: Text(r.ErrorCode), RowsAffected: r.RowsAffected,
		Result: r.Result, Artifacts: r.Artifacts, LogPath: Text(r.LogPath), Runner: Text(r.Runner),
		HeartbeatAt: Time{r.HeartbeatAt}, StaleAfter: Time{r.StaleAfter}, ParamsSnapshot: object(j.Params), Progress: r.Progress,
		CancelAt: Time{r.CancelAt}, CancelBy: Text(r.CancelBy), CancelReason: Text(r.CancelReason),
	}
	if r.Open() {
		v.Status = runOpen
	}
	if v.Artifacts == nil {
		v.Artifacts = []string{}
	}
	return v
}

// scope returns the scope of a job, with the global scope written out.
func scope(j *rota.Job) (kind, id string) {
	if j.ScopeKind == "" {
		return rota.GlobalScopeKind, rota.GlobalScopeID
	}
	return j.ScopeKind, j.ScopeID
}

// bound converts a duration in which 0 means none.
func bound(d time.Duration) *Duration {
	if d == 0 {
		return nil
	}
	return new(Duration(d))
}

// unbound is the reverse of bound.
func unbound(d *Duration) time.Duration {
	if d == nil {
		return 0
	}
	return time.Duration(*d)
}

func object(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return json.RawMessage("{}")
	}
	return doc
}

// JobStates lists the states of a job.
var JobStates = []string{"scheduled", "blocked", "queued", "running", "completed", "failed", "skipped", "cancelled"}
