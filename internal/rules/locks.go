package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Locks are what a world has looked at by key, present or absent, each class
// sorted: the order in which every store locks, so that no two wait for each
// other.
type Locks struct {
	Commands []rota.ID // claims: two sendings of one must not both find nothing taken
	Keys     []Key
	Plans    []Plan

	Graph     bool // what depends on what, as a whole: two edges may make a cycle only together
	Throttle  bool // the limits in force
	Webhooks  bool // those that are told of everything
	Types     []string
	Templates []string // with the set of schedules that use them, where that was asked for
	Schedules []string // with the set of schedules that depend on them, and of their live jobs
	Groups    []rota.ID
	Redriven  []rota.ID // executions, with the set of what tries them anew
	Requests  []RequestKey
	Active    bool // which reservation is active, present or absent

	Jobs []rota.ID // with their runs, and with the jobs that retry them

	Lanes []string // concurrency keys: who is ready and who is held back
	Open  []string // types whose open runs were counted, with their buckets; empty: all types
}

// Locks lists them.
func (w *World) Locks() Locks {
	l := Locks{
		Commands: w.claims, Keys: slices.Collect(maps.Keys(w.keys.rows)),
		Graph: len(w.reach.answers) > 0, Throttle: w.throttleAsked, Webhooks: w.webhooksAsked, Active: w.activeBinds,
		Types: sortedKeys(w.types.rows), Templates: sortedKeys(w.templates.rows), Schedules: sortedKeys(w.schedules.rows),
		Groups: slices.SortedFunc(maps.Keys(w.groups.rows), rota.ID.Compare),
	}
	l.Requests = slices.SortedFunc(maps.Keys(w.requests.rows), func(a, b RequestKey) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key))
	})
	for q := range w.redriven.answers {
		l.Redriven = append(l.Redriven, q.Execution)
	}
	slices.SortFunc(l.Redriven, rota.ID.Compare)
	for q := range w.lanes.answers {
		l.Lanes = append(l.Lanes, q.Key)
	}
	for q := range w.open.answers {
		if q.Key != "" {
			l.Lanes = append(l.Lanes, q.Key)
		} else {
			l.Open = append(l.Open, q.Type)
		}
	}
	slices.Sort(l.Lanes)
	l.Lanes = slices.Compact(l.Lanes)
	slices.Sort(l.Open)
	for p := range w.plans {
		l.Plans = append(l.Plans, p)
	}
	for id, r := range w.jobs {
		if r.born == nil {
			l.Jobs = append(l.Jobs, id)
		}
	}
	slices.SortFunc(l.Commands, rota.ID.Compare)
	slices.SortFunc(l.Keys, func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(l.Plans, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ScopeKind, b.ScopeKind),
			cmp.Compare(a.ScopeID, b.ScopeID), cmp.Compare(a.Time, b.Time))
	})
	slices.SortFunc(l.Jobs, rota.ID.Compare)
	return l
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
