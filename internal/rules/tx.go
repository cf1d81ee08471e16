package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// Tx is one transaction of a store. It reads its own writes.
type Tx interface {
	// Load reads what rules have missed: for each kind the Missing keys, the
	// MissingJobs, MissingNewJobs and MissingLeases, and the Orders. It puts the
	// rows that exist into u, which treats the others as absent.
	Load(u *UnitOfWork) error
	// Lock locks what u.Locks lists, in that order, and reports whether any of
	// it has changed since it was loaded. If so, the caller repeats the step
	// under these locks. A store with a single writer does nothing and reports
	// false.
	Lock(u *UnitOfWork) (moved bool, err error)
	// Hooks returns the webhooks in force as stored, nil if there are none.
	// Every step calls it, so it must cost nothing where there are none.
	Hooks() (*Hooks, error)
	// Write stores the differences.
	Write(c *Changes) error
}

// DefersKeys is implemented by a transaction that may stay open for long. A new job of
// a limited concurrency key is then delayed until now in it, and the Ready after the
// commit applies the limit.
type DefersKeys interface {
	DefersKeys() bool
}

// Checked is implemented by a transaction that may have commands of a log. They were
// validated before they were appended, maybe by another version of the program.
type Checked interface {
	Checked() bool
}

// RowCache is a transaction that can answer some queries from a cache.
type RowCache interface {
	// LoadCached puts missing rows that are cached into u. Lock finds out
	// whether they are still current.
	LoadCached(u *UnitOfWork)
}

// UniqueKey is a unique key. It belongs to a type.
type UniqueKey struct{ Type, Key string }

// UniqueKeyRecord states which execution holds a unique key.
type UniqueKeyRecord struct {
	Key         UniqueKey
	ExecutionID rota.ID
	FreeAt      int64 // µs; 0: held until the execution is pruned
	Ended       bool  // the execution completed; the key is free once FreeAt has passed
}

// RequestKey is the idempotency key that an actor sent with a request.
type RequestKey struct{ Actor, Key string }

// Request is the command that an idempotency key stands for.
type Request struct {
	Key     RequestKey
	Hash    string
	Command rota.ID
	At      time.Time
}

// Dropped states which jobs of a dropped schedule still have to be ended or
// removed.
type Dropped struct {
	Schedule string
	Before   int64  // µs; jobs created before are to be ended
	Hidden   int64  // µs; ended jobs created before are hidden and to be removed; 0: none
	By       string // actor of the last drop
}

// Plan is the planned-execution key, unique among first attempts.
type Plan struct {
	Name, ScopeKind, ScopeID string
	Time                     int64 // µs
}

// PlanOf returns the plan key of a job, false if the job is not planned.
func PlanOf(j *rota.Job) (Plan, bool) {
	if j.PlanTime.IsZero() {
		return Plan{}, false
	}
	kind, id := j.ScopeKind, j.ScopeID
	if kind == "" {
		kind, id = rota.GlobalScopeKind, rota.GlobalScopeID
	}
	return Plan{Name: j.DefinitionName(), ScopeKind: kind, ScopeID: id, Time: j.PlanTime.UnixMicro()}, true
}
