package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// needNextExecution asks for the jobs that wait for an execution of a schedule
// that ends, and, if there are some, for the other live jobs.
func needNextExecution(n *Need, j *rota.Job) {
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

// liveOf returns the jobs of a schedule and a scope that have not ended: those
// that wait for an earlier execution, and the others, both by id.
func (u *UnitOfWork) liveOf(schedule string, scope rota.Scope) (waiting, others []*rota.Job) {
	ids := slices.Concat(
		u.jobsOf.get(JobsOf{Schedule: schedule, Scope: scope}),
		u.jobsOf.get(JobsOf{Schedule: schedule, Scope: scope, Waiting: true}),
		u.createdBySchedule[schedule],
	)
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		j := u.job(id)
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

// releaseNextExecution releases the next waiting execution of a schedule when
// one has ended and no other is live, or when the schedule allows overlap.
func releaseNextExecution(u *UnitOfWork, j *rota.Job) {
	waiting, others := u.liveOf(j.Schedule, scopeOf(j))
	if len(waiting) > 0 && (len(others) == 0 || mayOverlap(u, j.Schedule)) {
		releaseHold(u, waiting[0].ID, rota.HoldOverlap)
	}
}

// needReleaseWaiting asks for the jobs that wait for earlier executions.
func needReleaseWaiting(n *Need, schedule string) {
	ids, _ := n.overlapWaiting(OverlapWaiting{Schedule: schedule})
	for _, id := range ids {
		n.keyQueue(n.unit.job(id).ConcurrencyKey)
	}
}

// releaseWaiting releases all waiting executions of a schedule, if they need
// not wait any more.
func releaseWaiting(u *UnitOfWork, schedule string) {
	if !mayOverlap(u, schedule) {
		return
	}
	for _, id := range u.overlapWaiting.get(OverlapWaiting{Schedule: schedule}) {
		if j := u.job(id); j.Status == rota.StatusQueued && j.Hold&rota.HoldOverlap != 0 {
			releaseHold(u, id, rota.HoldOverlap)
		}
	}
}

// mayOverlap reports whether executions need not wait for each other: the
// schedule allows overlap or does not exist.
func mayOverlap(u *UnitOfWork, schedule string) bool {
	s := u.schedules.get(schedule)
	return s == nil || s.Spec.Overlap == rota.OverlapAllow
}

// applyOverlap applies the overlap policy of a schedule when a job is to be
// created while others have not ended. It returns whether the job is skipped,
// or the hold with which it waits.
func applyOverlap(u *UnitOfWork, c rota.Command, s *rota.Schedule, scope rota.Scope, catchUp bool) (skipped bool, hold rota.Hold) {
	if s.Spec.Overlap == rota.OverlapAllow {
		return false, 0
	}
	if !catchUp {
		endExpiredWaits(u, c, s.Name, scope)
	}
	waiting, others := u.liveOf(s.Name, scope)
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
		replace(u, c, s, j.ID)
	}
	if waiting, others = u.liveOf(s.Name, scope); len(waiting)+len(others) > 0 {
		return false, rota.HoldOverlap
	}
	return false, 0
}

// endExpiredWaits ends jobs that have waited too long for dependencies, as
// Expire does. Their wait is over when the schedule fires again, and they must
// not delay the new job.
func endExpiredWaits(u *UnitOfWork, c rota.Command, schedule string, scope rota.Scope) {
	waiting, others := u.liveOf(schedule, scope)
	for _, j := range sortedByID(append(waiting, others...)) {
		if !waitExpired(u, u.job(j.ID)) {
			continue
		}
		if missing := unmet(u, u.job(j.ID)); missing != "" {
			skipJob(u, c, j.ID, rota.CodeDependency, dependencyLate(missing), true)
		}
	}
}

// waitExpired reports whether a job has waited for dependencies as long as it
// may.
func waitExpired(u *UnitOfWork, j *rota.Job) bool {
	return j.Status == rota.StatusQueued && j.Hold&rota.HoldDependency != 0 && !j.WaitUntil.After(u.Now)
}

func dependencyLate(missing string) string {
	return "skipped: schedule " + missing + " did not complete in time"
}

func sortedByID(jobs []*rota.Job) []*rota.Job {
	slices.SortFunc(jobs, func(a, b *rota.Job) int { return a.ID.Compare(b.ID) })
	return jobs
}

// replace stops an execution in favour of a later one.
func replace(u *UnitOfWork, c rota.Command, s *rota.Schedule, id rota.ID) {
	reason := "replaced by a later fire of schedule " + s.Name
	j := u.job(id)
	switch {
	case j.Sequel != "":
		return
	case j.Status == rota.StatusQueued:
		cancelJob(u, c, id, true)
	case !stopRun(u, id, c.Head().Actor, reason):
		return
	}
	u.auditJob(c, rota.AuditJobCancelled, id, reason)
}
