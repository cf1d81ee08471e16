package rules

import (
	"cmp"

	"github.com/rotajobs/rota"
)

// decideRedrive runs an execution that has ended again, as a new job, since what
// has ended does not change.
func decideRedrive(u *UnitOfWork, c *rota.Redrive) (rota.Reply, *rota.Error) {
	u.fullJobs.want(c.JobID)
	if own := u.job(c.NewJobID()); own != nil {
		return &rota.Redriven{Job: withoutToken(own)}, nil
	}
	tail := u.job(u.tailOfChain(c.JobID))
	if tail == nil {
		return nil, noJob("job_id", c.JobID)
	}
	wantRedrive(u, c, tail)
	if hidden(u, tail) {
		return nil, noJob("job_id", c.JobID)
	}
	if u.audited(c, tail.ID) {
		return nil, noJob("job_id", c.NewJobID()) // it was created and has been pruned since
	}
	if refusal := mayRedrive(u, c, tail); refusal != nil {
		return nil, refusal
	}
	j := &rota.Job{
		ID: c.NewJobID(), ExecutionID: c.NewJobID(), Type: tail.Type, Name: tail.Name, Params: tail.Params,
		Status: rota.StatusQueued, Priority: tail.Priority, Attempt: 1, Policy: tail.Policy,
		ScopeKind: tail.ScopeKind, ScopeID: tail.ScopeID, UniqueKey: tail.UniqueKey, UniqueFor: tail.UniqueFor,
		Template: tail.Template, Schedule: tail.Schedule, ConcurrencyKey: tail.ConcurrencyKey, CountsAt: tail.CountsAt,
		RedriveOf: tail.ExecutionID, Trace: tail.Trace, Owner: ownerOfRedrive(tail, c.Actor), CreatedBy: c.Actor, CreatedAt: u.Now,
	}
	if c.Params != nil {
		j.Params = rota.MergeParams(tail.Params, c.Params)
	}
	if hasCompleted(tail) && keyHolder(u, j.Type, j.UniqueKey) != nil {
		j.UniqueKey, j.UniqueFor = "", 0
	}
	enterQueue(u, j, overlapHold(u, j))
	u.insert(j)
	holdKey(u, j)
	u.auditJob(c, rota.AuditJobRedriven, tail, j.ID.String(), paramsChanges(tail, j))
	return &rota.Redriven{Job: withoutToken(j)}, nil
}

// ownerOfRedrive keeps the user that an execution runs for. A job without a definition runs for its creator, so a redrive by
// another actor, such as an administrator, must not run with the rights of that actor.
func ownerOfRedrive(tail *rota.Job, actor string) string {
	if user := tail.RunsFor(); tail.Owner == "" && user != cmp.Or(actor, rota.AdminUser) {
		return user
	}
	return tail.Owner
}

// wantRedrive asks for what decides whether an execution may be redriven, and
// for what the new job needs.
func wantRedrive(u *UnitOfWork, c *rota.Redrive, tail *rota.Job) {
	u.wantAudited(c, tail.ID)
	Redrives.want(u, RedrivesQuery{Execution: tail.ExecutionID})
	u.wantTail(tail.Priority)
	if tail.UniqueKey != "" {
		UniqueKeys.want(u, UniqueKey{tail.Type, tail.UniqueKey})
	}
	if tail.ConcurrencyKey != "" {
		Throttle.want(u, one)
	}
	if tail.Template != "" && (c.Again || tail.Schedule != "") {
		Templates.want(u, tail.Template)
	}
	if tail.Schedule != "" {
		Schedules.want(u, tail.Schedule)
		LiveJobs.want(u, LiveJobsQuery{Schedule: tail.Schedule, Scope: ScopeOf(tail)})
		LiveJobs.want(u, LiveJobsQuery{Schedule: tail.Schedule, Scope: ScopeOf(tail), Waiting: true})
	}
}

// overlapHold holds a job back while other executions of its schedule are live,
// unless overlap is allowed.
func overlapHold(u *UnitOfWork, j *rota.Job) rota.Hold {
	if j.Schedule == "" {
		return 0
	}
	s := Schedules.get(u, j.Schedule)
	if s == nil || s.Spec.Overlap == rota.OverlapAllow {
		return 0
	}
	if waiting, others := u.liveOf(s.Name, ScopeOf(j)); len(waiting)+len(others) > 0 {
		return rota.HoldOverlap
	}
	return 0
}

func mayRedrive(u *UnitOfWork, c *rota.Redrive, tail *rota.Job) *rota.Error {
	conflict := func(reason, hint string) *rota.Error {
		return &rota.Error{Code: rota.Conflict, Field: "job_id", Reason: reason, Hint: hint}
	}
	name := "job " + tail.ID.String()
	switch {
	case isOther(c.Version, tail.Version):
		return changedSince(name)
	case !tail.Ended():
		return conflict(name+" has not ended: it is "+string(tail.State()), runNowHint(tail))
	case hasCompleted(tail) && !c.Again:
		return conflict(name+" has completed", "to run it once more: rota job run-again "+tail.ID.String())
	}
	if refusal := mayRepeat(u, c, tail); refusal != nil || hasCompleted(tail) {
		return refusal
	}
	if again := u.redriveOf(tail.ExecutionID); again != nil && again.State() != rota.StateCancelled {
		return conflict(name+" was already retried, as job "+again.ExecutionID.String(), "if that job died too, retry that one")
	}
	if holder := keyHolder(u, tail.Type, tail.UniqueKey); holder != nil && holder.ExecutionID != tail.ExecutionID {
		return conflict("its unique key is held by job "+holder.ID.String(), "wait until that has ended")
	}
	return nil
}

// mayRepeat refuses changed params that do not fit the job, a template that
// accepts no new jobs, and one that the schedule of the job may not run any more.
func mayRepeat(u *UnitOfWork, c *rota.Redrive, tail *rota.Job) *rota.Error {
	if c.Params != nil {
		if rota.InternalType(tail.Type) {
			return internalJob("params", tail)
		}
		if refusal := mergedTooLong(tail.Params, c.Params, "params"); refusal != nil {
			return refusal
		}
	}
	if tail.Template == "" || !c.Again && tail.Schedule == "" {
		return nil
	}
	t := Templates.get(u, tail.Template)
	if c.Again && t != nil {
		if refusal := usable(t, "template", t.Name); refusal != nil {
			return refusal
		}
	}
	return mayRunAgain(u, tail, t)
}

// mayRunAgain refuses an execution that its schedule may not run any more. It runs with the rights of the user that owned its
// template then. The owner of the schedule has EXECUTE JOB on a template, and not on others that have its name later. If it got
// the template, too, it may run again what ran before.
func mayRunAgain(u *UnitOfWork, tail *rota.Job, t *rota.Template) *rota.Error {
	s := scheduleOf(u, tail)
	if s == nil || s.Owner == rota.AdminUser || s.Owner == tail.RunsFor() {
		return nil
	}
	first := u.job(tail.ExecutionID)
	if t == nil || first == nil || first.CreatedAt.Before(t.Since) || t.Owner != tail.RunsFor() && t.Owner != s.Owner {
		return &rota.Error{
			Code: rota.Denied, Field: "job_id", Reason: "job " + tail.ID.String() + " cannot run again: its template " + tail.Template + " was dropped, recreated or given to another owner",
			Hint: "run the schedule instead: rota schedule trigger " + s.Name,
		}
	}
	return mayExecute(u, "job_id", s.Name, s.Owner, t)
}

// scheduleOf returns the schedule of a job, nil if it has none.
func scheduleOf(u *UnitOfWork, j *rota.Job) *rota.Schedule {
	if j.Schedule == "" {
		return nil
	}
	return Schedules.get(u, j.Schedule)
}

// hasCompleted reports whether a job has ended and completed.
func hasCompleted(j *rota.Job) bool {
	return j.Ended() && j.Run != nil && j.Run.Outcome == rota.OutcomeCompleted
}

// runNowHint says what can be done with a job that has not ended.
func runNowHint(j *rota.Job) string {
	if j.Status == rota.StatusQueued && j.Hold&rota.HoldDelay != 0 {
		return "to run it now: rota job run-now " + j.ID.String()
	}
	return "wait until it has ended, or cancel it: rota job cancel " + j.ID.String()
}

// redriveOf returns the last attempt of the redrive of an execution, nil if
// there is none.
func (u *UnitOfWork) redriveOf(execution rota.ID) *rota.Job {
	best := u.job(Redrives.get(u, RedrivesQuery{Execution: execution}))
	for _, r := range u.touchedJobs {
		if r.is != nil && r.is.RedriveOf == execution && (best == nil || r.is.ID.Compare(best.ID) > 0) {
			best = r.is
		}
	}
	if best == nil {
		return nil
	}
	return u.job(u.tailOfChain(best.ID))
}
