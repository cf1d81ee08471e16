package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// toldProgress runs a job that tells its progress and then waits to be let go.
func toldProgress(w *world, store rota.Store, config engine.Config) rota.ID {
	w.Helper()
	s := newStage()
	w.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		for i := range 100 {
			if err := engine.Progress(ctx, map[string]int{"done": i}); err != nil {
				return err
			}
		}
		return s.play(ctx, job)
	}), config)
	id := w.addOne()
	s.next(w)
	return id
}

func TestProgressIsSeenWhileTheJobRuns(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		var notes atomic.Int64
		counted := wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbNote) {
				notes.Add(1)
			}
			return nil
		}})
		id := toldProgress(w, counted, engine.Config{Lease: time.Hour}) // a beat would come after 20 minutes
		w.until("there is progress", func() bool { return w.job(id).Run.Progress != nil })
		if got := string(w.job(id).Run.Progress); got != `{"done":99}` {
			w.Errorf("progress %s, want the last", got)
		}
		if n := notes.Load(); n != 1 {
			w.Errorf("a hundred were written down in %d notes, want 1", n)
		}
	})
}

func TestProgressThatWasNotWrittenDownComesWithTheNextBeat(t *testing.T) {
	w := newWorld(t)
	store := wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbNote) {
			return errDown
		}
		return nil
	}})
	id := toldProgress(w, store, engine.Config{Lease: 3 * time.Second})
	w.until("there is progress", func() bool { return fmt.Sprint(string(w.job(id).Run.Progress)) == `{"done":99}` })
}

// A handler that tells its progress all the time must not fill the log of an
// outage.
func TestProgressThatIsNotWrittenDownIsLoggedOnce(t *testing.T) {
	w := newWorld(t)
	var off atomic.Bool
	var denied atomic.Int64
	off.Store(true)
	w.startOn(wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbNote) && off.Load() {
			denied.Add(1)
			return errDown
		}
		return nil
	}}), registry(func(ctx context.Context, _ *rota.Job) error {
		for i := 0; ctx.Err() == nil; i++ {
			_ = engine.Progress(ctx, i)
			time.Sleep(10 * time.Millisecond) // a step of the work
		}
		return nil
	}), engine.Config{CancelGrace: time.Second, ShutdownGrace: time.Millisecond})
	w.addOne()
	w.until("progress was told in vain", func() bool { return denied.Load() > 2 })
	off.Store(false)
	w.until("it is written down", func() bool { return w.log.count("progress is written again") == 1 })
	if n := w.log.count("progress was not written"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestTheLastProgressIsKeptOfARunThatEndsAtOnce(t *testing.T) {
	w := newWorld(t)
	w.start(registry(func(ctx context.Context, _ *rota.Job) error {
		return engine.Progress(ctx, "all of it")
	}), engine.Config{})
	id := w.addOne()
	w.until("it has ended", func() bool { return w.job(id).Ended() })
	if run := w.job(id).Run; string(run.Progress) != `"all of it"` || run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%s, progress %s", run.Outcome, run.Progress)
	}
}
