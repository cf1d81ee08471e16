package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
	_ "github.com/rotajobs/rota/payload" // clients of the store check payloads with it
	"zombiezen.com/go/sqlite/sqlitex"
)

// Config configures a store. The zero value works.
type Config struct {
	// Clock stamps batches that have no Now. Default time.Now.
	Clock func() time.Time
	// Readers is the number of concurrent reads, besides verifications, backups and views. Default
	// 4.
	Readers int
	// ReadOnly opens an existing store for reading. Open creates, migrates and changes no row, and
	// Apply returns an error. If the file does not exist or holds no store, Open returns NotFound.
	// SQLite still writes a log that a crash has left back into the file.
	ReadOnly bool
	// AllowLinks opens the store for writing even if its file has a second name (a hard link). SQLite
	// keeps its log beside the name that was opened: a program that opens the other name sees an
	// old state, and if it writes, it corrupts the store. Systems without link counts do not check.
	AllowLinks bool
	// AllowMoved opens a store that rota copy has moved to another one. Without it, Open returns
	// Conflict for such a store.
	AllowMoved bool
	// CatchUp is called before each read, unless it is nil. The store of a log uses it to apply what others
	// have appended to the log, so that a read shows every commit before it.
	CatchUp func(context.Context) error
	// Track has a replica note which executions change. See Replica.Changed.
	Track bool
	// Logger receives what was found after an unclean stop, and a warning if all users can read the
	// file. Default slog.Default.
	Logger *slog.Logger

	replica     bool                      // opened by OpenReplica
	transfer    bool                      // opened as the target of a copy, which may be unfinished
	injectFault func(statement int) error // for tests: called before each statement that writes
}

func (c Config) withDefaults() Config {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Readers == 0 {
		c.Readers = 4
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Store is a rota.Store in one SQLite file.
type Store struct {
	reader
	config    Config
	path      string // path as given to Open
	file      openedFile
	lock      *fileLock
	writer    chan *writer // holds the writer while no batch uses it
	readers   *sqlitex.Pool
	longReads longReads
	views     views
	wake      fanout.Wakeups
	watch     fanout.Watchers
	callers   callerCalls
	pending   pendingTxs
	sealed    atomic.Bool // no audit entry is left to seal
	closing   sync.Once
	closed    chan struct{}
	err       error // result of Close
}

var _ rota.Store = (*Store)(nil)

// Apply applies a batch in one transaction. If a constraint refuses what the rules allow, Apply
// splits the batch in halves, so that only the command that violates the constraint is refused.
func (s *Store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := storekit.CheckBatch(b); err != nil {
		return nil, err
	}
	if s.config.ReadOnly {
		return nil, &rota.Error{
			Code: rota.Conflict, Act: "sqlite: apply", Reason: "the store is open read-only",
			Hint: "open it without ReadOnly to change it",
		}
	}
	w, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(w)
	w.clock = rules.Reading{Now: s.config.Clock(), ReadAt: time.Now()}
	results, err := storekit.ApplyHalves(b, isConstraint, func(b rota.Batch) ([]rota.Result, error) { return w.apply(ctx, b) })
	if w.wakeup.Needed() {
		s.wake.WakeAll()
	}
	w.wakeup = rules.Wakeup{}
	return results, err
}

func (s *Store) acquire(ctx context.Context) (*writer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case w := <-s.writer:
		return w, nil
	case <-s.closed:
		return nil, errClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Store) release(w *writer) { s.writer <- w }

// Limits returns the largest atomic command.
func (s *Store) Limits() rota.Limits {
	return rota.Limits{Jobs: rota.JobsMax, Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

// clock returns the time of the store's clock in the stored precision.
func (s *Store) clock() time.Time { return s.config.Clock().UTC().Truncate(time.Microsecond) }

func (s *Store) catchUp(ctx context.Context) error {
	if s.config.CatchUp == nil {
		return nil
	}
	return s.config.CatchUp(ctx)
}

// Wake returns a channel that receives when jobs may have become ready.
func (s *Store) Wake() (<-chan struct{}, func()) { return s.wake.Add() }

// Close waits for the current batch, interrupts reads, marks the store as closed cleanly, and
// releases the file.
func (s *Store) Close() error {
	s.closing.Do(func() {
		w := <-s.writer
		close(s.closed)
		s.err = s.closeAll(w)
	})
	return s.err
}

func (s *Store) closeAll(w *writer) (err error) {
	if !s.config.ReadOnly {
		w.conn.SetBusyTimeout(busyTimeout)
		err = w.setMeta(metaClean, "1")
	}
	closePending := func() error { return s.pending.close(w) }
	for _, closer := range []func() error{closePending, s.views.close, s.longReads.close, s.readers.Close, w.close, s.lock.release} {
		if e := closer(); err == nil {
			err = e
		}
	}
	return fault("close", err)
}

func errClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "sqlite", Reason: "the store is closed"}
}
