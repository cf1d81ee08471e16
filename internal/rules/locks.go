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

	ConcurrencyKeys []string // concurrency keys: who is ready and who is held back
	Open            []string // types whose open runs were counted, with their buckets; empty: all types

	// Order says that the step looks at how queued jobs stand to each other, or
	// changes one that stays: who claims meanwhile would pass over what is locked.
	Order bool
	// PredicateReads says that the step has looked at rows not by their keys but by what
	// holds for them, which others may make true for more. What it looked at
	// belongs to what has a name above; under its lock it is to be looked at again.
	PredicateReads bool
}

// Locks lists them.
func (w *UnitOfWork) Locks() Locks {
	l := Locks{
		Commands: w.claims, Keys: slices.Collect(maps.Keys(w.keys.rows)),
		Graph: len(w.reach.answers) > 0, Throttle: w.throttleAsked, Webhooks: w.webhooksAsked, Active: w.activeBinds,
		Types: sortedKeys(w.types.rows), Templates: sortedKeys(w.templates.rows), Schedules: sortedKeys(w.schedules.rows),
		Groups: slices.SortedFunc(maps.Keys(w.groups.rows), rota.ID.Compare),
		Order:  w.reorders(), PredicateReads: w.asksSets(),
	}
	l.Requests = slices.SortedFunc(maps.Keys(w.requests.rows), func(a, b RequestKey) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key))
	})
	for q := range w.redriven.answers {
		l.Redriven = append(l.Redriven, q.Execution)
	}
	slices.SortFunc(l.Redriven, rota.ID.Compare)
	for q := range w.lanes.answers {
		l.ConcurrencyKeys = append(l.ConcurrencyKeys, q.Key)
	}
	for q := range w.open.answers {
		if q.Key != "" {
			l.ConcurrencyKeys = append(l.ConcurrencyKeys, q.Key)
		} else {
			l.Open = append(l.Open, q.Type)
		}
	}
	l.Open = slices.AppendSeq(l.Open, maps.Keys(w.buckets.rows))
	slices.Sort(l.ConcurrencyKeys)
	l.ConcurrencyKeys = slices.Compact(l.ConcurrencyKeys)
	slices.Sort(l.Open)
	l.Open = slices.Compact(l.Open)
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

// Changed are those of the Locks, but for jobs, whose rows the world changes:
// others may look at the rest meanwhile.
func (w *UnitOfWork) Changed() Locks {
	return Locks{
		Keys: touchedKeys(&w.keys), Types: touchedKeys(&w.types), Templates: touchedKeys(&w.templates),
		Schedules: touchedKeys(&w.schedules), Groups: touchedKeys(&w.groups), Requests: touchedKeys(&w.requests),
		Throttle: len(w.throttle.touched) > 0, Webhooks: len(w.webhooks.touched) > 0, Active: len(w.reservations.touched) > 0,
	}
}

func touchedKeys[K comparable, V any](s *shelf[K, V]) (keys []K) {
	for _, r := range s.touched {
		keys = append(keys, r.key)
	}
	return keys
}

// reorders says whether a job that stays in the queue stands elsewhere, or is
// another, than before.
func (w *UnitOfWork) reorders() bool {
	return len(w.pages) > 0 || slices.ContainsFunc(w.touchedJobs, func(r *jobRow) bool {
		return r.was != nil && r.is != nil && r.was.Ready() && r.is.Ready()
	})
}

func (w *UnitOfWork) asksSets() bool {
	return len(w.jobsOf.answers)+len(w.planned.answers)+len(w.members.answers)+len(w.blocked.answers)+len(w.behind.answers)+
		len(w.latest.answers)+len(w.dependents.answers)+len(w.reach.answers)+len(w.using.answers)+len(w.lanes.answers)+
		len(w.open.answers)+len(w.redriven.answers)+len(w.attempts.answers)+len(w.waits.answers)+len(w.standingBy.answers)+
		len(w.bygone.answers)+len(w.lapsed.answers)+len(w.rest.answers)+len(w.pages)+len(w.buckets.rows) > 0
}

// EachJob shows the jobs that a world has looked at and that stand in the store,
// and says of each whether it changes.
func (w *UnitOfWork) EachJob(show func(j *rota.Job, changes bool)) {
	for _, r := range w.jobs {
		if r.was != nil {
			show(r.was, r.is != r.was)
		}
	}
}

// ReadsReadyJob says whether a world has looked at a job that could be claimed:
// while that is locked, claims would pass over it.
func (w *UnitOfWork) ReadsReadyJob() bool {
	for _, r := range w.jobs {
		if r.was != nil && r.was.Ready() {
			return true
		}
	}
	return false
}

// Creates says whether a world makes a job.
func (w *UnitOfWork) Creates(id rota.ID) bool {
	r := w.jobs[id]
	return r != nil && r.born != nil
}

// HasKeyLimits says whether some concurrency key is limited, as far as is known.
func (w *UnitOfWork) HasKeyLimits() bool { return len(w.limits().Keys) > 0 }
