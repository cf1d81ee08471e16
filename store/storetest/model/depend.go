package model

import (
	"cmp"
	"slices"

	"github.com/rotajobs/rota"
)

// unmet returns the first schedule that a job waits for. It is empty if all dependencies have
// completed or no longer exist.
func (s *step) unmet(j *rota.Job) string {
	d := s.schedule(j.Schedule)
	if d == nil {
		return ""
	}
	for _, name := range d.Spec.DependsOn {
		if on := s.schedule(name); on != nil && !s.dependencyMet(on, j) {
			return name
		}
	}
	return ""
}

// dependencyMet reports whether a dependency of a job has completed in each scope that the job
// needs.
func (s *step) dependencyMet(on *rota.Schedule, j *rota.Job) bool {
	owes := on.State != rota.ScheduleDisabled && !on.NextFire.IsZero() && !on.NextFire.After(j.PlanTime)
	if owes {
		return false
	}
	scopes := []rota.Scope{scopeOf(j)}
	if len(on.Spec.Scopes) == 0 || scopeOf(j) == (rota.Scope{}) {
		scopes = on.Spec.EachScope()
	}
	for _, scope := range scopes {
		last := s.latestOf(on.Name, scope, j)
		if last == nil || !completed(s.tail(last.ExecutionID)) {
			return false
		}
	}
	return true
}

// latestOf returns the first attempt of the latest execution that counts for a job.
func (s *step) latestOf(schedule string, scope rota.Scope, j *rota.Job) *rota.Job {
	counting := s.pick(func(e *rota.Job) bool {
		return e.Attempt == 1 && e.Schedule == schedule && scopeOf(e) == scope &&
			e.CountsAt.After(j.WaitFrom) && !e.CountsAt.After(j.PlanTime)
	})
	if len(counting) == 0 {
		return nil
	}
	return slices.MaxFunc(counting, func(a, b *rota.Job) int { return cmp.Or(a.CountsAt.Compare(b.CountsAt), byID(a, b)) })
}

func completed(tail *rota.Job) bool {
	return !live(tail) && tail.Run != nil && tail.Run.Outcome == rota.OutcomeCompleted
}

// dependents returns the schedules that depend on one, by name.
func (s *step) dependents(name string) []*rota.Schedule {
	return s.schedulesWhere(func(d *rota.Schedule) bool { return slices.Contains(d.Spec.DependsOn, name) })
}

// blocked returns the jobs of a schedule that wait for dependencies, by id.
func (s *step) blocked(schedule string) []*rota.Job {
	return s.sorted(func(j *rota.Job) bool { return waitsForDependency(j) && j.Schedule == schedule })
}

func waitsForDependency(j *rota.Job) bool {
	return j.Status == rota.StatusQueued && j.Hold&rota.HoldDependency != 0
}

// recheckBlocked releases the jobs whose dependencies are met.
func (s *step) recheckBlocked(jobs []*rota.Job) {
	for _, j := range jobs {
		if s.unmet(j) == "" {
			s.releaseHold(j, rota.HoldDependency)
		}
	}
}

// recheckDependents checks all jobs that wait for a schedule, because the schedule itself has
// changed.
func (s *step) recheckDependents(name string) {
	for _, d := range s.dependents(name) {
		s.recheckBlocked(s.blocked(d.Name))
	}
}

// releaseDependents checks the jobs that wait for the ended execution: for a scoped one the
// jobs of that scope and the global ones, for a global one all. Expire releases those beyond
// the limit of one command.
func (s *step) releaseDependents(j *rota.Job) {
	if j.Schedule == "" {
		return
	}
	freed := 0
	for _, d := range s.dependents(j.Schedule) {
		for _, b := range s.blocked(d.Name) {
			concerned := scopeOf(j) == (rota.Scope{}) || scopeOf(b) == (rota.Scope{}) || scopeOf(b) == scopeOf(j)
			if concerned && freed < rota.DependentsMax && s.unmet(b) == "" {
				s.releaseHold(b, rota.HoldDependency)
				freed++
			}
		}
	}
}

// sorted returns the matching jobs, by id.
func (s *state) sorted(cond func(*rota.Job) bool) []*rota.Job {
	jobs := s.pick(cond)
	slices.SortFunc(jobs, byID)
	return jobs
}
