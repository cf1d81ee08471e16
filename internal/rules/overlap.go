package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// needTurn asks who waits behind an execution of a schedule that ends, and, if
// somebody does, who else has not ended.
func needTurn(n *Need, j *rota.Job) {
	n.schedule(j.Schedule)
	q := JobsOf{Schedule: j.Schedule, Scope: scopeOf(j), Waiting: true}
	n.jobsOf(q)
	for _, id := range n.unit.jobsOf.get(q) {
		n.keyQueue(n.unit.job(id).ConcurrencyKey)
	}
	if waiting, _ := n.unit.liveOf(q.Schedule, q.Scope); len(waiting) > 0 {
		q.Waiting = false
		n.jobsOf(q)
	}
}

// needPrevious asks for all that has not ended of a schedule and a scope.
func needPrevious(n *Need, schedule string, scope rota.Scope) {
	n.jobsOf(JobsOf{Schedule: schedule, Scope: scope})
	n.jobsOf(JobsOf{Schedule: schedule, Scope: scope, Waiting: true})
}

// liveOf are the jobs of a schedule and a scope that have not ended: those that
// wait behind an earlier execution, and the others, both by id.
func (w *UnitOfWork) liveOf(schedule string, scope rota.Scope) (waiting, others []*rota.Job) {
	ids := slices.Concat(
		w.jobsOf.get(JobsOf{Schedule: schedule, Scope: scope}),
		w.jobsOf.get(JobsOf{Schedule: schedule, Scope: scope, Waiting: true}),
		w.born[schedule],
	)
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		j := w.job(id)
		switch {
		case j == nil || j.Sequel != "" || scopeOf(j) != scope:
		case j.Hold&rota.HoldOverlap != 0:
			waiting = append(waiting, j)
		default:
			others = append(others, j)
		}
	}
	return waiting, others
}

// giveTurn lets the next execution of a schedule go when one has ended and no
// other is under way, or none need be waited for.
func giveTurn(w *UnitOfWork, j *rota.Job) {
	waiting, others := w.liveOf(j.Schedule, scopeOf(j))
	if len(waiting) > 0 && (len(others) == 0 || mayOverlap(w, j.Schedule)) {
		free(w, waiting[0].ID, rota.HoldOverlap)
	}
}

// needFreeTurns asks for those who wait behind others.
func needFreeTurns(n *Need, schedule string) {
	ids, _ := n.behind(OverlapWaiting{Schedule: schedule})
	for _, id := range ids {
		n.keyQueue(n.unit.job(id).ConcurrencyKey)
	}
}

// freeTurns lets those go who wait behind others, if they need not any more.
func freeTurns(w *UnitOfWork, schedule string) {
	if !mayOverlap(w, schedule) {
		return
	}
	for _, id := range w.behind.get(OverlapWaiting{Schedule: schedule}) {
		if j := w.job(id); j.Status == rota.StatusQueued && j.Hold&rota.HoldOverlap != 0 {
			free(w, id, rota.HoldOverlap)
		}
	}
}

// mayOverlap says that nobody need wait behind another any more: the schedule
// allows it now, or is gone.
func mayOverlap(w *UnitOfWork, schedule string) bool {
	s := w.schedules.get(schedule)
	return s == nil || s.Spec.Overlap == rota.OverlapAllow
}

// meet does what the overlap of a schedule asks for when a job is to be made
// while others have not ended. It says whether the job is skipped, or waits.
func meet(w *UnitOfWork, c rota.Command, s *rota.Schedule, scope rota.Scope, catchUp bool) (skipped bool, hold rota.Hold) {
	if s.Spec.Overlap == rota.OverlapAllow {
		return false, 0
	}
	if !catchUp {
		endWaits(w, c, s.Name, scope)
	}
	waiting, others := w.liveOf(s.Name, scope)
	previous := slices.Concat(waiting, others)
	switch {
	case len(previous) == 0:
		return false, 0
	case catchUp:
		return false, rota.HoldOverlap
	case s.Spec.Overlap == rota.OverlapSkip:
		return true, 0
	}
	for _, j := range sortedByID(previous) {
		replace(w, c, s, j.ID)
	}
	if waiting, others = w.liveOf(s.Name, scope); len(waiting)+len(others) > 0 {
		return false, rota.HoldOverlap
	}
	return false, 0
}

// endWaits ends what has waited too long for dependencies, as Expire does: its
// wait is over when its schedule fires again, and it must not be in the way.
func endWaits(w *UnitOfWork, c rota.Command, schedule string, scope rota.Scope) {
	waiting, others := w.liveOf(schedule, scope)
	for _, j := range sortedByID(append(waiting, others...)) {
		if !waitedOut(w, w.job(j.ID)) {
			continue
		}
		if missing := unmet(w, w.job(j.ID)); missing != "" {
			skip(w, c, j.ID, rota.CodeDependency, tooLate(missing), true)
		}
	}
}

// waitedOut says that a job has waited for dependencies as long as it may.
func waitedOut(w *UnitOfWork, j *rota.Job) bool {
	return j.Status == rota.StatusQueued && j.Hold&rota.HoldDependency != 0 && !j.WaitUntil.After(w.Now)
}

func tooLate(missing string) string {
	return "skipped: schedule " + missing + " did not complete in time"
}

func sortedByID(jobs []*rota.Job) []*rota.Job {
	slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) })
	return jobs
}

// replace stops an execution in favour of a later one.
func replace(w *UnitOfWork, c rota.Command, s *rota.Schedule, id rota.ID) {
	reason := "replaced by a later fire of schedule " + s.Name
	j := w.job(id)
	switch {
	case j.Sequel != "":
		return
	case j.Status == rota.StatusQueued:
		cancelJob(w, c, id, true)
	case !stopRun(w, id, c.Head().Actor, reason):
		return
	}
	w.log(c, rota.AuditJobCancelled, id, reason)
}
