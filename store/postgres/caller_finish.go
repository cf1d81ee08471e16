package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The completion of one simple run in a transaction of the caller is a fast path; see simpleTx. It
// decides on the job in the dispatched cache and the limits in the row cache. The job belongs to no
// schedule, group or concurrency key, and nothing else changes with its end. The function
// rota_finish_one checks the versions of the job and of the limits, and that no node is reserved for
// a direct run.

// sqlFinishOne has the parameters of simpleFinish.statement.
const sqlFinishOne = `
SELECT rota_finish_one($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`

// The function writes these fields of a job: the first always, the others if they have changed.
const (
	completionFields = rules.JobFinishedAt | rules.JobSequel | rules.RunOutcome
	reportedFields   = rules.RunExitCode | rules.RunRows | rules.RunResult | rules.RunLogPath
)

// isSimpleFinish reports whether a command may be the completion of one simple run. What changes
// with it decides.
func isSimpleFinish(c *rota.Finish) bool {
	return c != nil && len(c.Items) == 1 && len(c.Expect) == 0 && c.Items[0].Outcome == rota.OutcomeCompleted
}

// simpleFinish is the completion of one simple run.
type simpleFinish struct {
	limitsVersion uint32 // 0: there are none
	jobVersion    uint32
	job           *rota.Job
}

var _ simpleCommand = (*simpleFinish)(nil)

// load treats the unique key as free: only one that is held until the job is pruned is simple, and
// that one does not change.
func (f *simpleFinish) load(t *simpleTx, u *rules.UnitOfWork) error {
	if rules.MissesOther(u, rules.Throttle, rules.Active, rules.UniqueKeys) || len(u.MissingJobs())+len(u.MissingNewJobs()) > 0 {
		return errNotSimple
	}
	for _, id := range u.MissingLeases() {
		known, is := t.store.dispatched.get(id)
		if !is || known.job.UniqueKey != "" && known.job.UniqueFor > 0 || !t.store.uses(DispatchedCache) {
			return errNotSimple
		}
		f.jobVersion = known.version
		u.PutJob(known.job)
	}
	if len(rules.Throttle.Missing(u)) == 0 {
		return nil
	}
	limits, known := t.store.rowCache.get(rules.LockThrottle, rowKey{})
	if !known || !t.store.uses(RowCache) {
		return errNotSimple
	}
	f.limitsVersion = limits.version
	if limits.row != nil {
		row := limits.row.(rota.Throttle)
		rules.Throttle.Put(u, &row)
	}
	return nil
}

func (f *simpleFinish) keep(c *rules.Changes) error {
	if len(c.Jobs) != 1 || !rules.UpdatesOnly(c) || c.Jobs[0].Fields&^reportedFields != completionFields {
		return errNotSimple
	}
	f.job = c.Jobs[0].Job
	return nil
}

func (f *simpleFinish) statement(assumptions []param) statement {
	j, run := f.job, f.job.Run
	exitCode, rows := param{oid: oidInt}, param{oid: oidInt}
	if run.ExitCode != nil {
		exitCode = intParam(int64(*run.ExitCode))
	}
	if run.RowsAffected != nil {
		rows = intParam(*run.RowsAffected)
	}
	return statement{sql: sqlFinishOne, params: append(assumptions, versionParam(f.limitsVersion),
		idParam(j.ID), xidParam(f.jobVersion), timeParam(j.FinishedAt), textNotNull(string(j.Sequel)), textNotNull(string(run.Outcome)),
		exitCode, rows, textParam(string(run.Result)), textParam(run.LogPath),
	)}
}

func (f *simpleFinish) answer([]int64) {}

func (f *simpleFinish) finish(_ []rota.Result, w *writer) {
	w.changedJobs = map[rota.ID]*rota.Job{f.job.ID: f.job}
}
