package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestRunRecordsResultArtifactsAndLog(t *testing.T) {
	h := newHarness(t)
	logs := newMemoryLogs()
	h.start(registry(func(ctx context.Context, job *rota.Job) error {
		engine.Log(ctx).Info("begun", "n", 7)
		_, _ = fmt.Fprintln(engine.Output(ctx), "raw line")
		engine.RowsAffected(ctx, 12)
		engine.ExitCode(ctx, 3)
		_ = engine.Artifact(ctx, "out/a.csv")
		_ = engine.Artifact(ctx, "out/\xff.csv")
		_ = engine.Result(ctx, "not this one")
		return engine.Result(ctx, map[string]any{"job": job.ID.String()})
	}), engine.Config{Name: "kitchen", Logs: logs})
	id := h.addOne()
	job := h.awaitEnded(id)
	run := job.Run
	if job.State() != rota.StateCompleted || run.Runner != "kitchen" || run.Incarnation.IsZero() {
		t.Errorf("state %s by %q, incarnation %s", job.State(), run.Runner, run.Incarnation)
	}
	if want := `{"job":"` + id.String() + `"}`; string(run.Result) != want {
		t.Errorf("result %s, want %s", run.Result, want)
	}
	if run.RowsAffected == nil || *run.RowsAffected != 12 || run.ExitCode == nil || *run.ExitCode != 3 {
		t.Errorf("rows %v, exit code %v", run.RowsAffected, run.ExitCode)
	}
	if want := []string{"out/a.csv", "out/?.csv"}; !slices.Equal(run.Artifacts, want) {
		t.Errorf("artifacts %q, want %q", run.Artifacts, want)
	}
	if run.LogPath != "logs/"+id.String() {
		t.Errorf("log path %q", run.LogPath)
	}
}

// letter is a payload by value, parcel one by pointer.
type letter struct {
	To string `json:"to"`
}

func (letter) JobType() string { return "letter" }

type parcel struct {
	Grams int `json:"grams"`
}

func (*parcel) JobType() string { return "parcel" }

func TestHandlerTakesPayloadByValueOrPointer(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, p letter) error { return engine.Result(ctx, p.To) })
	engine.Handle(reg, func(ctx context.Context, p *parcel) error { return engine.Result(ctx, p.Grams) })
	if got := reg.Types(); !slices.Equal(got, []string{"letter", "parcel"}) {
		t.Errorf("types %q", got)
	}
	h.start(reg, engine.Config{})
	ids := h.add(
		rota.NewJob{Type: "letter", Params: json.RawMessage(`{"to":"ada"}`)},
		rota.NewJob{Type: "parcel", Params: json.RawMessage(`{"grams":5}`)},
		rota.NewJob{Type: "parcel", Params: json.RawMessage(`{"grams":0}`)}, // the payload of the job before is not reused
	)
	for i, want := range []string{`"ada"`, `5`, `0`} {
		if job := h.awaitEnded(ids[i]); string(job.Run.Result) != want {
			t.Errorf("job %d: %s %s, want %s", i, job.Run.Result, job.Run.Error, want)
		}
	}
}

func TestAttemptsShareIdempotencyKey(t *testing.T) {
	h := newHarness(t)
	keys := make(chan string, 3)
	h.start(registry(func(ctx context.Context, job *rota.Job) error {
		if engine.Job(ctx) != job {
			t.Error("Job returns another job")
		}
		keys <- engine.IdempotencyKey(ctx)
		if job.Attempt < 3 {
			return fmt.Errorf("attempt %d", job.Attempt)
		}
		return nil
	}), engine.Config{})
	first := h.addOne()
	second := h.awaitRetry(first)
	third := h.awaitEnded(h.awaitRetry(second.ID).ID)
	if third.State() != rota.StateCompleted || third.Attempt != 3 {
		t.Errorf("%s, attempt %d", third.State(), third.Attempt)
	}
	for range 3 {
		if key := <-keys; key != first.String() {
			t.Errorf("key %s, want %s", key, first)
		}
	}
}

func TestContextFunctionsOutsideHandlersDoNothing(t *testing.T) {
	ctx := context.Background()
	if engine.Job(ctx) != nil || engine.IdempotencyKey(ctx) != "" || engine.Log(ctx) != slog.Default() {
		t.Error("a context outside of handlers has a job")
	}
	if n, err := engine.Output(ctx).Write([]byte("x")); n != 1 || err != nil {
		t.Error(n, err)
	}
	engine.RowsAffected(ctx, 1)
	engine.ExitCode(ctx, 1)
	for _, err := range []error{engine.Progress(ctx, 1), engine.Result(ctx, 1), engine.Artifact(ctx, "a")} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestOneWorkerRunsByPriorityThenOrder(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Workers: 1})
	plug := h.addOne()
	s.awaitStart(h)
	ids := h.add(
		rota.NewJob{Priority: new(0)}, rota.NewJob{Priority: new(5)}, rota.NewJob{Priority: new(-1)},
		rota.NewJob{Priority: new(5)}, rota.NewJob{Priority: new(0)},
	)
	s.results <- nil
	h.awaitEnded(plug)
	for _, want := range []int{1, 3, 0, 4, 2} {
		job := s.awaitStart(h)
		s.checkNoneStarted(h) // one at a time
		if job.ID != ids[want] {
			t.Fatalf("job %d started, want %d", slices.Index(ids, job.ID), want)
		}
		s.results <- nil
		h.awaitEnded(job.ID)
	}
}

func TestAllSlotsAreUsedAtOnce(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Workers: 8})
	h.add(make([]rota.NewJob, 10)...)
	for range 8 {
		s.awaitStart(h)
	}
	if got := r.Snapshot(); got.Running != 8 || got.Workers != 8 {
		t.Errorf("%+v", got)
	}
	s.checkNoneStarted(h)
	s.results <- nil
	s.awaitStart(h)
}

// The answer to a claim has a limited size: jobs that did not fit must not wait for the
// next wake-up.
func TestJobsExceedingClaimBytesAllStart(t *testing.T) {
	h := newHarness(t)
	const n = rota.ClaimBytesMax/rota.ParamsMax + 4
	heavy := rota.NewJob{Params: json.RawMessage(`{"a":"` + string(bytes.Repeat([]byte("x"), rota.ParamsMax-10)) + `"}`)}
	var ids []rota.ID
	for range n / 12 {
		ids = append(ids, h.add(slices.Repeat([]rota.NewJob{heavy}, 12)...)...)
	}
	h.start(registry(done), engine.Config{Workers: n})
	for _, id := range ids {
		h.awaitCompleted(id)
	}
}

func TestDelayedJobStartsWhenDue(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	h.inTime("a delayed job", func() time.Duration {
		due := h.job(h.add(rota.NewJob{Delay: 200 * time.Millisecond})[0]).RunAt
		return h.job(s.awaitStart(h).ID).StartedAt.Sub(due)
	})
}

func TestRateDelaysThirdJob(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 2, Per: time.Second}}},
	}})
	began := time.Now()
	h.add(make([]rota.NewJob, 3)...)
	for range 3 {
		s.awaitStart(h)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the third started after %v; the rate is two a second", took)
	}
}

func TestTypeConcurrencyIsNotExceeded(t *testing.T) {
	h := newHarness(t)
	var now counter[string]
	done := make(chan struct{}, 20)
	h.start(registry(func(context.Context, *rota.Job) error {
		if n := now.add("runs", 1); n > 2 {
			t.Errorf("%d run at once", n)
		}
		time.Sleep(time.Millisecond)
		now.add("runs", -1)
		done <- struct{}{}
		return nil
	}, engine.WithConcurrency(2)), engine.Config{Workers: 8})
	h.add(make([]rota.NewJob, 20)...)
	for range 20 {
		h.await(done, "a run")
	}
}

func TestJobWaitingForRetryHoldsNoConcurrency(t *testing.T) {
	h := newHarness(t)
	h.start(registry(func(_ context.Context, job *rota.Job) error {
		if job.UniqueKey == "unlucky" {
			return errors.New("no luck")
		}
		return nil
	}, engine.WithConcurrency(1)), engine.Config{})
	ids := h.add(rota.NewJob{UniqueKey: "unlucky", Backoff: new(time.Hour)}, rota.NewJob{})
	if first, second := h.awaitEnded(ids[0]), h.awaitEnded(ids[1]); first.Sequel != rota.SequelRetry || second.State() != rota.StateCompleted {
		t.Errorf("%s, %s", first.Sequel, second.State())
	}
}

func TestManyJobsDueAtOnceAllRun(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{Workers: 1_000})
	ids := h.add(slices.Repeat([]rota.NewJob{{Delay: time.Hour}}, rota.SweepMax+20)...) // more than one Ready readies
	h.clock.set(2 * time.Hour)
	for _, id := range ids {
		h.awaitCompleted(id)
	}
}

func TestTwoEnginesStartEachJobOnce(t *testing.T) {
	h := newHarness(t)
	var starts counter[rota.ID]
	both := make(chan struct{})
	var here counter[string]
	handler := func(name string) *engine.Registry {
		return registry(func(_ context.Context, job *rota.Job) error {
			starts.add(job.ID, 1)
			if here.add(name, 1) == 1 && here.add("names", 1) == 2 {
				close(both)
			}
			h.await(both, "the other engine")
			return nil
		})
	}
	ids := h.add(make([]rota.NewJob, 100)...)
	for _, name := range []string{"a", "b"} {
		h.start(handler(name), engine.Config{Name: name, Workers: 4})
	}
	for _, id := range ids {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || starts.get(id) != 1 || h.events.starts(id) != 1 {
			t.Fatalf("job %s: %s, ran %d times, started %d times", id, job.State(), starts.get(id), h.events.starts(id))
		}
	}
}

func TestEngineRunsOnce(t *testing.T) {
	h := newHarness(t)
	r := h.start(registry(newControlledHandler().handle), engine.Config{})
	if err := r.shutdown(); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background()); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("a second Run: %v, want Conflict", err)
	}
}

func TestBuiltinTypes(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Builtins(reg)
	h.start(reg, engine.Config{})
	ids := h.add(
		rota.NewJob{Type: "noop", Params: json.RawMessage(`{"whatever":1}`)},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"20ms"}`)},
		rota.NewJob{Type: "fail", Params: json.RawMessage(`{"message":"so be it","permanent":true}`)},
		rota.NewJob{Type: "fail"},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"1 HOUR"}`), Timeout: new(50 * time.Millisecond)},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"a while"}`)},
	)
	for i, want := range []rota.State{
		rota.StateCompleted, rota.StateCompleted, rota.StateFailed, rota.StateFailed, rota.StateFailed, rota.StateFailed,
	} {
		if job := h.awaitEnded(ids[i]); job.State() != want {
			t.Errorf("%s: %s %s, want %s", job.Type, job.State(), job.Run.Error, want)
		}
	}
	if job := h.job(ids[2]); job.Run.Error != "so be it" || job.Sequel != rota.SequelDead {
		t.Errorf("fail: %q, %s", job.Run.Error, job.Sequel)
	}
}
