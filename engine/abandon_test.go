package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// stubborn ignores its context until it is let go, and then has much to say.
type stubborn struct {
	began chan *rota.Job
	letGo chan struct{}
}

func newStubborn(w *world) *stubborn {
	s := &stubborn{began: make(chan *rota.Job, 100), letGo: make(chan struct{})}
	w.Cleanup(func() {
		select {
		case <-s.letGo:
		default:
			close(s.letGo)
		}
	})
	return s
}

func (s *stubborn) play(ctx context.Context, job *rota.Job) error {
	s.began <- job
	if job.UniqueKey == "" {
		return nil
	}
	engine.Log(ctx).Info("in time")
	<-s.letGo
	engine.Log(ctx).Info("too late")
	_ = engine.Artifact(ctx, "too/late")
	_ = engine.Progress(ctx, "too late")
	return errors.Join(engine.Result(ctx, "too late"), errors.New("too late"))
}

func TestAHandlerThatIgnoresItsContextIsGivenUp(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		s, shelf := newStubborn(w), newShelf()
		r := w.start(registry(s.play, engine.WithTimeout(20*time.Millisecond)), engine.Config{Workers: 1, CancelGrace: 30 * time.Millisecond, Logs: shelf})
		id := w.add(rota.NewJob{UniqueKey: "stubborn"})[0]
		job := w.ended(id)
		if run := job.Run; run.Outcome != rota.OutcomeCancelled || run.ErrorCode != rota.CodeTimeout || job.Sequel != rota.SequelRetry {
			t.Errorf("%s, %q, %s", run.Outcome, run.ErrorCode, job.Sequel)
		}
		if next := w.ended(w.addOne()); next.State() != rota.StateCompleted {
			t.Errorf("the slot is not usable: %s", next.State())
		}
		if got := r.Snapshot(); got.Abandoned != 1 || w.log.count("level=ERROR", "was abandoned", "job="+id.String(), "type=work") != 1 {
			t.Errorf("%+v, %q", got, w.log.lines)
		}
		close(s.letGo)
		w.until("the handler has come back", func() bool { return r.Snapshot().Abandoned == 0 })
		w.until("its end is recorded", func() bool { return r.Snapshot().Running == 0 })
		if run := w.job(id).Run; run.Result != nil || run.Artifacts != nil || run.Progress != nil || run.Error != "the run exceeded its timeout" {
			t.Errorf("what came too late was kept: %s %s %s %s", run.Result, run.Artifacts, run.Progress, run.Error)
		}
		if text, closed := shelf.text(id); closed != 1 || text == "" || len(text) > 100 {
			t.Errorf("the log was closed %d times: %q", closed, text)
		}
	})
}

func TestACancelledHandlerThatIgnoresItIsGivenUp(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		s := newStubborn(w)
		w.start(registry(s.play), engine.Config{CancelGrace: 30 * time.Millisecond})
		id := w.add(rota.NewJob{UniqueKey: "stubborn"})[0]
		<-s.began
		w.cancel(id)
		if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled || job.Sequel != rota.SequelNone {
			t.Errorf("%s, %q, %s", job.Run.Outcome, job.Run.ErrorCode, job.Sequel)
		}
	})
}

// It is asked to stop with every beat: that must not grant it the grace anew.
func TestBeingAskedAgainProlongsNoGrace(t *testing.T) {
	w := newWorld(t)
	s := newStubborn(w)
	w.start(registry(s.play), engine.Config{CancelGrace: time.Second, Lease: shortLease})
	id := w.add(rota.NewJob{UniqueKey: "stubborn"})[0]
	<-s.began
	w.cancel(id)
	if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestAHandlerGivenUpThatPanicsLaterHarmsNobody(t *testing.T) {
	w := newWorld(t)
	letGo := make(chan struct{})
	r := w.start(registry(func(context.Context, *rota.Job) error {
		<-letGo
		panic("much later")
	}, engine.WithTimeout(time.Millisecond)), engine.Config{CancelGrace: time.Millisecond})
	id := w.add(rota.NewJob{MaxRetries: new(0)})[0]
	w.ended(id)
	close(letGo)
	w.until("the handler has come back", func() bool { return r.Snapshot().Abandoned == 0 })
	if run := w.job(id).Run; run.ErrorCode != rota.CodeTimeout {
		t.Errorf("%q: %s", run.ErrorCode, run.Error)
	}
}
