package storekit

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// NewJob returns the columns of a new job: all that may have a value before it starts.
func NewJob() []Column[rota.Job] {
	later := []string{"status", "sequel", "started_at", "finished_at", "version"}
	return slices.DeleteFunc(slices.Clone(jobColumns[:QueuedWidth]), func(c Column[rota.Job]) bool { return slices.Contains(later, c.Name) })
}

// StartedJob returns the columns that a new job has besides if it is already started.
func StartedJob() []Column[rota.Job] {
	return Named("status", "started_at", "run_id", "token", "runner", "life", "heartbeat_at", "stale_after")
}

// fieldColumns maps each field of a job or its run to its columns, which always change together.
var fieldColumns = []struct {
	field   rules.JobField
	columns []string
}{
	{rules.JobStatus, []string{"status"}},
	{rules.JobHold, []string{"hold"}},
	{rules.JobPriority, []string{"priority"}},
	{rules.JobPosition, []string{"position"}},
	{rules.JobVersion, []string{"version"}},
	{rules.JobParams, []string{"params"}},
	{rules.JobQueuedAt, []string{"queued_at"}},
	{rules.JobStartedAt, []string{"started_at"}},
	{rules.JobFinishedAt, []string{"finished_at"}},
	{rules.JobSequel, []string{"sequel"}},
	{rules.JobRun, []string{"run_id", "token", "runner", "life"}},
	{rules.RunHeartbeat, []string{"heartbeat_at", "stale_after"}},
	{rules.RunProgress, []string{"progress"}},
	{rules.RunCancel, []string{"cancel_at", "cancel_by", "cancel_reason"}},
	{rules.RunArtifacts, []string{"artifacts"}},
	{rules.RunLogPath, []string{"log_path"}},
	{rules.RunOutcome, []string{"outcome", "ended_at"}},
	{rules.RunFinished, []string{"ended_at"}},
	{rules.RunExitCode, []string{"exit_code"}},
	{rules.RunError, []string{"error_code", "error"}},
	{rules.RunRows, []string{"rows_affected"}},
	{rules.RunResult, []string{"result"}},
}

// ColumnsOf returns the columns of changed fields.
func ColumnsOf(fields rules.JobField) []Column[rota.Job] {
	var names []string
	for _, f := range fieldColumns {
		if fields&f.field != 0 {
			names = append(names, f.columns...)
		}
	}
	return Named(names...)
}
