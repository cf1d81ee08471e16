package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// steal has the leases of all others go stale, and taken.
func (w *world) steal() []rota.Settlement {
	w.Helper()
	w.clock.set(2 * rota.LeaseMax)
	return does[*rota.Reaped](w, &rota.Reap{Meta: meta()}).Jobs
}

func TestAHandlerWhoseLeaseIsLostIsStoppedAndItsSuccessorUnharmed(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		causes := make(chan error, 1)
		r := w.start(registry(func(ctx context.Context, job *rota.Job) error {
			err := s.play(ctx, job)
			_ = engine.Result(ctx, job.Attempt)
			if job.Attempt == 1 {
				causes <- err
				return nil // it even says that all went well
			}
			return err
		}), engine.Config{Lease: w.lease})
		id := w.addOne()
		s.next(w)
		if stolen := w.steal(); len(stolen) != 1 || stolen[0].JobID != id {
			w.Fatalf("stolen: %+v", stolen)
		}
		second := s.next(w)
		if second.RetryOf != id {
			w.Fatalf("%s began", second.ID)
		}
		select {
		case err := <-causes:
			if err == nil || err.Error() != "the lease of the run was lost" {
				w.Errorf("it was stopped because %v", err)
			}
		case <-time.After(patience):
			w.Fatal("the first attempt was not stopped")
		}
		s.ends(w, nil)
		if job := w.ended(second.ID); job.State() != rota.StateCompleted || string(job.Run.Result) != "2" {
			w.Errorf("%s, %s", job.State(), job.Run.Result)
		}
		if run := w.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeLeaseExpired || run.Result != nil {
			w.Errorf("the first: %s, %q, %s", run.Outcome, run.ErrorCode, run.Result)
		}
		w.until("nothing runs", func() bool { return r.Snapshot().Running == 0 })
		if got := r.Snapshot(); got.LeaseLost != 1 || got.Abandoned != 0 || w.log.count("level=ERROR", "lease", "job="+id.String()) == 0 {
			w.Errorf("%+v", got)
		}
	})
}

// A frozen process comes back and knows nothing yet of what it lost.
func TestTheEndOfARunThatLostItsLeaseIsDropped(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Lease: time.Hour})
		id := w.addOne()
		s.next(w)
		w.steal()
		second := s.next(w)
		s.end <- nil // whose turn it is, nobody knows
		s.end <- nil
		if job := w.ended(second.ID); job.State() != rota.StateCompleted {
			t.Errorf("the second: %s", job.State())
		}
		w.until("it is noticed", func() bool { return r.Snapshot().LeaseLost == 1 })
		if run := w.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeLeaseExpired {
			t.Errorf("the first: %s, %q", run.Outcome, run.ErrorCode)
		}
		w.until("its slot is free", func() bool { return r.Snapshot().Running == 0 })
	})
}

func TestWhatAnEarlierLifeLeftIsRunAgain(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		left, others := w.addOne(), w.addOne()
		for _, name := range []string{"kitchen", "cellar"} {
			does[*rota.Claimed](w, &rota.Claim{
				Meta: meta(), Worker: name, Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
			})
		}
		s := newStage()
		w.start(registry(s.play), engine.Config{Name: "kitchen"})
		if again := s.next(w); again.RetryOf != left || w.job(left).Run.Outcome != rota.OutcomeFailed {
			t.Errorf("job %s began, a retry of %s", again.ID, again.RetryOf)
		}
		if w.job(others).Ended() {
			t.Error("the run of another process was touched")
		}
	})
}

func TestStaleLeasesOfOthersAreTaken(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		id := w.addOne()
		does[*rota.Claimed](w, &rota.Claim{
			Meta: meta(), Worker: "dead", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: w.lease, Seed: rota.NewToken(),
		})
		s := newStage()
		w.start(registry(s.play), engine.Config{Lease: w.lease})
		if again := s.next(w); again.RetryOf != id {
			w.Errorf("job %s began", again.ID)
		}
		if run := w.job(id).Run; run.ErrorCode != rota.CodeLeaseExpired {
			w.Errorf("%q", run.ErrorCode)
		}
	})
}
