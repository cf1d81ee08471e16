package storekit

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// jobColumns are the columns of a job, then those of its run, in the order in which ScanJob reads
// them. A job that is not started has no run: only the columns up to params are selected.
var jobColumns = pointersTo([]Column[rota.Job]{
	id("id", func(j *rota.Job) *rota.ID { return &j.ID }).notNull(),
	id("execution_id", func(j *rota.Job) *rota.ID { return &j.ExecutionID }).onlyIf(isRetry), // the first attempt has its own id
	id("retry_of", func(j *rota.Job) *rota.ID { return &j.RetryOf }),
	text("type", func(j *rota.Job) *string { return &j.Type }).notNull(),
	text("status", func(j *rota.Job) *rota.Status { return &j.Status }).notNull().defaultIf(isQueued),
	small("hold", func(j *rota.Job) *rota.Hold { return &j.Hold }).defaultIf(func(j *rota.Job) bool { return j.Hold == 0 }),
	small("priority", func(j *rota.Job) *int { return &j.Priority }),
	number("position", func(j *rota.Job) *int64 { return &j.Position }),
	small("attempt", func(j *rota.Job) *int { return &j.Attempt }).defaultIf(func(j *rota.Job) bool { return j.Attempt == 1 }),
	small("max_attempts", func(j *rota.Job) *int { return &j.Policy.MaxAttempts }),
	text("sequel", func(j *rota.Job) *rota.Sequel { return &j.Sequel }),
	duration("backoff", func(j *rota.Job) *time.Duration { return &j.Policy.Backoff }).notNull(),
	duration("backoff_max", func(j *rota.Job) *time.Duration { return &j.Policy.BackoffMax }),
	float("jitter", func(j *rota.Job) *float64 { return &j.Policy.Jitter }),
	duration("timeout", func(j *rota.Job) *time.Duration { return &j.Policy.Timeout }).notNull(),
	moment("created_at", func(j *rota.Job) *time.Time { return &j.CreatedAt }).notNull(),
	moment("queued_at", func(j *rota.Job) *time.Time { return &j.QueuedAt }),
	moment("started_at", func(j *rota.Job) *time.Time { return &j.StartedAt }),
	moment("finished_at", func(j *rota.Job) *time.Time { return &j.FinishedAt }),
	moment("run_at", func(j *rota.Job) *time.Time { return &j.RunAt }),
	moment("plan_time", func(j *rota.Job) *time.Time { return &j.PlanTime }),
	text("scope_kind", func(j *rota.Job) *string { return &j.ScopeKind }),
	text("scope_id", func(j *rota.Job) *string { return &j.ScopeID }),
	text("name", func(j *rota.Job) *string { return &j.Name }),
	text("unique_key", func(j *rota.Job) *string { return &j.UniqueKey }),
	duration("unique_for", func(j *rota.Job) *time.Duration { return &j.UniqueFor }),
	id("version", func(j *rota.Job) *rota.ID { return &j.Version }),
	text("created_by", func(j *rota.Job) *string { return &j.CreatedBy }),
	text("template", func(j *rota.Job) *string { return &j.Template }),
	text("schedule", func(j *rota.Job) *string { return &j.Schedule }),
	id("group_id", func(j *rota.Job) *rota.ID { return &j.GroupID }),
	small("group_position", func(j *rota.Job) *int { return &j.GroupPosition }).onlyIf(isMember),
	text("concurrency_key", func(j *rota.Job) *string { return &j.ConcurrencyKey }),
	moment("counts_at", func(j *rota.Job) *time.Time { return &j.CountsAt }),
	moment("wait_from", func(j *rota.Job) *time.Time { return &j.WaitFrom }),
	moment("wait_until", func(j *rota.Job) *time.Time { return &j.WaitUntil }),
	id("redrive_of", func(j *rota.Job) *rota.ID { return &j.RedriveOf }),
	text("trace", func(j *rota.Job) *string { return &j.Trace }),
	text("owner", func(j *rota.Job) *string { return &j.Owner }),
	raw("params", func(j *rota.Job) *json.RawMessage { return &j.Params }).notNull(),

	ofRun(id("run_id", func(r *rota.Run) *rota.ID { return &r.ID })),
	ofRun(id("token", func(r *rota.Run) *rota.Token { return &r.Token }).notNull()),
	ofRun(text("runner", func(r *rota.Run) *string { return &r.Runner }).notNull()),
	ofRun(id("life", func(r *rota.Run) *rota.ID { return &r.Incarnation })),
	ofRun(moment("heartbeat_at", func(r *rota.Run) *time.Time { return &r.HeartbeatAt })),
	ofRun(moment("stale_after", func(r *rota.Run) *time.Time { return &r.StaleAfter })),
	ofRun(text("outcome", func(r *rota.Run) *rota.Outcome { return &r.Outcome })),
	ofRun(moment("ended_at", func(r *rota.Run) *time.Time { return &r.FinishedAt })),
	ofRun(pointer("exit_code", func(r *rota.Run) **int { return &r.ExitCode })),
	ofRun(text("error_code", func(r *rota.Run) *string { return &r.ErrorCode })),
	ofRun(text("error", func(r *rota.Run) *string { return &r.Error })),
	ofRun(pointer("rows_affected", func(r *rota.Run) **int64 { return &r.RowsAffected })),
	ofRun(moment("cancel_at", func(r *rota.Run) *time.Time { return &r.CancelAt })),
	ofRun(text("cancel_by", func(r *rota.Run) *string { return &r.CancelBy })),
	ofRun(text("cancel_reason", func(r *rota.Run) *string { return &r.CancelReason })),
	ofRun(raw("progress", func(r *rota.Run) *json.RawMessage { return &r.Progress })),
	ofRun(text("log_path", func(r *rota.Run) *string { return &r.LogPath })),
	ofRun(lines("artifacts", func(r *rota.Run) *[]string { return &r.Artifacts })),
	ofRun(raw("result", func(r *rota.Run) *json.RawMessage { return &r.Result })),
})

func pointersTo[T any](columns []Column[T]) []*Column[T] {
	pointers := make([]*Column[T], len(columns))
	for i := range columns {
		pointers[i] = &columns[i]
	}
	return pointers
}

func isRetry(j *rota.Job) bool { return !j.RetryOf.IsZero() }

func isMember(j *rota.Job) bool { return !j.GroupID.IsZero() }

func isQueued(j *rota.Job) bool { return j.Status == rota.StatusQueued }

// ofRun makes a column of a run one of its job. It is NULL if the job has no run.
func ofRun(c Column[rota.Run]) Column[rota.Job] {
	return Column[rota.Job]{
		Name: c.Name, Kind: c.Kind, required: c.required,
		valid: func(j *rota.Job) bool { return j.Run != nil && (c.valid == nil || c.valid(j.Run)) },
		usual: func(j *rota.Job) bool { return j.Run == nil || c.usual != nil && c.usual(j.Run) },
		read: func(r Row, col int, j *rota.Job) {
			if j.Run != nil {
				c.read(r, col, j.Run)
			}
		},
		write: func(p Param, j *rota.Job, optional bool) { c.write(p, j.Run, optional) },
	}
}

// The numbers of some columns in a row that ScanJob reads.
var (
	ColRunID    = jobColumn("run_id")
	JobWidth    = len(jobColumns) // number of columns of a job with its run
	QueuedWidth = ColRunID        // number of columns of a job without its run

	colRunner      = jobColumn("runner")
	colLeaseRunner = 1
)

func jobColumn(name string) int {
	return slices.IndexFunc(jobColumns, func(c *Column[rota.Job]) bool { return c.Name == name })
}

// leaseColumns are what a heartbeat, a finish and their events need, in the order in which ScanLease
// reads them.
var leaseColumns = Named(
	"id", "runner", "execution_id", "run_id", "type", "status", "priority", "attempt", "max_attempts", "sequel", "unique_key",
	"finished_at", "token", "heartbeat_at", "stale_after", "outcome", "error_code", "cancel_at", "cancel_reason", "log_path",
	"artifacts", "schedule", "group_id", "concurrency_key", "started_at", "plan_time", "name", "template", "timeout", "life")

// The lists of columns that queries select, of the jobs j. A job without its run is QUEUED.
var (
	FullJob    = jobSQL(jobColumns)
	LeanJob    = jobSQL(jobColumns, "params")
	ListedJob  = jobSQL(jobColumns, "params", "progress", "artifacts", "result") // without documents
	QueuedJob  = jobSQL(jobColumns[:QueuedWidth])
	QueuedLean = jobSQL(jobColumns[:QueuedWidth], "params")
	LeasedJob  = jobSQL(leaseColumns)
	AttemptJob = `j.id, j.status, j.attempt, j.sequel, j.finished_at, j.outcome, j.type, j.error_code, j.cancel_at` // read by ScanAttempt
)

// jobSQL returns a list of columns, with NULL in place of those that are not needed.
func jobSQL(columns []*Column[rota.Job], without ...string) string {
	list := columnNames(columns)
	for i, name := range list {
		list[i] = "j." + name
		if slices.Contains(without, name) {
			list[i] = "NULL"
		}
	}
	return "\n  " + strings.Join(list, ", ")
}

// Named returns columns of jobs by name.
func Named(names ...string) []*Column[rota.Job] {
	columns := make([]*Column[rota.Job], len(names))
	for i, name := range names {
		columns[i] = jobColumns[jobColumn(name)]
	}
	return columns
}

// ScanJob reads a job, with its run if the columns of the run were selected and it has one.
func ScanJob(r Row) *rota.Job {
	if r.Len() < JobWidth {
		return scanJob(r, jobColumns[:QueuedWidth], &rota.Job{})
	}
	return scanJob(r, jobColumns, newJob(r, colRunner))
}

// ScanLease reads a job of leaseColumns.
func ScanLease(r Row) *rota.Job { return scanJob(r, leaseColumns, newJob(r, colLeaseRunner)) }

// newJob returns an empty job, with a run if the job has one.
func newJob(r Row, colRunner int) *rota.Job {
	if r.Null(colRunner) {
		return &rota.Job{}
	}
	return &rota.Job{Run: &rota.Run{}}
}

func scanJob(r Row, columns []*Column[rota.Job], j *rota.Job) *rota.Job {
	for col, c := range columns {
		if !r.Null(col) {
			c.read(r, col, j)
		}
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	if j.Run != nil {
		j.Run.StartedAt = j.StartedAt
	}
	return j
}

// ScanListed reads a job without its lease token, which only the worker of the job may know.
func ScanListed(r Row) *rota.Job {
	j := ScanJob(r)
	if j.Run != nil {
		j.Run.Token = rota.Token{}
	}
	return j
}

// ScanAttempt reads the columns that show the state of an attempt.
func ScanAttempt(r Row) *rota.Job {
	j := &rota.Job{
		ID: r.ID(0), Status: rota.Status(r.Text(1)), Attempt: int(r.Int(2)),
		Sequel: rota.Sequel(r.Text(3)), FinishedAt: r.Time(4), Type: r.Text(6),
	}
	if j.Status == rota.StatusRunning {
		j.Run = &rota.Run{Outcome: rota.Outcome(r.Text(5)), ErrorCode: r.Text(7), CancelAt: r.Time(8)}
	}
	return j
}

// DispatchOrder compares jobs by the order in which claims take them.
func DispatchOrder(a, b *rota.Job) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}
