package rules

import (
	"github.com/rotajobs/rota"
)

// hasRelations reports whether the end of a job may affect other rows, so that
// the full job has to be known.
func hasRelations(j *rota.Job) bool {
	return j.Schedule != "" || j.ConcurrencyKey != "" || !j.GroupID.IsZero()
}

// executionEnded does what follows from the end of an execution, given its last
// attempt. withGroup is false if the whole group is being ended, so that the
// other members need no attention.
func executionEnded(u *UnitOfWork, c rota.Command, j *rota.Job, withGroup bool) {
	if !hasRelations(j) {
		endKey(u, j, KeepsKey(j))
		return
	}
	u.together(
		func() { endKey(u, j, KeepsKey(j)) },
		func() {
			if withGroup && !j.GroupID.IsZero() {
				afterMemberEnd(u, c, j)
			}
		},
		func() { scheduledExecutionEnded(u, c, j) },
	)
}

// scheduledExecutionEnded does what follows for other jobs of the schedule, for
// its dependents, and for the schedule itself.
func scheduledExecutionEnded(u *UnitOfWork, c rota.Command, j *rota.Job) {
	if j.Schedule == "" {
		return
	}
	u.together(
		func() { releaseNextExecution(u, j) },
		func() { releaseDependents(u, j.Schedule, ScopeOf(j)) },
		func() { complete(u, c, j) },
		func() {
			if dropped(u, j) {
				u.addIntent(IntentDrop, j.Schedule)
			}
		},
	)
}

// KeepsKey reports whether an execution did what its unique key stands for: it
// completed, or its worker found that there was nothing to do. An execution
// that Rota skipped never ran.
func KeepsKey(j *rota.Job) bool {
	return j.Run != nil && (j.Run.Outcome == rota.OutcomeCompleted || j.Run.Outcome == rota.OutcomeSkipped && j.Run.Runner != "")
}

// runEnded does what follows from the end of a run, whether or not it is
// retried.
func runEnded(u *UnitOfWork, j *rota.Job) {
	u.markKeyChanged(j)
	Throttle.want(u, one)
	if r := u.activeReservation(); r != nil && r.JobID == j.ID {
		endReservation(u, r, rota.ReservationReleased)
	}
	if s := u.limits(); s.Global > 0 || len(s.Types) > 0 {
		u.wake = true
	}
}

// skipJob records that a job never starts: it is dispatched and closed in one
// step.
func skipJob(u *UnitOfWork, c rota.Command, id rota.ID, code, text string, withGroup bool) {
	j := u.editLeavingQueue(id)
	u.forgetTailOf(j)
	markReady(u, j)
	u.markKeyChanged(j)
	j.Status, j.Hold, j.Sequel = rota.StatusRunning, 0, rota.SequelNone
	j.StartedAt, j.FinishedAt = u.Now, u.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.Head().ID, id), StartedAt: u.Now, HeartbeatAt: u.Now, StaleAfter: u.Now,
		Outcome: rota.OutcomeSkipped, FinishedAt: u.Now, Error: text, ErrorCode: code,
	}
	executionEnded(u, c, j, withGroup)
}

// cancelJob cancels a job that has not started.
func cancelJob(u *UnitOfWork, c rota.Command, id rota.ID, withGroup bool) *rota.Job {
	j := u.editLeavingQueue(id)
	u.forgetTailOf(j)
	u.markKeyChanged(j)
	j.Status, j.FinishedAt, j.Sequel = rota.StatusCancelled, u.Now, rota.SequelNone
	executionEnded(u, c, j, withGroup)
	return j
}

// stopRun asks a run to stop, unless it was asked before.
func stopRun(u *UnitOfWork, id rota.ID, by, reason string) bool {
	j := u.job(id)
	if j.Run == nil || !j.Run.Open() || !j.Run.CancelAt.IsZero() {
		return false
	}
	run := u.edit(id).Run
	run.CancelAt, run.CancelBy, run.CancelReason = u.Now, by, reason
	return true
}

func ScopeOf(j *rota.Job) rota.Scope { return rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID} }
