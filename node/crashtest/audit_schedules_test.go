//go:build unix

package main

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// plannedFire identifies one planned time of a schedule for one scope.
type plannedFire struct {
	schedule string
	scope    rota.Scope
	at       int64 // planned time in microseconds
}

// countPlannedFires counts the first attempts of each plan.
func (a *audit) countPlannedFires() map[plannedFire]int {
	all := map[plannedFire]int{}
	for _, j := range a.jobs {
		if j.Schedule != "" && j.Attempt == 1 && !j.PlanTime.IsZero() && j.RedriveOf.IsZero() {
			all[plannedFire{j.Schedule, rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID}, j.PlanTime.UnixMicro()}]++
		}
	}
	return all
}

// fireLateness is how late the last fire may be on a busy machine.
const fireLateness = 10 * time.Second

// checkSchedules checks that each planned time of a schedule was fired exactly once for
// each scope.
func (a *audit) checkSchedules(stopped time.Time) {
	plans := a.countPlannedFires()
	for p, n := range plans {
		if n != 1 {
			a.Errorf("%d executions are planned for %s %v at %s", n, p.schedule, p.scope, time.UnixMicro(p.at).UTC())
		}
	}
	list, err := a.store.Schedules(context.Background(), rota.ScheduleQuery{Limit: rota.PageMax})
	must(a, err)
	for _, s := range list {
		if s.Spec.Every == 0 {
			continue
		}
		if s.NextFire.Before(stopped.Add(-fireLateness)) {
			a.Errorf("schedule %s was last fired for %s, but was paused only at %s", s.Name, s.LastFire, stopped)
		}
		a.checkNoneMissing(s, plans)
	}
	for name, at := range a.answers.oneTimes {
		if plans[plannedFire{name, rota.Scope{}, at.UnixMicro()}] != 1 {
			a.Errorf("schedule %s did not fire once for %s", name, at)
		}
	}
}

// checkNoneMissing checks that no planned time between the start of a schedule and its next
// fire is missing.
func (a *audit) checkNoneMissing(s *rota.Schedule, plans map[plannedFire]int) {
	expected, missing := 0, 0
	for at, err := s.NextAfter(s.Anchor); at.Before(s.NextFire); at, err = s.NextAfter(at) {
		must(a, err)
		for _, scope := range s.Spec.EachScope() {
			expected++
			if plans[plannedFire{s.Name, scope, at.UnixMicro()}] != 1 {
				missing++
				a.Errorf("schedule %s was not fired for %v at %s", s.Name, scope, at)
			}
		}
	}
	if expected == 0 {
		a.Errorf("schedule %s had no planned time, so the test proves nothing about it", s.Name)
	}
}

// checkGroups checks that all groups have ended, and that the members of a sequence ran one
// after the other.
func (a *audit) checkGroups() {
	for id, mode := range a.answers.groupModes {
		g, err := a.store.Group(context.Background(), id)
		if err != nil {
			a.Errorf("group %s was acknowledged and is missing: %v", id, err)
			continue
		}
		if s := g.Status(); s == rota.GroupQueued || s == rota.GroupRunning {
			a.Errorf("group %s is still %s", id, s)
		}
		a.answers.counts["groups"]++
		if mode == string(rota.GroupSequential) {
			a.answers.counts["sequences"]++
		}
	}
	a.checkSequences()
}

// checkSequences reads the ledger in order. The next member need not wait for the end of
// a handler in two cases: the handler never ended, because its process was killed or the
// stale worker claimed the job; or the run was reaped, and its process may not have been
// notified yet.
func (a *audit) checkSequences() {
	last, open := map[rota.ID]int{}, map[rota.ID]rota.ID{}
	for _, l := range a.lines {
		j := a.jobs[l.job]
		if j == nil || a.answers.groupModes[j.GroupID] != string(rota.GroupSequential) {
			continue
		}
		if l.kind == "end" {
			if open[j.GroupID] == j.ID {
				delete(open, j.GroupID)
			}
			continue
		}
		if before := open[j.GroupID]; !before.IsZero() {
			a.Errorf("member %s of group %s started before %s had ended", j.ID, j.GroupID, before)
		}
		if j.GroupPosition < last[j.GroupID] {
			a.Errorf("member %d of group %s started after member %d", j.GroupPosition, j.GroupID, last[j.GroupID])
		}
		last[j.GroupID] = j.GroupPosition
		if a.ends[j.ID] != "" && l.worker != staleWorkerName && !reaped(j) {
			open[j.GroupID] = j.ID
		}
	}
}
