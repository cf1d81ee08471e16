package engine_test

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// waitMax is the longest that something may take on a very busy machine.
const waitMax = time.Minute

// TestMain runs more tests at once than there are processors: most of their time they wait.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	go recordProcessDelays()
	code := m.Run()
	pgtest.Close()
	os.Exit(code)
}

// harness is a store on disk, a clock that can be set, and records of events and log lines.
type harness struct {
	*testing.T
	store      rota.Store
	membership rota.Membership // nil: the store is not shared
	url        string          // of the database; empty: SQLite
	file       string          // of the SQLite store
	clock      *clock
	events     *eventRecorder
	log        *logRecorder

	began      time.Time
	callDelays *delayLog     // of the store
	lease      time.Duration // of a test run by withLease
	canRetry   bool          // another attempt with a longer lease follows
	retry      bool          // the test asks for it
}

// newHarness opens a SQLite store. At the end of the test the store must verify
// without violations.
func newHarness(t *testing.T) *harness {
	t.Helper()
	t.Parallel()
	return sqliteHarness(t)
}

func sqliteHarness(t *testing.T) *harness {
	t.Helper()
	h := emptyHarness(t)
	h.file = filepath.Join(t.TempDir(), "rota.db")
	file, err := sqlite.OpenWith(h.file, sqlite.Config{Clock: h.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	h.store = h.use(file)
	return h
}

func emptyHarness(t *testing.T) *harness {
	t.Helper()
	return &harness{T: t, clock: &clock{}, events: newEventRecorder(), log: &logRecorder{}, began: time.Now(), callDelays: &delayLog{}}
}

// use records the events of a store, and verifies and closes it at the end.
func (h *harness) use(store rota.Store) rota.Store {
	kept := wrap.Coalesce(&timedStore{store, h.callDelays})
	kept.Watch(h.events.record)
	h.Cleanup(func() {
		for v, err := range store.Verify(context.Background()) {
			h.T.Errorf("the store has a violation: %+v %v", v, err)
		}
		_ = store.Close()
	})
	return kept
}

// clock is a wall clock that can be set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).Round(0)
}

// set moves the clock by d, back if d is negative.
func (c *clock) set(d time.Duration) { c.ahead.Add(int64(d)) }

// runningEngine is an engine whose Run was called.
type runningEngine struct {
	*engine.Engine
	h      *harness
	client *rota.Client
	stop   context.CancelFunc
	done   chan struct{}
	err    error // of Run, valid once done is closed
}

// start runs an engine until the test ends.
func (h *harness) start(reg *engine.Registry, config engine.Config) *runningEngine {
	h.Helper()
	return h.startOn(h.store, reg, config)
}

// startOn runs an engine on a wrapper of the store.
func (h *harness) startOn(store rota.Store, reg *engine.Registry, config engine.Config) *runningEngine {
	h.Helper()
	r := h.launch(store, reg, config)
	select {
	case <-r.Ready():
	case <-r.done:
		h.Fatalf("the engine did not start: %v", r.err)
	case <-time.After(waitMax):
		h.Fatal("the engine is not ready")
	}
	return r
}

// launch runs an engine without waiting until it is ready.
func (h *harness) launch(store rota.Store, reg *engine.Registry, config engine.Config) *runningEngine {
	config.Logger = slog.New(h.log)
	if config.Clock == nil {
		config.Clock = h.clock.now
	}
	if config.Membership == nil {
		config.Membership = h.membership
	}
	ctx, stop := context.WithCancel(context.Background())
	client := rota.New(store, rota.WithActor("ada"))
	r := &runningEngine{Engine: engine.New(client, reg, config), h: h, client: client, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = r.Run(ctx)
	}()
	h.Cleanup(func() {
		r.Cut()
		stop()
		<-r.done
	})
	return r
}

// shutdown ends an engine as a signal does, and waits for it.
func (r *runningEngine) shutdown() error {
	r.h.Helper()
	r.stop()
	r.h.await(r.done, "the end of the engine")
	return r.err
}

// await waits for a channel to be closed or to receive.
func (h *harness) await(signal <-chan struct{}, what string) {
	h.Helper()
	select {
	case <-signal:
	case <-time.After(waitMax):
		h.Fatalf("waited %v without success for %s", waitMax, what)
	}
}

// eventually polls for a condition that no channel signals.
func (h *harness) eventually(what string, holds func() bool) {
	h.Helper()
	for deadline := time.Now().Add(waitMax); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.Fatalf("not within %v: %s", waitMax, what)
		}
	}
}

// inTime checks that something happens in time. On a busy machine it makes several
// attempts, and subtracts the time that the machine took from this process.
func (h *harness) inTime(what string, late func() time.Duration) {
	h.Helper()
	var by time.Duration
	for range 5 {
		began := time.Now()
		if by = late(); by > 0 {
			by = max(0, by-processDelays.mostWithin(began, waitMax))
		}
		if by < 500*time.Millisecond {
			break
		}
	}
	if by < 0 || by >= 500*time.Millisecond {
		h.Errorf("%s happened %v after its time", what, by)
	}
}

// mustApply applies a command that must not be refused.
func mustApply[R rota.Reply](h *harness, c rota.Command) R {
	h.Helper()
	reply, err := rota.Do[R](context.Background(), h.store, c)
	if err != nil {
		h.Fatalf("%s: %v", c.Verb(), err)
	}
	return reply
}

func meta() rota.Meta { return rota.NewMeta("ada") }

// add enqueues jobs. Those without a type are of type work.
func (h *harness) add(jobs ...rota.NewJob) (ids []rota.ID) {
	h.Helper()
	for i := range jobs {
		if jobs[i].Type == "" && jobs[i].Template == "" {
			jobs[i].Type = "work"
		}
	}
	for _, s := range mustApply[*rota.Enqueued](h, &rota.Enqueue{Meta: meta(), Jobs: jobs}).Jobs {
		ids = append(ids, s.Job.ID)
	}
	return ids
}

// addOne enqueues a job that is retried without delay.
func (h *harness) addOne() rota.ID {
	h.Helper()
	return h.add(rota.NewJob{Backoff: new(time.Duration(0))})[0]
}

func (h *harness) job(id rota.ID) *rota.Job {
	h.Helper()
	job, err := h.store.Job(context.Background(), id)
	if err != nil {
		h.Fatal(err)
	}
	return job
}

// awaitEnded waits for the end of a job.
func (h *harness) awaitEnded(id rota.ID) *rota.Job {
	h.Helper()
	h.events.await(h, "the end of job "+id.String(), func(e rota.Event) bool {
		return e.JobID == id && isEnd[e.Kind]
	})
	return h.job(id)
}

// awaitCompleted waits for a job to complete, without reading it.
func (h *harness) awaitCompleted(id rota.ID) {
	h.Helper()
	h.events.await(h, "the completion of job "+id.String(), func(e rota.Event) bool {
		return e.JobID == id && e.Kind == rota.EventJobCompleted
	})
}

var isEnd = map[rota.EventKind]bool{
	rota.EventJobCompleted: true, rota.EventJobFailed: true, rota.EventJobCancelled: true, rota.EventJobSkipped: true,
}

// awaitRetry waits for the job that retries another.
func (h *harness) awaitRetry(id rota.ID) *rota.Job {
	h.Helper()
	execution := h.job(id).ExecutionID
	e := h.events.await(h, "the retry of "+id.String(), func(e rota.Event) bool {
		return e.Kind == rota.EventJobEnqueued && e.ExecutionID == execution && h.job(e.JobID).RetryOf == id
	})
	return h.job(e.JobID)
}

// queue lists the ready jobs in order.
func (h *harness) queue() []*rota.Job {
	h.Helper()
	jobs, err := h.store.Queue(context.Background(), rota.ID{}, rota.PageMax)
	if err != nil {
		h.Fatal(err)
	}
	return jobs
}

// registry returns a registry with one type, work.
func registry(handler func(context.Context, *rota.Job) error, options ...engine.TypeOption) *engine.Registry {
	reg := engine.NewRegistry()
	reg.Func("work", rota.TypeSpec{}, handler, options...)
	return reg
}

// controlledHandler is a handler that the test controls: it reports which run has
// started, and returns what the test sends, or when its context ends.
type controlledHandler struct {
	started chan *rota.Job
	results chan error
}

func newControlledHandler() *controlledHandler {
	return &controlledHandler{started: make(chan *rota.Job, 1_000), results: make(chan error)}
}

func (s *controlledHandler) handle(ctx context.Context, job *rota.Job) error {
	s.started <- job
	select {
	case err := <-s.results:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// awaitStart waits for a run to start.
func (s *controlledHandler) awaitStart(h *harness) *rota.Job {
	h.Helper()
	select {
	case job := <-s.started:
		return job
	case <-time.After(waitMax):
		h.Fatalf("no run started within %v", waitMax)
		return nil
	}
}

// finish makes a run return err.
func (s *controlledHandler) finish(h *harness, err error) {
	h.Helper()
	select {
	case s.results <- err:
	case <-time.After(waitMax / 3):
		h.Fatal("no run is waiting for its result")
	}
}

// checkNoneStarted fails the test if another run has started.
func (s *controlledHandler) checkNoneStarted(h *harness) {
	h.Helper()
	select {
	case job := <-s.started:
		h.Errorf("job %s has started", job.ID)
	default:
	}
}

// counter counts by key, from many goroutines.
type counter[K comparable] struct {
	mu     sync.Mutex
	counts map[K]int
}

func (c *counter[K]) add(key K, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[K]int{}
	}
	c.counts[key] += n
	return c.counts[key]
}

func (c *counter[K]) get(key K) int { return c.add(key, 0) }
