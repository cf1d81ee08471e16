package postgres

import (
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// jobFields maps each field of a job or its run to its columns and to their values. The columns of
// a field always change together.
var jobFields = []struct {
	field   rules.JobField
	columns []string
	oids    []uint32
	put     func(c []*column, j *rota.Job)
}{
	{rules.JobStatus, []string{"status"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(string(j.Status)) }},
	{rules.JobHold, []string{"hold"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].int(int64(j.Hold)) }},
	{rules.JobPriority, []string{"priority"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].int(int64(j.Priority)) }},
	{rules.JobPosition, []string{"position"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].int(j.Position) }},
	{rules.JobVersion, []string{"version"}, []uint32{oidIDs}, func(c []*column, j *rota.Job) { c[0].id(j.Version) }},
	{rules.JobParams, []string{"params"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].textNotNull(string(j.Params)) }},
	{rules.JobQueuedAt, []string{"queued_at"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].time(j.QueuedAt) }},
	{rules.JobStartedAt, []string{"started_at"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].time(j.StartedAt) }},
	{rules.JobFinishedAt, []string{"finished_at"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].time(j.FinishedAt) }},
	{rules.JobSequel, []string{"sequel"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(string(j.Sequel)) }},
	{rules.JobRun, []string{"run_id", "token", "runner", "life"}, []uint32{oidIDs, oidIDs, oidTexts, oidIDs}, putRun},
	{rules.RunHeartbeat, []string{"heartbeat_at", "stale_after"}, []uint32{oidInts, oidInts}, putHeartbeat},
	{rules.RunProgress, []string{"progress"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(string(j.Run.Progress)) }},
	{rules.RunCancel, []string{"cancel_at", "cancel_by", "cancel_reason"}, []uint32{oidInts, oidTexts, oidTexts}, putCancel},
	{rules.RunArtifacts, []string{"artifacts"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(formatLines(j.Run.Artifacts)) }},
	{rules.RunLogPath, []string{"log_path"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(j.Run.LogPath) }},
	{rules.RunOutcome, []string{"outcome", "ended_at"}, []uint32{oidTexts, oidInts}, putOutcome},
	{rules.RunFinished, []string{"ended_at"}, []uint32{oidInts}, func(c []*column, j *rota.Job) { c[0].time(j.Run.FinishedAt) }},
	{rules.RunExitCode, []string{"exit_code"}, []uint32{oidInts}, putExitCode},
	{rules.RunError, []string{"error_code", "error"}, []uint32{oidTexts, oidTexts}, putError},
	{rules.RunRows, []string{"rows_affected"}, []uint32{oidInts}, putRows},
	{rules.RunResult, []string{"result"}, []uint32{oidTexts}, func(c []*column, j *rota.Job) { c[0].text(string(j.Run.Result)) }},
}

// putRun writes the columns of a new run. updateSQL keeps the run id of a job that already has one.
func putRun(c []*column, j *rota.Job) {
	c[0].id(j.Run.ID)
	c[1].bytes(j.Run.Token[:])
	c[2].textNotNull(j.Run.Runner)
	c[3].id(j.Run.Incarnation)
}

func putHeartbeat(c []*column, j *rota.Job) {
	c[0].time(j.Run.HeartbeatAt)
	c[1].time(j.Run.StaleAfter)
}

func putCancel(c []*column, j *rota.Job) {
	c[0].time(j.Run.CancelAt)
	c[1].text(j.Run.CancelBy)
	c[2].text(j.Run.CancelReason)
}

func putOutcome(c []*column, j *rota.Job) {
	c[0].text(string(j.Run.Outcome))
	c[1].time(j.Run.FinishedAt)
}

func putExitCode(c []*column, j *rota.Job) {
	if j.Run.ExitCode == nil {
		c[0].null()
		return
	}
	c[0].int(int64(*j.Run.ExitCode))
}

func putError(c []*column, j *rota.Job) {
	c[0].text(j.Run.ErrorCode)
	c[1].text(j.Run.Error)
}

func putRows(c []*column, j *rota.Job) {
	if j.Run.RowsAffected == nil {
		c[0].null()
		return
	}
	c[0].int(*j.Run.RowsAffected)
}

// updateJobs writes the changed fields of jobs and their runs. Jobs with the same changed fields
// share one statement. A job is updated only if it still has the version that was read, unless this
// transaction has inserted it.
func (t *tx) updateJobs(changes []rules.JobChange) {
	var order []rules.JobField
	groups := map[rules.JobField][]*rota.Job{}
	for _, c := range changes {
		if groups[c.Fields] == nil {
			order = append(order, c.Fields)
		}
		groups[c.Fields] = append(groups[c.Fields], c.Job)
	}
	for _, fields := range order {
		t.updateSameFields(fields, groups[fields])
		t.noteChanged(groups[fields])
	}
}

func (t *tx) updateSameFields(fields rules.JobField, jobs []*rota.Job) {
	slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) }) // all transactions lock rows in this order
	ids, versions := newColumn(oidIDs, len(jobs)), newColumn(oidXids, len(jobs))
	for _, j := range jobs {
		ids.bytes(j.ID[:])
		versions.xid(t.readSet.jobs[j.ID])
	}
	params := []param{intParam(int64(len(jobs))), ids.param(), versions.param()}
	var columns []*column
	for i := range jobFields {
		f := &jobFields[i]
		if fields&f.field == 0 {
			continue
		}
		first := len(columns)
		for _, oid := range f.oids {
			columns = append(columns, newColumn(oid, len(jobs)))
		}
		for _, j := range jobs {
			f.put(columns[first:], j)
		}
	}
	if fields&rules.JobRun != 0 {
		params = append(params, idParam(t.writer.claimID), idParam(jobs[0].ID))
	}
	t.write(statement{sql: updateSQL(fields), params: append(params, paramsOf(columns)...), eachRow: func(r row) error {
		t.writer.xid = r.xid(1)
		return nil
	}})
}

// updateSQL returns the statement that updates fields. Version 0 stands for a job that this
// transaction has inserted. The statement returns the new version of the rows. The first job of a
// claim stores the claim's id.
func updateSQL(fields rules.JobField) string {
	names, places, set, first := []string{"id", "version_seen"}, []string{"$2", "$3"}, []string(nil), 4
	if fields&rules.JobRun != 0 {
		set, first = append(set, "claim_id = CASE j.id WHEN $5 THEN $4 END"), 6
	}
	for i := range jobFields {
		if fields&jobFields[i].field == 0 {
			continue
		}
		for _, name := range jobFields[i].columns {
			value := "v." + name
			if name == "run_id" {
				value = "coalesce(j.run_id, v.run_id)"
			}
			places = append(places, "$"+itoa(first+len(names)-2))
			names, set = append(names, name), append(set, name+" = "+value)
		}
	}
	return `
WITH changed AS (
  UPDATE rota_jobs j
  SET ` + strings.Join(set, ", ") + `
  FROM unnest(` + strings.Join(places, ", ") + `) AS v (` + strings.Join(names, ", ") + `)
  WHERE j.id = v.id AND (j.xmin = v.version_seen OR v.version_seen = '0'::xid)
  RETURNING 1)
SELECT rota_expect(count(*), $1, $1), pg_current_xact_id()::xid
FROM changed`
}
