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

// What the tests tell a worker in a process of its own.
const (
	envURL    = "ROTA_URL"
	envToken  = "ROTA_TOKEN"
	envName   = "WORKER_NAME"
	envLedger = "WORKER_LEDGER"
)

// workerProgram is a worker whose handlers keep a ledger.
func workerProgram(ctx context.Context) error {
	book := ledger(os.Getenv(envLedger))
	return worker.New(os.Getenv(envURL), os.Getenv(envToken), book.registry(), worker.Config{
		Name: os.Getenv(envName), Workers: 2, Lease: 4 * time.Second, Wait: 2 * time.Second, Timeout: 2 * time.Second,
		CancelGrace: time.Second, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}).Run(ctx)
}

// task is a job of the tests: it keeps a ledger, and does as it is told.
type task struct {
	Mark  string `json:"mark" jsonschema:"minLength=1"`
	Do    string `json:"do,omitempty" jsonschema:"enum=nap,enum=wait,enum=deaf,enum=fail,enum=die,enum=later,enum=panic,enum=show"`
	For   string `json:"for,omitempty"`
	Until string `json:"until,omitempty"` // a file: it goes on when that is there
}

// JobType names the type.
func (task) JobType() string { return "task" }

// ledger is a file that says what handlers did, a line each. It is written at
// once, so that no kill takes it back.
type ledger string

// note writes "WORD MARK ATTEMPT WORKER RUN TOKEN MORE".
func (l ledger) note(ctx context.Context, word string, t task, more any) {
	job := engine.Job(ctx)
	file, err := os.OpenFile(string(l), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(file, "%s %s %d %s %s %s %v\n", word, t.Mark, job.Attempt, job.Run.Runner, job.Run.ID, job.Run.Token.Reveal(), more)
	}
	if err != nil {
		panic(err) // a test without its ledger shows nothing
	}
	_ = file.Close()
}

// line is one of a ledger.
type line struct {
	word, mark, worker, run, token, more string
	attempt                              int
}

// lines are those of a mark; of no mark, all.
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
		one.word, one.mark, one.worker, one.run, one.token = parts[0], parts[1], parts[3], parts[4], parts[5]
		_, _ = fmt.Sscan(parts[2], &one.attempt)
		one.more = strings.Join(parts[6:], " ")
		if mark == "" || one.mark == mark {
			all = append(all, one)
		}
	}
	return all
}

// has waits for a line.
func (l ledger) has(t testing.TB, word, mark string) (found line) {
	t.Helper()
	workertest.Until(t, "the ledger says "+word+" "+mark, func() bool {
		all := l.lines(t, mark)
		i := slices.IndexFunc(all, func(one line) bool { return one.word == word })
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
		l.note(ctx, "start", t, "")
		err := t.run(ctx)
		word := "end"
		if err != nil {
			word = "error"
		}
		l.note(ctx, word, t, err)
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
	}
	return nil
}

// wait waits until the file is there.
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

// show has all to show that a run can have.
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

// crew is a worker in this process, from its start to its end.
type crew struct {
	*worker.Worker
	t    testing.TB
	stop context.CancelFunc
	over chan error
	said *said
}

// hire starts a worker of a server. It is stopped when the test ends.
func hire(t testing.TB, url, token string, reg *engine.Registry, config worker.Config) *crew {
	t.Helper()
	c := &crew{t: t, over: make(chan error, 1), said: &said{}}
	config.Logger = slog.New(slog.NewTextHandler(c.said, nil))
	if config.Wait == 0 {
		config.Wait = 2 * time.Second
	}
	c.Worker = worker.New(url, token, reg, config)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() { c.over <- c.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		c.Cut()
		c.ended()
		if t.Failed() {
			t.Logf("worker %s said:\n%s", c.Name(), c.said)
		}
	})
	return c
}

// ended waits for the end of the worker, and is how it ended.
func (c *crew) ended() error {
	c.t.Helper()
	select {
	case err := <-c.over:
		c.over <- err
		return err
	case <-time.After(workertest.Patience):
		c.t.Fatalf("the worker does not end:\n%s", c.said)
		return nil
	}
}

// ready waits until the worker takes jobs.
func (c *crew) ready() *crew {
	c.t.Helper()
	select {
	case <-c.Ready():
	case err := <-c.over:
		c.t.Fatalf("the worker ended: %v\n%s", err, c.said)
	case <-time.After(workertest.Patience):
		c.t.Fatalf("the worker does not begin:\n%s", c.said)
	}
	return c
}

// said is what a worker logs.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(text)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// here is a ledger beside the data of a server.
func here(s *workertest.Site) ledger { return ledger(s.Path("ledger")) }

// touch makes a file.
func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// elsewhere starts a worker in a process of its own.
func elsewhere(s *workertest.Site, url, name string) *workertest.Process {
	s.Helper()
	return workertest.Program(s.TB, "worker", envURL+"="+url, envToken+"="+s.Token(), envName+"="+name, envLedger+"="+string(here(s)))
}
