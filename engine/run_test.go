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

func TestARunShowsWhatItDid(t *testing.T) {
	w := newWorld(t)
	shelf := newShelf()
	w.start(registry(func(ctx context.Context, job *rota.Job) error {
		engine.Log(ctx).Info("begun", "n", 7)
		_, _ = fmt.Fprintln(engine.Output(ctx), "raw line")
		engine.RowsAffected(ctx, 12)
		engine.ExitCode(ctx, 3)
		_ = engine.Artifact(ctx, "out/a.csv")
		_ = engine.Artifact(ctx, "out/\xff.csv")
		_ = engine.Result(ctx, "not this one")
		return engine.Result(ctx, map[string]any{"job": job.ID.String()})
	}), engine.Config{Name: "kitchen", Logs: shelf})
	id := w.addOne()
	job := w.ended(id)
	run := job.Run
	if job.State() != rota.StateCompleted || run.Runner != "kitchen" || run.Incarnation.IsZero() {
		t.Errorf("state %s by %q, life %s", job.State(), run.Runner, run.Incarnation)
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

func TestAHandlerTakesItsPayloadByValueOrByPointer(t *testing.T) {
	w := newWorld(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, p letter) error { return engine.Result(ctx, p.To) })
	engine.Handle(reg, func(ctx context.Context, p *parcel) error { return engine.Result(ctx, p.Grams) })
	if got := reg.Types(); !slices.Equal(got, []string{"letter", "parcel"}) {
		t.Errorf("types %q", got)
	}
	w.start(reg, engine.Config{})
	ids := w.add(
		rota.NewJob{Type: "letter", Params: json.RawMessage(`{"to":"ada"}`)},
		rota.NewJob{Type: "parcel", Params: json.RawMessage(`{"grams":5}`)},
		rota.NewJob{Type: "parcel", Params: json.RawMessage(`{"grams":0}`)}, // nothing is left of the one before
	)
	for i, want := range []string{`"ada"`, `5`, `0`} {
		if job := w.ended(ids[i]); string(job.Run.Result) != want {
			t.Errorf("job %d: %s %s, want %s", i, job.Run.Result, job.Run.Error, want)
		}
	}
}

func TestAHandlerKnowsItsJobAndKeepsItsIdempotencyKey(t *testing.T) {
	w := newWorld(t)
	keys := make(chan string, 3)
	w.start(registry(func(ctx context.Context, job *rota.Job) error {
		if engine.Job(ctx) != job {
			t.Error("Job is another")
		}
		keys <- engine.IdempotencyKey(ctx)
		if job.Attempt < 3 {
			return fmt.Errorf("attempt %d", job.Attempt)
		}
		return nil
	}), engine.Config{})
	first := w.addOne()
	second := w.retryOf(first)
	third := w.ended(w.retryOf(second.ID).ID)
	if third.State() != rota.StateCompleted || third.Attempt != 3 {
		t.Errorf("%s, attempt %d", third.State(), third.Attempt)
	}
	for range 3 {
		if key := <-keys; key != first.String() {
			t.Errorf("key %s, want %s", key, first)
		}
	}
}

func TestOutsideOfHandlersNothingIsToldToAnybody(t *testing.T) {
	ctx := context.Background()
	if engine.Job(ctx) != nil || engine.IdempotencyKey(ctx) != "" || engine.Log(ctx) != slog.Default() {
		t.Error("there is a job outside of handlers")
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

func TestOneWorkerRunsByPriorityThenByOrder(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{Workers: 1})
	plug := w.addOne()
	s.next(w)
	ids := w.add(
		rota.NewJob{Priority: new(0)}, rota.NewJob{Priority: new(5)}, rota.NewJob{Priority: new(-1)},
		rota.NewJob{Priority: new(5)}, rota.NewJob{Priority: new(0)},
	)
	s.end <- nil
	w.ended(plug)
	for _, want := range []int{1, 3, 0, 4, 2} {
		job := s.next(w)
		s.nobody(w) // one at a time
		if job.ID != ids[want] {
			t.Fatalf("job %d came, want %d", slices.Index(ids, job.ID), want)
		}
		s.end <- nil
		w.ended(job.ID)
	}
}

func TestAllSlotsAreUsedAtOnce(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Workers: 8})
	w.add(make([]rota.NewJob, 10)...)
	for range 8 {
		s.next(w)
	}
	if got := r.Snapshot(); got.Running != 8 || got.Workers != 8 {
		t.Errorf("%+v", got)
	}
	s.nobody(w)
	s.end <- nil
	s.next(w)
}

// A claim answers with so many bytes at most: those that did not fit must not
// wait for somebody else's job.
func TestJobsTooHeavyForOneClaimStartAllTheSame(t *testing.T) {
	w := newWorld(t)
	const n = rota.ClaimBytesMax/rota.ParamsMax + 4
	heavy := rota.NewJob{Params: json.RawMessage(`{"a":"` + string(bytes.Repeat([]byte("x"), rota.ParamsMax-10)) + `"}`)}
	var ids []rota.ID
	for range n / 12 {
		ids = append(ids, w.add(slices.Repeat([]rota.NewJob{heavy}, 12)...)...)
	}
	w.start(registry(done), engine.Config{Workers: n})
	for _, id := range ids {
		w.completes(id)
	}
}

func TestADelayedJobStartsWhenItIsDue(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{})
	w.soon("a delayed job", func() time.Duration {
		due := w.job(w.add(rota.NewJob{Delay: 200 * time.Millisecond})[0]).RunAt
		return w.job(s.next(w).ID).StartedAt.Sub(due)
	})
}

func TestARateLetsJobsStartAgain(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{})
	does[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 2, Per: time.Second}}},
	}})
	began := time.Now()
	w.add(make([]rota.NewJob, 3)...)
	for range 3 {
		s.next(w)
	}
	if took := time.Since(began); took < time.Second {
		t.Errorf("the third started after %v; two a second may", took)
	}
}

func TestNoMoreOfATypeRunThanItAllows(t *testing.T) {
	w := newWorld(t)
	var now tally[string]
	done := make(chan struct{}, 20)
	w.start(registry(func(context.Context, *rota.Job) error {
		if n := now.add("runs", 1); n > 2 {
			t.Errorf("%d run at once", n)
		}
		time.Sleep(time.Millisecond)
		now.add("runs", -1)
		done <- struct{}{}
		return nil
	}, engine.WithConcurrency(2)), engine.Config{Workers: 8})
	w.add(make([]rota.NewJob, 20)...)
	for range 20 {
		w.comes(done, "a run")
	}
}

func TestAJobThatWaitsForItsRetryHoldsNoPlace(t *testing.T) {
	w := newWorld(t)
	w.start(registry(func(_ context.Context, job *rota.Job) error {
		if job.UniqueKey == "unlucky" {
			return errors.New("no luck")
		}
		return nil
	}, engine.WithConcurrency(1)), engine.Config{})
	ids := w.add(rota.NewJob{UniqueKey: "unlucky", Backoff: new(time.Hour)}, rota.NewJob{})
	if first, second := w.ended(ids[0]), w.ended(ids[1]); first.Sequel != rota.SequelRetry || second.State() != rota.StateCompleted {
		t.Errorf("%s, %s", first.Sequel, second.State())
	}
}

func TestManyJobsThatBecomeDueAtOnceAllRun(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{Workers: 1_000})
	ids := w.add(slices.Repeat([]rota.NewJob{{Delay: time.Hour}}, rota.SweepMax+20)...) // more than one Ready makes ready
	w.clock.set(2 * time.Hour)
	for _, id := range ids {
		w.completes(id)
	}
}

func TestTwoEnginesShareTheWorkAndStartNothingTwice(t *testing.T) {
	w := newWorld(t)
	var starts tally[rota.ID]
	both := make(chan struct{})
	var here tally[string]
	handler := func(name string) *engine.Registry {
		return registry(func(_ context.Context, job *rota.Job) error {
			starts.add(job.ID, 1)
			if here.add(name, 1) == 1 && here.add("names", 1) == 2 {
				close(both)
			}
			w.comes(both, "the other engine")
			return nil
		})
	}
	ids := w.add(make([]rota.NewJob, 100)...)
	for _, name := range []string{"a", "b"} {
		w.start(handler(name), engine.Config{Name: name, Workers: 4})
	}
	for _, id := range ids {
		if job := w.ended(id); job.State() != rota.StateCompleted || starts.of(id) != 1 || w.seen.starts(id) != 1 {
			t.Fatalf("job %s: %s, ran %d times, started %d times", id, job.State(), starts.of(id), w.seen.starts(id))
		}
	}
}

func TestAnEngineRunsOnce(t *testing.T) {
	w := newWorld(t)
	r := w.start(registry(newStage().play), engine.Config{})
	if err := r.shutdown(); err != nil {
		t.Fatal(err)
	}
	if err := r.Run(context.Background()); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("a second Run: %v, want Conflict", err)
	}
}

func TestBuiltinTypesDoWhatTheySay(t *testing.T) {
	w := newWorld(t)
	reg := engine.NewRegistry()
	engine.Builtins(reg)
	w.start(reg, engine.Config{})
	ids := w.add(
		rota.NewJob{Type: "noop", Params: json.RawMessage(`{"whatever":1}`)},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"20ms"}`)},
		rota.NewJob{Type: "fail", Params: json.RawMessage(`{"message":"so be it","permanent":true}`)},
		rota.NewJob{Type: "fail"},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"1 HOUR"}`), Timeout: new(50 * time.Millisecond)},
		rota.NewJob{Type: "sleep", Params: json.RawMessage(`{"for":"a while"}`)},
	)
	for i, want := range []rota.State{
		rota.StateCompleted, rota.StateCompleted, rota.StateFailed, rota.StateFailed, rota.StateCancelled, rota.StateFailed,
	} {
		if job := w.ended(ids[i]); job.State() != want {
			t.Errorf("%s: %s %s, want %s", job.Type, job.State(), job.Run.Error, want)
		}
	}
	if job := w.job(ids[2]); job.Run.Error != "so be it" || job.Sequel != rota.SequelDead {
		t.Errorf("fail: %q, %s", job.Run.Error, job.Sequel)
	}
}
