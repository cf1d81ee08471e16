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

// runWithProgress runs a job that reports progress and then waits.
func runWithProgress(h *harness, store rota.Store, config engine.Config) rota.ID {
	h.Helper()
	s := newControlledHandler()
	h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		for i := range 100 {
			if err := engine.Progress(ctx, map[string]int{"done": i}); err != nil {
				return err
			}
		}
		return s.handle(ctx, job)
	}), config)
	id := h.addOne()
	s.awaitStart(h)
	return id
}

func TestProgressIsWrittenWhileJobRuns(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		var notes atomic.Int64
		counted := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbNote) {
				notes.Add(1)
			}
			return nil
		}})
		id := runWithProgress(h, counted, engine.Config{Lease: time.Hour}) // the first heartbeat would be after 20 minutes
		h.eventually("there is progress", func() bool { return h.job(id).Run.Progress != nil })
		if got := string(h.job(id).Run.Progress); got != `{"done":99}` {
			h.Errorf("progress %s, want the last", got)
		}
		if n := notes.Load(); n != 1 {
			h.Errorf("a hundred values were written in %d notes, want 1", n)
		}
	})
}

func TestUnwrittenProgressGoesWithNextHeartbeat(t *testing.T) {
	h := newHarness(t)
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbNote) {
			return errDown
		}
		return nil
	}})
	id := runWithProgress(h, store, engine.Config{Lease: 3 * time.Second})
	h.eventually("there is progress", func() bool { return fmt.Sprint(string(h.job(id).Run.Progress)) == `{"done":99}` })
}

// A handler that reports progress all the time must not fill the log during an outage.
func TestProgressOutageIsLoggedOnce(t *testing.T) {
	h := newHarness(t)
	var off atomic.Bool
	var denied atomic.Int64
	off.Store(true)
	h.startOn(wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbNote) && off.Load() {
			denied.Add(1)
			return errDown
		}
		return nil
	}}), registry(func(ctx context.Context, _ *rota.Job) error {
		for i := 0; ctx.Err() == nil; i++ {
			_ = engine.Progress(ctx, i)
			time.Sleep(10 * time.Millisecond) // the work
		}
		return nil
	}), engine.Config{CancelGrace: time.Second, ShutdownGrace: time.Millisecond})
	h.addOne()
	h.eventually("writes of progress have failed", func() bool { return denied.Load() > 2 })
	off.Store(false)
	h.eventually("progress is written", func() bool { return h.log.count("progress is written again") == 1 })
	if n := h.log.count("progress was not written"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestLastProgressOfShortRunIsKept(t *testing.T) {
	h := newHarness(t)
	h.start(registry(func(ctx context.Context, _ *rota.Job) error {
		return engine.Progress(ctx, "all of it")
	}), engine.Config{})
	id := h.addOne()
	h.eventually("it has ended", func() bool { return h.job(id).Ended() })
	if run := h.job(id).Run; string(run.Progress) != `"all of it"` || run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%s, progress %s", run.Outcome, run.Progress)
	}
}
