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

func TestAShutdownSeesWorkThroughAndLeavesTheQueueAsItWas(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Workers: 1})
	id := w.addOne()
	s.next(w)
	w.add(rota.NewJob{}, rota.NewJob{Priority: new(3)}, rota.NewJob{Delay: time.Hour}, rota.NewJob{})
	before := w.queue()
	r.stop()
	w.add(rota.NewJob{Priority: new(-1)}) // others go on
	s.end <- nil
	w.comes(r.over, "the end of the engine")
	if r.err != nil {
		t.Error(r.err)
	}
	if job := w.job(id); job.State() != rota.StateCompleted {
		t.Errorf("what ran is %s", job.State())
	}
	s.nobody(w)
	same := func(a, b *rota.Job) bool { return a.ID == b.ID && a.Position == b.Position && a.Attempt == b.Attempt }
	if after := w.queue(); len(after) != 4 || !slices.EqualFunc(before, after[:3], same) {
		t.Errorf("the queue was %v and is %v", before, after)
	}
}

func TestWhatOutlastsTheGraceIsCutOffAndRetriedAtOnce(t *testing.T) {
	w := newWorld(t)
	causes := make(chan error, 1)
	began := make(chan struct{})
	r := w.start(registry(func(ctx context.Context, _ *rota.Job) error {
		close(began)
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return rota.Permanent(ctx.Err()) // which it would not have said had it been left alone
	}), engine.Config{ShutdownGrace: 50 * time.Millisecond})
	id := w.add(rota.NewJob{})[0]
	w.comes(began, "the run")
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if cause := <-causes; cause.Error() != "the process is shutting down" {
		t.Errorf("it was stopped because %v", cause)
	}
	job := w.job(id)
	if run := job.Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown || job.Sequel != rota.SequelRetry {
		t.Fatalf("%s, %q, %s", run.Outcome, run.ErrorCode, job.Sequel)
	}
	if retry := w.retryOf(id); retry.RunAt.After(w.clock.now()) || retry.Run != nil {
		t.Errorf("the retry is due at %s", retry.RunAt)
	}
}

func TestACutEndsTheGraceAtOnce(t *testing.T) {
	w := newWorld(t)
	s := newStubborn(w)
	r := w.start(registry(s.play), engine.Config{ShutdownGrace: time.Hour})
	id := w.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.began
	r.stop()
	r.Cut()
	r.Cut()
	w.comes(r.over, "the end of the engine")
	if run := w.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%s, %q", run.Outcome, run.ErrorCode)
	}
}

// A claim is under way when the process is cut off: what it brings is cut off,
// too, and not left running.
func TestAClaimUnderWayIsCutOffToo(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	g := newGate(rota.VerbClaim)
	id := w.addOne()
	r := w.startOn(wrap.Flaky(w.store, g.after()), registry(s.play), engine.Config{ShutdownGrace: time.Hour})
	w.comes(g.reached, "the claim")
	r.stop()
	r.Cut()
	w.rest(20 * time.Millisecond) // for the cut to come first, which nobody signals
	close(g.open)
	w.comes(r.over, "the end of the engine")
	if r.err != nil {
		t.Error(r.err)
	}
	if run := w.job(id).Run; run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%q", run.ErrorCode)
	}
}

func TestACancelledRunStaysCancelledInAShutdown(t *testing.T) {
	w := newWorld(t)
	s := newStubborn(w)
	r := w.start(registry(s.play), engine.Config{ShutdownGrace: time.Millisecond, CancelGrace: time.Hour})
	id := w.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.began
	w.cancel(id)
	r.stop()
	w.comes(r.over, "the end of the engine")
	if job := w.job(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
		t.Errorf("%s, %q", job.Run.Outcome, job.Run.ErrorCode)
	}
}

func TestAnEngineThatIsStoppedBeforeItStartsEnds(t *testing.T) {
	w := newWorld(t)
	p := &power{}
	p.off.Store(true)
	r := w.launch(wrap.Flaky(w.store, p.fault()), registry(newStage().play), engine.Config{})
	w.until("it waits for the store", func() bool { return p.denied.Load() > 0 })
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if _, err := r.Direct(context.Background(), rota.NewJob{Type: "work"}, 0); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("a direct run: %v", err)
	}
}

// What cannot be recorded must neither hang the process nor be forgotten.
func TestAStoreThatStaysAwayIsGivenUp(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	p := &power{}
	r := w.startOn(wrap.Flaky(w.store, p.fault()), registry(s.play), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetRecordGrace(50 * time.Millisecond)
	answers := r.direct(context.Background(), "direct", 0)
	direct := s.next(w).ID
	p.off.Store(true)
	if err := r.shutdown(); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("%v", err)
	}
	if a := w.hears(answers); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("the caller hears %+v", a)
	}
	w.start(registry(s.play), engine.Config{}) // the next life settles it
	if job := w.job(direct); job.State() != rota.StateFailed {
		t.Errorf("%s", job.State())
	}
	if w.active() != nil {
		t.Error("still reserved")
	}
}

func TestAClaimThatIsNotAnsweredIsGivenUp(t *testing.T) {
	w := newWorld(t)
	p := &power{}
	r := w.startOn(wrap.Flaky(w.store, p.fault()), registry(newStage().play), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetRecordGrace(50 * time.Millisecond)
	p.off.Store(true)
	w.addOne()
	w.until("it claims", func() bool { return p.denied.Load() > 0 })
	if err := r.shutdown(); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "did not answer a claim") {
		t.Errorf("%v", err)
	}
}

func TestAStoreThatIsAwayAtTheEndDelaysItAndLosesNothing(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	p := &power{}
	r := w.startOn(wrap.Flaky(w.store, p.fault()), registry(s.play), engine.Config{})
	good, bad := w.addOne(), w.add(rota.NewJob{})[0]
	if first := s.next(w); first.ID != good {
		good, bad = bad, good
	}
	s.next(w)
	p.off.Store(true)
	r.stop()
	s.end <- nil
	s.end <- errors.New("no luck")
	w.until("the end was sent in vain", func() bool { return p.denied.Load() > 2 })
	p.off.Store(false)
	w.comes(r.over, "the end of the engine")
	states := []rota.State{w.job(good).State(), w.job(bad).State()}
	slices.Sort(states)
	if r.err != nil || !slices.Equal(states, []rota.State{rota.StateCompleted, rota.StateFailed}) {
		t.Errorf("%v, %v", r.err, states)
	}
}

func TestACutAfterTheGraceDoesNotWaitForStubbornHandlers(t *testing.T) {
	w := newWorld(t)
	began, let := make(chan struct{}), make(chan struct{})
	defer close(let)
	r := w.start(registry(func(context.Context, *rota.Job) error {
		close(began)
		<-let
		return nil
	}), engine.Config{ShutdownGrace: time.Millisecond})
	r.SetCutGrace(time.Hour)
	id := w.addOne()
	w.comes(began, "the run")
	r.stop()
	w.rest(20 * time.Millisecond) // the grace is over, and the last hour runs
	r.Cut()
	w.comes(r.over, "the end of the engine")
	if run := w.job(id).Run; run.ErrorCode != rota.CodeShutdown {
		t.Errorf("%s %q", run.Outcome, run.ErrorCode)
	}
}
