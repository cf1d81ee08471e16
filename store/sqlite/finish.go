package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// jobFields says which column a field of a job is and how it is bound.
var jobFields = []struct {
	field  rules.JobField
	column string
	bind   func(s *sqlite.Stmt, param int, j *rota.Job)
}{
	{rules.JobStatus, "status", func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindText(p, string(j.Status)) }},
	{rules.JobHold, "hold", func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, int64(j.Hold)) }},
	{rules.JobPriority, "priority", func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, int64(j.Priority)) }},
	{rules.JobPosition, "position", func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, j.Position) }},
	{rules.JobVersion, "version", func(s *sqlite.Stmt, p int, j *rota.Job) { bindID(s, p, j.Version) }},
	{rules.JobQueuedAt, "queued_at", func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.QueuedAt) }},
	{rules.JobStartedAt, "started_at", func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.StartedAt) }},
	{rules.JobFinishedAt, "finished_at", func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.FinishedAt) }},
	{rules.JobSequel, "sequel", func(s *sqlite.Stmt, p int, j *rota.Job) { bindText(s, p, string(j.Sequel)) }},
	{rules.JobRunID, "run_id", func(s *sqlite.Stmt, p int, j *rota.Job) { bindID(s, p, j.Run.ID) }}, // kept if it has one
}

// runFields is the same for runs. A field may be several columns that change
// together.
var runFields = []struct {
	field   rules.RunField
	columns []string
	bind    func(s *sqlite.Stmt, param int, r *rota.Run)
}{
	{rules.RunHeartbeat, []string{"heartbeat_at", "stale_after"}, bindHeartbeat},
	{rules.RunProgress, []string{"progress"}, func(s *sqlite.Stmt, p int, r *rota.Run) { bindJSON(s, p, r.Progress) }},
	{rules.RunCancel, []string{"cancel_at", "cancel_by", "cancel_reason"}, bindCancel},
	{rules.RunArtifacts, []string{"artifacts"}, func(s *sqlite.Stmt, p int, r *rota.Run) { bindText(s, p, formatLines(r.Artifacts)) }},
	{rules.RunLogPath, []string{"log_path"}, func(s *sqlite.Stmt, p int, r *rota.Run) { bindText(s, p, r.LogPath) }},
	{rules.RunFinished, []string{"finished_at"}, func(s *sqlite.Stmt, p int, r *rota.Run) { bindTime(s, p, r.FinishedAt) }},
	{rules.RunOutcome, []string{"outcome", "finished_at"}, bindOutcome},
	{rules.RunExitCode, []string{"exit_code"}, bindExitCode},
	{rules.RunError, []string{"error_code", "error"}, bindError},
	{rules.RunRows, []string{"rows_affected"}, bindRows},
	{rules.RunResult, []string{"result"}, func(s *sqlite.Stmt, p int, r *rota.Run) { bindJSON(s, p, r.Result) }},
}

func bindHeartbeat(s *sqlite.Stmt, p int, r *rota.Run) {
	bindTime(s, p, r.HeartbeatAt)
	bindTime(s, p+1, r.StaleAfter)
}

func bindCancel(s *sqlite.Stmt, p int, r *rota.Run) {
	bindTime(s, p, r.CancelAt)
	bindText(s, p+1, r.CancelBy)
	bindText(s, p+2, r.CancelReason)
}

func bindOutcome(s *sqlite.Stmt, p int, r *rota.Run) {
	bindText(s, p, string(r.Outcome))
	bindTime(s, p+1, r.FinishedAt)
}

func bindExitCode(s *sqlite.Stmt, p int, r *rota.Run) {
	if r.ExitCode != nil {
		s.BindInt64(p, int64(*r.ExitCode))
	}
}

func bindError(s *sqlite.Stmt, p int, r *rota.Run) {
	bindText(s, p, r.ErrorCode)
	bindText(s, p+1, r.Error)
}

func bindRows(s *sqlite.Stmt, p int, r *rota.Run) {
	if r.RowsAffected != nil {
		s.BindInt64(p, *r.RowsAffected)
	}
}

// updateJob writes the fields of a job that differ, and no others: a trigger
// is looked at only for the columns a statement names.
func (w *writer) updateJob(c rules.JobChange) error {
	if c.Fields&rules.JobParams != 0 {
		if err := w.updateParams(c.Job); err != nil {
			return err
		}
	}
	c.Fields &^= rules.JobParams
	if c.Fields == 0 {
		return nil
	}
	s, err := w.jobUpdateStmt(c.Fields)
	if err != nil {
		return err
	}
	param := 1
	for _, f := range jobFields {
		if c.Fields&f.field != 0 {
			f.bind(s, param, c.Job)
			param++
		}
	}
	s.BindBytes(param, c.Job.ID[:])
	return w.write(s)
}

func (w *writer) jobUpdateStmt(fields rules.JobField) (*sqlite.Stmt, error) {
	if s := w.stmts.jobUpdate[fields]; s != nil {
		return s, s.ClearBindings()
	}
	var columns []string
	for _, f := range jobFields {
		if fields&f.field != 0 {
			columns = append(columns, f.column)
		}
	}
	s, _, err := w.conn.PrepareTransient(updateSQL("rota_jobs", columns, "id"))
	if err != nil {
		return nil, err
	}
	w.stmts.jobUpdate[fields] = s
	return s, nil
}

// updateRun writes the fields of a run that differ.
func (w *writer) updateRun(c rules.RunChange) error {
	s, err := w.runUpdateStmt(c.Fields)
	if err != nil {
		return err
	}
	param := 1
	for _, f := range runFields {
		if c.Fields&f.field != 0 {
			f.bind(s, param, c.Job.Run)
			param += len(f.columns)
		}
	}
	s.BindBytes(param, c.Job.ID[:])
	return w.write(s)
}

func (w *writer) runUpdateStmt(fields rules.RunField) (*sqlite.Stmt, error) {
	if s := w.stmts.runUpdate[fields]; s != nil {
		return s, s.ClearBindings()
	}
	var columns []string
	for _, f := range runFields {
		if fields&f.field != 0 {
			columns = append(columns, f.columns...)
		}
	}
	s, _, err := w.conn.PrepareTransient(updateSQL("rota_runs", columns, "job_id"))
	if err != nil {
		return nil, err
	}
	w.stmts.runUpdate[fields] = s
	return s, nil
}

func updateSQL(table string, columns []string, key string) string {
	set := strings.Join(columns, " = ?, ") + " = ?"
	set = strings.Replace(set, "run_id = ?", "run_id = coalesce(run_id, ?)", 1)
	return "UPDATE OR ROLLBACK " + table + "\nSET " + set + "\nWHERE " + key + " = ?"
}
