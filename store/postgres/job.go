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
		ID: r.ID(colID), ExecutionID: r.ID(colExecutionID), RetryOf: r.ID(colRetryOf),
		Type: r.Text(colType), Status: rota.Status(r.Text(colStatus)), Hold: rota.Hold(r.Int(colHold)),
		Priority: int(r.Int(colPriority)), Position: r.Int(colPosition),
		Attempt: int(r.Int(colAttempt)), Sequel: rota.Sequel(r.Text(colSequel)),
		Policy: rota.Policy{
			MaxAttempts: int(r.Int(colMaxAttempts)), Backoff: r.Duration(colBackoff),
			BackoffMax: r.Duration(colBackoffMax), Jitter: r.Float(colJitter), Timeout: r.Duration(colTimeout),
		},
		CreatedAt: r.Time(colCreatedAt), QueuedAt: r.Time(colQueuedAt),
		StartedAt: r.Time(colStartedAt), FinishedAt: r.Time(colFinishedAt),
		RunAt: r.Time(colRunAt), PlanTime: r.Time(colPlanTime),
		ScopeKind: r.Text(colScopeKind), ScopeID: r.Text(colScopeID), Name: r.Text(colName),
		UniqueKey: r.Text(colUniqueKey), UniqueFor: r.Duration(colUniqueFor),
		Version: r.ID(colVersion), CreatedBy: r.Text(colCreatedBy), Params: r.JSON(colParams),
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	scanRelations(r, j)
	if len(r) > colResult && !r.Null(colRunner) {
		j.Run = scanRun(r)
	}
	return j
}

// scanRelations reads the relations of a job to schedules, groups and other rows. Most jobs have
// none.
func scanRelations(r row, j *rota.Job) {
	j.Template = r.Text(colTemplate)
	if !r.Null(colSchedule) {
		j.Schedule, j.CountsAt = r.Text(colSchedule), r.Time(colCountsAt)
		j.WaitFrom, j.WaitUntil = r.Time(colWaitFrom), r.Time(colWaitUntil)
	}
	if !r.Null(colGroupID) {
		j.GroupID, j.GroupPosition = r.ID(colGroupID), int(r.Int(colGroupPosition))
	}
	j.ConcurrencyKey, j.Trace = r.Text(colConcurrencyKey), r.Text(colTrace)
	j.RedriveOf = r.ID(colRedriveOf)
}

func scanRun(r row) *rota.Run {
	run := &rota.Run{
		ID: r.ID(colRunID), Token: rota.Token(r.ID(colToken)), Runner: r.Text(colRunner), Incarnation: r.ID(colLife),
		StartedAt: r.Time(colStartedAt), HeartbeatAt: r.Time(colHeartbeatAt), StaleAfter: r.Time(colStaleAfter),
		Progress: r.JSON(colProgress), LogPath: r.Text(colLogPath), Artifacts: r.lines(colArtifacts),
	}
	if !r.Null(colCancelAt) {
		run.CancelAt, run.CancelBy, run.CancelReason = r.Time(colCancelAt), r.Text(colCancelBy), r.Text(colCancelReason)
	}
	if r.Null(colOutcome) {
		return run
	}
	run.Outcome, run.FinishedAt = rota.Outcome(r.Text(colOutcome)), r.Time(colRunFinishedAt)
	run.Error, run.ErrorCode, run.Result = r.Text(colError), r.Text(colErrorCode), r.JSON(colResult)
	if !r.Null(colExitCode) {
		run.ExitCode = new(int(r.Int(colExitCode)))
	}
	if !r.Null(colRowsAffected) {
		run.RowsAffected = new(r.Int(colRowsAffected))
	}
	return run
}

// scanLease reads what a heartbeat, a finish and their events need.
func scanLease(r row) *rota.Job {
	j := &rota.Job{
		ID: r.ID(0), ExecutionID: r.ID(1), Type: r.Text(3), Status: rota.Status(r.Text(4)),
		Priority: int(r.Int(5)), Attempt: int(r.Int(6)),
		Policy: rota.Policy{MaxAttempts: int(r.Int(7)), Timeout: r.Duration(28)},
		Sequel: rota.Sequel(r.Text(8)), UniqueKey: r.Text(9), FinishedAt: r.Time(10),
		Schedule: r.Text(21), GroupID: r.ID(22), ConcurrencyKey: r.Text(23),
		StartedAt: r.Time(24), PlanTime: r.Time(25), Name: r.Text(26), Template: r.Text(27),
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	if r.Null(12) {
		return j
	}
	j.Run = &rota.Run{
		ID: r.ID(2), Token: rota.Token(r.ID(11)), Runner: r.Text(12), HeartbeatAt: r.Time(13),
		StaleAfter: r.Time(14), Outcome: rota.Outcome(r.Text(15)), ErrorCode: r.Text(16),
		CancelAt: r.Time(17), CancelReason: r.Text(18), LogPath: r.Text(19), Artifacts: r.lines(20),
	}
	return j
}
