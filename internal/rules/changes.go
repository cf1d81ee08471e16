package rules

import (
	"bytes"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// Changes are the differences between the rows as loaded and the rows as
// decided, in the order in which they were decided.
type Changes struct {
	Now time.Time // time of the batch

	Jobs          []JobChange // stored jobs that changed, with their runs
	NewJobs       []*rota.Job // jobs as inserted: QUEUED
	NewJobChanges []JobChange // what changes in NewJobs in the same transaction
	RemovedJobs   []*rota.Job // removed with their runs, last attempts first
	Audit         []rota.AuditEntry

	rows map[kind]any // changes of other rows; see RowKind.Changes

	Claim rota.ID // claim whose jobs start; zero: none
	// Wake is set if a claim that found nothing may find a job now, other than
	// one of NewJobs, or if something falls due earlier than before. See Wakeup.
	Wake bool
}

// JobField is a set of fields of a job or its run.
type JobField uint32

// The fields of a job and of its run that may change.
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
	JobRun       // a new run: its id, runner and incarnation
	RunHeartbeat // heartbeat_at and stale_after
	RunProgress
	RunCancel // actor, time and reason of the request to stop
	RunArtifacts
	RunLogPath
	RunOutcome  // outcome and finish time
	RunFinished // finish time alone, of a run that was closed without one
	RunExitCode
	RunError // error and error_code
	RunRows
	RunResult
	JobRunAt
)

// JobChange is a job as decided, and the fields that differ.
type JobChange struct {
	Job    *rota.Job
	Fields JobField
	Due    bool // its delay is over
}

// Empty reports whether there is nothing to write.
func (c *Changes) Empty() bool {
	return len(c.NewJobs)+len(c.Jobs)+len(c.RemovedJobs)+len(c.Audit)+len(c.rows) == 0
}

func (u *UnitOfWork) changes() *Changes {
	c := &Changes{Now: u.Now, Audit: u.audit, rows: map[kind]any{}}
	for _, t := range u.tables {
		if t != nil {
			t.addChanges(c)
		}
	}
	if len(u.claims) > 0 {
		c.Claim = u.claims[0]
	}
	for _, r := range u.touchedJobs {
		c.addJob(r)
	}
	c.Wake = u.wake || ChangesAny(c, Types, Schedules, Throttle, Reservations, IntentRecords) ||
		slices.ContainsFunc(c.Jobs, func(j JobChange) bool { return j.Fields&JobHold != 0 })
	return c
}

// InsertsOnly reports whether the changes insert jobs and rows of one kind, and nothing else.
func InsertsOnly[K comparable, T any](c *Changes, of *RowKind[K, T]) bool {
	if len(c.Jobs)+len(c.NewJobChanges)+len(c.RemovedJobs)+len(c.Audit) > 0 {
		return false
	}
	for k := range c.rows {
		if k != of.number() {
			return false
		}
	}
	return !slices.ContainsFunc(of.Changes(c), func(one Change[K, T]) bool { return one.Was != nil || one.Is == nil })
}

// UpdatesOnly reports whether the changes update jobs, and nothing else.
func UpdatesOnly(c *Changes) bool {
	return len(c.NewJobs)+len(c.RemovedJobs)+len(c.Audit)+len(c.rows) == 0
}

// ChangesAny reports whether rows of some kinds change.
func ChangesAny(c *Changes, kinds ...interface{ number() kind }) bool {
	return slices.ContainsFunc(kinds, func(k interface{ number() kind }) bool { return c.rows[k.number()] != nil })
}

// addJob adds the changes of a row. A job created in this transaction is
// inserted as QUEUED and then changed.
func (c *Changes) addJob(r *jobRow) {
	was, changes := r.was, &c.Jobs
	if r.inserted != nil {
		was, changes = r.inserted, &c.NewJobChanges
		c.NewJobs = append(c.NewJobs, r.inserted)
	}
	switch {
	case r.is == was:
	case r.is == nil:
		c.RemovedJobs = append(c.RemovedJobs, was)
	default:
		if fields := diffJob(was, r.is) | diffRun(was.Run, r.is.Run); fields != 0 {
			*changes = append(*changes, JobChange{Job: r.is, Fields: fields, Due: becameDue(was, r.is)})
		}
	}
}

// becameDue reports whether the delay of a queued job is over.
func becameDue(was, is *rota.Job) bool {
	return is.Status == rota.StatusQueued && was.Hold&rota.HoldDelay != 0 && is.Hold&rota.HoldDelay == 0
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
	set(!was.RunAt.Equal(is.RunAt), JobRunAt)
	set(!was.QueuedAt.Equal(is.QueuedAt), JobQueuedAt)
	set(!was.StartedAt.Equal(is.StartedAt), JobStartedAt)
	set(!was.FinishedAt.Equal(is.FinishedAt), JobFinishedAt)
	set(was.Sequel != is.Sequel, JobSequel)
	return f
}

func diffRun(was, is *rota.Run) (f JobField) {
	set := func(differs bool, field JobField) {
		if differs {
			f |= field
		}
	}
	if is == nil {
		return 0
	}
	if was == nil {
		was, f = &rota.Run{}, JobRun
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
