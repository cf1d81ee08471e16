package rules

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

// everyScope stands for no particular scope, where jobs of all scopes are read.
var everyScope = rota.Scope{Kind: "\x00"}

// dependentsOf returns the schedules that depend on one, by name.
func (u *UnitOfWork) dependentsOf(schedule string) (names []string) {
	all := slices.Clone(Dependents.get(u, DependentsQuery{Schedule: schedule}))
	for r := range Schedules.of(u).changed() {
		if r.is != nil && slices.Contains(r.is.Spec.DependsOn, schedule) {
			all = append(all, r.key)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	u.each(len(all), func(i int) {
		if s := Schedules.get(u, all[i]); s != nil && slices.Contains(s.Spec.DependsOn, schedule) {
			names = append(names, all[i])
		}
	})
	return names
}

// blockedBy returns the query for jobs that the end of an execution in a scope
// may release.
func blockedBy(schedule string, scope rota.Scope) BlockedJobsQuery {
	if scope == everyScope || scope == (rota.Scope{}) {
		return BlockedJobsQuery{Schedule: schedule, Every: true}
	}
	return BlockedJobsQuery{Schedule: schedule, Scope: scope}
}

// blockedOf returns the jobs of a schedule that wait for dependencies and that
// the end of an execution in the scope may release, by id.
func (u *UnitOfWork) blockedOf(schedule string, scope rota.Scope) (ids []rota.ID) {
	all := slices.Concat(BlockedJobs.get(u, blockedBy(schedule, scope)), u.createdBySchedule[schedule])
	slices.SortFunc(all, rota.ID.Compare)
	for _, id := range slices.Compact(all) {
		j := u.job(id)
		if j == nil || j.Status != rota.StatusQueued || j.Hold&rota.HoldDependency == 0 {
			continue
		}
		if own := ScopeOf(j); scope == everyScope || scope == (rota.Scope{}) || own == scope || own == (rota.Scope{}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// latestOf returns the first attempt of the execution that counts.
func (u *UnitOfWork) latestOf(q LatestJobsQuery) rota.ID {
	stored := LatestJobs.get(u, q)
	best := u.job(stored)
	for _, id := range u.createdBySchedule[q.Schedule] {
		j := u.job(id)
		if j == nil || !j.RetryOf.IsZero() || ScopeOf(j) != q.Scope {
			continue
		}
		if at := j.CountsAt.UnixMicro(); at <= q.After || at > q.Until {
			continue
		}
		if best == nil || j.CountsAt.After(best.CountsAt) || j.CountsAt.Equal(best.CountsAt) && j.ID.Compare(best.ID) > 0 {
			best = j
		}
	}
	if best == nil {
		return stored
	}
	return best.ID
}

// ScopesNeeded returns the scopes of a dependency that a job needs: its own, or
// all of them if the job has no scope.
func ScopesNeeded(b *rota.Job, d *rota.Schedule) []rota.Scope {
	own := ScopeOf(b)
	if own == (rota.Scope{}) || len(d.Spec.Scopes) == 0 {
		return d.Spec.EachScope()
	}
	return []rota.Scope{own}
}

func WindowOf(b *rota.Job, d *rota.Schedule, scope rota.Scope) LatestJobsQuery {
	after := int64(math.MinInt64)
	if !b.WaitFrom.IsZero() {
		after = b.WaitFrom.UnixMicro()
	}
	return LatestJobsQuery{Schedule: d.Name, Scope: scope, After: after, Until: b.PlanTime.UnixMicro()}
}

// unmet returns the first dependency of a job that has not completed in its
// window, empty if all have. A dependency is met if it has fired for every time
// up to the job's plan time and its latest execution completed.
func unmet(u *UnitOfWork, b *rota.Job) string {
	s := Schedules.get(u, b.Schedule)
	if s == nil {
		return ""
	}
	missing := ""
	u.each(len(s.Spec.DependsOn), func(i int) {
		name := s.Spec.DependsOn[i]
		if d := Schedules.get(u, name); d != nil && !dependencyMet(u, b, d) && missing == "" {
			missing = name
		}
	})
	return missing
}

func dependencyMet(u *UnitOfWork, b *rota.Job, d *rota.Schedule) bool {
	if d.State != rota.ScheduleDisabled && !d.NextFire.IsZero() && !d.NextFire.After(b.PlanTime) {
		return false
	}
	met, scopes := true, ScopesNeeded(b, d)
	u.each(len(scopes), func(i int) { met = met && u.completedIn(WindowOf(b, d, scopes[i])) })
	return met
}

// completedIn reports whether the execution that counts in a window completed.
func (u *UnitOfWork) completedIn(q LatestJobsQuery) bool {
	id := u.latestOf(q)
	if id.IsZero() {
		return false
	}
	last := u.job(u.tailOfChain(id))
	return last != nil && last.Ended() && last.Run != nil && last.Run.Outcome == rota.OutcomeCompleted
}

// releaseDependents releases the jobs that waited for a schedule and need not
// wait any more.
func releaseDependents(u *UnitOfWork, schedule string, scope rota.Scope) {
	left, names := rota.DependentsMax, u.dependentsOf(schedule)
	u.each(len(names), func(i int) { left -= releaseBlocked(u, names[i], scope, left) })
}

// releaseBlocked releases the jobs of a schedule whose dependencies have
// completed, at most maxCount, and counts them.
func releaseBlocked(u *UnitOfWork, schedule string, scope rota.Scope, maxCount int) (released int) {
	ids := u.blockedOf(schedule, scope)
	u.each(len(ids), func(i int) {
		if released < maxCount && unmet(u, u.job(ids[i])) == "" {
			releaseHold(u, ids[i], rota.HoldDependency)
			released++
		}
	})
	return released
}
