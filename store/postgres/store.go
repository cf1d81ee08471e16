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
	"github.com/rotajobs/rota/internal/storekit"
	_ "github.com/rotajobs/rota/payload" // clients of the store check payloads with it
)

// Config configures a store. The zero value works.
type Config struct {
	// Schema is the PostgreSQL schema that holds the tables. Default "rota".
	Schema string
	// Conns is the maximal number of connections in the pool. One more connection listens for
	// notifications. Default 8.
	Conns int
	// ReadOnly opens an existing store for reading. Open creates, migrates and changes nothing, and
	// Apply returns an error.
	ReadOnly bool
	// AllowMoved opens a store that rota copy has moved to another one. Without it, Open returns
	// Conflict for such a store.
	AllowMoved bool
	// Poll switches LISTEN and NOTIFY off and has the store poll, because notifications get lost
	// behind a pooler. Open detects a pooler in most cases.
	Poll bool
	// Disable switches fast paths off, for diagnosis and measurement.
	Disable FastPath
	// Clock replaces PostgreSQL's clock in tests.
	Clock func() time.Time
	// Logger receives the store's log messages. Default slog.Default.
	Logger *slog.Logger

	transfer bool          // opened as the target of a copy, which may be unfinished
	pool     *pgxpool.Pool // connections that Close leaves open; tests open many stores with them
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
	callerDialect *dialect // in connections of callers, which get no prepared statements
	identity      string   // of the database
	lockSpace     int32    // first key of every advisory lock of this schema
	pool          *pgxpool.Pool
	viewSemaphore chan struct{} // one entry for each open view
	conns         int32         // size of the pool
	wake          fanout.Wakeups
	watch         fanout.Watchers
	commitOrder   commitOrder
	listener      *listener
	bus           *bus
	pending       pendingTxs
	hooks         hooksCache
	rowCache      rowCache
	idlePath      idlePath
	dispatched    dispatchedCache
	claimDemand   atomic.Int64 // jobs requested by the claims in flight
	singleType    singleType
	views         storekit.Views[*view] // ended by Close, because closing the pool waits for their connections

	onDecided func([]rota.Command) // for tests: called when a command is decided and not yet locked

	closing sync.Once
	closed  chan struct{}
}

var _ rota.Store = (*Store)(nil)

const (
	// lockTimeout is how long a transaction waits for a lock.
	lockTimeout = "10s"
	// statementTimeout limits one statement, and idleTimeout the time between two. PostgreSQL ends
	// the transaction of a process that has stopped, which releases its locks.
	statementTimeout = "30s"
	idleTimeout      = "10s"

	applyMax    = time.Minute // time limit of a transaction in this process
	rollbackMax = 5 * time.Second
	triesMax    = 10 // attempts at a batch whose rows other transactions keep changing
)

// Apply applies a batch in one transaction. If another transaction has changed rows that the batch
// has read, Apply repeats it with locks taken first. If a constraint refuses what the rules allow,
// Apply splits the batch in halves, so that only the command that violates the constraint is
// refused. It does the same if an open transaction of a caller has inserted a unique key.
func (s *Store) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := storekit.CheckBatch(b); err != nil {
		return nil, err
	}
	if s.config.ReadOnly {
		return nil, errReadOnlyStore("apply")
	}
	if len(b.Commands) == 0 {
		return []rota.Result{}, ctx.Err()
	}
	return storekit.ApplyHalves(b, isRefusedAlone, func(b rota.Batch) ([]rota.Result, error) { return s.applyRetrying(ctx, b) })
}

// applyRetrying applies a batch until no other transaction changes its rows in between, and until
// it reaches the server.
func (s *Store) applyRetrying(ctx context.Context, b rota.Batch) (results []rota.Result, err error) {
	earlyLocks := locks{}
	for try := range triesMax {
		results, err = s.applyOptimistic(ctx, b, try > 0, earlyLocks)
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

// applyOptimistic applies a batch in one transaction. It first tries the idle path, if that makes
// an assumption for this batch, and otherwise reads what it needs.
func (s *Store) applyOptimistic(ctx context.Context, b rota.Batch, pessimistic bool, earlyLocks locks) ([]rota.Result, error) {
	if pessimistic || !s.uses(IdlePath) {
		return s.applyOnce(ctx, b, pessimistic, nil, earlyLocks)
	}
	if assumed := s.idlePath.assume(b); assumed != nil {
		results, err := s.applyOnce(ctx, b, pessimistic, assumed, locks{})
		if assumed.sent && (err == nil || err == errAssumption) {
			s.idlePath.observeResult(err == nil)
		}
		if err != errAssumption {
			return results, err
		}
	}
	return s.applyOnce(ctx, b, pessimistic, nil, earlyLocks)
}

// applyOnce applies a batch in one transaction. A transaction that has begun is completed even if
// the caller's context ends. The locks that it turns out to need are added to earlyLocks, for the
// next attempt.
func (s *Store) applyOnce(ctx context.Context, b rota.Batch, pessimistic bool, assumed *assumption, earlyLocks locks) ([]rota.Result, error) {
	conn, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	within, done := context.WithTimeout(context.WithoutCancel(ctx), applyMax)
	defer done()
	t := &tx{
		store: s, commands: b.Commands, pessimistic: pessimistic, assumed: assumed,
		pipeline: pipeline{session: s.session(conn), ctx: within},
		locks:    lockSet{held: locks{}, early: earlyLocks},
		writer:   writer{watched: s.watch.Any() || s.bus.forwarder.wanted()},
	}
	results, err := t.apply(b)
	s.claimDemand.Add(-t.claim.demand)
	if err != nil {
		t.rollback()
	}
	if err == errAssumption { // nothing was committed and no notification sent
		if t.writer.notified {
			s.listener.undoNotify()
		}
		return nil, err
	}
	switch {
	case err != nil && (t.writer.wakeup.Needed() || t.claim.lockedHeads && isRetryable(err)): // the COMMIT may have succeeded although its answer is lost; other claims have skipped the locked jobs
		s.wake.WakeAll()
		s.listener.notifySoon()
	case err != nil && t.claim.lockedHeads: // the caller in this process receives the error and retries
		s.listener.notifySoon()
	case t.writer.wakeup.Needed() && !t.writer.notified:
		s.listener.notifySoon()
	}
	switch {
	case err == nil || !isLost(err):
	case !t.answered:
		err = &lostAtBegin{err}
	default: // it may have committed
		s.bus.forwarder.lose()
		s.bus.interest.lose(lostCommit)
	}
	return results, err
}

// apply decides and writes the batch, commits it and publishes its events. Watchers receive the
// events of two transactions that change the same row in the order of their commits.
func (t *tx) apply(b rota.Batch) ([]rota.Result, error) {
	t.begin()
	if t.store.config.Clock != nil {
		t.testClock = rules.Reading{Now: t.store.config.Clock(), ReadAt: time.Now()}
	}
	results, err := rules.Apply(t, b)
	if err != nil {
		return nil, err
	}
	turn := t.store.commitOrder.enter(t.writer.touched)
	defer turn.leave()
	if err := t.commit(); err != nil {
		return nil, err
	}
	t.assumed.correctTimes(results)
	t.store.dispatched.update(t)
	if t.writer.changesCachedRows {
		t.store.rowCache.clear()
	}
	turn.wait()
	t.store.publish(&t.writer)
	return results, nil
}

// publish passes the events of a committed transaction to the watchers, here and in other processes.
func (s *Store) publish(w *writer) {
	for _, events := range w.events {
		s.watch.Publish(events)
		s.bus.forwarder.publish(events)
	}
	if !w.watched {
		s.bus.forwarder.skip()
	}
	if len(w.stopping) > 0 {
		s.bus.sendStops(w.stopping)
	}
}

const sqlSize = `
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c
WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'`

// Size returns the size of the tables and indexes on the server's disk, in bytes.
func (s *Store) Size() (size int64, err error) {
	ctx, done := context.WithTimeout(context.Background(), openMax)
	defer done()
	err = s.query(ctx, "size", statement{sql: sqlSize, params: []param{textNotNull(s.dialect.schema)}, eachRow: func(r row) error {
		size = r.Int(0)
		return nil
	}})
	return size, err
}

// Limits returns the largest atomic command and the number of batches that may be in flight.
func (s *Store) Limits() rota.Limits {
	return rota.Limits{Jobs: rota.JobsMax, Claim: rota.ClaimMax, Items: rota.ItemsMax, Batches: max(1, int(s.conns)/2)}
}

// Wake returns a channel that receives when jobs may have become ready.
func (s *Store) Wake() (<-chan struct{}, func()) { return s.wake.Add() }

// Watch calls a function with the events of this process after each commit, before Apply returns.
// The function may keep the slice and must not change it. The events of a commit whose answer is
// lost with the connection are not published.
func (s *Store) Watch(receive func([]rota.Event)) (stop func()) { return s.watch.Add(receive) }

// Listens reports whether this process receives the notifications of other processes.
func (s *Store) Listens() bool { return s.listener.isListening() }

// Close waits for the batches in flight and closes the connections.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.closed)
		s.pending.close()
		s.views.Close((*view).end)
		s.listener.close()
		if s.config.pool == nil {
			s.pool.Close()
		}
	})
	return nil
}

func errReadOnlyStore(act string) *rota.Error {
	return &rota.Error{Code: rota.Conflict, Act: "postgres: " + act, Reason: "the store is opened read-only", Hint: "open it without ReadOnly to apply commands"}
}

func errClosed() *rota.Error {
	return &rota.Error{Code: rota.Unavailable, Act: "postgres", Reason: "the store is closed", Hint: "open it again"}
}
