package httpapi

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// Job is one attempt, in the queue or out of it.
type Job struct {
	ID          ID              `json:"id" nullable:"false" doc:"Its id."`
	ExecutionID ID              `json:"execution_id" nullable:"false" doc:"The id of the first job of its chain of retries."`
	Type        string          `json:"type" doc:"What it runs." example:"mail"`
	Name        string          `json:"name" doc:"The name that its execution goes by: its schedule's, else its type."`
	Params      json.RawMessage `json:"params" doc:"What the handler is given: a JSON object."`
	Status      string          `json:"status" enum:"QUEUED,RUNNING,CANCELLED" doc:"What is stored: RUNNING stays RUNNING after the end; use state."`
	State       string          `json:"state" enum:"scheduled,blocked,queued,running,completed,failed,skipped,cancelled" doc:"How it stands: what to look at to know whether it runs, and how it ended."`

	Priority    int   `json:"priority" doc:"Higher ones go first."`
	Position    int64 `json:"position" doc:"Its place among those of its priority; lower ones go first."`
	Attempt     int   `json:"attempt" doc:"Which attempt of its execution it is, from 1."`
	MaxAttempts int   `json:"max_attempts" doc:"How many there may be: retries + 1."`
	RetryOf     ID    `json:"retry_of" doc:"The job that it retries."`
	RedriveOf   ID    `json:"redrive_of" doc:"The execution that it tries anew."`

	Backoff    Duration  `json:"backoff" doc:"The wait before the first retry; it doubles with each."`
	BackoffMax *Duration `json:"backoff_max" nullable:"true" doc:"The longest that the wait becomes. Null: there is no bound."`
	Jitter     float64   `json:"jitter" doc:"Which fraction of a wait is taken off at random, 0 to 1."`
	Timeout    *Duration `json:"timeout" nullable:"true" doc:"How long one run may take. Null: as long as it likes."`

	Template       Text `json:"template" doc:"The template that it was made from."`
	Schedule       Text `json:"schedule" doc:"The schedule that fired it."`
	GroupID        ID   `json:"group_id" doc:"The group that it is in."`
	GroupPosition  *int `json:"group_position" doc:"Its place in the group, from 1."`
	ConcurrencyKey Text `json:"concurrency_key" doc:"How many of one key run at once is limited by PUT /limits."`

	ScopeKind string    `json:"scope_kind" doc:"What the execution is for; global/global is nothing in particular."`
	ScopeID   string    `json:"scope_id" doc:"See scope_kind."`
	PlanTime  Time      `json:"plan_time" doc:"The time for which it was planned."`
	RunAt     Time      `json:"run_at" doc:"It does not start before this. Null: it need not wait."`
	UniqueKey Text      `json:"unique_key" doc:"While it is held, another job of this type and key is answered with this one."`
	UniqueFor *Duration `json:"unique_for" nullable:"true" doc:"How long the key is held at least. Null: as long as the execution is kept."`
	Class     Text      `json:"class" doc:"The class of workers that may run it."`
	Shard     Text      `json:"shard" doc:"The shard that it belongs to."`

	Trace      Text `json:"trace" doc:"The W3C traceparent that it goes on from, that of the request that submitted it."`
	CreatedBy  Text `json:"created_by" doc:"Who made it. Null: Rota itself."`
	CreatedAt  Time `json:"created_at" nullable:"false" doc:"When it was made."`
	QueuedAt   Time `json:"queued_at" doc:"When it took its place in the order."`
	StartedAt  Time `json:"started_at" doc:"When it was dispatched."`
	FinishedAt Time `json:"finished_at" doc:"When it ended."`
	Worker     Text `json:"worker" doc:"Who runs it, or ran it."`
	Run        *Run `json:"run" doc:"The lease and the outcome. Null until it is dispatched."`

	Duplicate bool `json:"duplicate,omitempty" doc:"Its unique or plan key was taken: this is the job that holds it."`
}

// Run is the lease and the outcome of one job.
type Run struct {
	ID             ID              `json:"id" nullable:"false" doc:"Its id."`
	Status         string          `json:"status" enum:"RUNNING,COMPLETED,FAILED,SKIPPED,CANCELLED" doc:"How it ended; RUNNING if it has not."`
	StartedAt      Time            `json:"started_at" doc:"When it started."`
	FinishedAt     Time            `json:"finished_at" doc:"When it ended."`
	ExitCode       *int            `json:"exit_code" doc:"Of a process, if the handler ran one."`
	Error          Text            `json:"error" doc:"What went wrong, for people."`
	ErrorCode      Text            `json:"error_code" doc:"What went wrong, for programs."`
	RowsAffected   *int64          `json:"rows_affected" doc:"How many rows the handler says it changed."`
	Result         json.RawMessage `json:"result" doc:"What the handler answered: any JSON."`
	Artifacts      []string        `json:"artifacts" nullable:"false" doc:"The paths of what it made."`
	LogPath        Text            `json:"log_path" doc:"Where its log is, below the data directory."`
	Runner         Text            `json:"runner" doc:"Who holds the lease, or held it."`
	HeartbeatAt    Time            `json:"heartbeat_at" doc:"When its worker last gave a sign."`
	StaleAfter     Time            `json:"stale_after" doc:"When the lease ends, unless it is extended."`
	ParamsSnapshot json.RawMessage `json:"params_snapshot" doc:"The params it was started with."`
	Progress       json.RawMessage `json:"progress" doc:"What the handler last said about how far it is: any JSON."`
	CancelAt       Time            `json:"cancel_at" doc:"When it was asked to stop."`
	CancelBy       Text            `json:"cancel_by" doc:"Who asked it to."`
	CancelReason   Text            `json:"cancel_reason" doc:"Why they did."`
}

// runOpen is what clients read as the status of a run without an outcome.
const runOpen = "RUNNING"

// NewJob shows a job.
func NewJob(j *rota.Job) Job {
	v := Job{
		ID: ID{j.ID}, ExecutionID: ID{j.ExecutionID}, Type: j.Type, Name: j.DefinitionName(), Params: object(j.Params),
		Status: string(j.Status), State: string(j.State()),
		Priority: j.Priority, Position: j.Position,
		Attempt: j.Attempt, MaxAttempts: j.Policy.MaxAttempts, RetryOf: ID{j.RetryOf}, RedriveOf: ID{j.RedriveOf},
		Backoff: Duration(j.Policy.Backoff), BackoffMax: bound(j.Policy.BackoffMax), Jitter: j.Policy.Jitter, Timeout: bound(j.Policy.Timeout),
		Template: Text(j.Template), Schedule: Text(j.Schedule), GroupID: ID{j.GroupID}, ConcurrencyKey: Text(j.ConcurrencyKey),
		PlanTime: Time{j.PlanTime}, RunAt: Time{j.RunAt}, UniqueKey: Text(j.UniqueKey), UniqueFor: bound(j.UniqueFor),
		Trace: Text(j.Trace), CreatedBy: Text(j.CreatedBy), CreatedAt: Time{j.CreatedAt}, QueuedAt: Time{j.QueuedAt},
		StartedAt: Time{j.StartedAt}, FinishedAt: Time{j.FinishedAt}, Run: newRun(j),
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

// NewJobs shows jobs.
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

// scope writes the scope of nothing in particular out.
func scope(j *rota.Job) (kind, id string) {
	if j.ScopeKind == "" {
		return rota.GlobalScopeKind, rota.GlobalScopeID
	}
	return j.ScopeKind, j.ScopeID
}

// bound shows a bound, where 0 stands for none.
func bound(d time.Duration) *Duration {
	if d == 0 {
		return nil
	}
	return new(Duration(d))
}

func object(doc json.RawMessage) json.RawMessage {
	if len(doc) == 0 {
		return json.RawMessage("{}")
	}
	return doc
}
