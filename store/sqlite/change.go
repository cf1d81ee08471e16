package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// jobFields says which columns a field of a job or of its run is, and how they
// are bound. The columns of a field change together.
var jobFields = []struct {
	field   rules.JobField
	columns []string
	bind    func(s *sqlite.Stmt, param int, j *rota.Job)
}{
	{rules.JobStatus, []string{"status"}, func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindText(p, string(j.Status)) }},
	{rules.JobHold, []string{"hold"}, func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, int64(j.Hold)) }},
	{rules.JobPriority, []string{"priority"}, func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, int64(j.Priority)) }},
	{rules.JobPosition, []string{"position"}, func(s *sqlite.Stmt, p int, j *rota.Job) { s.BindInt64(p, j.Position) }},
	{rules.JobVersion, []string{"version"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindID(s, p, j.Version) }},
	{rules.JobQueuedAt, []string{"queued_at"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.QueuedAt) }},
	{rules.JobStartedAt, []string{"started_at"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.StartedAt) }},
	{rules.JobFinishedAt, []string{"finished_at"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.FinishedAt) }},
	{rules.JobSequel, []string{"sequel"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindText(s, p, string(j.Sequel)) }},
	{rules.JobRun, []string{"run_id", "token", "runner", "life"}, bindRun},
	{rules.RunHeartbeat, []string{"heartbeat_at", "stale_after"}, bindHeartbeat},
	{rules.RunProgress, []string{"progress"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindJSON(s, p, j.Run.Progress) }},
	{rules.RunCancel, []string{"cancel_at", "cancel_by", "cancel_reason"}, bindCancel},
	{rules.RunArtifacts, []string{"artifacts"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindText(s, p, formatLines(j.Run.Artifacts)) }},
	{rules.RunLogPath, []string{"log_path"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindText(s, p, j.Run.LogPath) }},
	{rules.RunOutcome, []string{"outcome", "ended_at"}, bindOutcome},
	{rules.RunFinished, []string{"ended_at"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindTime(s, p, j.Run.FinishedAt) }},
	{rules.RunExitCode, []string{"exit_code"}, bindExitCode},
	{rules.RunError, []string{"error_code", "error"}, bindError},
	{rules.RunRows, []string{"rows_affected"}, bindRows},
	{rules.RunResult, []string{"result"}, func(s *sqlite.Stmt, p int, j *rota.Job) { bindJSON(s, p, j.Run.Result) }},
}

// bindRun binds an id of the run that is kept if the job has one.
func bindRun(s *sqlite.Stmt, p int, j *rota.Job) {
	bindID(s, p, j.Run.ID)
	s.BindBytes(p+1, j.Run.Token[:])
	s.BindText(p+2, j.Run.Runner)
	bindID(s, p+3, j.Run.Life)
}

func bindHeartbeat(s *sqlite.Stmt, p int, j *rota.Job) {
	bindTime(s, p, j.Run.HeartbeatAt)
	bindTime(s, p+1, j.Run.StaleAfter)
}

func bindCancel(s *sqlite.Stmt, p int, j *rota.Job) {
	bindTime(s, p, j.Run.CancelAt)
	bindText(s, p+1, j.Run.CancelBy)
	bindText(s, p+2, j.Run.CancelReason)
}

func bindOutcome(s *sqlite.Stmt, p int, j *rota.Job) {
	bindText(s, p, string(j.Run.Outcome))
	bindTime(s, p+1, j.Run.FinishedAt)
}

func bindExitCode(s *sqlite.Stmt, p int, j *rota.Job) {
	if j.Run.ExitCode != nil {
		s.BindInt64(p, int64(*j.Run.ExitCode))
	}
}

func bindError(s *sqlite.Stmt, p int, j *rota.Job) {
	bindText(s, p, j.Run.ErrorCode)
	bindText(s, p+1, j.Run.Error)
}

func bindRows(s *sqlite.Stmt, p int, j *rota.Job) {
	if j.Run.RowsAffected != nil {
		s.BindInt64(p, *j.Run.RowsAffected)
	}
}

// updateJob writes the fields of a job and its run that differ, and no others:
// a trigger is looked at only for the columns a statement names.
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
	for i := range jobFields {
		if f := &jobFields[i]; c.Fields&f.field != 0 {
			f.bind(s, param, c.Job)
			param += len(f.columns)
		}
	}
	s.BindBytes(param, c.Job.ID[:])
	w.fresh.keep(c)
	return w.write(s)
}

func (w *writer) jobUpdateStmt(fields rules.JobField) (*sqlite.Stmt, error) {
	if s := w.stmts.jobUpdate[fields]; s != nil {
		return s, s.ClearBindings()
	}
	s, _, err := w.conn.PrepareTransient(jobUpdateSQL(fields))
	if err != nil {
		return nil, err
	}
	w.stmts.jobUpdate[fields] = s
	return s, nil
}

func jobUpdateSQL(fields rules.JobField) string {
	var columns []string
	for _, f := range jobFields {
		if fields&f.field != 0 {
			columns = append(columns, f.columns...)
		}
	}
	set := strings.Join(columns, " = ?, ") + " = ?"
	set = strings.Replace(set, "run_id = ?", "run_id = coalesce(run_id, ?)", 1)
	return "UPDATE OR ROLLBACK rota_jobs\nSET " + set + "\nWHERE id = ?"
}
