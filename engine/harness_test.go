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

// patience is how long something may take on a very busy machine.
const patience = time.Minute

// TestMain runs more tests at once than there are processors: mostly they wait.
func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "8")
	go watchMachine()
	code := m.Run()
	pgtest.Close()
	os.Exit(code)
}

// world is a store on disk, a clock that can be set, and what was seen.
type world struct {
	*testing.T
	store rota.Store
	roll  rota.Membership // who shares it; nil: nobody can
	url   string          // of the database, where there is a server
	clock *clock
	seen  *witness
	log   *logbook

	began   time.Time
	calls   *delays       // of the store
	lease   time.Duration // of a test that byLease tells
	excused bool          // it can be told again
	again   bool          // and is to be
}

// newWorld opens a store that is a file. At the end of the test it must be in
// order, whatever happened in between.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return fileWorld(t)
}

func fileWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	file, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: w.clock.now})
	if err != nil {
		t.Fatal(err)
	}
	w.store = w.keep(file)
	return w
}

func emptyWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, clock: &clock{}, seen: newWitness(), log: &logbook{}, began: time.Now(), calls: &delays{}}
}

// keep has a store watched, and looked at and closed at the end.
func (w *world) keep(store rota.Store) rota.Store {
	kept := wrap.Coalesce(&timed{store, w.calls})
	kept.Watch(w.seen.see)
	w.Cleanup(func() {
		for v, err := range store.Verify(context.Background()) {
			w.T.Errorf("the store is not in order: %+v %v", v, err)
		}
		_ = store.Close()
	})
	return kept
}

// clock is the wall clock, and can be set.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Now().Add(time.Duration(c.ahead.Load())).Round(0)
}

// set moves the clock by d, back if that is negative.
func (c *clock) set(d time.Duration) { c.ahead.Add(int64(d)) }

// running is an engine that runs.
type running struct {
	*engine.Engine
	w    *world
	stop context.CancelFunc
	over chan struct{}
	err  error // of Run, once it is over
}

// start runs an engine until the test ends.
func (w *world) start(reg *engine.Registry, config engine.Config) *running {
	w.Helper()
	return w.startOn(w.store, reg, config)
}

// startOn runs an engine on a wrapper of the store.
func (w *world) startOn(store rota.Store, reg *engine.Registry, config engine.Config) *running {
	w.Helper()
	r := w.launch(store, reg, config)
	select {
	case <-r.Ready():
	case <-r.over:
		w.Fatalf("the engine did not start: %v", r.err)
	case <-time.After(patience):
		w.Fatal("the engine is not ready")
	}
	return r
}

// launch runs an engine and does not wait until it is ready.
func (w *world) launch(store rota.Store, reg *engine.Registry, config engine.Config) *running {
	config.Logger = slog.New(w.log)
	if config.Clock == nil {
		config.Clock = w.clock.now
	}
	if config.Membership == nil {
		config.Membership = w.roll
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Engine: engine.New(rota.New(store, rota.WithActor("ada")), reg, config), w: w, stop: stop, over: make(chan struct{})}
	go func() {
		defer close(r.over)
		r.err = r.Run(ctx)
	}()
	w.Cleanup(func() {
		r.Cut()
		stop()
		<-r.over
	})
	return r
}

// shutdown ends an engine as a signal does, and waits for it.
func (r *running) shutdown() error {
	r.w.Helper()
	r.stop()
	r.w.comes(r.over, "the end of the engine")
	return r.err
}

// comes waits for a signal.
func (w *world) comes(signal <-chan struct{}, what string) {
	w.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		w.Fatalf("waited in vain for %s", what)
	}
}

// until waits for what nobody signals.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatalf("waited in vain until %s", what)
		}
	}
}

// soon wants something to come in time. On a busy machine it may take a few
// tries, and for how long that has kept this process from its work is not counted.
func (w *world) soon(what string, late func() time.Duration) {
	w.Helper()
	var by time.Duration
	for range 5 {
		began := time.Now()
		if by = late(); by > 0 {
			by = max(0, by-machine.most(began, patience))
		}
		if by < 500*time.Millisecond {
			break
		}
	}
	if by < 0 || by >= 500*time.Millisecond {
		w.Errorf("%s came %v after its time", what, by)
	}
}

// does applies a command that must not be refused.
func does[R rota.Reply](w *world, c rota.Command) R {
	w.Helper()
	reply, err := rota.Do[R](context.Background(), w.store, c)
	if err != nil {
		w.Fatalf("%s: %v", c.Verb(), err)
	}
	return reply
}

func meta() rota.Meta { return rota.NewMeta("ada") }

// add puts jobs into the queue. Those without a type are of type work.
func (w *world) add(jobs ...rota.NewJob) (ids []rota.ID) {
	w.Helper()
	for i := range jobs {
		if jobs[i].Type == "" && jobs[i].Template == "" {
			jobs[i].Type = "work"
		}
	}
	for _, s := range does[*rota.Enqueued](w, &rota.Enqueue{Meta: meta(), Jobs: jobs}).Jobs {
		ids = append(ids, s.Job.ID)
	}
	return ids
}

// addOne puts a job into the queue that is retried at once.
func (w *world) addOne() rota.ID {
	w.Helper()
	return w.add(rota.NewJob{Backoff: new(time.Duration(0))})[0]
}

func (w *world) job(id rota.ID) *rota.Job {
	w.Helper()
	job, err := w.store.Job(context.Background(), id)
	if err != nil {
		w.Fatal(err)
	}
	return job
}

// ended waits for the end of a job.
func (w *world) ended(id rota.ID) *rota.Job {
	w.Helper()
	w.seen.await(w, "the end of job "+id.String(), func(e rota.Event) bool {
		return e.JobID == id && isEnd[e.Kind]
	})
	return w.job(id)
}

// completes waits for a job to complete, and does not read it.
func (w *world) completes(id rota.ID) {
	w.Helper()
	w.seen.await(w, "the completion of job "+id.String(), func(e rota.Event) bool {
		return e.JobID == id && e.Kind == rota.EventJobCompleted
	})
}

var isEnd = map[rota.EventKind]bool{
	rota.EventJobCompleted: true, rota.EventJobFailed: true, rota.EventJobCancelled: true, rota.EventJobSkipped: true,
}

// retryOf waits for the job that retries another.
func (w *world) retryOf(id rota.ID) *rota.Job {
	w.Helper()
	execution := w.job(id).ExecutionID
	e := w.seen.await(w, "the retry of "+id.String(), func(e rota.Event) bool {
		return e.Kind == rota.EventJobEnqueued && e.ExecutionID == execution && w.job(e.JobID).RetryOf == id
	})
	return w.job(e.JobID)
}

// queue is what is ready, in its order.
func (w *world) queue() []*rota.Job {
	w.Helper()
	jobs, err := w.store.Queue(context.Background(), rota.ID{}, rota.PageMax)
	if err != nil {
		w.Fatal(err)
	}
	return jobs
}

// registry has one type, work.
func registry(handler func(context.Context, *rota.Job) error, options ...engine.TypeOption) *engine.Registry {
	reg := engine.NewRegistry()
	reg.Func("work", rota.TypeSpec{}, handler, options...)
	return reg
}

// stage is a handler that the test directs: it says which run has begun, and
// goes on when it is told how to end, or when its context ends.
type stage struct {
	began chan *rota.Job
	end   chan error
}

func newStage() *stage { return &stage{began: make(chan *rota.Job, 1_000), end: make(chan error)} }

func (s *stage) play(ctx context.Context, job *rota.Job) error {
	s.began <- job
	select {
	case err := <-s.end:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// next waits for a run to begin.
func (s *stage) next(w *world) *rota.Job {
	w.Helper()
	select {
	case job := <-s.began:
		return job
	case <-time.After(patience):
		w.Fatal("waited in vain for a run to begin")
		return nil
	}
}

// ends tells a run how to end.
func (s *stage) ends(w *world, err error) {
	w.Helper()
	select {
	case s.end <- err:
	case <-time.After(patience / 3):
		w.Fatal("waited in vain for a run that can be told to end")
	}
}

// nobody says that no run has begun that was not waited for.
func (s *stage) nobody(w *world) {
	w.Helper()
	select {
	case job := <-s.began:
		w.Errorf("job %s has begun", job.ID)
	default:
	}
}

// tally counts by key, from many goroutines.
type tally[K comparable] struct {
	mu     sync.Mutex
	counts map[K]int
}

func (c *tally[K]) add(key K, n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[K]int{}
	}
	c.counts[key] += n
	return c.counts[key]
}

func (c *tally[K]) of(key K) int { return c.add(key, 0) }
