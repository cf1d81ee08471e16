package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// coded is an error with a code; its methods panic on a nil pointer.
type coded struct{ code string }

func (e *coded) Error() string { return "coded " + e.code }
func (e *coded) Code() string  { return e.code }

// panickingCode is an error whose Code method panics.
type panickingCode struct{}

func (panickingCode) Error() string { return "evil" }
func (panickingCode) Code() string  { panic("no code today") }

func TestFailureIsRecordedWithCodeAndSequel(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	var nothing *coded
	cases := map[string]struct {
		fail    func() error
		code    string
		text    string // part of the error
		sequel  rota.Sequel
		retryAt time.Time
	}{
		"an error":                       {func() error { return errors.New("no luck") }, "", "no luck", rota.SequelRetry, time.Time{}},
		"an error with a code":           {func() error { return fmt.Errorf("x: %w", &coded{"E42"}) }, "E42", "x: coded E42", rota.SequelRetry, time.Time{}},
		"a permanent error":              {func() error { return fmt.Errorf("y: %w", rota.Permanent(errors.New("z"))) }, "", "y: z", rota.SequelDead, time.Time{}},
		"a permanent error with a code":  {func() error { return rota.Permanent(&coded{"E1"}) }, "E1", "coded E1", rota.SequelDead, time.Time{}},
		"a retry time":                   {func() error { return fmt.Errorf("wait: %w", rota.RetryAt(tomorrow, errors.New("w"))) }, "", "wait: w", rota.SequelRetry, tomorrow},
		"invalid UTF-8":                  {func() error { return errors.New("a\xff\xfeb\x00c") }, "", "a?b?c", rota.SequelRetry, time.Time{}},
		"a code with invalid UTF-8":      {func() error { return &coded{"a\xffb\x00"} }, "a?b?", "", rota.SequelRetry, time.Time{}},
		"a code that is too long":        {func() error { return &coded{strings.Repeat("x", rota.KeyMax+1)} }, "", "coded xxx", rota.SequelRetry, time.Time{}},
		"a code reserved for Rota":       {func() error { return &coded{rota.CodeLeaseExpired} }, "", "coded lease_expired", rota.SequelRetry, time.Time{}},
		"an error with a nil pointer":    {func() error { return nothing }, "panic", "nil pointer", rota.SequelRetry, time.Time{}},
		"an error whose code panics":     {func() error { return panickingCode{} }, "panic", "no code today", rota.SequelRetry, time.Time{}},
		"a panic":                        {func() error { panic("boom") }, "panic", "panic: boom", rota.SequelRetry, time.Time{}},
		"a panic with its stack":         {func() error { panic("boom") }, "panic", "outcome_test.go", rota.SequelRetry, time.Time{}},
		"a panic with a permanent error": {func() error { panic(rota.Permanent(errors.New("p"))) }, "panic", "panic: p", rota.SequelRetry, time.Time{}},
		"an empty error":                 {func() error { return errors.New("") }, "", "", rota.SequelRetry, time.Time{}},
		"an error of several lines":      {func() error { return errors.Join(errors.New("1"), errors.New("2")) }, "", "1\n2", rota.SequelRetry, time.Time{}},
		"a handler that calls Goexit": {func() error {
			runtime.Goexit()
			return nil
		}, "", "goroutine", rota.SequelRetry, time.Time{}},
	}
	h := newHarness(t)
	h.start(registry(func(_ context.Context, job *rota.Job) error { return cases[job.UniqueKey].fail() }), engine.Config{Workers: 2})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := h.add(rota.NewJob{UniqueKey: name})[0]
			job := h.awaitEnded(id)
			if run := job.Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != c.code || !strings.Contains(run.Error, c.text) {
				t.Errorf("%s, code %q, error %q", run.Outcome, run.ErrorCode, run.Error)
			}
			if job.Sequel != c.sequel {
				t.Fatalf("%s, want %s", job.Sequel, c.sequel)
			}
			if !c.retryAt.IsZero() && !h.awaitRetry(id).RunAt.Equal(c.retryAt) {
				t.Errorf("retried at %s, want %s", h.awaitRetry(id).RunAt, c.retryAt)
			}
		})
	}
}

func TestLongErrorIsCutBetweenRunes(t *testing.T) {
	h := newHarness(t)
	h.start(registry(func(context.Context, *rota.Job) error { return errors.New(strings.Repeat("é€", 40<<20/5)) }), engine.Config{})
	run := h.awaitEnded(h.addOne()).Run
	if n := len(run.Error); n > rota.ErrorMax || n < rota.ErrorMax-100 || !utf8.ValidString(run.Error) {
		t.Errorf("%d bytes kept, valid %t", n, utf8.ValidString(run.Error))
	}
}

func TestPanicStackIsLogged(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	h.start(registry(func(context.Context, *rota.Job) error { panic("boom") }), engine.Config{Logs: logs})
	id := h.addOne()
	h.awaitEnded(id)
	if text, closed := logs.text(id); !strings.Contains(text, "panic: boom") || !strings.Contains(text, "outcome_test.go") || closed != 1 {
		t.Errorf("closed %d times: %s", closed, text)
	}
}

func TestOversizedResultsAreRefusedAndRunContinues(t *testing.T) {
	h := newHarness(t)
	errs := make(chan error, 20)
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		errs <- engine.Result(ctx, strings.Repeat("x", rota.ResultMax))
		errs <- engine.Result(ctx, make(chan int))
		errs <- engine.Result(ctx, json.RawMessage("\"\xff\""))
		for _, odd := range []string{`{"a":1,"a":2}`, `"\ud800"`, `[1e999]`} {
			errs <- engine.Result(ctx, json.RawMessage(odd))
			errs <- engine.Progress(ctx, map[string]any{"odd": json.RawMessage(odd)})
		}
		errs <- engine.Progress(ctx, strings.Repeat("x", rota.ProgressMax))
		errs <- engine.Progress(ctx, json.RawMessage("\"\xff\""))
		errs <- engine.Artifact(ctx, "")
		errs <- engine.Artifact(ctx, strings.Repeat("x", rota.PathMax+1))
		for i := range rota.ArtifactMax {
			if err := engine.Artifact(ctx, fmt.Sprint(i)); err != nil {
				return err
			}
		}
		errs <- engine.Artifact(ctx, "one more")
		return nil
	}), engine.Config{})
	job := h.awaitEnded(h.addOne())
	if job.State() != rota.StateCompleted || job.Run.Result != nil || job.Run.Progress != nil || len(job.Run.Artifacts) != rota.ArtifactMax {
		t.Errorf("%s, result %s, progress %s, %d artifacts", job.State(), job.Run.Result, job.Run.Progress, len(job.Run.Artifacts))
	}
	close(errs)
	n := 0
	for err := range errs {
		if n++; rota.CodeOf(err) != rota.Invalid {
			t.Errorf("no. %d: %v, want Invalid", n, err)
		}
	}
	if n != 14 {
		t.Errorf("%d answers", n)
	}
}

// A store that refuses an end must not leave the run open, nor affect other runs of the
// batch.
func TestRefusedEndIsRecordedAsFailure(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	bad, good := h.addOne(), h.addOne()
	s.awaitStart(h)
	s.awaitStart(h)
	far := rota.RetryAt(time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC), errors.New("much later"))
	go func() { s.results <- far }()
	s.results <- far
	for _, id := range []rota.ID{bad, good} {
		job := h.awaitEnded(id)
		if run := job.Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != "refused" || !strings.Contains(run.Error, "retry_at") {
			t.Errorf("%s, code %q, error %q", run.Outcome, run.ErrorCode, run.Error)
		}
	}
}

// A Finish holds a limited number of artifacts: more ends go into several commands.
func TestEndsWithManyArtifactsAreRecordedTogether(t *testing.T) {
	h := newHarness(t)
	g := newGate(rota.VerbFinish)
	const n = 2 + rota.CommandEntriesMax/rota.ArtifactMax
	var returned, finishes counter[string]
	h.startOn(wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbFinish) {
			finishes.add("all", 1)
		}
		g.hold(b)
		return nil
	}}), registry(func(ctx context.Context, job *rota.Job) error {
		if job.UniqueKey == "plug" {
			return nil
		}
		<-g.reached
		for i := range rota.ArtifactMax {
			_ = engine.Artifact(ctx, fmt.Sprint(i))
		}
		returned.add("all", 1)
		return nil
	}), engine.Config{Workers: n + 1})
	ids := h.add(make([]rota.NewJob, n)...)
	h.add(rota.NewJob{UniqueKey: "plug"})
	h.eventually("all have returned", func() bool { return returned.get("all") == n })
	close(g.open)
	for _, id := range ids {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || len(job.Run.Artifacts) != rota.ArtifactMax {
			t.Fatalf("%s with %d artifacts: %s", job.State(), len(job.Run.Artifacts), job.Run.Error)
		}
	}
	if n := finishes.get("all"); n > 10 {
		t.Errorf("they took %d batches", n)
	}
}

func TestRefusedEndDoesNotAffectOthersOfBatch(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	g := newGate(rota.VerbFinish)
	h.startOn(&refusing{h.store, func(c rota.Command) *rota.Error {
		finish, ok := c.(*rota.Finish)
		if ok && len(finish.Items) == 1 && finish.Items[0].Error == "plug" {
			g.hold(rota.Batch{Commands: []rota.Command{c}})
		}
		if ok && len(finish.Items) > 1 {
			return rota.Invalidf("items[0].error", "is bad luck")
		}
		return nil
	}}, registry(s.handle), engine.Config{})
	plug, one, two := h.addOne(), h.addOne(), h.addOne()
	for range 3 {
		s.awaitStart(h)
	}
	s.results <- errors.New("plug") // while its end is written, the others end
	h.await(g.reached, "the first end")
	s.results <- nil
	s.results <- nil
	time.Sleep(20 * time.Millisecond) // until both have returned, which no channel signals
	close(g.open)
	h.awaitEnded(plug)
	completed := 0
	for _, id := range []rota.ID{one, two, plug} {
		if h.awaitEnded(id).State() == rota.StateCompleted {
			completed++
		}
	}
	if completed != 2 {
		t.Errorf("%d completed, want 2", completed)
	}
}
