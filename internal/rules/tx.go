package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// Tx is one transaction of a store, as the law sees it. What it has written
// it also reads.
type Tx interface {
	// Load reads everything n asks for into w, by w's Put methods. Rows that
	// are not there are left out; the world then knows them as absent.
	Load(n *Need, u *UnitOfWork) error
	// Lock locks what w.Locks names, in that order, and reports whether any of
	// it has moved since it was loaded; the step is then done again under
	// these locks. With a single writer it does nothing and reports false.
	Lock(u *UnitOfWork) (moved bool, err error)
	// Hooks are the webhooks in force as the store has them; nil if there are
	// none. Every step asks for them, so it costs nothing where there are none.
	Hooks() (*Hooks, error)
	// Write stores the differences.
	Write(c *Changes) error
}

// RowCache is a transaction that can answer some questions without reading.
type RowCache interface {
	// LoadCached puts into w what n asks for and is known, and takes it out of n. That
	// it still is so is seen when it is locked.
	LoadCached(n *Need, u *UnitOfWork)
}

// Key is a unique key: it belongs to a type.
type Key struct{ Type, Key string }

// KeyRecord says which execution holds a unique key.
type KeyRecord struct {
	Key         Key
	ExecutionID rota.ID
	FreeAt      int64 // µs; 0: held until the execution is pruned
	Ended       bool  // the execution completed; the key is free once FreeAt has passed
}

// RequestKey is the key that an actor gave a request.
type RequestKey struct{ Actor, Key string }

// Request is what a key is tied to.
type Request struct {
	Key     RequestKey
	Hash    string
	Command rota.ID
	At      time.Time
}

// Dropped says what was dropped under a schedule's name and is still there.
type Dropped struct {
	Schedule string
	Before   int64  // µs; what was made before has nothing more to do
	Hidden   int64  // µs; what was made before and has ended is not shown, and goes; 0: none of it
	By       string // who dropped it last
}

// Plan is the planned-execution key, unique among first attempts.
type Plan struct {
	Name, ScopeKind, ScopeID string
	Time                     int64 // µs
}

// PlanOf is the plan key of a job. A job that is not planned has none.
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
