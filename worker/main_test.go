//go:build unix

package worker_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

func TestMain(m *testing.M) {
	workertest.Main(m, map[string]func(context.Context) error{"worker": workerProgram})
}

// Settings of a worker in a process of its own.
const (
	envURL    = "ROTA_URL"
	envToken  = "ROTA_TOKEN"
	envName   = "WORKER_NAME"
	envLedger = "WORKER_LEDGER"
)

// workerProgram is a worker whose handlers write a ledger.
func workerProgram(ctx context.Context) error {
	book := ledger(os.Getenv(envLedger))
	return worker.New(os.Getenv(envURL), os.Getenv(envToken), book.registry(), worker.Config{
		Name: os.Getenv(envName), Workers: 2, Lease: 4 * time.Second, Wait: 2 * time.Second, Timeout: 2 * time.Second,
		CancelGrace: time.Second, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}).Run(ctx)
}

// task is a job of the tests: it writes a ledger, and does what its params say.
type task struct {
	Mark  string `json:"mark" jsonschema:"minLength=1"`
	Do    string `json:"do,omitempty" jsonschema:"enum=nap,enum=wait,enum=deaf,enum=fail,enum=die,enum=later,enum=panic,enum=show,enum=talk"`
	For   string `json:"for,omitempty"`
	Until string `json:"until,omitempty"` // a file: it continues when that exists
}

// JobType names the type.
func (task) JobType() string { return "task" }

// ledger is a file with one line for each thing that a handler did. It is written at once, so
// that a kill loses nothing.
type ledger string

// append writes "EVENT MARK ATTEMPT WORKER RUN TOKEN MORE".
func (l ledger) append(ctx context.Context, event string, t task, more any) {
	job := engine.Job(ctx)
	file, err := os.OpenFile(string(l), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(file, "%s %s %d %s %s %s %v\n", event, t.Mark, job.Attempt, job.Run.Runner, job.Run.ID, job.Run.Token.Reveal(), more)
	}
	if err != nil {
		panic(err) // without its ledger the test shows nothing
	}
	_ = file.Close()
}

// line is one line of a ledger.
type line struct {
	event, mark, worker, run, token, more string
	attempt                               int
}

// lines returns the lines of a mark; all if the mark is empty.
func (l ledger) lines(t testing.TB, mark string) (all []line) {
	t.Helper()
	text, err := os.ReadFile(string(l))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(text)) {
		var one line
		parts := strings.SplitN(strings.TrimSpace(text), " ", 7)
		if len(parts) < 6 {
			t.Fatalf("the ledger reads %q", text)
		}
		one.event, one.mark, one.worker, one.run, one.token = parts[0], parts[1], parts[3], parts[4], parts[5]
		_, _ = fmt.Sscan(parts[2], &one.attempt)
		one.more = strings.Join(parts[6:], " ")
		if mark == "" || one.mark == mark {
			all = append(all, one)
		}
	}
	return all
}

// awaitLine waits for a line.
func (l ledger) awaitLine(t testing.TB, event, mark string) (found line) {
	t.Helper()
	workertest.Eventually(t, "the ledger has "+event+" "+mark, func() bool {
		all := l.lines(t, mark)
		i := slices.IndexFunc(all, func(one line) bool { return one.event == event })
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found
}

func (l ledger) registry() *engine.Registry {
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, t task) error {
		l.append(ctx, "start", t, "")
		err := t.run(ctx)
		event := "end"
		if err != nil {
			event = "error"
		}
		l.append(ctx, event, t, err)
		return err
	}, engine.WithDescription("keeps a ledger"))
	return reg
}

func (t task) run(ctx context.Context) error {
	switch t.Do {
	case "nap":
		d, err := time.ParseDuration(t.For)
		if err != nil {
			return rota.Permanent(err)
		}
		return pause(ctx, d)
	case "wait":
		return t.wait(ctx)
	case "deaf":
		return t.wait(context.WithoutCancel(ctx))
	case "fail":
		return errors.New("it went wrong")
	case "die":
		return rota.Permanent(errors.New("it cannot be helped"))
	case "later":
		return rota.RetryAt(time.Now().Add(time.Hour), errors.New("come back in an hour"))
	case "panic":
		panic("at the disco")
	case "show":
		return show(ctx)
	case "talk":
		return t.talk(ctx)
	}
	return nil
}

// wait waits until the file exists.
func (t task) wait(ctx context.Context) error {
	for {
		if _, err := os.Stat(t.Until); err == nil {
			return engine.Result(ctx, "done by "+engine.Job(ctx).Run.Runner)
		}
		if err := pause(ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// talk writes numbered lines until the file exists, and a last line.
func (t task) talk(ctx context.Context) error {
	for n := 0; ; n++ {
		fmt.Fprintf(engine.Output(ctx), "line %d ä\n", n)
		if _, err := os.Stat(t.Until); err == nil {
			fmt.Fprintln(engine.Output(ctx), "last line")
			return engine.Result(ctx, n)
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// show reports all that a run can report.
func show(ctx context.Context) error {
	engine.Log(ctx).Info("a line", "trace", engine.Job(ctx).Trace)
	fmt.Fprintln(engine.Output(ctx), "printed ✓")
	engine.RowsAffected(ctx, 7)
	engine.ExitCode(ctx, 3)
	return errors.Join(
		engine.Artifact(ctx, "out/report.pdf"), engine.Result(ctx, map[string]string{"key": engine.IdempotencyKey(ctx)}),
		engine.Progress(ctx, map[string]int{"percent": 50}),
	)
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runningWorker is a worker in this process.
type runningWorker struct {
	*worker.Worker
	t    testing.TB
	stop context.CancelFunc
	done chan error
	log  *logBuffer
}

// startWorker starts a worker of a server. It is stopped when the test ends.
func startWorker(t testing.TB, url, token string, reg *engine.Registry, config worker.Config) *runningWorker {
	t.Helper()
	c := &runningWorker{t: t, done: make(chan error, 1), log: &logBuffer{}}
	config.Logger = slog.New(slog.NewTextHandler(c.log, nil))
	if config.Wait == 0 {
		config.Wait = 2 * time.Second
	}
	c.Worker = worker.New(url, token, reg, config)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() { c.done <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		c.Cut()
		c.awaitEnd()
		if t.Failed() {
			t.Logf("log of worker %s:\n%s", c.Name(), c.log)
		}
	})
	return c
}

// awaitEnd waits for the end of the worker, and returns its error.
func (c *runningWorker) awaitEnd() error {
	c.t.Helper()
	select {
	case err := <-c.done:
		c.done <- err
		return err
	case <-time.After(workertest.WaitMax):
		c.t.Fatalf("the worker does not end:\n%s", c.log)
		return nil
	}
}

// awaitReady waits until the worker claims jobs.
func (c *runningWorker) awaitReady() *runningWorker {
	c.t.Helper()
	select {
	case <-c.Ready():
	case err := <-c.done:
		c.t.Fatalf("the worker ended: %v\n%s", err, c.log)
	case <-time.After(workertest.WaitMax):
		c.t.Fatalf("the worker does not start:\n%s", c.log)
	}
	return c
}

// logBuffer collects what a worker logs.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *logBuffer) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *logBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// ledgerOf returns the ledger beside the data of a server.
func ledgerOf(s *workertest.Cluster) ledger { return ledger(s.Path("ledger")) }

// touch creates a file.
func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// startWorkerProcess starts a worker in a process of its own.
func startWorkerProcess(s *workertest.Cluster, url, name string) *workertest.Process {
	s.Helper()
	return workertest.StartProgram(s.TB, "worker", envURL+"="+url, envToken+"="+s.Token(), envName+"="+name, envLedger+"="+string(ledgerOf(s)))
}
