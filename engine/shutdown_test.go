package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

func TestShutdownCompletesRunsAndKeepsQueue(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Workers: 1})
	id := h.addOne()
	s.awaitStart(h)
	h.add(rota.NewJob{}, rota.NewJob{Priority: new(3)}, rota.NewJob{Delay: time.Hour}, rota.NewJob{})
	before := h.queue()
	r.stop()
	h.add(rota.NewJob{Priority: new(-1)}) // other processes continue
	s.results <- nil
	h.await(r.done, "the end of the engine")
	if r.err != nil {
		t.Error(r.err)
	}
	if job := h.job(id); job.State() != rota.StateCompleted {
		t.Errorf("the run is %s", job.State())
	}
	s.checkNoneStarted(h)
	same := func(a, b *rota.Job) bool { return a.ID == b.ID && a.Position == b.Position && a.Attempt == b.Attempt }
	if after := h.queue(); len(after) != 4 || !slices.EqualFunc(before, after[:3], same) {
		t.Errorf("the queue was %v and is %v", before, after)
	}
}

func TestRunBeyondShutdownGraceIsCutOffAndRetried(t *testing.T) {
	h := newHarness(t)
	causes := make(chan error, 1)
	began := make(chan struct{})
	r := h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		close(began)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return rota.Permanent(ctx.Err()) // the engine ignores that it is permanent
	}), engine.Config{ShutdownGrace: 50 * time.Millisecond})
	id := h.add(rota.NewJob{})[0]
	h.await(began, "the run")
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if cause := <-causes; cause.Error() != "the process is shutting down" {
		t.Errorf("the cause was %v", cause)
	}
	job := h.job(id)
	if run := job.Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown || job.Sequel != rota.SequelRetry {
		t.Fatalf("%s, %q, %s", run.Outcome, run.ErrorCode, job.Sequel)
	}
	if retry := h.awaitRetry(id); retry.RunAt.After(h.clock.now()) || retry.Run != nil {
		t.Errorf("the retry is due at %s", retry.RunAt)
	}
}

func TestCutEndsGraceAtOnce(t *testing.T) {
	h := newHarness(t)
	s := newIgnoresCancel(h)
	r := h.start(registry(s.handle), engine.Config{ShutdownGrace: time.Hour})
	id := h.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.started
	r.stop()
	r.Cut()
	r.Cut()
	h.await(r.done, "the end of the engine")
	if run := h.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%s, %q", run.Outcome, run.ErrorCode)
	}
}

// A claim is in flight when the engine is cut: the jobs that it brings are cut off, too.
func TestCutAppliesToClaimInFlight(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	g := newGate(rota.VerbClaim)
	id := h.addOne()
	r := h.startOn(wrap.Flaky(h.store, g.after()), registry(s.handle), engine.Config{ShutdownGrace: time.Hour})
	h.await(g.reached, "the claim")
	r.stop()
	r.Cut()
	h.pause(20 * time.Millisecond) // for the cut to happen first, which no channel signals
	close(g.open)
	h.await(r.done, "the end of the engine")
	if r.err != nil {
		t.Error(r.err)
	}
	if run := h.job(id).Run; run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%q", run.ErrorCode)
	}
}

func TestCancelledRunStaysCancelledDuringShutdown(t *testing.T) {
	h := newHarness(t)
	s := newIgnoresCancel(h)
	r := h.start(registry(s.handle), engine.Config{ShutdownGrace: time.Millisecond, CancelGrace: time.Hour})
	id := h.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.started
	h.cancel(id)
	r.stop()
	h.await(r.done, "the end of the engine")
	if job := h.job(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
		t.Errorf("%s, %q", job.Run.Outcome, job.Run.ErrorCode)
	}
}

func TestEngineStoppedBeforeStartEnds(t *testing.T) {
	h := newHarness(t)
	p := &outageSwitch{}
	p.off.Store(true)
	r := h.launch(wrap.Flaky(h.store, p.fault()), registry(newControlledHandler().handle), engine.Config{})
	h.eventually("it waits for the store", func() bool { return p.refused.Load() > 0 })
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if _, err := r.Direct(context.Background(), rota.NewJob{Type: "work"}, 0); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("a direct run: %v", err)
	}
}

// Ends that cannot be recorded neither block the process nor are lost.
func TestShutdownWithoutStoreEndsWithError(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	p := &outageSwitch{}
	r := h.startOn(wrap.Flaky(h.store, p.fault()), registry(s.handle), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetRecordGrace(50 * time.Millisecond)
	answers := r.direct(context.Background(), "direct", 0)
	direct := s.awaitStart(h).ID
	p.off.Store(true)
	if err := r.shutdown(); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("%v", err)
	}
	if a := h.awaitAnswer(answers); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("Direct returned %+v", a)
	}
	h.start(registry(s.handle), engine.Config{}) // the next incarnation settles it
	if job := h.job(direct); job.State() != rota.StateFailed {
		t.Errorf("%s", job.State())
	}
	if h.activeReservation() != nil {
		t.Error("still reserved")
	}
}

func TestShutdownWithUnansweredClaimEndsWithError(t *testing.T) {
	h := newHarness(t)
	p := &outageSwitch{}
	r := h.startOn(wrap.Flaky(h.store, p.fault()), registry(newControlledHandler().handle), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetRecordGrace(50 * time.Millisecond)
	p.off.Store(true)
	h.addOne()
	h.eventually("it claims", func() bool { return p.refused.Load() > 0 })
	if err := r.shutdown(); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "did not answer a claim") {
		t.Errorf("%v", err)
	}
}

func TestShutdownWaitsForStoreToReturn(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	p := &outageSwitch{}
	r := h.startOn(wrap.Flaky(h.store, p.fault()), registry(s.handle), engine.Config{})
	good, bad := h.addOne(), h.add(rota.NewJob{})[0]
	if first := s.awaitStart(h); first.ID != good {
		good, bad = bad, good
	}
	s.awaitStart(h)
	p.off.Store(true)
	r.stop()
	s.results <- nil
	s.results <- errors.New("no luck")
	h.eventually("the end was sent without success", func() bool { return p.refused.Load() > 2 })
	p.off.Store(false)
	h.await(r.done, "the end of the engine")
	states := []rota.State{h.job(good).State(), h.job(bad).State()}
	slices.Sort(states)
	if r.err != nil || !slices.Equal(states, []rota.State{rota.StateCompleted, rota.StateFailed}) {
		t.Errorf("%v, %v", r.err, states)
	}
}

func TestCutAfterGraceDoesNotWaitForHandlers(t *testing.T) {
	h := newHarness(t)
	began, let := make(chan struct{}), make(chan struct{})
	defer close(let)
	r := h.start(registry(func(context.Context, *rota.Job) error {
		close(began)
		<-let
		return nil
	}), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetCutGrace(time.Hour)
	id := h.addOne()
	h.await(began, "the run")
	r.stop()
	h.pause(20 * time.Millisecond) // until the shutdown grace is over
	r.Cut()
	h.await(r.done, "the end of the engine")
	if run := h.job(id).Run; run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%s %q", run.Outcome, run.ErrorCode)
	}
}
