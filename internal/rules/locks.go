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
func (u *UnitOfWork) Locks() Locks {
	l := Locks{
		Commands: u.claims, Keys: slices.Collect(maps.Keys(u.keys.rows)),
		Graph: len(u.reach.answers) > 0, Throttle: u.throttleQueried, Webhooks: u.webhooksQueried, Active: u.lockActive,
		Types: sortedKeys(u.types.rows), Templates: sortedKeys(u.templates.rows), Schedules: sortedKeys(u.schedules.rows),
		Groups: slices.SortedFunc(maps.Keys(u.groups.rows), rota.ID.Compare),
		Order:  u.readsOrder(), PredicateReads: u.readsByPredicate(),
	}
	l.Requests = slices.SortedFunc(maps.Keys(u.requests.rows), func(a, b RequestKey) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key))
	})
	for q := range u.redriven.answers {
		l.Redriven = append(l.Redriven, q.Execution)
	}
	slices.SortFunc(l.Redriven, rota.ID.Compare)
	for q := range u.keyQueues.answers {
		l.ConcurrencyKeys = append(l.ConcurrencyKeys, q.Key)
	}
	for q := range u.open.answers {
		if q.Key != "" {
			l.ConcurrencyKeys = append(l.ConcurrencyKeys, q.Key)
		} else {
			l.Open = append(l.Open, q.Type)
		}
	}
	l.Open = slices.AppendSeq(l.Open, maps.Keys(u.buckets.rows))
	slices.Sort(l.ConcurrencyKeys)
	l.ConcurrencyKeys = slices.Compact(l.ConcurrencyKeys)
	slices.Sort(l.Open)
	l.Open = slices.Compact(l.Open)
	for p := range u.plans {
		l.Plans = append(l.Plans, p)
	}
	for id, r := range u.jobs {
		if r.inserted == nil {
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
func (u *UnitOfWork) Changed() Locks {
	return Locks{
		Keys: touchedKeys(&u.keys), Types: touchedKeys(&u.types), Templates: touchedKeys(&u.templates),
		Schedules: touchedKeys(&u.schedules), Groups: touchedKeys(&u.groups), Requests: touchedKeys(&u.requests),
		Throttle: len(u.throttle.touched) > 0, Webhooks: len(u.webhooks.touched) > 0, Active: len(u.reservations.touched) > 0,
	}
}

func touchedKeys[K comparable, V any](s *rowSet[K, V]) (keys []K) {
	for _, r := range s.touched {
		keys = append(keys, r.key)
	}
	return keys
}

// readsOrder says whether a job that stays in the queue stands elsewhere, or is
// another, than before.
func (u *UnitOfWork) readsOrder() bool {
	return len(u.pages) > 0 || slices.ContainsFunc(u.touchedJobs, func(r *jobRow) bool {
		return r.was != nil && r.is != nil && r.was.Ready() && r.is.Ready()
	})
}

func (u *UnitOfWork) readsByPredicate() bool {
	return len(u.jobsOf.answers)+len(u.planned.answers)+len(u.members.answers)+len(u.blocked.answers)+len(u.overlapWaiting.answers)+
		len(u.latest.answers)+len(u.dependents.answers)+len(u.reach.answers)+len(u.using.answers)+len(u.keyQueues.answers)+
		len(u.open.answers)+len(u.redriven.answers)+len(u.attempts.answers)+len(u.expiredWaits.answers)+len(u.pendingIntents.answers)+
		len(u.expiredReservations.answers)+len(u.expiredRequests.answers)+len(u.droppedJobs.answers)+len(u.pages)+len(u.buckets.rows) > 0
}

// EachJob shows the jobs that a world has looked at and that stand in the store,
// and says of each whether it changes.
func (u *UnitOfWork) EachJob(show func(j *rota.Job, changes bool)) {
	for _, r := range u.jobs {
		if r.was != nil {
			show(r.was, r.is != r.was)
		}
	}
}

// ReadsReadyJob says whether a world has looked at a job that could be claimed:
// while that is locked, claims would pass over it.
func (u *UnitOfWork) ReadsReadyJob() bool {
	for _, r := range u.jobs {
		if r.was != nil && r.was.Ready() {
			return true
		}
	}
	return false
}

// Creates says whether a world makes a job.
func (u *UnitOfWork) Creates(id rota.ID) bool {
	r := u.jobs[id]
	return r != nil && r.inserted != nil
}

// HasKeyLimits says whether some concurrency key is limited, as far as is known.
func (u *UnitOfWork) HasKeyLimits() bool { return len(u.limits().Keys) > 0 }
