package rules

import (
	"bytes"
	"slices"

	"github.com/rotajobs/rota"
)

// Changes are the differences between a world as it was loaded and as it was
// decided, in the order in which they were decided. A store writes its lists
// in the order in which they stand here: each statement then finds the rows
// that it refers to as they must be.
type Changes struct {
	Started []JobChange // jobs that leave the queue to run
	NewRuns []*rota.Job // jobs whose run is new
	Runs    []RunChange
	NewJobs []*rota.Job
	Jobs    []JobChange // all other changes of jobs
	Keys    []KeyChange
	Audit   []rota.AuditEntry
}

// JobField names a column of a job that may change.
type JobField uint16

// The fields of a job that may change.
const (
	JobStatus JobField = 1 << iota
	JobHold
	JobPriority
	JobPosition
	JobVersion
	JobParams
	JobQueuedAt
	JobStartedAt
	JobFinishedAt
	JobSequel
	JobRunID
)

// JobChange is a job as decided, and which of its fields differ.
type JobChange struct {
	Job    *rota.Job
	Fields JobField
}

// RunField names a column of a run that may change.
type RunField uint16

// The fields of a run that may change.
const (
	RunHeartbeat RunField = 1 << iota // heartbeat_at and stale_after
	RunProgress
	RunCancel // who asked it to stop, when and why
	RunArtifacts
	RunLogPath
	RunOutcome  // outcome and finished_at
	RunFinished // finished_at alone, of a run that was closed without it
	RunExitCode
	RunError // error and error_code
	RunRows
	RunResult
)

// RunChange is a job whose run differs, and in what.
type RunChange struct {
	Job    *rota.Job
	Fields RunField
}

// KeyChange is a unique key's new record; nil frees it.
type KeyChange struct {
	Key    Key
	Record *KeyRecord
}

// Empty reports whether there is nothing to write.
func (c *Changes) Empty() bool {
	return len(c.Started)+len(c.NewJobs)+len(c.Jobs)+len(c.NewRuns)+len(c.Runs)+len(c.Keys)+len(c.Audit) == 0
}

func (w *World) changes() *Changes {
	c := &Changes{Audit: w.audit}
	for _, r := range w.touchedJobs {
		c.addJob(r)
	}
	for _, r := range w.touchedKeys {
		if r.is != r.was {
			c.Keys = append(c.Keys, KeyChange{Key: r.key, Record: r.is})
		}
	}
	return c
}

// addJob adds what became of a row. One that was made here enters as it was
// made, and is changed from there: a job enters the store as QUEUED.
func (c *Changes) addJob(r *jobRow) {
	was := r.was
	if r.born != nil {
		was = r.born
		c.NewJobs = append(c.NewJobs, r.born)
	}
	if r.is == nil || r.is == was {
		return
	}
	fields := diffJob(was, r.is)
	switch {
	case fields&JobStartedAt != 0:
		c.Started = append(c.Started, JobChange{Job: r.is, Fields: fields})
	case fields != 0:
		c.Jobs = append(c.Jobs, JobChange{Job: r.is, Fields: fields})
	}
	switch {
	case r.is.Run == nil:
	case was.Run == nil:
		c.NewRuns = append(c.NewRuns, r.is)
	default:
		if fields := diffRun(was.Run, r.is.Run); fields != 0 {
			c.Runs = append(c.Runs, RunChange{Job: r.is, Fields: fields})
		}
	}
}

func diffJob(was, is *rota.Job) (f JobField) {
	set := func(differs bool, field JobField) {
		if differs {
			f |= field
		}
	}
	set(was.Status != is.Status, JobStatus)
	set(was.Hold != is.Hold, JobHold)
	set(was.Priority != is.Priority, JobPriority)
	set(was.Position != is.Position, JobPosition)
	set(was.Version != is.Version, JobVersion)
	set(!bytes.Equal(was.Params, is.Params), JobParams)
	set(!was.QueuedAt.Equal(is.QueuedAt), JobQueuedAt)
	set(!was.StartedAt.Equal(is.StartedAt), JobStartedAt)
	set(!was.FinishedAt.Equal(is.FinishedAt), JobFinishedAt)
	set(was.Sequel != is.Sequel, JobSequel)
	set(was.Run == nil && is.Run != nil, JobRunID)
	return f
}

func diffRun(was, is *rota.Run) (f RunField) {
	set := func(differs bool, field RunField) {
		if differs {
			f |= field
		}
	}
	set(!was.HeartbeatAt.Equal(is.HeartbeatAt) || !was.StaleAfter.Equal(is.StaleAfter), RunHeartbeat)
	set(!bytes.Equal(was.Progress, is.Progress), RunProgress)
	set(!was.CancelAt.Equal(is.CancelAt), RunCancel)
	set(!slices.Equal(was.Artifacts, is.Artifacts), RunArtifacts)
	set(was.LogPath != is.LogPath, RunLogPath)
	set(was.Outcome != is.Outcome, RunOutcome)
	set(was.Outcome == is.Outcome && !was.FinishedAt.Equal(is.FinishedAt), RunFinished)
	set(was.ExitCode != is.ExitCode, RunExitCode)
	set(was.Error != is.Error || was.ErrorCode != is.ErrorCode, RunError)
	set(was.RowsAffected != is.RowsAffected, RunRows)
	set(!bytes.Equal(was.Result, is.Result), RunResult)
	return f
}
