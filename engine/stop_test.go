package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// untilCancelled waits for the end of its context, and then returns answer.
func untilCancelled(answer func(cause error) error) func(context.Context, *rota.Job) error {
	return func(ctx context.Context, _ *rota.Job) error {
		<-ctx.Done()
		return answer(context.Cause(ctx))
	}
}

func (h *harness) cancel(id rota.ID) *rota.CancelledJob {
	h.Helper()
	return mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: id, Reason: "enough"})
}

func TestTimedOutRunIsFailedAndRetried(t *testing.T) {
	h := newHarness(t)
	h.start(registry(untilCancelled(func(cause error) error { return cause }), engine.WithTimeout(30*time.Millisecond)), engine.Config{})
	job := h.awaitEnded(h.add(rota.NewJob{})[0])
	run := job.Run
	if run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeTimeout || run.Error != "the run exceeded its timeout" {
		t.Errorf("%s, %q: %s", run.Outcome, run.ErrorCode, run.Error)
	}
	if job.State() != rota.StateFailed {
		t.Errorf("it is %s", job.State())
	}
	if job.Sequel != rota.SequelRetry || run.FinishedAt.Sub(run.StartedAt) < 30*time.Millisecond {
		t.Errorf("%s after %v", job.Sequel, run.FinishedAt.Sub(run.StartedAt))
	}
}

func TestRunCompletingAfterTimeoutIsCompleted(t *testing.T) {
	h := newHarness(t)
	h.start(registry(untilCancelled(func(error) error { return nil }), engine.WithTimeout(30*time.Millisecond)), engine.Config{})
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted || job.Run.ErrorCode != "" {
		t.Errorf("%s, %q", job.State(), job.Run.ErrorCode)
	}
}

func TestJobTimeoutOverridesTypeTimeout(t *testing.T) {
	h := newHarness(t)
	h.start(registry(untilCancelled(func(cause error) error { return cause }), engine.WithTimeout(time.Hour)), engine.Config{})
	job := h.awaitEnded(h.add(rota.NewJob{Timeout: new(20 * time.Millisecond)})[0])
	if job.Run.ErrorCode != rota.CodeTimeout {
		t.Errorf("%q", job.Run.ErrorCode)
	}
}

func TestCancelStopsRunAtOnce(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Lease: time.Hour}) // a heartbeat would take 20 minutes
	id := h.addOne()
	s.awaitStart(h)
	if !h.cancel(id).Stopping {
		t.Error("it is not stopping")
	}
	h.cancel(id) // a second one changes nothing
	job := h.awaitEnded(id)
	if run := job.Run; run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeCancelled || run.Error != "the run was cancelled" {
		t.Errorf("%s, %q: %s", run.Outcome, run.ErrorCode, run.Error)
	}
	if job.Sequel != rota.SequelNone {
		t.Errorf("%s, want no retry", job.Sequel)
	}
}

func TestCancelWithoutEventArrivesWithHeartbeat(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.startOn(noEvents{h.store}, registry(s.handle), engine.Config{Lease: time.Second})
	id := h.addOne()
	s.awaitStart(h)
	h.cancel(id)
	if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestCancelledQueuedJobDoesNotStart(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Workers: 1})
	plug, waits := h.addOne(), h.addOne()
	s.awaitStart(h)
	if h.cancel(waits).Stopping {
		t.Error("it has started")
	}
	s.results <- nil
	h.awaitEnded(plug)
	last := h.addOne()
	if job := s.awaitStart(h); job.ID != last || h.events.starts(waits) != 0 {
		t.Errorf("job %s started; the cancelled one was started %d times", job.ID, h.events.starts(waits))
	}
}

// The store has applied the claim, and its answer is still in flight.
func TestCancelBetweenClaimAndStartStopsRun(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	g := newGate(rota.VerbClaim)
	id, other := h.addOne(), h.addOne()
	h.startOn(wrap.Flaky(h.store, g.after()), registry(s.handle), engine.Config{Lease: time.Hour})
	h.await(g.reached, "the claim")
	if !h.cancel(id).Stopping {
		t.Fatal("it is not claimed")
	}
	close(g.open)
	if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
	if h.job(other).Ended() {
		t.Error("the other job was stopped, too")
	}
}

func TestCancelledRunThatCompletesIsCompleted(t *testing.T) {
	h := newHarness(t)
	began := make(chan struct{})
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		close(began)
		<-ctx.Done()
		return engine.Result(ctx, "all done")
	}), engine.Config{})
	id := h.addOne()
	h.await(began, "the run")
	h.cancel(id)
	if job := h.awaitEnded(id); job.State() != rota.StateCompleted || string(job.Run.Result) != `"all done"` {
		t.Errorf("%s, %s", job.State(), job.Run.Result)
	}
}

func TestCancelDuringFinishKeepsCompletion(t *testing.T) {
	for want, answer := range map[rota.Outcome]error{rota.OutcomeCompleted: nil, rota.OutcomeCancelled: errors.New("no luck")} {
		t.Run(string(want), func(t *testing.T) {
			h := newHarness(t)
			s := newControlledHandler()
			g := newGate(rota.VerbFinish)
			h.startOn(wrap.Flaky(h.store, g.before()), registry(s.handle), engine.Config{})
			id := h.addOne()
			s.awaitStart(h)
			s.results <- answer
			h.await(g.reached, "the end")
			h.cancel(id)
			close(g.open)
			if job := h.awaitEnded(id); job.Run.Outcome != want || job.Sequel != rota.SequelNone {
				t.Errorf("%s, %s; want %s and no retry", job.Run.Outcome, job.Sequel, want)
			}
		})
	}
}

func TestCancelStopsOnlyItsJob(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	one, two := h.addOne(), h.addOne()
	s.awaitStart(h)
	s.awaitStart(h)
	h.cancel(one)
	h.awaitEnded(one)
	s.results <- nil
	if job := h.awaitEnded(two); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}
