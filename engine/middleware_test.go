package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// callTrace records the order of calls.
type callTrace struct {
	mu    sync.Mutex
	calls []string
}

func (t *callTrace) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls = append(t.calls, name)
}

func (t *callTrace) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls)
}

// middleware returns a middleware that records its calls.
func (t *callTrace) middleware(name string) engine.Middleware {
	return func(next engine.Handler) engine.Handler {
		t.add("make " + name)
		return func(ctx context.Context, job *rota.Job) error {
			t.add(name)
			defer t.add("/" + name)
			return next(ctx, job)
		}
	}
}

func TestMiddlewareWrapsHandlersInOrder(t *testing.T) {
	h := newHarness(t)
	var trace callTrace
	reg := engine.NewRegistry()
	reg.Use(trace.middleware("a"))
	reg.Func("work", rota.TypeSpec{}, func(context.Context, *rota.Job) error {
		trace.add("work")
		return nil
	}, engine.WithMiddleware(trace.middleware("c"), trace.middleware("d")))
	reg.Use(trace.middleware("b")) // also wraps handlers that are registered already
	h.start(reg, engine.Config{})
	h.awaitEnded(h.addOne())
	h.awaitEnded(h.addOne())
	run := []string{"a", "b", "c", "d", "work", "/d", "/c", "/b", "/a"}
	want := slices.Concat([]string{"make d", "make c", "make b", "make a"}, run, run) // created once, called twice
	if got := trace.all(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTypeMiddlewareWrapsOnlyItsType(t *testing.T) {
	h := newHarness(t)
	var trace callTrace
	reg := registry(done)
	reg.Func("other", rota.TypeSpec{}, done, engine.WithMiddleware(trace.middleware("x")))
	h.start(reg, engine.Config{})
	h.awaitEnded(h.addOne())
	if got := trace.all(); !slices.Equal(got, []string{"make x"}) {
		t.Errorf("%q", got)
	}
}

type contextKey struct{}

func TestContextValuesOfMiddlewareReachHandler(t *testing.T) {
	h := newHarness(t)
	reg := registry(func(ctx context.Context, job *rota.Job) error {
		if engine.Job(ctx) != job {
			return errors.New("the context has lost its run")
		}
		return engine.Result(ctx, ctx.Value(contextKey{}))
	})
	reg.Use(func(next engine.Handler) engine.Handler {
		return func(ctx context.Context, job *rota.Job) error {
			engine.Log(ctx).Info("seen by the middleware")
			return next(context.WithValue(ctx, contextKey{}, engine.Job(ctx).ID.String()), job)
		}
	})
	logs := newMemoryLogs()
	h.start(reg, engine.Config{Logs: logs})
	id := h.addOne()
	if job := h.awaitEnded(id); string(job.Run.Result) != `"`+id.String()+`"` {
		t.Errorf("%s %s", job.Run.Result, job.Run.Error)
	}
	if text, _ := logs.text(id); !strings.Contains(text, "seen by the middleware") {
		t.Errorf("the log is %q", text)
	}
}

// wrapWith returns a middleware that calls do.
func wrapWith(do func(ctx context.Context, job *rota.Job, next engine.Handler) error) engine.Middleware {
	return func(next engine.Handler) engine.Handler {
		return func(ctx context.Context, job *rota.Job) error { return do(ctx, job, next) }
	}
}

func TestRunEndsWithErrorOfMiddleware(t *testing.T) {
	noLuck := errors.New("no luck")
	for name, c := range map[string]struct {
		handler engine.Handler
		around  func(ctx context.Context, job *rota.Job, next engine.Handler) error
		outcome rota.Outcome
		sequel  rota.Sequel
		code    string
		text    string
	}{
		"without calling the handler, an error": {
			func(context.Context, *rota.Job) error { panic("it was called") },
			func(context.Context, *rota.Job, engine.Handler) error { return errors.New("closed today") },
			rota.OutcomeFailed, rota.SequelRetry, "", "closed today",
		},
		"without calling the handler, nil": {
			func(context.Context, *rota.Job) error { panic("it was called") },
			func(context.Context, *rota.Job, engine.Handler) error { return nil },
			rota.OutcomeCompleted, rota.SequelNone, "", "",
		},
		"permanent error": {
			func(context.Context, *rota.Job) error { return noLuck },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error {
				return rota.Permanent(next(ctx, job))
			},
			rota.OutcomeFailed, rota.SequelDead, "", "no luck",
		},
		"error with a code": {
			func(context.Context, *rota.Job) error { return noLuck },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error {
				return fmt.Errorf("%w after %w", &coded{"E7"}, next(ctx, job))
			},
			rota.OutcomeFailed, rota.SequelRetry, "E7", "coded E7 after no luck",
		},
		"error replaced by nil": {
			func(context.Context, *rota.Job) error { return noLuck },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error {
				if err := next(ctx, job); err != noLuck {
					return fmt.Errorf("it came as %w", err)
				}
				return nil
			},
			rota.OutcomeCompleted, rota.SequelNone, "", "",
		},
		"panic of the handler as an error": {
			func(context.Context, *rota.Job) error { panic("boom") },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error {
				return fmt.Errorf("seen: %w", next(ctx, job))
			},
			rota.OutcomeFailed, rota.SequelRetry, "panic", "seen: panic: boom\n\ngoroutine",
		},
		"panic before the handler": {
			func(context.Context, *rota.Job) error { return nil },
			func(context.Context, *rota.Job, engine.Handler) error { panic("bang") },
			rota.OutcomeFailed, rota.SequelRetry, "panic", "panic: bang\n\ngoroutine",
		},
		"panic after the handler": {
			func(context.Context, *rota.Job) error { return noLuck },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error {
				_ = next(ctx, job)
				panic("bang")
			},
			rota.OutcomeFailed, rota.SequelRetry, "panic", "panic: bang\n\ngoroutine",
		},
		"Goexit in the middleware": {
			func(context.Context, *rota.Job) error { return nil },
			func(context.Context, *rota.Job, engine.Handler) error { runtime.Goexit(); return nil },
			rota.OutcomeFailed, rota.SequelRetry, "", "ended its goroutine",
		},
		"Goexit in the handler": {
			func(context.Context, *rota.Job) error { runtime.Goexit(); return nil },
			func(ctx context.Context, job *rota.Job, next engine.Handler) error { return next(ctx, job) },
			rota.OutcomeFailed, rota.SequelRetry, "", "ended its goroutine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			logs := newMemoryLogs()
			reg := registry(c.handler)
			reg.Use(wrapWith(c.around))
			h.start(reg, engine.Config{Logs: logs})
			job := h.awaitEnded(h.add(rota.NewJob{})[0])
			run := job.Run
			if run.Outcome != c.outcome || job.Sequel != c.sequel || run.ErrorCode != c.code || !strings.Contains(run.Error, c.text) {
				t.Errorf("%s, %s, %q: %s", run.Outcome, job.Sequel, run.ErrorCode, run.Error)
			}
			if text, _ := logs.text(job.ID); c.code == "panic" && (strings.Count(text, "panic: b") != 1 || !strings.Contains(text, "middleware_test.go")) {
				t.Errorf("the log is %q", text)
			}
		})
	}
}

func TestMiddlewareSeesInvalidParamsAsError(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(context.Context, letter) error {
		t.Error("the handler was called")
		return nil
	})
	seen := make(chan error, 1)
	reg.Use(wrapWith(func(ctx context.Context, job *rota.Job, next engine.Handler) error {
		err := next(ctx, job)
		seen <- err
		return err
	}))
	h.start(reg, engine.Config{})
	job := h.awaitEnded(h.add(rota.NewJob{Type: "letter", Params: json.RawMessage(`{"to":7}`)})[0])
	if err := <-seen; err == nil || !strings.Contains(err.Error(), "to") {
		t.Errorf("it saw %v", err)
	}
	if job.Run.ErrorCode != "payload" || job.Sequel != rota.SequelDead {
		t.Errorf("%q, %s", job.Run.ErrorCode, job.Sequel)
	}
}

// A registry may serve several engines at once.
func TestTwoEnginesShareARegistry(t *testing.T) {
	h := newHarness(t)
	var trace counter[string]
	reg := registry(done)
	reg.Use(wrapWith(func(ctx context.Context, job *rota.Job, next engine.Handler) error {
		trace.add("all", 1)
		return next(ctx, job)
	}))
	h.start(reg, engine.Config{Name: "one"})
	h.start(reg, engine.Config{Name: "two", WorkOnly: true})
	h.awaitAllEnded(h.add(make([]rota.NewJob, 50)...))
	if n := trace.get("all"); n != 50 {
		t.Errorf("it was called %d times", n)
	}
}

func TestNilMiddlewareIsRefused(t *testing.T) {
	for name, use := range map[string]func(){
		"for all":      func() { engine.NewRegistry().Use(engine.Recovery(), nil) },
		"for one type": func() { registry(done, engine.WithMiddleware(nil)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "middleware is nil") {
					t.Errorf("%v", p)
				}
			}()
			use()
		})
	}
	h := newHarness(t)
	reg := registry(done)
	reg.Use(engine.Recovery(), func(engine.Handler) engine.Handler { return nil })
	r := h.launch(h.store, reg, engine.Config{})
	h.await(r.done, "the end of the engine")
	if rota.CodeOf(r.err) != rota.Invalid || !strings.Contains(r.err.Error(), `middleware 2 of type "work"`) {
		t.Errorf("%v", r.err)
	}
}

func TestHandlerWithoutMiddlewareAllocatesNothing(t *testing.T) {
	run, job := registry(done).TypeHandler("work"), &rota.Job{}
	if n := testing.AllocsPerRun(100, func() { _ = run(context.Background(), job) }); n != 0 {
		t.Errorf("%v allocations a job", n)
	}
}

func TestLoggingWritesOneLinePerRun(t *testing.T) {
	h := newHarness(t)
	lines := &logRecorder{}
	reg := engine.NewRegistry()
	reg.Use(engine.Logging(slog.New(lines)))
	s := newControlledHandler()
	ends := map[string]engine.Handler{
		"completed": done,
		"failed":    func(context.Context, *rota.Job) error { return errors.New("no luck") },
		"panicked":  func(context.Context, *rota.Job) error { panic("boom") },
		"left":      func(context.Context, *rota.Job) error { runtime.Goexit(); return nil },
		"stopped":   s.handle,
	}
	for name, handler := range ends {
		reg.Func(name, rota.TypeSpec{}, handler)
	}
	reg.Func("late", rota.TypeSpec{}, untilCancelled(func(cause error) error { return cause }), engine.WithTimeout(20*time.Millisecond))
	reg.Func("broken", rota.TypeSpec{}, done, engine.WithMiddleware(wrapWith(func(context.Context, *rota.Job, engine.Handler) error { panic("bang") })))
	h.start(reg, engine.Config{})
	for name, want := range map[string][]string{
		"completed": {"level=INFO", "outcome=completed"},
		"failed":    {"level=ERROR", "outcome=failed", `error="no luck"`},
		"panicked":  {"level=ERROR", "outcome=failed", `error="panic: boom"`},
		"left":      {"level=ERROR", "outcome=failed", "did not return"},
		"stopped":   {"level=WARN", "outcome=cancelled", "was cancelled"},
		"late":      {"level=ERROR", "outcome=timeout", "exceeded its timeout"},
		"broken":    {"level=ERROR", "outcome=failed", "did not return"},
	} {
		id := h.add(rota.NewJob{Type: name, MaxRetries: new(0)})[0]
		if name == "stopped" {
			s.awaitStart(h)
			h.cancel(id)
		}
		h.awaitEnded(id)
		all := append(want, "job="+id.String(), "type="+name, "attempt=1", "duration=")
		if n := lines.count(all...); n != 1 || lines.count("job="+id.String()) != 1 {
			t.Errorf("%s: %d such lines in %q", name, n, lines.lines)
		}
	}
}
