package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// liveOf returns the jobs of a schedule and a scope that have not ended: those
// that wait for an earlier execution, and the others, both by id.
func (u *UnitOfWork) liveOf(schedule string, scope rota.Scope) (waiting, others []*rota.Job) {
	LiveJobs.want(u, LiveJobsQuery{Schedule: schedule, Scope: scope})
	LiveJobs.want(u, LiveJobsQuery{Schedule: schedule, Scope: scope, Waiting: true})
	return u.byWaiting(schedule, scope, slices.Concat(
		LiveJobs.get(u, LiveJobsQuery{Schedule: schedule, Scope: scope}),
		LiveJobs.get(u, LiveJobsQuery{Schedule: schedule, Scope: scope, Waiting: true}),
	))
}

// waitingOf returns the jobs of a schedule and a scope that wait for an earlier
// execution, by id.
func (u *UnitOfWork) waitingOf(schedule string, scope rota.Scope) []*rota.Job {
	waiting, _ := u.byWaiting(schedule, scope, LiveJobs.get(u, LiveJobsQuery{Schedule: schedule, Scope: scope, Waiting: true}))
	return waiting
}

// byWaiting divides stored jobs, and those created in this transaction, by
// whether they wait for an earlier execution as decided.
func (u *UnitOfWork) byWaiting(schedule string, scope rota.Scope, stored []rota.ID) (waiting, others []*rota.Job) {
	ids := slices.Concat(stored, u.createdBySchedule[schedule])
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		j := u.job(id)
		switch {
		case j == nil || j.Sequel != "" || ScopeOf(j) != scope:
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
	Schedules.want(u, j.Schedule)
	if len(u.waitingOf(j.Schedule, ScopeOf(j))) == 0 {
		return
	}
	waiting, others := u.liveOf(j.Schedule, ScopeOf(j))
	if len(waiting) > 0 && (len(others) == 0 || mayOverlap(u, j.Schedule)) {
		releaseHold(u, waiting[0].ID, rota.HoldOverlap)
	}
}

// releaseWaiting releases all waiting executions of a schedule, if they need
// not wait any more.
func releaseWaiting(u *UnitOfWork, schedule string) {
	if !mayOverlap(u, schedule) {
		return
	}
	ids := WaitingJobs.get(u, WaitingJobsQuery{Schedule: schedule})
	u.each(len(ids), func(i int) {
		if j := u.job(ids[i]); j.Status == rota.StatusQueued && j.Hold&rota.HoldOverlap != 0 {
			releaseHold(u, j.ID, rota.HoldOverlap)
		}
	})
}

// mayOverlap reports whether executions need not wait for each other: the
// schedule allows overlap or does not exist.
func mayOverlap(u *UnitOfWork, schedule string) bool {
	s := Schedules.get(u, schedule)
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
	sortedByID(previous)
	u.each(len(previous), func(i int) { replace(u, c, s, previous[i].ID) })
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
	live := sortedByID(append(waiting, others...))
	u.each(len(live), func(i int) {
		j := u.job(live[i].ID)
		if !waitExpired(u, j) {
			return
		}
		if missing := unmet(u, j); missing != "" {
			skipJob(u, c, j.ID, rota.CodeDependency, dependencyLate(missing), true)
		}
	})
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
		u.auditJob(c, rota.AuditJobCancelled, u.job(id), reason, nil)
	case stopRun(u, id, c.Head().Actor, reason):
		u.auditJob(c, rota.AuditJobStopping, u.job(id), reason, nil)
	}
}

// wantOverlap asks for the template of a schedule, and for the jobs that may
// overlap with new ones.
func wantOverlap(u *UnitOfWork, s *rota.Schedule) {
	if s.Spec.Overlap != rota.OverlapAllow {
		for _, scope := range s.Spec.EachScope() {
			LiveJobs.want(u, LiveJobsQuery{Schedule: s.Name, Scope: scope})
			LiveJobs.want(u, LiveJobsQuery{Schedule: s.Name, Scope: scope, Waiting: true})
		}
	}
	Templates.want(u, s.Spec.Template)
	if t, known := Templates.peek(u, s.Spec.Template); known && t != nil {
		wantScheduledJob(u, s, t)
	}
}
