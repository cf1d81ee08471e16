package sqlite

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Config of a store. The zero value works.
type Config struct {
	// Clock stamps batches that come without a Now. Default time.Now.
	Clock func() time.Time
	// Readers is how many reads may run at once, beside verifications, backups
	// and views. Default 4.
	Readers int
	// ReadOnly opens a store that is there, to look at it: no row is made,
	// migrated or changed, and Apply is refused. A file that holds no store is
	// NotFound. A log that a crash left is read back into the file, as by any
	// opening.
	ReadOnly bool
	// Logger hears of what was found after an unclean stop, and of a file that
	// everybody can read. Default slog.Default.
	Logger *slog.Logger

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
	path      string // as it was named
	file      openedFile
	lock      *fileLock
	writer    chan *writer // holds the one writer while nobody writes
	readers   *sqlitex.Pool
	longReads longReads
	views     views
	wake      fanout.Wakeups
	watch     fanout.Watchers
	closing   sync.Once
	closed    chan struct{}
	err       error // of Close
}

var _ rota.Store = (*Store)(nil)

// Apply applies a batch in one transaction. If a constraint that no rule
// foresaw refuses it, its halves are applied one after the other, and so on, so
// that the command that broke it is refused alone.
func (s *Store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) > rota.BatchMax {
		return nil, rota.Invalidf("commands", "has %d entries; at most %d are allowed", len(b.Commands), rota.BatchMax)
	}
	if s.config.ReadOnly {
		return nil, &rota.Error{Code: rota.Conflict, Act: "sqlite: apply", Reason: "the store was opened only to be looked at"}
	}
	w, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.release(w)
	if b.Now.IsZero() {
		b.Now = s.config.Clock()
	}
	results, err := w.applySplitting(ctx, b)
	if w.wake {
		w.wake = false
		s.wake.WakeAll()
	}
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

// Limits states the largest atomic command.
func (s *Store) Limits() rota.Limits {
	return rota.Limits{Jobs: rota.JobsMax, Claim: rota.ClaimMax, Items: rota.ItemsMax}
}

// clock is the time by the store's clock, with the precision that is kept.
func (s *Store) clock() time.Time { return s.config.Clock().UTC().Truncate(time.Microsecond) }

// Wake returns a channel that receives when jobs may have become ready.
func (s *Store) Wake() (<-chan struct{}, func()) { return s.wake.Add() }

// Close waits for the batch under way, interrupts those who read, notes that
// the stop was clean, and lets go of the file.
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
	for _, closer := range []func() error{s.views.close, s.longReads.close, s.readers.Close, w.close, s.lock.release} {
		if e := closer(); err == nil {
			err = e
		}
	}
	return fault("close", err)
}

func errClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "sqlite", Reason: "the store is closed"}
}
