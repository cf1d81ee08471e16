package rules

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

// everyScope stands for no particular scope, where jobs of all scopes are read.
var everyScope = rota.Scope{Kind: "\x00"}

// needDependents asks for the jobs that may wait for a schedule, and for what
// else they wait for.
func needDependents(n *Need, schedule string, scope rota.Scope) {
	n.dependents(Dependents{Schedule: schedule})
	for _, name := range n.unit.dependents.get(Dependents{Schedule: schedule}) {
		n.schedule(name)
	}
	for _, name := range n.unit.dependentsOf(schedule) {
		needBlocked(n, name, scope)
	}
}

// needBlocked asks for the jobs of a schedule that wait for dependencies, and
// for these.
func needBlocked(n *Need, schedule string, scope rota.Scope) {
	n.schedule(schedule)
	n.blocked(blockedBy(schedule, scope))
	for _, id := range n.unit.blockedOf(schedule, scope) {
		j := n.unit.job(id)
		needMet(n, j)
		n.keyQueue(j.ConcurrencyKey)
	}
}

// needMet asks for the rows that show whether the dependencies of a job have
// completed.
func needMet(n *Need, b *rota.Job) {
	if s := n.schedule(b.Schedule); s != nil {
		needMetBy(n, b, s.Spec.DependsOn)
	}
}

func needMetBy(n *Need, b *rota.Job, dependsOn []string) {
	for _, name := range dependsOn {
		if d := n.schedule(name); d != nil {
			needWindows(n, b, d)
		}
	}
}

// needWindows asks which executions of a schedule count for a job, and how they
// ended.
func needWindows(n *Need, b *rota.Job, d *rota.Schedule) {
	for _, scope := range scopesNeeded(b, d) {
		q := windowOf(b, d, scope)
		n.latest(q)
		if id := n.unit.latestOf(q); !id.IsZero() {
			n.tailOfChain(id)
		}
	}
}

// dependentsOf returns the schedules that depend on one, by name.
func (u *UnitOfWork) dependentsOf(schedule string) (names []string) {
	all := slices.Clone(u.dependents.get(Dependents{Schedule: schedule}))
	for _, r := range u.schedules.touched {
		if r.is != nil && slices.Contains(r.is.Spec.DependsOn, schedule) {
			all = append(all, r.key)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		if s := u.schedules.get(name); s != nil && slices.Contains(s.Spec.DependsOn, schedule) {
			names = append(names, name)
		}
	}
	return names
}

// blockedBy returns the query for jobs that the end of an execution in a scope
// may release.
func blockedBy(schedule string, scope rota.Scope) Blocked {
	if scope == everyScope || scope == (rota.Scope{}) {
		return Blocked{Schedule: schedule, Every: true}
	}
	return Blocked{Schedule: schedule, Scope: scope}
}

// blockedOf returns the jobs of a schedule that wait for dependencies and that
// the end of an execution in the scope may release, by id.
func (u *UnitOfWork) blockedOf(schedule string, scope rota.Scope) (ids []rota.ID) {
	all := slices.Concat(u.blocked.get(blockedBy(schedule, scope)), u.createdBySchedule[schedule])
	slices.SortFunc(all, rota.ID.Compare)
	for _, id := range slices.Compact(all) {
		j := u.job(id)
		if j == nil || j.Status != rota.StatusQueued || j.Hold&rota.HoldDependency == 0 {
			continue
		}
		if own := scopeOf(j); scope == everyScope || scope == (rota.Scope{}) || own == scope || own == (rota.Scope{}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// latestOf returns the first attempt of the execution that counts.
func (u *UnitOfWork) latestOf(q Latest) rota.ID {
	best := u.job(u.latest.get(q))
	for _, id := range u.createdBySchedule[q.Schedule] {
		j := u.job(id)
		if j == nil || !j.RetryOf.IsZero() || scopeOf(j) != q.Scope {
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
		return u.latest.get(q)
	}
	return best.ID
}

// scopesNeeded returns the scopes of a dependency that a job needs: its own, or
// all of them if the job has no scope.
func scopesNeeded(b *rota.Job, d *rota.Schedule) []rota.Scope {
	own := scopeOf(b)
	if own == (rota.Scope{}) || len(d.Spec.Scopes) == 0 {
		return d.Spec.EachScope()
	}
	return []rota.Scope{own}
}

func windowOf(b *rota.Job, d *rota.Schedule, scope rota.Scope) Latest {
	after := int64(math.MinInt64)
	if !b.WaitFrom.IsZero() {
		after = b.WaitFrom.UnixMicro()
	}
	return Latest{Schedule: d.Name, Scope: scope, After: after, Until: b.PlanTime.UnixMicro()}
}

// unmet returns the first dependency of a job that has not completed in its
// window, empty if all have. A dependency is met if it has fired for every time
// up to the job's plan time and its latest execution completed.
func unmet(u *UnitOfWork, b *rota.Job) string {
	s := u.schedules.get(b.Schedule)
	if s == nil {
		return ""
	}
	for _, name := range s.Spec.DependsOn {
		if d := u.schedules.get(name); d != nil && !dependencyMet(u, b, d) {
			return name
		}
	}
	return ""
}

func dependencyMet(u *UnitOfWork, b *rota.Job, d *rota.Schedule) bool {
	if d.State != rota.ScheduleDisabled && !d.NextFire.IsZero() && !d.NextFire.After(b.PlanTime) {
		return false
	}
	for _, scope := range scopesNeeded(b, d) {
		id := u.latestOf(windowOf(b, d, scope))
		if id.IsZero() {
			return false
		}
		tail := u.job(u.tailOfChain(id))
		if tail == nil || !tail.Ended() || tail.Run == nil || tail.Run.Outcome != rota.OutcomeCompleted {
			return false
		}
	}
	return true
}

// releaseDependents releases the jobs that waited for a schedule and need not
// wait any more.
func releaseDependents(u *UnitOfWork, schedule string, scope rota.Scope) {
	left := rota.DependentsMax
	for _, name := range u.dependentsOf(schedule) {
		left -= releaseBlocked(u, name, scope, left)
	}
}

// releaseBlocked releases the jobs of a schedule whose dependencies have
// completed, at most maxCount, and counts them.
func releaseBlocked(u *UnitOfWork, schedule string, scope rota.Scope, maxCount int) (released int) {
	for _, id := range u.blockedOf(schedule, scope) {
		if released < maxCount && unmet(u, u.job(id)) == "" {
			releaseHold(u, id, rota.HoldDependency)
			released++
		}
	}
	return released
}
