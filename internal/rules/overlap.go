package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// needTurn asks who waits behind an execution of a schedule that ends, and, if
// somebody does, who else has not ended.
func needTurn(n *Need, j *rota.Job) {
	q := JobsOf{Schedule: j.Schedule, Scope: scopeOf(j), Waiting: true}
	n.jobsOf(q)
	for _, id := range n.world.jobsOf.get(q) {
		n.lane(n.world.job(id).ConcurrencyKey)
	}
	if waiting, _ := n.world.liveOf(q.Schedule, q.Scope); len(waiting) > 0 {
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
func (w *World) liveOf(schedule string, scope rota.Scope) (waiting, others []*rota.Job) {
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
// other is under way.
func giveTurn(w *World, j *rota.Job) {
	waiting, others := w.liveOf(j.Schedule, scopeOf(j))
	if len(waiting) > 0 && len(others) == 0 {
		free(w, waiting[0].ID, rota.HoldOverlap)
	}
}

// meet does what the overlap of a schedule asks for when a job is to be made
// while others have not ended. It says whether the job is skipped, or waits.
func meet(w *World, c rota.Command, s *rota.Schedule, scope rota.Scope, catchUp bool) (skipped bool, hold rota.Hold) {
	if s.Spec.Overlap == rota.OverlapAllow {
		return false, 0
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
	slices.SortFunc(previous, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) })
	for _, j := range previous {
		replace(w, c, s, j.ID)
	}
	if waiting, others = w.liveOf(s.Name, scope); len(waiting)+len(others) > 0 {
		return false, rota.HoldOverlap
	}
	return false, 0
}

// replace stops an execution in favour of a later one.
func replace(w *World, c rota.Command, s *rota.Schedule, id rota.ID) {
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
