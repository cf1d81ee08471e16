package rules

import (
	"strings"

	"github.com/rotajobs/rota"
)

// decideCancel cancels a queued job at once and asks a running one to stop. The
// id of an earlier attempt stands for the last attempt of its execution.
func decideCancel(u *UnitOfWork, c *rota.Cancel) (rota.Reply, *rota.Error) {
	u.wantAudited(c, c.JobID)
	j := u.job(u.tailOfChain(c.JobID))
	if j == nil {
		return nil, noJob("job_id", c.JobID)
	}
	switch {
	case u.audited(c, j.ID):
		return &rota.CancelledJob{Job: withoutToken(j), Stopping: j.Run != nil && j.Run.Open()}, nil
	case isOther(c.Version, j.Version):
		return nil, changedSince("job " + j.ID.String())
	case j.Status == rota.StatusQueued:
		return &rota.CancelledJob{Job: withoutToken(cancelQueued(u, c, j.ID))}, nil
	case j.Status == rota.StatusCancelled:
		return &rota.CancelledJob{Job: withoutToken(j)}, nil
	case j.Run != nil && j.Run.Open():
		return &rota.CancelledJob{Job: withoutToken(askToStop(u, c, j)), Stopping: true}, nil
	case j.Run != nil && j.Run.Outcome == rota.OutcomeCancelled && !j.Run.CancelAt.IsZero():
		return &rota.CancelledJob{Job: withoutToken(j)}, nil
	}
	return nil, &rota.Error{
		Code: rota.Conflict, Reason: "job " + j.ID.String() + " can no longer be cancelled: it is " + string(j.State()),
		Hint: "cancel only jobs that wait or run",
	}
}

func cancelQueued(u *UnitOfWork, c *rota.Cancel, id rota.ID) *rota.Job {
	j := cancelJob(u, c, id, true)
	u.auditJob(c, rota.AuditJobCancelled, j, c.Reason, nil)
	return j
}

func askToStop(u *UnitOfWork, c *rota.Cancel, j *rota.Job) *rota.Job {
	if stopRun(u, j.ID, c.Actor, c.Reason) {
		u.auditJob(c, rota.AuditJobStopping, u.job(j.ID), c.Reason, nil)
	}
	return u.job(j.ID)
}

func noJob(field string, id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Field: field, Reason: "there is no job " + id.String(),
		Hint: "check the id; the job may have been pruned; rota job list shows the jobs",
	}
}

// notQueued refuses to change a job that has left the queue.
func notQueued(u *UnitOfWork, field string, j *rota.Job) *rota.Error {
	refusal := &rota.Error{
		Code: rota.Conflict, Field: field,
		Reason: "job " + j.ID.String() + " is no longer queued: it is " + strings.ToLower(string(j.State())),
	}
	switch {
	case j.Sequel == rota.SequelRetry:
		refusal.Hint = "it is retried as job " + u.tailOfChain(j.ID).String() + ": use that id"
	case !j.Ended():
		refusal.Hint = "to run it once more when it has ended: rota job run-again " + j.ID.String()
	default:
		refusal.Hint = "to run it once more: rota job run-again " + j.ID.String()
	}
	return refusal
}
