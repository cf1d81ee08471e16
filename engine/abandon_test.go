package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// ignoresCancel is a handler that ignores its context until it is released, and then
// writes and returns too late.
type ignoresCancel struct {
	started chan *rota.Job
	release chan struct{}
}

func newIgnoresCancel(h *harness) *ignoresCancel {
	s := &ignoresCancel{started: make(chan *rota.Job, 100), release: make(chan struct{})}
	h.Cleanup(func() {
		select {
		case <-s.release:
		default:
			close(s.release)
		}
	})
	return s
}

func (s *ignoresCancel) handle(ctx context.Context, job *rota.Job) error {
	s.started <- job
	if job.UniqueKey == "" {
		return nil
	}
	engine.Log(ctx).Info("in time")
	<-s.release
	engine.Log(ctx).Info("too late")
	_ = engine.Artifact(ctx, "too/late")
	_ = engine.Progress(ctx, "too late")
	return errors.Join(engine.Result(ctx, "too late"), errors.New("too late"))
}

func TestHandlerIgnoringTimeoutIsAbandoned(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		s, logs := newIgnoresCancel(h), newMemoryLogs()
		r := h.start(registry(s.handle, engine.WithTimeout(20*time.Millisecond)), engine.Config{Workers: 1, CancelGrace: 30 * time.Millisecond, Logs: logs})
		id := h.add(rota.NewJob{UniqueKey: "stubborn"})[0]
		job := h.awaitEnded(id)
		if run := job.Run; run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeTimeout || job.Sequel != rota.SequelRetry {
			t.Errorf("%s, %q, %s", run.Outcome, run.ErrorCode, job.Sequel)
		}
		if next := h.awaitEnded(h.addOne()); next.State() != rota.StateCompleted {
			t.Errorf("the slot was not freed: %s", next.State())
		}
		if got := r.Snapshot(); got.Abandoned != 1 || h.log.count("level=ERROR", "was abandoned", "job="+id.String(), "type=work") != 1 {
			t.Errorf("%+v, %q", got, h.log.lines)
		}
		close(s.release)
		h.eventually("the handler has returned", func() bool { return r.Snapshot().Abandoned == 0 })
		h.eventually("its end is recorded", func() bool { return r.Snapshot().Running == 0 })
		if run := h.job(id).Run; run.Result != nil || run.Artifacts != nil || run.Progress != nil || run.Error != "the run exceeded its timeout" {
			t.Errorf("late values were stored: %s %s %s %s", run.Result, run.Artifacts, run.Progress, run.Error)
		}
		if text, closed := logs.text(id); closed != 1 || text == "" || len(text) > 100 {
			t.Errorf("the log was closed %d times: %q", closed, text)
		}
	})
}

func TestHandlerIgnoringCancelIsAbandoned(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		s := newIgnoresCancel(h)
		h.start(registry(s.handle), engine.Config{CancelGrace: 30 * time.Millisecond})
		id := h.add(rota.NewJob{UniqueKey: "stubborn"})[0]
		<-s.started
		h.cancel(id)
		if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled || job.Sequel != rota.SequelNone {
			t.Errorf("%s, %q, %s", job.Run.Outcome, job.Run.ErrorCode, job.Sequel)
		}
	})
}

// Every heartbeat asks the run to stop again: that must not restart the grace.
func TestRepeatedCancelDoesNotExtendGrace(t *testing.T) {
	h := newHarness(t)
	s := newIgnoresCancel(h)
	h.start(registry(s.handle), engine.Config{CancelGrace: time.Second, Lease: shortLease})
	id := h.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.started
	h.cancel(id)
	if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestAbandonedHandlerThatPanicsLaterIsHarmless(t *testing.T) {
	h := newHarness(t)
	release := make(chan struct{})
	r := h.start(registry(func(context.Context, *rota.Job) error {
		<-release
		panic("much later")
	}, engine.WithTimeout(time.Millisecond)), engine.Config{CancelGrace: time.Millisecond})
	id := h.add(rota.NewJob{MaxRetries: new(0)})[0]
	h.awaitEnded(id)
	close(release)
	h.eventually("the handler has returned", func() bool { return r.Snapshot().Abandoned == 0 })
	if run := h.job(id).Run; run.ErrorCode != rota.CodeTimeout {
		t.Errorf("%q: %s", run.ErrorCode, run.Error)
	}
}
