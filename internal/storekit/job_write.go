package storekit

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// NewJob returns the columns of a new job: all that may have a value before it starts.
func NewJob() []*Column[rota.Job] {
	later := []string{"status", "sequel", "started_at", "finished_at", "version"}
	return slices.DeleteFunc(slices.Clone(jobColumns[:QueuedWidth]), func(c *Column[rota.Job]) bool { return slices.Contains(later, c.Name) })
}

// StartedJob returns the columns that a new job has besides if it is already started.
func StartedJob() []*Column[rota.Job] {
	return Named("status", "started_at", "run_id", "token", "runner", "life", "heartbeat_at", "stale_after")
}

// fieldColumns maps each field of a job or its run to its columns, which always change together.
var fieldColumns = []struct {
	field   rules.JobField
	columns []*Column[rota.Job]
}{
	{rules.JobStatus, Named("status")},
	{rules.JobHold, Named("hold")},
	{rules.JobPriority, Named("priority")},
	{rules.JobPosition, Named("position")},
	{rules.JobVersion, Named("version")},
	{rules.JobParams, Named("params")},
	{rules.JobRunAt, Named("run_at")},
	{rules.JobQueuedAt, Named("queued_at")},
	{rules.JobStartedAt, Named("started_at")},
	{rules.JobFinishedAt, Named("finished_at")},
	{rules.JobSequel, Named("sequel")},
	{rules.JobRun, Named("run_id", "token", "runner", "life")},
	{rules.RunHeartbeat, Named("heartbeat_at", "stale_after")},
	{rules.RunProgress, Named("progress")},
	{rules.RunCancel, Named("cancel_at", "cancel_by", "cancel_reason")},
	{rules.RunArtifacts, Named("artifacts")},
	{rules.RunLogPath, Named("log_path")},
	{rules.RunOutcome, Named("outcome", "ended_at")},
	{rules.RunFinished, Named("ended_at")},
	{rules.RunExitCode, Named("exit_code")},
	{rules.RunError, Named("error_code", "error")},
	{rules.RunRows, Named("rows_affected")},
	{rules.RunResult, Named("result")},
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
