package logstore

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
)

// Store is a rota.Store over a log. The store of each kind of log embeds it.
type Store struct {
	rota.Replica
	log Log

	own    fanout.Watchers // events of the commits of this process
	others othersWatchers
	isOwn  atomic.Bool // this process has appended the entry that is applied now
	unsee  func()
	shared sharing
	claims claims
}

var (
	_ rota.Store        = (*Store)(nil)
	_ rota.SharedEvents = (*Store)(nil)
	_ rota.AuditChain   = (*Store)(nil)
)

// New returns a store. The replica was opened with a CatchUp of this package.
func New(replica rota.Replica, log Log) *Store {
	s := &Store{Replica: replica, log: log}
	s.unsee = replica.Watch(s.publish)
	return s
}

// Unwrap returns the replica, which has the reads that are not part of rota.Store.
func (s *Store) Unwrap() rota.Store { return s.Replica }

// Apply appends a batch to the log, except for commands that are refused by themselves.
func (s *Store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) > rota.BatchMax {
		return nil, rota.Invalidf("commands", "has %d entries; at most %d are allowed", len(b.Commands), rota.BatchMax)
	}
	results := make([]rota.Result, len(b.Commands))
	valid, places := s.checked(b, results)
	for from := 0; from < len(valid); {
		to := from + entryLen(valid[from:])
		some, err := s.commit(ctx, rota.Batch{Now: b.Now, Commands: valid[from:to]})
		if err != nil {
			return nil, err
		}
		for i := range some {
			results[places[from+i]] = some[i]
		}
		from = to
	}
	return results, nil
}

// ApplyTx refuses a batch: the log is not in the database of the caller.
func (s *Store) ApplyTx(context.Context, any, rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	return nil, nil, &rota.Error{
		Code: rota.Invalid, Field: "tx", Reason: "is of a database, and this store is not in one that has transactions of callers",
		Hint: "enqueue without a transaction, or use a store on PostgreSQL or SQLite",
	}
}

// commit appends commands to the log, unless they change nothing.
func (s *Store) commit(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	e, appended := Entry{Batch: b}, true
	if mayChangeNothing(b.Commands) {
		e.Unchanged = func(ctx context.Context) (results []rota.Result, unchanged bool, err error) {
			results, unchanged, err = s.try(ctx, b)
			appended = err != nil || !unchanged
			return results, unchanged, err
		}
		if !s.claims.expectJobs(b.Commands) {
			if results, unchanged, err := s.tryCurrent(ctx, b); err != nil || unchanged {
				return results, err
			}
		}
	}
	e.Shared = s.shared.take()
	results, err := s.log.Commit(ctx, e)
	if !appended && len(e.Shared) > 0 {
		s.Share(e.Shared) // with the next entry
	}
	if err == nil {
		s.claims.note(b.Commands, results)
	}
	return results, err
}

// tryCurrent decides commands on the replica as it is, and if they change nothing there, on all that is in
// the log.
func (s *Store) tryCurrent(ctx context.Context, b rota.Batch) (results []rota.Result, unchanged bool, err error) {
	before := s.Replica.Applied().Index
	results, unchanged, err = s.try(ctx, b)
	if err != nil || !unchanged {
		return nil, false, err
	}
	if err := s.log.CatchUp(ctx); err != nil || s.Replica.Applied().Index == before {
		return results, err == nil, err
	}
	return s.try(ctx, b)
}

// try decides commands on the replica, and reports whether they change nothing.
func (s *Store) try(ctx context.Context, b rota.Batch) (results []rota.Result, unchanged bool, err error) {
	if b.Now.IsZero() {
		if b.Now, err = s.log.Now(ctx); err != nil {
			return nil, false, err
		}
	}
	results, changes, err := s.Replica.Try(ctx, b)
	return results, err == nil && !changes, err
}

// ApplyEntry has the replica apply the next entry. A batch without a time gets that of the log. own says that
// this process has appended the entry.
func (s *Store) ApplyEntry(ctx context.Context, at rota.LogEntry, now time.Time, e *Entry, own bool) ([]rota.Result, error) {
	at.Batch, at.Prune = e.Batch, e.Prune
	if at.Batch.Now.IsZero() {
		at.Batch.Now, at.Stamped = now, true
	}
	s.isOwn.Store(own)
	results, err := s.Replica.ApplyAt(ctx, at)
	if err == nil && !own && len(e.Shared) > 0 {
		s.others.see(e.Shared)
	}
	return results, err
}

// Close sends the events that wait, ends the watches and closes the replica.
func (s *Store) Close() error {
	s.commitShared(s.shared.close())
	s.unsee()
	return s.Replica.Close()
}
