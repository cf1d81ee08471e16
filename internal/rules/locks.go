package rules

import (
	"cmp"
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
	Jobs     []rota.ID // with their runs, and with the jobs that retry them
}

// Locks lists them.
func (w *World) Locks() Locks {
	l := Locks{Commands: w.claims}
	for k := range w.keys {
		l.Keys = append(l.Keys, k)
	}
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
