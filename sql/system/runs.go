package system

import (
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// run is a row of sys.job_runs: an execution, shown by its last attempt.
type run struct{ *rota.Job }

// The states of a run of document 002. A run that waits for a retry is PENDING.
const (
	runPending = "PENDING"
	runRunning = "RUNNING"
)

func (r *run) state() string {
	switch {
	case r.Status == rota.StatusQueued:
		return runPending
	case r.Status == rota.StatusCancelled:
		return string(rota.OutcomeCancelled)
	case r.Run == nil || r.Run.Outcome == "":
		return runRunning
	}
	return string(r.Run.ShownOutcome())
}

// scheduled returns when the run was due: its plan time, else its run time, else its creation time.
func (r *run) scheduled() time.Time {
	switch {
	case !r.PlanTime.IsZero():
		return r.PlanTime
	case !r.RunAt.IsZero():
		return r.RunAt
	}
	return r.CreatedAt
}

// message returns the error of the run, or the reason of its cancellation.
func (r *run) message() string {
	switch {
	case r.Run == nil:
		return ""
	case r.Run.Error != "":
		return r.Run.Error
	}
	return r.Run.CancelReason
}

// ofRun shows a value of the attempt that was dispatched.
func ofRun(value func(*rota.Run) sqlite.Value) func(*run) sqlite.Value {
	return func(r *run) sqlite.Value {
		if r.Run == nil {
			return null
		}
		return value(r.Run)
	}
}

var jobRuns = &table[run]{
	name: "job_runs", columns: runColumns(), paths: runWays, key: func(r *run) string { return string(r.ExecutionID[:]) },
}

func runColumns() []column[run] {
	columns := []column[run]{
		{name: "job_run_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.ExecutionID) }, notNull: true},
		{name: "job_uuid", kind: UUID, value: func(r *run) sqlite.Value { return definitionUUID(r.Schedule) }},
		{name: "job_name", kind: Text, value: func(r *run) sqlite.Value { return text(r.Schedule) }},
		{name: "assigned_node_uuid", kind: UUID, value: func(*run) sqlite.Value { return null }},
		{name: "assigned_node", kind: Text, value: ofRun(func(r *rota.Run) sqlite.Value { return text(r.Runner) })},
		{name: "shard_uuid", kind: UUID, value: func(*run) sqlite.Value { return null }},
		{name: "state", kind: Text, value: func(r *run) sqlite.Value { return notNullText(r.state()) }, notNull: true},
		{name: "retry_count", kind: Integer, value: func(r *run) sqlite.Value { return integer(int64(r.Attempt - 1)) }, notNull: true},
		{name: "result_message", kind: Text, value: func(r *run) sqlite.Value { return text(r.message()) }},
		{name: "rows_affected", kind: Integer, value: ofRun(func(r *rota.Run) sqlite.Value { return integerOf(r.RowsAffected) })},
		column[run]{name: "result_data", kind: JSON, value: ofRun(func(r *rota.Run) sqlite.Value { return document(r.Result) })}.needsFullRow(),
		{name: "error_code", kind: Text, value: ofRun(func(r *rota.Run) sqlite.Value { return text(r.ErrorCode) })},
		{name: "exit_code", kind: Integer, value: ofRun(func(r *rota.Run) sqlite.Value { return integerOf(r.ExitCode) })},
		{name: "type", kind: Text, value: func(r *run) sqlite.Value { return notNullText(r.Type) }, notNull: true},
		{name: "template", kind: Text, value: func(r *run) sqlite.Value { return text(r.Template) }},
		{name: "group_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.GroupID) }},
		{name: "scope_kind", kind: Text, value: func(r *run) sqlite.Value { return notNullText(orGlobal(r.ScopeKind)) }, notNull: true},
		{name: "scope_id", kind: Text, value: func(r *run) sqlite.Value { return notNullText(orGlobal(r.ScopeID)) }, notNull: true},
		{name: "priority", kind: Integer, value: func(r *run) sqlite.Value { return integer(int64(r.Priority)) }, notNull: true},
		column[run]{name: "params", kind: JSON, value: func(r *run) sqlite.Value { return document(r.Params) }}.needsFullRow(),
		{name: "last_job_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.ID) }, notNull: true},
		{name: "created_by", kind: Text, value: func(r *run) sqlite.Value { return text(r.CreatedBy) }},
	}
	for _, pair := range [][]column[run]{
		timeColumns("scheduled_time", (*run).scheduled),
		timeColumns("started_at", func(r *run) time.Time { return r.StartedAt }),
		timeColumns("completed_at", func(r *run) time.Time { return r.FinishedAt }),
		timeColumns("created_at", func(r *run) time.Time { return r.CreatedAt }),
	} {
		columns = append(columns, pair...)
	}
	return columns
}

func orGlobal(scope string) string {
	if scope == "" {
		return rota.GlobalScopeKind
	}
	return scope
}
