package rota

import (
	"context"
	"sync"
	"time"
)

// TxLockWait is how long ApplyTx waits for a lock that another transaction holds.
const TxLockWait = 250 * time.Millisecond

// TxStore is implemented by a store that can apply commands in a transaction of the
// caller, so that they take effect if and only if the caller commits.
type TxStore interface {
	// ApplyTx applies a batch in a transaction that the caller has begun on the
	// database of the store. It neither commits it nor rolls it back. The store
	// documents which Go types tx may have.
	//
	// A refused command has an Err in its Result and leaves the transaction usable,
	// and so does an error with the code Invalid or Busy. After any other error the
	// transaction is as the database left it: usable, aborted or over. A lock that
	// another transaction holds is waited for TxLockWait at most; then the error is
	// Busy.
	//
	// The commands of an engine's loops, such as Claim and Reap, belong to no caller and
	// are refused; see AllowedInTx.
	//
	// The commands have no effect for others before the commit: the store wakes
	// workers and publishes events once it has found out that the transaction was
	// committed. The returned PendingTx ends at the same time.
	ApplyTx(ctx context.Context, tx any, b Batch) ([]Result, *PendingTx, error)
}

// PendingTx is the work of one ApplyTx until the transaction of the caller ends. It is
// safe for concurrent use.
type PendingTx struct {
	once      sync.Once
	done      chan struct{}
	committed bool
}

// NewPendingTx returns work whose transaction has not ended. A store calls it.
func NewPendingTx() *PendingTx { return &PendingTx{done: make(chan struct{})} }

// End records what became of the work: it was committed, or rolled back with the
// transaction or to an earlier savepoint. A store calls it; only the first call counts.
func (p *PendingTx) End(committed bool) {
	p.once.Do(func() {
		p.committed = committed
		close(p.done)
	})
}

// Done returns a channel that is closed once the store knows what became of the work.
func (p *PendingTx) Done() <-chan struct{} { return p.done }

// Committed reports whether the work was committed. Before the end it is false.
func (p *PendingTx) Committed() bool {
	select {
	case <-p.done:
		return p.committed
	default:
		return false
	}
}

// AllowedInTx reports whether ApplyTx accepts a command of this verb.
func AllowedInTx(v Verb) bool {
	switch v {
	case VerbReady, VerbClaim, VerbExtend, VerbReap, VerbRecover, VerbExpire, VerbSweep, VerbPrune, VerbNormalise, VerbFire, VerbReserve, VerbDirect, VerbRelease:
		return false
	}
	return true
}
