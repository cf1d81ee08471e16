package rules

import (
	"slices"

	"github.com/rotajobs/rota"
)

// LockClass is the kind of a lock. All transactions take locks in the order of
// the classes, so that none waits for the other. The numbers must never change,
// because processes of several versions may run at the same time.
type LockClass int32

// The classes.
const (
	LockCommand   LockClass = iota + 1 // a claim: two sendings of it must not both find that nothing was taken
	LockOrder                          // the order of queued jobs: a claim skips jobs that another transaction has locked
	LockUniqueKey                      // present or absent
	LockGraph                          // the whole dependency graph: two edges added at once may make a cycle
	LockThrottle                       // the limits in force
	LockWebhooks                       // the webhooks of all events
	LockType
	LockTemplate // with the set of schedules that use it
	LockSchedule // with the sets of its dependents and of its live jobs
	LockGroup    // with the set of its members
	LockRedriven // an execution, with the set of its redrives
	LockRequest
	LockActive      // which reservation is active, present or absent
	LockKeyQueue    // which jobs of a concurrency key are ready and which are held back
	LockOpen        // the open runs of a type, with its bucket; empty name: those of all types
	LockAccess      // all principals and tokens: two memberships granted at once may make a cycle
	LockAccessState // their newest time, which those of definitions are not before
	LockSecretKey   // which key seals new secrets, and whether there are any
)

// ReadsAlone reports whether a transaction that only reads what a lock of the
// class protects excludes others that read it: where the decision depends on a
// set of rows, each of them may add one. The owner of a set is read alone only
// if the transaction has read sets.
func (c LockClass) ReadsAlone(predicateReads bool) bool {
	switch c {
	case LockCommand, LockOrder, LockGraph, LockRedriven, LockKeyQueue, LockOpen:
		return true
	case LockTemplate, LockSchedule, LockGroup:
		return predicateReads
	}
	return false
}

// Lock names what one lock protects.
type Lock struct {
	Class LockClass
	Name  string // empty if there is one of its class
}

// Locks lists what a unit of work has read by key, present or absent.
type Locks struct {
	Names []Lock    // not sorted, may contain duplicates
	Jobs  []rota.ID // with their runs, and with the jobs that retry them; sorted
	// PredicateReads is set if the transaction has read rows by a predicate
	// instead of by key. Other transactions may add rows that match it. Each
	// predicate belongs to a name locked above; under that lock the rows have
	// to be read again.
	PredicateReads bool
}

func (l *Locks) add(c LockClass, name string) { l.Names = append(l.Names, Lock{c, name}) }

// Has reports whether there is a lock of a class.
func (l *Locks) Has(c LockClass) bool {
	return slices.ContainsFunc(l.Names, func(k Lock) bool { return k.Class == c })
}

// Locks returns what the unit of work has read by key.
func (u *UnitOfWork) Locks() (l Locks) {
	for _, id := range u.claims {
		l.add(LockCommand, string(id[:]))
	}
	if u.lockActive {
		l.add(LockActive, "")
	}
	if u.changesOrder() {
		l.add(LockOrder, "")
	}
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
	slices.SortFunc(l.Jobs, rota.ID.Compare)
	return l
}

// ChangedLocks returns the locks whose rows the unit of work changes. Other
// transactions may read the rest at the same time.
func (u *UnitOfWork) ChangedLocks() []Lock {
	var l Locks
	for _, t := range u.tables {
		if t != nil {
			t.addChangedLocks(&l)
		}
	}
	for range Reservations.of(u).changed() {
		l.add(LockActive, "")
	}
	return l.Names
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

// HasKeyLimits reports whether the loaded limits limit concurrency keys.
func (u *UnitOfWork) HasKeyLimits() bool {
	t, _ := Throttle.peek(u, one)
	return t != nil && t.Spec.LimitsKeys()
}
