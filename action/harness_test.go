package action

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// waitMax is the longest wait, long enough for a very busy machine.
const waitMax = time.Minute

// testEnv is a store and an engine that runs the types of a registry.
type testEnv struct {
	*testing.T
	store  rota.Store
	client *rota.Client
	log    *logBuffer
}

// logBuffer is the log of the runs.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func newTestEnv(t *testing.T, register func(*engine.Registry, rota.Store)) *testEnv {
	t.Helper()
	return newTestEnvAt(t, filepath.Join(t.TempDir(), "rota.db"), register)
}

// newTestEnvAt uses a store file that may exist already.
func newTestEnvAt(t *testing.T, path string, register func(*engine.Registry, rota.Store)) *testEnv {
	t.Helper()
	store, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &testEnv{T: t, store: store, client: rota.New(store), log: &logBuffer{}}
	reg := engine.NewRegistry()
	register(reg, store)
	w.run(reg, engine.Config{Workers: 4})
	return w
}

// deliveryWorkers are the slots of the delivery engine.
const deliveryWorkers = 4

// runDeliveryEngine runs the delivery engine besides the engine of the users' jobs.
func (w *testEnv) runDeliveryEngine(reg *engine.Registry) {
	w.Helper()
	w.run(reg, engine.Config{Workers: deliveryWorkers, Name: "webhooks", WorkOnly: true})
}

// run runs an engine until the test ends.
func (w *testEnv) run(reg *engine.Registry, config engine.Config) {
	w.Helper()
	config.Logger = slog.New(slog.NewTextHandler(w.log, nil))
	e := engine.New(rota.New(w.store, rota.WithActor("rota")), reg, config)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	w.Cleanup(func() {
		e.Cut()
		stop()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
	select {
	case <-e.Ready():
	case err := <-done:
		done <- err
		w.Fatalf("the engine did not start: %v", err)
	case <-time.After(waitMax):
		w.Fatal("the engine is not ready")
	}
}

// enqueue enqueues one job with retries without a pause.
func (w *testEnv) enqueue(job rota.NewJob) rota.ID {
	w.Helper()
	return w.enqueueAs("ada", job)
}

func (w *testEnv) enqueueAs(actor string, job rota.NewJob) rota.ID {
	w.Helper()
	if job.Backoff == nil {
		job.Backoff = new(time.Duration(0))
	}
	reply, err := rota.Do[*rota.Enqueued](context.Background(), w.store, &rota.Enqueue{Meta: rota.NewMeta(actor), Jobs: []rota.NewJob{job}})
	if err != nil {
		w.Fatal(err)
	}
	return reply.Jobs[0].Job.ID
}

// waitEnded waits until a job has ended.
func (w *testEnv) waitEnded(id rota.ID) *rota.Job {
	w.Helper()
	for deadline := time.Now().Add(waitMax); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		job, err := w.store.Job(context.Background(), id)
		if err != nil {
			w.Fatal(err)
		}
		if job.Run != nil && !job.Run.Open() {
			return job
		}
	}
	w.Fatalf("job %v does not end", id)
	return nil
}

// waitAttempts waits until an execution has ended, and returns its jobs.
func (w *testEnv) waitAttempts(id rota.ID) []*rota.Job {
	w.Helper()
	for deadline := time.Now().Add(waitMax); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		jobs, err := w.store.Execution(context.Background(), id)
		if err != nil {
			w.Fatal(err)
		}
		if last := jobs[len(jobs)-1]; last.Run != nil && !last.Run.Open() {
			return jobs
		}
	}
	w.Fatalf("execution %v does not end", id)
	return nil
}

// result decodes the result of a run.
func result[T any](w *testEnv, job *rota.Job) (v T) {
	w.Helper()
	if err := json.Unmarshal(job.Run.Result, &v); err != nil {
		w.Fatalf("%v: %s", err, job.Run.Result)
	}
	return v
}
