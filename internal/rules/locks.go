package rules

import (
	"cmp"
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
	l := Locks{Commands: u.claims, Active: u.lockActive, Order: u.changesOrder()}
	for _, t := range u.tables {
		if t != nil {
			t.addLocks(&l)
			l.PredicateReads = l.PredicateReads || t.readsByPredicate()
		}
	}
	for id, r := range u.jobs {
		if r.inserted == nil {
			l.Jobs = append(l.Jobs, id)
		}
	}
	l.sort()
	return l
}

// Changed returns the locks, without jobs, whose rows the unit of work changes.
// Other transactions may read the rest at the same time.
func (u *UnitOfWork) Changed() (l Locks) {
	for _, t := range u.tables {
		if t != nil {
			t.addChangedLocks(&l)
		}
	}
	for range Reservations.of(u).changed() {
		l.Active = true
	}
	return l
}

// sort sorts the names of each class, and removes duplicates.
func (l *Locks) sort() {
	for _, names := range []*[]string{&l.Types, &l.Templates, &l.Schedules, &l.ConcurrencyKeys, &l.OpenTypes} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	for _, ids := range []*[]rota.ID{&l.Commands, &l.Groups, &l.Redriven, &l.Jobs} {
		slices.SortFunc(*ids, rota.ID.Compare)
		*ids = slices.Compact(*ids)
	}
	slices.SortFunc(l.Requests, func(a, b RequestKey) int {
		return cmp.Or(cmp.Compare(a.Actor, b.Actor), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(l.UniqueKeys, func(a, b UniqueKey) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(l.Plans, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ScopeKind, b.ScopeKind),
			cmp.Compare(a.ScopeID, b.ScopeID), cmp.Compare(a.Time, b.Time))
	})
}

// changesOrder reports whether the transaction changes a ready job that stays
// ready.
func (u *UnitOfWork) changesOrder() bool {
	return slices.ContainsFunc(u.touchedJobs, func(r *jobRow) bool {
		return r.was != nil && r.is != nil && r.was.Ready() && r.is.Ready()
	})
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
func (u *UnitOfWork) HasKeyLimits() bool {
	t, _ := Throttle.peek(u, one)
	return t != nil && len(t.Spec.Keys) > 0
}
