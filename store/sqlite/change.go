package sqlite

import (
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// jobFields maps each field of a job or its run to its columns and binds their values. The columns
// of a field always change together.
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

// bindRun binds the columns of a new run. The update keeps a run_id that the job already has.
func bindRun(s *sqlite.Stmt, p int, j *rota.Job) {
	bindID(s, p, j.Run.ID)
	s.BindBytes(p+1, j.Run.Token[:])
	s.BindText(p+2, j.Run.Runner)
	bindID(s, p+3, j.Run.Incarnation)
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

// updateJobs writes only the changed fields of jobs and their runs: SQLite runs a trigger only for
// the columns that a statement names. Jobs with the same changed fields share a statement, because
// a statement opens each index of the table once, however many rows it changes.
func (w *writer) updateJobs(changes []rules.JobChange) error {
	for len(changes) > 0 {
		n := 1
		if sameFields(changes, jobsPerStatement) {
			n = jobsPerStatement
		}
		if err := w.updateSameFields(changes[:n]); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// sameFields reports whether the first n changes have the same fields, all in the rows of jobs.
func sameFields(changes []rules.JobChange, n int) bool {
	if len(changes) < n || changes[0].Fields&rules.JobParams != 0 {
		return false
	}
	for _, c := range changes[1:n] {
		if c.Fields != changes[0].Fields {
			return false
		}
	}
	return true
}

// updateSameFields writes one change, or several with the same fields.
func (w *writer) updateSameFields(changes []rules.JobChange) error {
	fields := changes[0].Fields
	if fields&rules.JobParams != 0 {
		if err := w.updateParams(changes[0].Job); err != nil {
			return err
		}
	}
	fields &^= rules.JobParams
	if fields == 0 {
		return nil
	}
	s, err := w.jobUpdateStmt(jobUpdate{fields, len(changes)})
	if err != nil {
		return err
	}
	param := 1
	for _, c := range changes {
		for i := range jobFields {
			if f := &jobFields[i]; fields&f.field != 0 {
				f.bind(s, param, c.Job)
				param += len(f.columns)
			}
		}
		s.BindBytes(param, c.Job.ID[:])
		param++
		w.dispatched.update(c)
	}
	return w.write(s)
}

// jobUpdate identifies a statement by the fields and the number of rows that it changes.
type jobUpdate struct {
	fields rules.JobField
	rows   int
}

func (w *writer) jobUpdateStmt(u jobUpdate) (*sqlite.Stmt, error) {
	if s := w.stmts.jobUpdate[u]; s != nil {
		return s, s.ClearBindings()
	}
	s, _, err := w.conn.PrepareTransient(u.sql())
	if err != nil {
		return nil, err
	}
	w.stmts.jobUpdate[u] = s
	return s, nil
}

func (u jobUpdate) sql() string {
	var columns, set []string
	for _, f := range jobFields {
		if u.fields&f.field != 0 {
			columns = append(columns, f.columns...)
		}
	}
	for _, c := range columns {
		value := "?"
		if u.rows > 1 {
			value = "v." + c
		}
		if c == "run_id" {
			value = "coalesce(rota_jobs.run_id, " + value + ")"
		}
		set = append(set, c+" = "+value)
	}
	update := "UPDATE OR ROLLBACK rota_jobs\nSET " + strings.Join(set, ", ")
	if u.rows == 1 {
		return update + "\nWHERE id = ?"
	}
	row := "(" + strings.Repeat("?, ", len(columns)) + "?)"
	return "WITH v (" + strings.Join(columns, ", ") + ", id) AS (VALUES " + row + strings.Repeat(", "+row, u.rows-1) + ")\n" +
		update + "\nFROM v WHERE rota_jobs.id = v.id"
}
