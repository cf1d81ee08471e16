package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// noTime is a time that is not set.
var noTime time.Time

// wantGraph asks for what a schedule's new dependencies depend on, and for their
// other dependents.
func wantGraph(u *UnitOfWork, c *rota.PutSchedule) {
	for _, on := range c.Spec.DependsOn {
		Schedules.want(u, on)
		Dependents.want(u, DependentsQuery{Schedule: on})
		Dependencies.want(u, DependenciesQuery{Schedule: on})
	}
}

// mayDepend refuses dependencies that do not exist, that make a cycle, or that
// have too many dependents already.
func mayDepend(u *UnitOfWork, c *rota.PutSchedule, s *rota.Schedule) *rota.Error {
	for _, on := range c.Spec.DependsOn {
		if Schedules.get(u, on) == nil {
			return &rota.Error{
				Code: rota.NotFound, Field: "depends_on", Reason: "there is no schedule " + on, Hint: "declare it first, or check the name",
			}
		}
	}
	if path := u.pathTo(c.Spec.DependsOn, c.Name); path != nil {
		return &rota.Error{
			Code: rota.Invalid, Field: "depends_on", Reason: "makes a cycle: " + strings.Join(append([]string{c.Name}, path...), " → "),
			Hint: "remove one of these dependencies",
		}
	}
	for _, on := range c.Spec.DependsOn {
		if s != nil && slices.Contains(s.Spec.DependsOn, on) {
			continue
		}
		if u.countDependents(on) >= rota.DependentsMax {
			return &rota.Error{
				Code: rota.Conflict, Field: "depends_on",
				Reason: fmt.Sprintf("schedule %s has %d dependents already, which is the most", on, rota.DependentsMax),
			}
		}
	}
	return nil
}

// countDependents counts the schedules that depend on one. Schedules that were
// not changed count as stored.
func (u *UnitOfWork) countDependents(schedule string) (count int) {
	names := slices.Clone(Dependents.get(u, DependentsQuery{Schedule: schedule}))
	for r := range Schedules.of(u).changed() {
		names = append(names, r.key)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		r := Schedules.of(u).rows[name]
		if r == nil || r.is == r.was || r.is != nil && slices.Contains(r.is.Spec.DependsOn, schedule) {
			count++
		}
	}
	return count
}

// dependsOn returns the dependencies of a schedule as decided.
func (u *UnitOfWork) dependsOn(name string) []string {
	if s, known := Schedules.peek(u, name); known && s != nil {
		return s.Spec.DependsOn
	}
	if _, known := u.edges[name]; !known {
		Dependencies.get(u, DependenciesQuery{Schedule: name})
	}
	return u.edges[name]
}

// pathTo returns a path from one of some schedules to another along their
// dependencies, nil if there is none.
func (u *UnitOfWork) pathTo(from []string, to string) []string {
	came := map[string]string{}
	queue := slices.Clone(from)
	for _, name := range from {
		came[name] = ""
	}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if name == to {
			return trace(came, name)
		}
		for _, next := range u.dependsOn(name) {
			if _, seen := came[next]; !seen {
				came[next] = name
				queue = append(queue, next)
			}
		}
	}
	return nil
}

func trace(came map[string]string, name string) (path []string) {
	for ; name != ""; name = came[name] {
		path = append(path, name)
	}
	slices.Reverse(path)
	return path
}
