package rules

import (
	"github.com/rotajobs/rota"
)

// needEnd asks for what the end of a job touches besides itself. Dies says that
// its execution will be a dead letter.
func needEnd(n *Need, j *rota.Job, dies bool) {
	needKey(n, j)
	n.keyQueue(j.ConcurrencyKey)
	n.active()
	n.throttle()
	if !j.GroupID.IsZero() {
		needMemberEnd(n, j, dies)
	}
	if j.Schedule != "" {
		needTurn(n, j)
		needDependents(n, j.Schedule, scopeOf(j))
		needCompletion(n, j)
		n.dropped(j.Schedule)
	}
}

// hasCompany says whether the end of a job may touch others, so that all of it
// has to be known.
func hasCompany(j *rota.Job) bool {
	return j.Schedule != "" || j.ConcurrencyKey != "" || !j.GroupID.IsZero()
}

// ended does what the end of an execution asks for, given its last attempt. Of
// its group it looks after the others only if that is not being ended itself.
func ended(w *UnitOfWork, c rota.Command, j *rota.Job, withGroup bool) {
	endKey(w, j, keepsKey(j))
	if withGroup && !j.GroupID.IsZero() {
		memberEnded(w, c, j)
	}
	if j.Schedule != "" {
		giveTurn(w, j)
		lookAgain(w, j.Schedule, scopeOf(j))
		complete(w, c, j)
		if dropped(w, j) {
			w.intend(IntentDrop, j.Schedule)
		}
	}
}

// keepsKey says that an execution did what its unique key stands for: it
// completed, or its worker found that there was nothing to do. What Rota skipped
// never ran.
func keepsKey(j *rota.Job) bool {
	return j.Run != nil && (j.Run.Outcome == rota.OutcomeCompleted || j.Run.Outcome == rota.OutcomeSkipped && j.Run.Runner != "")
}

// slotFree does what the end of a run asks for, whether it is tried again or
// not.
func slotFree(w *UnitOfWork, j *rota.Job) {
	w.stir(j.ConcurrencyKey)
	if r := w.activeReservation(); r != nil && r.JobID == j.ID {
		endReservation(w, r, rota.ReservationReleased)
	}
	if s := w.limits(); s.Global > 0 || len(s.Types) > 0 {
		w.wake = true
	}
}

// skip records that a job which has not started never will: it is dispatched
// and closed in one step.
func skip(w *UnitOfWork, c rota.Command, id rota.ID, code, text string, withGroup bool) {
	j := w.depart(id)
	w.leave(j)
	ready(w, j)
	w.stir(j.ConcurrencyKey)
	j.Status, j.Hold, j.Sequel = rota.StatusRunning, 0, rota.SequelNone
	j.StartedAt, j.FinishedAt = w.Now, w.Now
	j.Run = &rota.Run{
		ID: rota.RunID(c.Head().ID, id), StartedAt: w.Now, HeartbeatAt: w.Now, StaleAfter: w.Now,
		Outcome: rota.OutcomeSkipped, FinishedAt: w.Now, Error: text, ErrorCode: code,
	}
	ended(w, c, j, withGroup)
}

// cancelJob cancels a job that has not started.
func cancelJob(w *UnitOfWork, c rota.Command, id rota.ID, withGroup bool) *rota.Job {
	j := w.depart(id)
	w.leave(j)
	w.stir(j.ConcurrencyKey)
	j.Status, j.FinishedAt, j.Sequel = rota.StatusCancelled, w.Now, rota.SequelNone
	ended(w, c, j, withGroup)
	return j
}

// stopRun asks a run to stop, unless it was asked before.
func stopRun(w *UnitOfWork, id rota.ID, by, reason string) bool {
	j := w.job(id)
	if j.Run == nil || !j.Run.Open() || !j.Run.CancelAt.IsZero() {
		return false
	}
	run := w.edit(id).Run
	run.CancelAt, run.CancelBy, run.CancelReason = w.Now, by, reason
	return true
}

func scopeOf(j *rota.Job) rota.Scope { return rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID} }
