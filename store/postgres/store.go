package postgres

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/fanout"
	"github.com/rotajobs/rota/internal/rules"
)

// Config of a store. The zero value works.
type Config struct {
	// Schema holds the tables. Default "rota".
	Schema string
	// Conns is how many connections the store may open, beside the one that
	// listens. Default 8.
	Conns int
	// ReadOnly opens a store that is there, to look at it: nothing is made,
	// migrated or changed, and Apply is refused.
	ReadOnly bool
	// Poll says that nobody is to be listened to: behind a pooler notifications
	// get lost. Open finds that out by itself where it can.
	Poll bool
	// Clock stands in for PostgreSQL's, for tests.
	Clock func() time.Time
	// Logger hears of connections that are lost and found. Default slog.Default.
	Logger *slog.Logger
}

func (c Config) withDefaults() Config {
	if c.Schema == "" {
		c.Schema = "rota"
	}
	if c.Conns == 0 {
		c.Conns = 8
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Store is a rota.Store in a schema of a PostgreSQL database.
type Store struct {
	reader
	config        Config
	dialect       *dialect
	lockSpace     int32 // the first half of every advisory lock
	pool          *pgxpool.Pool
	viewSemaphore chan struct{} // one for each view that may be open
	conns         int32         // that it may have
	wake          fanout.Wakeups
	watch         fanout.Watchers
	commitOrder   commitOrder
	listener      *listener
	hooks         hooksCache
	rowCache      rowCache
	idlePath      idlePath
	dispatched    dispatchedCache
	claimDemand   atomic.Int64 // jobs that claims under way ask for
	lookahead     lookahead
	singleType    singleType
	sqlCache      sqlCache
	views         views

	onDecided func([]rota.Command) // for tests: called when a step is decided and not yet locked

	closing sync.Once
	closed  chan struct{}
}

var _ rota.Store = (*Store)(nil)

const (
	// lockTimeout is how long a step waits for somebody who holds what it needs.
	lockTimeout = "10s"
	// statementTimeout bounds what a statement may take, and idleTimeout what
	// passes between two: whoever has stopped in the middle is cut off, and what it
	// held is free.
	statementTimeout = "30s"
	idleTimeout      = "10s"

	applyMax    = time.Minute // that a transaction takes, as seen from here
	rollbackMax = 5 * time.Second
	triesMax    = 10 // of a batch whose rows others keep moving
)

// Apply applies a batch in one transaction. If somebody moved its rows it is
// done anew, with care. If a constraint that no rule foresaw refuses it, its
// halves are applied one after the other, and so on, so that the command that
// broke it is refused alone.
func (s *Store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) > rota.BatchMax {
		return nil, rota.Invalidf("commands", "has %d entries; at most %d are allowed", len(b.Commands), rota.BatchMax)
	}
	if s.config.ReadOnly {
		return nil, &rota.Error{Code: rota.Conflict, Act: "postgres: apply", Reason: "the store was opened only to be looked at"}
	}
	if len(b.Commands) == 0 {
		return []rota.Result{}, ctx.Err()
	}
	return s.applySplitting(ctx, b)
}

func (s *Store) applySplitting(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.applyRetrying(ctx, b)
	switch {
	case !isConstraint(err):
		return results, err
	case len(b.Commands) == 1:
		return []rota.Result{{Err: err.(*rota.Error)}}, nil
	}
	half := len(b.Commands) / 2
	left, err := s.applySplitting(ctx, rota.Batch{Now: b.Now, Commands: b.Commands[:half]})
	if err != nil {
		return nil, err
	}
	right, err := s.applySplitting(ctx, rota.Batch{Now: b.Now, Commands: b.Commands[half:]})
	if err != nil {
		return nil, err
	}
	return append(left, right...), nil
}

// applyRetrying applies a batch until nobody moves its rows meanwhile, and it is not
// sent into the void.
func (s *Store) applyRetrying(ctx context.Context, b rota.Batch) (results []rota.Result, err error) {
	ahead := locks{}
	for try := range triesMax {
		results, err = s.applyOptimistic(ctx, b, try > 0, ahead)
		if err == nil || !isRetryable(err) && !isLostAtBegin(err) {
			break
		}
		s.rowCache.clear()
		if wait := time.Duration(try) * time.Millisecond; wait > 0 {
			time.Sleep(wait)
		}
	}
	return results, fault("apply", err)
}

// applyOptimistic applies a batch in one transaction. Where it may suppose how things
// are, it does so first, and only asks if that was wrong.
func (s *Store) applyOptimistic(ctx context.Context, b rota.Batch, careful bool, ahead locks) ([]rota.Result, error) {
	if careful {
		return s.applyOnce(ctx, b, careful, nil, ahead)
	}
	if assumed := s.idlePath.assume(b); assumed != nil {
		results, err := s.applyOnce(ctx, b, careful, assumed, locks{})
		if assumed.checked && (err == nil || err == errAssumption) {
			s.idlePath.observeResult(err == nil)
		}
		if err != errAssumption {
			return results, err
		}
	}
	return s.applyOnce(ctx, b, careful, nil, ahead)
}

// applyOnce applies a batch in one transaction. Once that has begun it is seen
// through, whoever has stopped waiting for it. The locks that it turns out to need
// are added to those that it takes ahead, for the next time.
func (s *Store) applyOnce(ctx context.Context, b rota.Batch, careful bool, assumed *assumption, ahead locks) ([]rota.Result, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	within, done := context.WithTimeout(context.WithoutCancel(ctx), applyMax)
	defer done()
	t := &tx{
		session: s.session(conn), store: s, ctx: within, commands: b.Commands, pessimistic: careful, assumed: assumed,
		held: locks{}, earlyLocks: ahead, watched: s.watch.Any(),
	}
	results, err := t.apply(b)
	s.claimDemand.Add(-t.claimDemand)
	if err != nil {
		t.rollback()
	}
	if err == errAssumption { // nothing was done, and nobody told
		if t.notified {
			s.listener.undoNotify()
		}
		return nil, err
	}
	switch {
	case err != nil && (t.ready || t.lockedHeads && isRetryable(err)): // or may be: the answer to a COMMIT gets lost, and others have passed over what was locked
		s.wake.WakeAll()
		s.listener.notifySoon()
	case err != nil && t.lockedHeads: // whoever claims here is told of the failure, and tries again in its time
		s.listener.notifySoon()
	case t.ready && !t.notified:
		s.listener.notifySoon()
	}
	if err != nil && !t.answered && isLost(err) {
		err = &lostAtBegin{err}
	}
	return results, err
}

// apply decides and writes, and tells of it when it is committed. Those who watch
// hear of commits in an order in which they can have happened: whoever changes a
// row again takes its turn after the one before it was told its own.
func (t *tx) apply(b rota.Batch) ([]rota.Result, error) {
	t.begin()
	if b.Now.IsZero() && t.store.config.Clock != nil {
		b.Now = t.store.config.Clock()
	}
	results, err := rules.Apply(t, b)
	if err != nil {
		return nil, err
	}
	turn := t.store.commitOrder.enter(t.touched)
	defer turn.leave()
	if err := t.commit(); err != nil {
		return nil, err
	}
	t.assumed.correctTimes(results)
	t.store.dispatched.update(t)
	if t.changesCachedRows {
		t.store.rowCache.clear()
	}
	turn.wait()
	for _, events := range t.events {
		t.store.watch.Publish(events)
	}
	return results, nil
}

const sqlSize = `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c
WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'`

// Size is how much room the store takes on its server's disk, in bytes.
func (s *Store) Size() (size int64, err error) {
	ctx, done := context.WithTimeout(context.Background(), openMax)
	defer done()
	err = s.query(ctx, "size", statement{sql: sqlSize, params: []param{textNotNull(s.dialect.schema)}, eachRow: func(r row) error {
		size = r.int(0)
		return nil
	}})
	return size, err
}

// Limits states the largest atomic command.
func (s *Store) Limits() rota.Limits {
	return rota.Limits{Jobs: rota.JobsMax, Claim: rota.ClaimMax, Items: rota.ItemsMax, Batches: max(1, int(s.conns)/2)}
}

// Wake returns a channel that receives when jobs may have become ready.
func (s *Store) Wake() (<-chan struct{}, func()) { return s.wake.Add() }

// Watch calls a function with what this process has done, after each commit:
// whoever applied it has not been answered yet. Each function may keep the slice,
// and must not change it. What was done over a connection that broke before the
// answer came is not told.
func (s *Store) Watch(see func([]rota.Event)) (stop func()) { return s.watch.Add(see) }

// Listens says whether others tell this process when something becomes ready.
func (s *Store) Listens() bool { return s.listener.isListening() }

// Close waits for what is under way, and lets go of the connections.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.views.close()
		s.listener.close()
		s.pool.Close()
	})
	return nil
}

func errClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "postgres", Reason: "the store is closed"}
}
