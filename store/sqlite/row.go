package sqlite

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// The columns that scanJob reads: of a job, its params or NULL, and of its run unless the statement
// reads none. scanLease reads leaseColumns, which are fewer.
const (
	jobColumns = `
  j.id, j.execution_id, j.retry_of, j.run_id, j.type, j.status, j.hold, j.priority, j.position,
  j.attempt, j.max_attempts, j.sequel, j.backoff, j.backoff_max, j.jitter, j.timeout,
  j.created_at, j.queued_at, j.started_at, j.finished_at, j.run_at, j.plan_time,
  j.scope_kind, j.scope_id, j.name, j.unique_key, j.unique_for, j.version, j.created_by,
  j.template, j.schedule, j.group_id, j.group_position, j.concurrency_key, j.counts_at, j.wait_from, j.wait_until,
  j.redrive_of, j.trace`
	runColumns = runHead + ` j.progress, j.log_path, j.artifacts, j.result`
	runHead    = `,
  j.token, j.runner, j.life, j.heartbeat_at, j.stale_after,
  j.outcome, j.ended_at, j.exit_code, j.error_code, j.error, j.rows_affected,
  j.cancel_at, j.cancel_by, j.cancel_reason,`

	leaseColumns = `
  j.id, j.execution_id, j.run_id, j.type, j.status, j.priority, j.attempt, j.max_attempts, j.sequel, j.unique_key,
  j.finished_at, j.token, j.runner, j.heartbeat_at, j.stale_after, j.outcome, j.error_code, j.cancel_at,
  j.cancel_reason, j.log_path, j.artifacts, j.schedule, j.group_id, j.concurrency_key,
  j.started_at, j.plan_time, j.name, j.template, j.timeout`

	leanColumns             = jobColumns + `, NULL` + runColumns
	fullColumns             = jobColumns + params + runColumns
	queuedColumns           = jobColumns + params // queued jobs have no run
	columnsWithoutDocuments = jobColumns + `, NULL` + runHead + ` NULL, j.log_path, NULL, NULL`

	params = `,
  coalesce(j.params, (SELECT p.params FROM rota_params p WHERE p.job_id = j.id))`
)

// Indexes of the columns.
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
func scanJob(s *sqlite.Stmt) *rota.Job {
	j := &rota.Job{
		ID: scanID(s, colID), ExecutionID: scanID(s, colExecutionID), RetryOf: scanID(s, colRetryOf),
		Type: s.ColumnText(colType), Status: rota.Status(s.ColumnText(colStatus)), Hold: rota.Hold(s.ColumnInt64(colHold)),
		Priority: int(s.ColumnInt64(colPriority)), Position: s.ColumnInt64(colPosition),
		Attempt: int(s.ColumnInt64(colAttempt)), Sequel: rota.Sequel(s.ColumnText(colSequel)),
		Policy: rota.Policy{
			MaxAttempts: int(s.ColumnInt64(colMaxAttempts)), Backoff: scanDuration(s, colBackoff),
			BackoffMax: scanDuration(s, colBackoffMax), Jitter: s.ColumnFloat(colJitter), Timeout: scanDuration(s, colTimeout),
		},
		CreatedAt: scanTime(s, colCreatedAt), QueuedAt: scanTime(s, colQueuedAt),
		StartedAt: scanTime(s, colStartedAt), FinishedAt: scanTime(s, colFinishedAt),
		RunAt: scanTime(s, colRunAt), PlanTime: scanTime(s, colPlanTime),
		ScopeKind: s.ColumnText(colScopeKind), ScopeID: s.ColumnText(colScopeID), Name: s.ColumnText(colName),
		UniqueKey: s.ColumnText(colUniqueKey), UniqueFor: scanDuration(s, colUniqueFor),
		Version: scanID(s, colVersion), CreatedBy: s.ColumnText(colCreatedBy), Params: scanJSON(s, colParams),
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	scanRelations(s, j)
	if s.ColumnCount() > colRunner && !s.ColumnIsNull(colRunner) {
		j.Run = scanRun(s)
	}
	return j
}

// scanRelations reads the relations of a job to schedules, groups and other rows. Most jobs have
// none, so it checks for NULL before it reads a value.
func scanRelations(s *sqlite.Stmt, j *rota.Job) {
	j.Template = scanText(s, colTemplate)
	if !s.ColumnIsNull(colSchedule) {
		j.Schedule, j.CountsAt = s.ColumnText(colSchedule), scanTime(s, colCountsAt)
		j.WaitFrom, j.WaitUntil = scanTime(s, colWaitFrom), scanTime(s, colWaitUntil)
	}
	if !s.ColumnIsNull(colGroupID) {
		j.GroupID, j.GroupPosition = scanID(s, colGroupID), int(s.ColumnInt64(colGroupPosition))
	}
	j.ConcurrencyKey = scanText(s, colConcurrencyKey)
	if !s.ColumnIsNull(colRedriveOf) {
		j.RedriveOf = scanID(s, colRedriveOf)
	}
	j.Trace = scanText(s, colTrace)
}

func scanRun(s *sqlite.Stmt) *rota.Run {
	r := &rota.Run{
		ID: scanID(s, colRunID), Runner: s.ColumnText(colRunner), Incarnation: scanID(s, colLife),
		StartedAt: scanTime(s, colStartedAt), HeartbeatAt: scanTime(s, colHeartbeatAt), StaleAfter: scanTime(s, colStaleAfter),
		Progress: scanJSON(s, colProgress), LogPath: s.ColumnText(colLogPath), Artifacts: scanLines(s, colArtifacts),
	}
	s.ColumnBytes(colToken, r.Token[:])
	if !s.ColumnIsNull(colCancelAt) {
		r.CancelAt, r.CancelBy, r.CancelReason = scanTime(s, colCancelAt), s.ColumnText(colCancelBy), s.ColumnText(colCancelReason)
	}
	if s.ColumnIsNull(colOutcome) {
		return r
	}
	r.Outcome, r.FinishedAt = rota.Outcome(s.ColumnText(colOutcome)), scanTime(s, colRunFinishedAt)
	r.Error, r.ErrorCode, r.Result = s.ColumnText(colError), s.ColumnText(colErrorCode), scanJSON(s, colResult)
	if !s.ColumnIsNull(colExitCode) {
		r.ExitCode = new(int(s.ColumnInt64(colExitCode)))
	}
	if !s.ColumnIsNull(colRowsAffected) {
		r.RowsAffected = new(s.ColumnInt64(colRowsAffected))
	}
	return r
}

// scanLease reads what a heartbeat, a finish and their events need.
func scanLease(s *sqlite.Stmt) *rota.Job {
	j := &rota.Job{
		ID: scanID(s, 0), ExecutionID: scanID(s, 1), Type: s.ColumnText(3), Status: rota.Status(s.ColumnText(4)),
		Priority: int(s.ColumnInt64(5)), Attempt: int(s.ColumnInt64(6)),
		Policy: rota.Policy{MaxAttempts: int(s.ColumnInt64(7)), Timeout: scanDuration(s, 28)},
		Sequel: rota.Sequel(s.ColumnText(8)), UniqueKey: s.ColumnText(9), FinishedAt: scanTime(s, 10),
		Schedule: scanText(s, 21), ConcurrencyKey: scanText(s, 23),
		StartedAt: scanTime(s, 24), PlanTime: scanTime(s, 25), Name: scanText(s, 26), Template: scanText(s, 27),
	}
	if !s.ColumnIsNull(22) {
		j.GroupID = scanID(s, 22)
	}
	if j.ExecutionID.IsZero() {
		j.ExecutionID = j.ID
	}
	if s.ColumnIsNull(12) {
		return j
	}
	j.Run = &rota.Run{
		ID: scanID(s, 2), Token: rota.Token(scanID(s, 11)), Runner: s.ColumnText(12), HeartbeatAt: scanTime(s, 13),
		StaleAfter: scanTime(s, 14), Outcome: rota.Outcome(s.ColumnText(15)), ErrorCode: s.ColumnText(16),
		CancelAt: scanTime(s, 17), CancelReason: s.ColumnText(18), LogPath: s.ColumnText(19), Artifacts: scanLines(s, 20),
	}
	return j
}

func scanID(s *sqlite.Stmt, col int) (id rota.ID) {
	s.ColumnBytes(col, id[:])
	return id
}

// scanText reads a text that is mostly NULL.
func scanText(s *sqlite.Stmt, col int) string {
	if s.ColumnIsNull(col) {
		return ""
	}
	return s.ColumnText(col)
}

func scanTime(s *sqlite.Stmt, col int) time.Time {
	if s.ColumnIsNull(col) {
		return time.Time{}
	}
	return time.UnixMicro(s.ColumnInt64(col)).UTC()
}

func scanDuration(s *sqlite.Stmt, col int) time.Duration {
	return time.Duration(s.ColumnInt64(col)) * time.Microsecond
}

func scanJSON(s *sqlite.Stmt, col int) json.RawMessage {
	n := s.ColumnLen(col)
	if n == 0 {
		return nil
	}
	doc := make(json.RawMessage, n)
	s.ColumnBytes(col, doc)
	return doc
}

// scanLines reads artifacts, which are stored as one JSON string per line.
func scanLines(s *sqlite.Stmt, col int) []string {
	text := s.ColumnText(col)
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		var plain string
		if json.Unmarshal([]byte(line), &plain) == nil {
			lines[i] = plain
		}
	}
	return lines
}

func formatLines(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		quoted, _ := json.Marshal(line) // a string always marshals
		b.Write(quoted)
		b.WriteByte('\n')
	}
	return b.String()
}

// The bind functions leave the parameter of a zero value NULL: writer.stmt clears the parameters of
// a statement before each use.

func bindID(s *sqlite.Stmt, param int, id rota.ID) {
	if !id.IsZero() {
		s.BindBytes(param, id[:])
	}
}

func bindTime(s *sqlite.Stmt, param int, t time.Time) {
	if !t.IsZero() {
		s.BindInt64(param, t.UnixMicro())
	}
}

func bindText(s *sqlite.Stmt, param int, text string) {
	if text != "" {
		s.BindText(param, text)
	}
}

func bindJSON(s *sqlite.Stmt, param int, doc json.RawMessage) {
	if len(doc) > 0 {
		s.BindText(param, string(doc))
	}
}

func bindDuration(s *sqlite.Stmt, param int, d time.Duration) {
	if d != 0 {
		s.BindInt64(param, d.Microseconds())
	}
}
