package postgres

import "github.com/rotajobs/rota"

// Columns in the order of scanJob: those of a job, its params or NULL, and those of its run unless
// it has none. scanLease reads the shorter leaseColumns. Within a transaction the version of the
// row is the last column.
const (
	jobColumns = `
  j.id, j.execution_id, j.retry_of, j.run_id, j.type, j.status, j.hold, j.priority, j.position,
  j.attempt, j.max_attempts, j.sequel, j.backoff, j.backoff_max, j.jitter, j.timeout,
  j.created_at, j.queued_at, j.started_at, j.finished_at, j.run_at, j.plan_time,
  j.scope_kind, j.scope_id, j.name, j.unique_key, j.unique_for, j.version, j.created_by,
  j.template, j.schedule, j.group_id, j.group_position, j.concurrency_key, j.counts_at, j.wait_from, j.wait_until,
  j.redrive_of, j.trace`
	runColumns      = runStateColumns + ` j.progress, j.log_path, j.artifacts, j.result`
	runStateColumns = `,
  j.token, j.runner, j.life, j.heartbeat_at, j.stale_after,
  j.outcome, j.ended_at, j.exit_code, j.error_code, j.error, j.rows_affected,
  j.cancel_at, j.cancel_by, j.cancel_reason,`

	leaseColumns = `
  j.id, j.execution_id, j.run_id, j.type, j.status, j.priority, j.attempt, j.max_attempts, j.sequel, j.unique_key,
  j.finished_at, j.token, j.runner, j.heartbeat_at, j.stale_after, j.outcome, j.error_code, j.cancel_at,
  j.cancel_reason, j.log_path, j.artifacts, j.schedule, j.group_id, j.concurrency_key,
  j.started_at, j.plan_time, j.name, j.template, j.timeout`

	leanColumns   = jobColumns + `, NULL` + runColumns
	fullColumns   = jobColumns + `, j.params` + runColumns
	queuedColumns = jobColumns + `, j.params`                                                 // a QUEUED job has no run
	listColumns   = jobColumns + `, NULL` + runStateColumns + ` NULL, j.log_path, NULL, NULL` // without JSON documents

	rowVersion = `, j.xmin`
)

// Column numbers.
const (
	colID = iota
	colExecutionID
	colRetryOf
	colRunID
	colType
	colStatus
	colHold
	colPriority
	colPosition
	colAttempt
	colMaxAttempts
	colSequel
	colBackoff
	colBackoffMax
	colJitter
	colTimeout
	colCreatedAt
	colQueuedAt
	colStartedAt
	colFinishedAt
	colRunAt
	colPlanTime
	colScopeKind
	colScopeID
	colName
	colUniqueKey
	colUniqueFor
	colVersion
	colCreatedBy
	colTemplate
	colSchedule
	colGroupID
	colGroupPosition
	colConcurrencyKey
	colCountsAt
	colWaitFrom
	colWaitUntil
	colRedriveOf
	colTrace
	colParams
	colToken
	colRunner
	colLife
	colHeartbeatAt
	colStaleAfter
	colOutcome
	colRunFinishedAt
	colExitCode
	colErrorCode
	colError
	colRowsAffected
	colCancelAt
	colCancelBy
	colCancelReason
	colProgress
	colLogPath
	colArtifacts
	colResult
)

// scanJob reads a job and its run.
func scanJob(r row) *rota.Job {
	j := &rota.Job{
		ID: r.id(colID), ExecutionID: r.id(colExecutionID), RetryOf: r.id(colRetryOf),
		Type: r.text(colType), Status: rota.Status(r.text(colStatus)), Hold: rota.Hold(r.int(colHold)),
		Priority: int(r.int(colPriority)), Position: r.int(colPosition),
		Attempt: int(r.int(colAttempt)), Sequel: rota.Sequel(r.text(colSequel)),
		Policy: rota.Policy{
			MaxAttempts: int(r.int(colMaxAttempts)), Backoff: r.duration(colBackoff),
			BackoffMax: r.duration(colBackoffMax), Jitter: r.float(colJitter), Timeout: r.duration(colTimeout),
		},
		CreatedAt: r.time(colCreatedAt), QueuedAt: r.time(colQueuedAt),
		StartedAt: r.time(colStartedAt), FinishedAt: r.time(colFinishedAt),
		RunAt: r.time(colRunAt), PlanTime: r.time(colPlanTime),
		ScopeKind: r.text(colScopeKind), ScopeID: r.text(colScopeID), Name: r.text(colName),
		UniqueKey: r.text(colUniqueKey), UniqueFor: r.duration(colUniqueFor),
		Version: r.id(colVersion), CreatedBy: r.text(colCreatedBy), Params: r.json(colParams),
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	scanRelations(r, j)
	if len(r) > colResult && !r.null(colRunner) {
		j.Run = scanRun(r)
	}
	return j
}

// scanRelations reads the relations of a job to schedules, groups and other rows. Most jobs have
// none.
func scanRelations(r row, j *rota.Job) {
	j.Template = r.text(colTemplate)
	if !r.null(colSchedule) {
		j.Schedule, j.CountsAt = r.text(colSchedule), r.time(colCountsAt)
		j.WaitFrom, j.WaitUntil = r.time(colWaitFrom), r.time(colWaitUntil)
	}
	if !r.null(colGroupID) {
		j.GroupID, j.GroupPosition = r.id(colGroupID), int(r.int(colGroupPosition))
	}
	j.ConcurrencyKey, j.Trace = r.text(colConcurrencyKey), r.text(colTrace)
	j.RedriveOf = r.id(colRedriveOf)
}

func scanRun(r row) *rota.Run {
	run := &rota.Run{
		ID: r.id(colRunID), Token: rota.Token(r.id(colToken)), Runner: r.text(colRunner), Incarnation: r.id(colLife),
		StartedAt: r.time(colStartedAt), HeartbeatAt: r.time(colHeartbeatAt), StaleAfter: r.time(colStaleAfter),
		Progress: r.json(colProgress), LogPath: r.text(colLogPath), Artifacts: r.lines(colArtifacts),
	}
	if !r.null(colCancelAt) {
		run.CancelAt, run.CancelBy, run.CancelReason = r.time(colCancelAt), r.text(colCancelBy), r.text(colCancelReason)
	}
	if r.null(colOutcome) {
		return run
	}
	run.Outcome, run.FinishedAt = rota.Outcome(r.text(colOutcome)), r.time(colRunFinishedAt)
	run.Error, run.ErrorCode, run.Result = r.text(colError), r.text(colErrorCode), r.json(colResult)
	if !r.null(colExitCode) {
		run.ExitCode = new(int(r.int(colExitCode)))
	}
	if !r.null(colRowsAffected) {
		run.RowsAffected = new(r.int(colRowsAffected))
	}
	return run
}

// scanLease reads what a heartbeat, a finish and their events need.
func scanLease(r row) *rota.Job {
	j := &rota.Job{
		ID: r.id(0), ExecutionID: r.id(1), Type: r.text(3), Status: rota.Status(r.text(4)),
		Priority: int(r.int(5)), Attempt: int(r.int(6)),
		Policy: rota.Policy{MaxAttempts: int(r.int(7)), Timeout: r.duration(28)},
		Sequel: rota.Sequel(r.text(8)), UniqueKey: r.text(9), FinishedAt: r.time(10),
		Schedule: r.text(21), GroupID: r.id(22), ConcurrencyKey: r.text(23),
		StartedAt: r.time(24), PlanTime: r.time(25), Name: r.text(26), Template: r.text(27),
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	if r.null(12) {
		return j
	}
	j.Run = &rota.Run{
		ID: r.id(2), Token: rota.Token(r.id(11)), Runner: r.text(12), HeartbeatAt: r.time(13),
		StaleAfter: r.time(14), Outcome: rota.Outcome(r.text(15)), ErrorCode: r.text(16),
		CancelAt: r.time(17), CancelReason: r.text(18), LogPath: r.text(19), Artifacts: r.lines(20),
	}
	return j
}
