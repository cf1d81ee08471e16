package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// reapAll lets the leases of all other workers expire, and reaps them.
func (h *harness) reapAll() []rota.Settlement {
	h.Helper()
	h.clock.set(2 * rota.LeaseMax)
	return mustApply[*rota.Reaped](h, &rota.Reap{Meta: meta()}).Jobs
}

func TestLostLeaseStopsHandlerAndKeepsNextAttempt(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		causes := make(chan error, 1)
		r := h.start(registry(func(ctx context.Context, job *rota.Job) error {
			err := s.handle(ctx, job)
			_ = engine.Result(ctx, job.Attempt)
			if job.Attempt == 1 {
				causes <- err
				return nil // its result must not count
			}
			return err
		}), engine.Config{Lease: h.lease})
		id := h.addOne()
		s.awaitStart(h)
		if stolen := h.reapAll(); len(stolen) != 1 || stolen[0].JobID != id {
			h.Fatalf("reaped: %+v", stolen)
		}
		second := s.awaitStart(h)
		if second.RetryOf != id {
			h.Fatalf("job %s started", second.ID)
		}
		select {
		case err := <-causes:
			if err == nil || err.Error() != "the lease of the run was lost" {
				h.Errorf("the cause was %v", err)
			}
		case <-time.After(waitMax):
			h.Fatal("the first attempt was not stopped")
		}
		s.finish(h, nil)
		if job := h.awaitEnded(second.ID); job.State() != rota.StateCompleted || string(job.Run.Result) != "2" {
			h.Errorf("%s, %s", job.State(), job.Run.Result)
		}
		if run := h.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeLeaseExpired || run.Result != nil {
			h.Errorf("the first: %s, %q, %s", run.Outcome, run.ErrorCode, run.Result)
		}
		h.eventually("nothing runs", func() bool { return r.Snapshot().Running == 0 })
		if got := r.Snapshot(); got.LeaseLost != 1 || got.Abandoned != 0 || h.log.count("level=ERROR", "lease", "job="+id.String()) == 0 {
			h.Errorf("%+v", got)
		}
	})
}

// A suspended process continues and does not know yet that it lost its lease.
func TestEndOfRunWithLostLeaseIsDropped(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Lease: time.Hour})
		id := h.addOne()
		s.awaitStart(h)
		h.reapAll()
		second := s.awaitStart(h)
		s.results <- nil // for either run
		s.results <- nil
		if job := h.awaitEnded(second.ID); job.State() != rota.StateCompleted {
			t.Errorf("the second: %s", job.State())
		}
		h.eventually("the lost lease is counted", func() bool { return r.Snapshot().LeaseLost == 1 })
		if run := h.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeLeaseExpired {
			t.Errorf("the first: %s, %q", run.Outcome, run.ErrorCode)
		}
		h.eventually("its slot is free", func() bool { return r.Snapshot().Running == 0 })
	})
}

func TestRecoverRetriesJobsOfEarlierIncarnation(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		left, others := h.addOne(), h.addOne()
		for _, name := range []string{"kitchen", "cellar"} {
			mustApply[*rota.Claimed](h, &rota.Claim{
				Meta: meta(), Worker: name, Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
			})
		}
		s := newControlledHandler()
		h.start(registry(s.handle), engine.Config{Name: "kitchen"})
		if again := s.awaitStart(h); again.RetryOf != left || h.job(left).Run.Outcome != rota.OutcomeFailed {
			t.Errorf("job %s started, a retry of %s", again.ID, again.RetryOf)
		}
		if h.job(others).Ended() {
			t.Error("the run of another process was touched")
		}
	})
}

func TestReaperFailsStaleRunsOfOthers(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		id := h.addOne()
		mustApply[*rota.Claimed](h, &rota.Claim{
			Meta: meta(), Worker: "dead", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: h.lease, Seed: rota.NewToken(),
		})
		s := newControlledHandler()
		h.start(registry(s.handle), engine.Config{Lease: h.lease})
		if again := s.awaitStart(h); again.RetryOf != id {
			h.Errorf("job %s started", again.ID)
		}
		if run := h.job(id).Run; run.ErrorCode != rota.CodeLeaseExpired {
			h.Errorf("%q", run.ErrorCode)
		}
	})
}
