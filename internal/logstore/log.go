package logstore

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// Log orders entries and has the replica of this process apply them.
type Log interface {
	// Commit appends an entry to the log, applies the log up to it, and returns one result
	// per command. Its commands were checked. The log has a time for a batch without one.
	// An error means that the entry may have been appended.
	Commit(ctx context.Context, e Entry) ([]rota.Result, error)
	// CatchUp applies everything that was committed before the call.
	CatchUp(ctx context.Context) error
	// Now returns the time that the log would give to an entry now.
	Now(ctx context.Context) (time.Time, error)
	// CheckLease refuses a lease that the clocks of the processes cannot keep.
	CheckLease(lease time.Duration) error
}
