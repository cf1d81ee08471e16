package system

import (
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// run is a row of sys.job_runs: an execution.
type run struct{ chain }

func (q *query) run(tail *rota.Job) run { return run{chain{Job: tail, q: q}} }

// The states of a run of document 002. A run that waits for a retry is PENDING.
const (
	runPending = "PENDING"
	runRunning = "RUNNING"
)

func (r *run) state() string {
	if r.Status == rota.StatusQueued {
		return runPending
	}
	return strings.ToUpper(string(r.State()))
}

// scheduled returns when the run was due: its plan time, else the run time of its first attempt, else its creation time.
func (r *run) scheduled() time.Time {
	if !r.PlanTime.IsZero() {
		return r.PlanTime
	}
	if first := r.first(); !first.RunAt.IsZero() {
		return first.RunAt
	}
	return r.created()
}

// jobID returns the id of the definition that the run is of. A run without a schedule has an id of its template or
// type, which no definition has.
func (r *run) jobID() rota.ID {
	switch {
	case r.Schedule != "":
		return rota.DefinitionID(r.Schedule)
	case r.Template != "":
		return templateUUID(r.Template)
	}
	return typeUUID(r.Type)
}

// templateUUID and typeUUID return ids for the runs of a template or type. A name has no NUL character, so no definition
// has such an id.
func templateUUID(name string) rota.ID { return rota.DefinitionID("template\x00" + name) }
func typeUUID(name string) rota.ID     { return rota.DefinitionID("type\x00" + name) }

// errorNumber returns the error code if it is a number. A word such as timeout and a SQLSTATE such as 08006 are not.
func (r *run) errorNumber() sqlite.Value {
	code := r.errorCode()
	n, err := strconv.ParseInt(code, 10, 32)
	if err != nil || strconv.FormatInt(n, 10) != code {
		return null
	}
	return integer(n)
}

// ofRun shows a value of the last attempt, if it was dispatched.
func ofRun(value func(*rota.Run) sqlite.Value) func(*run) sqlite.Value {
	return func(r *run) sqlite.Value {
		if r.Run == nil {
			return null
		}
		return value(r.Run)
	}
}

// ofDispatched shows a value of the last attempt that was dispatched, which is a failed one while its retry waits.
func ofDispatched(value func(*rota.Run) sqlite.Value) func(*run) sqlite.Value {
	return func(r *run) sqlite.Value {
		if last := r.dispatched().Run; last != nil {
			return value(last)
		}
		return null
	}
}

var jobRuns = &table[run]{
	name: "job_runs", columns: runColumns(), paths: runWays, key: func(r *run) string { return string(r.ExecutionID[:]) },
}

func runColumns() []column[run] {
	columns := []column[run]{
		{name: "job_run_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.ExecutionID) }, notNull: true},
		{name: "job_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.jobID()) }, notNull: true},
		{name: "job_name", kind: Text, value: func(r *run) sqlite.Value { return text(r.Schedule) }},
		{name: "assigned_node_uuid", kind: UUID, value: func(*run) sqlite.Value { return null }},
		{name: "assigned_node", kind: Text, value: ofRun(func(r *rota.Run) sqlite.Value { return text(r.Runner) })},
		{name: "shard_uuid", kind: UUID, value: func(*run) sqlite.Value { return null }},
		{name: "state", kind: Text, value: func(r *run) sqlite.Value { return notNullText(r.state()) }, notNull: true},
		{name: "retry_count", kind: Int4, value: func(r *run) sqlite.Value { return integer(int64(r.Attempt - 1)) }, notNull: true},
		{name: "result_message", kind: Text, value: func(r *run) sqlite.Value { return text(r.message()) }},
		{name: "rows_affected", kind: Integer, value: ofRun(func(r *rota.Run) sqlite.Value { return integerOf(r.RowsAffected) })},
		column[run]{name: "result_data", kind: Bytea, value: ofRun(func(r *rota.Run) sqlite.Value { return bytesOf(r.Result) })}.needsFullRow(),
		column[run]{name: "result_json", kind: JSON, value: ofRun(func(r *rota.Run) sqlite.Value { return document(r.Result) })}.needsFullRow(),
		{name: "error_code", kind: Int4, value: (*run).errorNumber},
		{name: "error_name", kind: Text, value: func(r *run) sqlite.Value { return text(r.errorCode()) }},
		{name: "exit_code", kind: Integer, value: ofDispatched(func(r *rota.Run) sqlite.Value { return integerOf(r.ExitCode) })},
		{name: "type", kind: Text, value: func(r *run) sqlite.Value { return notNullText(r.Type) }, notNull: true},
		{name: "template", kind: Text, value: func(r *run) sqlite.Value { return text(r.Template) }},
		{name: "group_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.GroupID) }},
		{name: "scope_kind", kind: Text, value: func(r *run) sqlite.Value { return notNullText(orGlobal(r.ScopeKind)) }, notNull: true},
		{name: "scope_id", kind: Text, value: func(r *run) sqlite.Value { return notNullText(orGlobal(r.ScopeID)) }, notNull: true},
		{name: "priority", kind: Int4, value: func(r *run) sqlite.Value { return integer(int64(r.Priority)) }, notNull: true},
		column[run]{name: "params", kind: JSON, value: func(r *run) sqlite.Value { return document(r.Params) }}.needsFullRow(),
		{name: "last_job_uuid", kind: UUID, value: func(r *run) sqlite.Value { return uuid(r.ID) }, notNull: true},
		{name: "created_by", kind: Text, value: func(r *run) sqlite.Value { return text(r.CreatedBy) }},
		{name: "owner", kind: Text, value: func(r *run) sqlite.Value { return text(r.Owner) }},
	}
	for _, pair := range [][]column[run]{
		timeColumns("scheduled_time", (*run).scheduled),
		timeColumns("started_at", func(r *run) time.Time { return r.dispatched().StartedAt }),
		timeColumns("completed_at", func(r *run) time.Time { return r.FinishedAt }),
		timeColumns("created_at", func(r *run) time.Time { return r.created() }),
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
