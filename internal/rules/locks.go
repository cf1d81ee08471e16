package rules

import (
	"cmp"
	"maps"
	"slices"

	"github.com/rotajobs/rota"
)

// Locks lists what a unit of work has read by key, present or absent. Each list
// is sorted, so that all transactions lock in one order and none waits for the
// other. The store chooses the order of the classes.
type Locks struct {
	Commands   []rota.ID // claims: two sendings of one claim must not both find that nothing was taken
	UniqueKeys []UniqueKey
	Plans      []Plan

	Graph     bool // the whole dependency graph: two edges added at once may make a cycle
	Throttle  bool // the limits in force
	Webhooks  bool // the webhooks of all events
	Types     []string
	Templates []string // with the set of schedules that use them, where that was queried
	Schedules []string // with the set of their dependents and of their live jobs
	Groups    []rota.ID
	Redriven  []rota.ID // executions, with the set of their redrives
	Requests  []RequestKey
	Active    bool // which reservation is active, present or absent

	Jobs []rota.ID // with their runs, and with the jobs that retry them

	ConcurrencyKeys []string // which jobs of the key are ready and which are held back
	OpenTypes       []string // types whose open runs were counted, with their buckets; empty string: all types

	// Order is set if the transaction reads the order of queued jobs, or
	// changes a job that stays in the queue. A claim that runs at the same time
	// would skip the locked jobs.
	Order bool
	// PredicateReads is set if the transaction has read rows by a predicate
	// instead of by key. Other transactions may add rows that match it. Each
	// predicate belongs to a name locked above; under that lock the rows have
	// to be read again.
	PredicateReads bool
}

// Locks returns what the unit of work has read by key.
func (u *UnitOfWork) Locks() Locks {
	l := Locks{
		Commands: u.claims, UniqueKeys: slices.Collect(maps.Keys(u.keys.rows)),
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
			l.OpenTypes = append(l.OpenTypes, q.Type)
		}
	}
	l.OpenTypes = slices.AppendSeq(l.OpenTypes, maps.Keys(u.buckets.rows))
	slices.Sort(l.ConcurrencyKeys)
	l.ConcurrencyKeys = slices.Compact(l.ConcurrencyKeys)
	slices.Sort(l.OpenTypes)
	l.OpenTypes = slices.Compact(l.OpenTypes)
	for p := range u.plans {
		l.Plans = append(l.Plans, p)
	}
	for id, r := range u.jobs {
		if r.inserted == nil {
			l.Jobs = append(l.Jobs, id)
		}
	}
	slices.SortFunc(l.Commands, rota.ID.Compare)
	slices.SortFunc(l.UniqueKeys, func(a, b UniqueKey) int {
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

// Changed returns the locks, without jobs, whose rows the unit of work changes.
// Other transactions may read the rest at the same time.
func (u *UnitOfWork) Changed() Locks {
	return Locks{
		UniqueKeys: touchedKeys(&u.keys), Types: touchedKeys(&u.types), Templates: touchedKeys(&u.templates),
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

// readsOrder reports whether the transaction has read the order, or changes a
// ready job that stays ready.
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

// EachJob calls show for every stored job that was loaded, with whether the
// unit of work changes it.
func (u *UnitOfWork) EachJob(show func(j *rota.Job, changes bool)) {
	for _, r := range u.jobs {
		if r.was != nil {
			show(r.was, r.is != r.was)
		}
	}
}

// ReadsReadyJob reports whether a job that could be claimed was loaded. While
// such a job is locked, claims skip it.
func (u *UnitOfWork) ReadsReadyJob() bool {
	for _, r := range u.jobs {
		if r.was != nil && r.was.Ready() {
			return true
		}
	}
	return false
}

// Creates reports whether the unit of work creates the job.
func (u *UnitOfWork) Creates(id rota.ID) bool {
	r := u.jobs[id]
	return r != nil && r.inserted != nil
}

// HasKeyLimits reports whether the loaded limits contain a concurrency key.
func (u *UnitOfWork) HasKeyLimits() bool { return len(u.limits().Keys) > 0 }
