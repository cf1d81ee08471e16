package explain

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Dependency is a schedule that a job depends on, and its executions in the
// job's window.
type Dependency struct {
	Schedule *rota.Schedule
	Latest   []LatestTail // of the scopes that Windows lists; scopes after the first one that has not completed may be left out
}

// LatestTail is the last attempt of the execution that counts, nil if there is
// none.
type LatestTail struct {
	Scope rota.Scope
	Tail  *rota.Job
}

// Completed reports whether the dependency is met for its scope.
func (l LatestTail) Completed() bool {
	return l.Tail != nil && l.Tail.Ended() && l.Tail.Run != nil && l.Tail.Run.Outcome == rota.OutcomeCompleted
}

// Windows returns the queries for the executions of a dependency that the job
// needs.
func (f *Facts) Windows(d *rota.Schedule) (windows []rules.LatestJobsQuery) {
	for _, scope := range rules.ScopesNeeded(f.Job, d) {
		windows = append(windows, rules.WindowOf(f.Job, d, scope))
	}
	return windows
}

// dependencies explains each dependency that has not completed.
func (a *explainer) dependencies() {
	j := a.Job
	if j.Hold&rota.HoldDependency == 0 {
		return
	}
	before := len(a.reasons)
	for _, d := range a.Dependencies {
		a.dependency(d)
	}
	if before == len(a.reasons) {
		a.addReason(rota.ReasonDependency,
			fmt.Sprintf("The dependencies of schedule %s have completed, and this job is about to be released.", j.Schedule),
			fmt.Sprintf("A server releases it, at %s at the latest; if it does not, no server is running: rota serve.", rules.Stamp(j.WaitUntil)),
		).Until = j.WaitUntil
	}
}

func (a *explainer) dependency(d Dependency) {
	s := d.Schedule
	if s.State != rota.ScheduleDisabled && !s.NextFire.IsZero() && !s.NextFire.After(a.Job.PlanTime) {
		a.owesFire(s)
		return
	}
	for _, l := range d.Latest {
		switch {
		case l.Completed():
			continue
		case l.Tail == nil:
			a.hasNotRun(s, l.Scope)
		default:
			a.hasNotCompleted(s, l)
		}
		return
	}
}

// owesFire explains a dependency that has not fired yet for a time in the
// window.
func (a *explainer) owesFire(s *rota.Schedule) {
	text := fmt.Sprintf("It depends on schedule %s, which has not fired for %s yet", s.Name, rules.Stamp(s.NextFire))
	remedy := "A server fires it; if it does not fire, no server is running: rota serve"
	if s.State == rota.SchedulePaused {
		text += " and is paused"
		remedy = "Resume it: rota schedule resume " + s.Name
	}
	a.addDependency(text, remedy)
}

// hasNotRun explains a dependency that owes no fire and has not run.
func (a *explainer) hasNotRun(s *rota.Schedule, scope rota.Scope) {
	state, window := "", "up to "+rules.Stamp(a.Job.PlanTime)
	if s.State == rota.ScheduleDisabled {
		state = " is disabled and"
	}
	if !a.Job.WaitFrom.IsZero() {
		window = "after " + rules.Stamp(a.Job.WaitFrom) + " and " + window
	}
	a.addDependency(
		fmt.Sprintf("It depends on schedule %s, which%s has not run%s for a time %s", s.Name, state, forScope(scope), window),
		"No such execution is under way; to run this job anyway: "+rerunCommands(a.Job.ID))
}

// hasNotCompleted explains a dependency whose execution has not ended, or did
// not complete.
func (a *explainer) hasNotCompleted(s *rota.Schedule, l LatestTail) {
	j := l.Tail
	remedy := "See why: rota job explain " + j.ID.String()
	switch {
	case j.Sequel == rota.SequelDead:
		remedy = "Fix the cause, then retry it: rota dead retry " + j.ID.String()
	case j.Ended():
		remedy = "Run it anyway: rota job retry " + j.ID.String()
	case j.Status == rota.StatusRunning:
		remedy = "Wait until it ends"
	}
	a.addDependency(
		fmt.Sprintf("It depends on schedule %s, whose latest execution%s, %s, %s", s.Name, forScope(l.Scope), rules.JobRef(j.ID), describeState(j)),
		remedy).Jobs = []rota.ID{j.ID}
}

// addDependency adds the reason of a dependency and states what happens at the
// end of the wait.
func (a *explainer) addDependency(text, remedy string) *rota.Reason {
	until := a.Job.WaitUntil
	text += fmt.Sprintf("; this job waits until %s.", rules.Stamp(until))
	if until.After(a.Now) {
		remedy += fmt.Sprintf("; if it has not completed by %s, this job is recorded as SKIPPED.", rules.Stamp(until))
	} else {
		remedy += "; the wait is over, and this job will soon be recorded as SKIPPED."
	}
	reason := a.addReason(rota.ReasonDependency, text, remedy)
	reason.Until = until
	return reason
}
