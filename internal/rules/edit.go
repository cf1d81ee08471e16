package rules

import "github.com/rotajobs/rota"

// decideEdit changes what may still change of a queued job. The id of an earlier
// attempt selects the last attempt of its execution.
func decideEdit(u *UnitOfWork, c *rota.Edit) (rota.Reply, *rota.Error) {
	u.wantChange(c, c.JobID)
	if c.Priority != nil {
		u.wantTail(*c.Priority)
	}
	id := u.tailOfChain(c.JobID)
	again, refusal := mayChange(u, c, c.JobID, id, c.Version)
	if refusal == nil && !again {
		refusal = mayEdit(u, c, u.job(id))
	}
	if refusal != nil {
		return nil, refusal
	}
	if again {
		return &rota.Edited{Job: withoutToken(u.job(id))}, nil
	}
	was := *u.job(id)
	j := u.edit(id)
	if c.Priority != nil && *c.Priority != j.Priority {
		u.forgetTailOf(j)
		j.Priority, j.Position = *c.Priority, u.appendPosition(*c.Priority)
		u.markKeyChanged(j)
	}
	if c.Params != nil {
		j.Params = c.Params
	}
	if c.MergeParams != nil {
		j.Params = rota.MergeParams(j.Params, c.MergeParams)
	}
	if at := newRunAt(u, c); !at.IsZero() {
		setRunAt(u, j, at)
	}
	j.Version = c.ID
	changes := jobChanges(&was, j)
	if changes == nil && j.Hold == was.Hold {
		j.Params = was.Params // the same document, perhaps written in another way
		return &rota.Edited{Job: withoutToken(j)}, nil
	}
	detail := string(rota.VerbEdit)
	if c.RunNow {
		detail = "run-now"
	}
	u.auditAttempt(c, c.Head().Actor, rota.AuditJobModified, c.JobID, j, detail, changes)
	return &rota.Edited{Job: withoutToken(j)}, nil
}

// wantChange asks for what mayChange reads.
func (u *UnitOfWork) wantChange(c rota.Command, id rota.ID) {
	u.wantAudited(c, id)
	u.fullJobs.want(id)
}

// mayChange refuses to change a job that does not exist, is of an internal type,
// has left the queue, or was changed since the sender read it. named is the id
// in the command, id that of the last attempt. It reports again if an earlier
// sending of this command was applied. An Edit that changed something and a Move
// have an audit entry, which shows that even if the job was changed since. An Edit
// that changed nothing has none; the version of the job shows it until another
// command changes that job or the job is retried, and then the command is
// decided as if it were new.
func mayChange(u *UnitOfWork, c rota.Command, named, id rota.ID, version *rota.ID) (again bool, refusal *rota.Error) {
	j := u.job(id)
	switch {
	case j == nil:
		return false, noJob("job_id", named)
	case u.audited(c, named), j.Version == c.Head().ID, u.job(named).Version == c.Head().ID:
		return true, nil
	case rota.InternalType(j.Type):
		return false, internalJob("job_id", j)
	case j.Status != rota.StatusQueued:
		return false, notQueued(u, "job_id", j)
	case isOther(version, j.Version):
		return false, changedSince("job " + j.ID.String())
	}
	return false, nil
}

// internalJob refuses to change a job of an internal type.
func internalJob(field string, j *rota.Job) *rota.Error {
	return &rota.Error{
		Code: rota.Conflict, Field: field, Reason: "job " + j.ID.String() + " is of type " + j.Type + ", which is an internal type of Rota",
		Hint: "cancel it, or retry it if it is dead; to change it, change the webhook that it delivers to",
	}
}
