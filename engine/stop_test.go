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

// untilTold waits for the end of its context, and then answers.
func untilTold(answer func(cause error) error) func(context.Context, *rota.Job) error {
	return func(ctx context.Context, _ *rota.Job) error {
		<-ctx.Done()
		return answer(context.Cause(ctx))
	}
}

func (w *world) cancel(id rota.ID) *rota.CancelledJob {
	w.Helper()
	return does[*rota.CancelledJob](w, &rota.Cancel{Meta: meta(), JobID: id, Reason: "enough"})
}

func TestARunOutOfTimeIsCancelledAndRetried(t *testing.T) {
	w := newWorld(t)
	w.start(registry(untilTold(func(cause error) error { return cause }), engine.WithTimeout(30*time.Millisecond)), engine.Config{})
	job := w.ended(w.add(rota.NewJob{})[0])
	run := job.Run
	if run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeTimeout || run.Error != "the run exceeded its timeout" {
		t.Errorf("%s, %q: %s", run.Outcome, run.ErrorCode, run.Error)
	}
	if job.Sequel != rota.SequelRetry || run.FinishedAt.Sub(run.StartedAt) < 30*time.Millisecond {
		t.Errorf("%s after %v", job.Sequel, run.FinishedAt.Sub(run.StartedAt))
	}
}

func TestARunThatCompletesAlthoughItsTimeRanOutHasCompleted(t *testing.T) {
	w := newWorld(t)
	w.start(registry(untilTold(func(error) error { return nil }), engine.WithTimeout(30*time.Millisecond)), engine.Config{})
	if job := w.ended(w.addOne()); job.State() != rota.StateCompleted || job.Run.ErrorCode != "" {
		t.Errorf("%s, %q", job.State(), job.Run.ErrorCode)
	}
}

func TestTheTimeoutOfAJobBeatsThatOfItsType(t *testing.T) {
	w := newWorld(t)
	w.start(registry(untilTold(func(cause error) error { return cause }), engine.WithTimeout(time.Hour)), engine.Config{})
	job := w.ended(w.add(rota.NewJob{Timeout: new(20 * time.Millisecond)})[0])
	if job.Run.ErrorCode != rota.CodeTimeout {
		t.Errorf("%q", job.Run.ErrorCode)
	}
}

func TestACancelArrivesAtOnce(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{Lease: time.Hour}) // by a beat it would take 20 minutes
	id := w.addOne()
	s.next(w)
	if !w.cancel(id).Stopping {
		t.Error("it is not stopping")
	}
	w.cancel(id) // a second one changes nothing
	job := w.ended(id)
	if run := job.Run; run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeCancelled || run.Error != "the run was cancelled" {
		t.Errorf("%s, %q: %s", run.Outcome, run.ErrorCode, run.Error)
	}
	if job.Sequel != rota.SequelNone {
		t.Errorf("%s, want no retry", job.Sequel)
	}
}

func TestACancelThatNobodyTellsComesWithABeat(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.startOn(deaf{w.store}, registry(s.play), engine.Config{Lease: time.Second})
	id := w.addOne()
	s.next(w)
	w.cancel(id)
	if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestACancelBeforeTheStartKeepsAJobFromStarting(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{Workers: 1})
	plug, waits := w.addOne(), w.addOne()
	s.next(w)
	if w.cancel(waits).Stopping {
		t.Error("it has started")
	}
	s.end <- nil
	w.ended(plug)
	last := w.addOne()
	if job := s.next(w); job.ID != last || w.seen.starts(waits) != 0 {
		t.Errorf("%s began; the cancelled one was started %d times", job.ID, w.seen.starts(waits))
	}
}

// The store has given the job away, and the engine has not heard of it yet.
func TestACancelBetweenTheClaimAndTheStartIsNotMissed(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	g := newGate(rota.VerbClaim)
	id, other := w.addOne(), w.addOne()
	w.startOn(wrap.Flaky(w.store, g.after()), registry(s.play), engine.Config{Lease: time.Hour})
	w.comes(g.reached, "the claim")
	if !w.cancel(id).Stopping {
		t.Fatal("it is not claimed")
	}
	close(g.open)
	if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
	if w.job(other).Ended() {
		t.Error("its neighbour was stopped, too")
	}
}

func TestACancelledRunThatCompletesHasCompleted(t *testing.T) {
	w := newWorld(t)
	began := make(chan struct{})
	w.start(registry(func(ctx context.Context, _ *rota.Job) error {
		close(began)
		<-ctx.Done()
		return engine.Result(ctx, "all done")
	}), engine.Config{})
	id := w.addOne()
	w.comes(began, "the run")
	w.cancel(id)
	if job := w.ended(id); job.State() != rota.StateCompleted || string(job.Run.Result) != `"all done"` {
		t.Errorf("%s, %s", job.State(), job.Run.Result)
	}
}

func TestACancelWhileTheEndIsWrittenChangesNoCompletion(t *testing.T) {
	for want, answer := range map[rota.Outcome]error{rota.OutcomeCompleted: nil, rota.OutcomeCancelled: errors.New("no luck")} {
		t.Run(string(want), func(t *testing.T) {
			w := newWorld(t)
			s := newStage()
			g := newGate(rota.VerbFinish)
			w.startOn(wrap.Flaky(w.store, g.before()), registry(s.play), engine.Config{})
			id := w.addOne()
			s.next(w)
			s.end <- answer
			w.comes(g.reached, "the end")
			w.cancel(id)
			close(g.open)
			if job := w.ended(id); job.Run.Outcome != want || job.Sequel != rota.SequelNone {
				t.Errorf("%s, %s; want %s and no retry", job.Run.Outcome, job.Sequel, want)
			}
		})
	}
}

func TestOnlyTheJobThatWasCancelledIsStopped(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{})
	one, two := w.addOne(), w.addOne()
	s.next(w)
	s.next(w)
	w.cancel(one)
	w.ended(one)
	s.end <- nil
	if job := w.ended(two); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}
