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
	columns []*Column[rota.Job]
}{
	{rules.JobStatus, pointers("status")},
	{rules.JobHold, pointers("hold")},
	{rules.JobPriority, pointers("priority")},
	{rules.JobPosition, pointers("position")},
	{rules.JobVersion, pointers("version")},
	{rules.JobParams, pointers("params")},
	{rules.JobQueuedAt, pointers("queued_at")},
	{rules.JobStartedAt, pointers("started_at")},
	{rules.JobFinishedAt, pointers("finished_at")},
	{rules.JobSequel, pointers("sequel")},
	{rules.JobRun, pointers("run_id", "token", "runner", "life")},
	{rules.RunHeartbeat, pointers("heartbeat_at", "stale_after")},
	{rules.RunProgress, pointers("progress")},
	{rules.RunCancel, pointers("cancel_at", "cancel_by", "cancel_reason")},
	{rules.RunArtifacts, pointers("artifacts")},
	{rules.RunLogPath, pointers("log_path")},
	{rules.RunOutcome, pointers("outcome", "ended_at")},
	{rules.RunFinished, pointers("ended_at")},
	{rules.RunExitCode, pointers("exit_code")},
	{rules.RunError, pointers("error_code", "error")},
	{rules.RunRows, pointers("rows_affected")},
	{rules.RunResult, pointers("result")},
}

// pointers returns columns of jobs by name.
func pointers(names ...string) []*Column[rota.Job] {
	columns := make([]*Column[rota.Job], len(names))
	for i, name := range names {
		columns[i] = &jobColumns[jobColumn(name)]
	}
	return columns
}

// ColumnsOf returns the columns of changed fields.
func ColumnsOf(fields rules.JobField) (columns []*Column[rota.Job]) {
	for i := range fieldColumns {
		if f := &fieldColumns[i]; fields&f.field != 0 {
			columns = append(columns, f.columns...)
		}
	}
	return columns
}
