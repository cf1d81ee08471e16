package rota

import (
	"context"
	"time"
)

// Replica is a store that applies the entries of a log. The log orders the commands of
// several processes, each of which has a replica of its own. Replicas that have applied
// the same entries hold the same rows. Apply and PruneAudit are refused, because they would
// write outside of the log.
type Replica interface {
	Store
	AuditChain

	// ApplyAt applies the next entry of the log, and returns one Result per command. It
	// does not validate the commands: the process that appended the entry did, maybe with other
	// limits. The position of the entry is stored in the transactions of its batch, so an
	// entry is applied once. After an error or a crash the caller sends the same entry
	// again; commands that were applied before have results with the code Unavailable.
	ApplyAt(ctx context.Context, e LogEntry) ([]Result, error)

	// Try decides the commands of a batch, and reports whether they change anything. It
	// applies nothing. The results are valid only if they change nothing.
	Try(ctx context.Context, b Batch) (results []Result, changes bool, err error)

	// FindPrune finds the first entries of the audit that are before a time, at most
	// limit of them. It removes nothing. It returns nil if there are none.
	FindPrune(ctx context.Context, before time.Time, limit int, sign AnchorSigner) (*AuditPrune, error)

	// Applied returns the position of the last entry that was applied.
	Applied() LogPosition

	// Sync makes all applied entries durable. Without it a crash of the machine may undo
	// the last ones; the log has them.
	Sync(ctx context.Context) error

	// Copy writes a snapshot of the replica to a file that does not exist.
	Copy(ctx context.Context, path string) error

	// Replace replaces the contents of the replica by those of a file that Copy has
	// written. Either all contents are replaced or none.
	Replace(ctx context.Context, path string) error
}

// LogEntry is an entry of a log.
type LogEntry struct {
	Log   string // identity of the log; a replica applies entries of one log only
	Index uint64 // the first entry has 1, and there are no gaps
	Batch Batch  // with its time

	// Stamped says that the log gave the batch its time. A time that a caller gave may be
	// any, and does not count for LogPosition.Now.
	Stamped bool

	// Prune removes the first entries of the audit after the commands; nil: none.
	Prune *AuditPrune
}

// AuditPrune removes the first entries of the audit chain, up to an anchor. It removes nothing if the
// stored anchor is not the one that it replaces.
type AuditPrune struct {
	After  int64       // number of the anchor that it replaces
	Anchor AuditAnchor // which replaces it, signed
}

// LogPosition is a position in a log, and what was applied up to it.
type LogPosition struct {
	Log    string    // empty: nothing was applied
	Index  uint64    // of the last entry that was applied completely; 0: none
	Now    time.Time // the latest time that the log gave to an entry
	Digest [32]byte  // of all results up to it: equal in all replicas
}
