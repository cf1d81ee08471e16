//go:build unix

package main

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// plan identifies a planned execution.
type plan struct {
	schedule string
	scope    rota.Scope
	at       int64 // in microseconds
}

// plans counts the first attempts of each plan.
func (a *audit) plans() map[plan]int {
	all := map[plan]int{}
	for _, j := range a.jobs {
		if j.Schedule != "" && j.Attempt == 1 && !j.PlanTime.IsZero() && j.RedriveOf.IsZero() {
			all[plan{j.Schedule, rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID}, j.PlanTime.UnixMicro()}]++
		}
	}
	return all
}

// fireLateness is how late the last fire may be on a busy machine.
const fireLateness = 10 * time.Second

// schedules checks that each planned time of a schedule was fired exactly once for
// each scope.
func (a *audit) schedules(stopped time.Time) {
	plans := a.plans()
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
			a.Errorf("schedule %s was last fired for %s, and stopped at %s", s.Name, s.LastFire, stopped)
		}
		a.complete(s, plans)
	}
	for name, at := range a.answers.onces {
		if plans[plan{name, rota.Scope{}, at.UnixMicro()}] != 1 {
			a.Errorf("schedule %s was to fire once, at %s, and did not", name, at)
		}
	}
}

// complete checks that no planned time between the start of a schedule and its next
// fire is missing.
func (a *audit) complete(s *rota.Schedule, plans map[plan]int) {
	owed, missing := 0, 0
	for at, err := s.NextAfter(s.Anchor); at.Before(s.NextFire); at, err = s.NextAfter(at) {
		must(a, err)
		for _, scope := range s.Spec.EachScope() {
			owed++
			if plans[plan{s.Name, scope, at.UnixMicro()}] != 1 {
				missing++
				a.Errorf("schedule %s was not fired for %v at %s", s.Name, scope, at)
			}
		}
	}
	if owed == 0 {
		a.Errorf("schedule %s had no planned time: the test proves nothing about it", s.Name)
	}
}

// groups checks that all groups have ended, and that the members of a sequence ran one
// after the other.
func (a *audit) groups() {
	for id, mode := range a.answers.modes {
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
	a.sequences()
}

// sequences reads the ledger in order. A member that started and never ended was
// killed or claimed by the stale worker, and the process of a reaped one may not have
// been notified: the next member does not wait for the end of its handler.
func (a *audit) sequences() {
	last, open := map[rota.ID]int{}, map[rota.ID]rota.ID{}
	for _, l := range a.lines {
		j := a.jobs[l.job]
		if j == nil || a.answers.modes[j.GroupID] != string(rota.GroupSequential) {
			continue
		}
		if l.word == "end" {
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
