package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// sharedConfig configures an engine on a shared store. It has one slot, so that a slot
// that is not returned blocks the test.
func (h *harness) sharedConfig() engine.Config {
	return engine.Config{Membership: &fakeMembership{}, Lease: h.lease, Workers: 1}
}

// checkFirstNotStarted checks that the first attempt failed without starting, and that
// the second runs.
func (h *harness) checkFirstNotStarted(s *controlledHandler, id rota.ID) {
	h.Helper()
	if second := s.awaitStart(h); second.RetryOf != id {
		h.Errorf("job %s started, attempt %d of %s", second.ID, second.Attempt, id)
	}
	if run := h.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown {
		h.Errorf("the first: %s, %q", run.Outcome, run.ErrorCode)
	}
}

// Another process may run the job by then.
func TestClaimAnsweredAfterLeaseEndedStartsNothing(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		g := newGate(rota.VerbClaim)
		id := h.addOne()
		h.startOn(wrap.Flaky(h.store, g.after()), registry(s.handle), h.sharedConfig())
		h.await(g.reached, "the claim")
		time.Sleep(h.lease)
		s.checkNoneStarted(h)
		close(g.open)
		h.checkFirstNotStarted(s, id)
	})
}

// The same for a piggybacked claim.
func TestPiggybackedClaimAnsweredAfterLeaseEndedStartsNothing(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		var piggybacked atomic.Int64
		late := func(b rota.Batch, _ []rota.Result) error {
			if hasVerb(b, rota.VerbEnqueue) && hasVerb(b, rota.VerbClaim) {
				piggybacked.Add(1)
				time.Sleep(h.lease)
			}
			return nil
		}
		store := wrap.Coalesce(wrap.Flaky(h.store, wrap.Fault{After: late}))
		h.startOn(store, registry(func(_ context.Context, job *rota.Job) error {
			s.started <- job
			return nil
		}), h.sharedConfig())
		for range 100 {
			h.pause(50 * time.Millisecond) // for the dispatcher to become idle, which no channel signals
			enqueued, err := rota.Do[*rota.Enqueued](h.Context(), store, &rota.Enqueue{
				Meta: meta(), Jobs: []rota.NewJob{{Type: "work", Backoff: new(time.Duration(0))}},
			})
			if err != nil {
				h.Fatal(err)
			}
			id := enqueued.Jobs[0].Job.ID
			if piggybacked.Load() > 0 {
				h.checkFirstNotStarted(s, id)
				return
			}
			s.awaitStart(h) // the dispatcher was not idle yet, and claimed the job itself
			h.awaitEnded(id)
		}
		h.Fatal("no claim was piggybacked on an enqueue")
	})
}

// The lease runs since the claim was first sent.
func TestResentClaimWhoseLeaseEndedStartsNothing(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		id := h.addOne()
		first := sync.OnceValue(time.Now)
		lost := func(b rota.Batch, _ []rota.Result) error {
			if hasVerb(b, rota.VerbClaim) && time.Since(first()) < h.lease {
				return errDown
			}
			return nil
		}
		h.startOn(wrap.Flaky(h.store, wrap.Fault{After: lost}), registry(s.handle), h.sharedConfig())
		h.checkFirstNotStarted(s, id)
	})
}

// A claim that did not reach the store for longer than a lease took no job meanwhile.
func TestOutageBeforeClaimCostsNoAttempt(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		p := &outageSwitch{}
		h.startOn(wrap.Flaky(h.store, p.fault()), registry(s.handle), h.sharedConfig())
		p.off.Store(true)
		id := h.addOne()
		h.eventually("a claim failed", func() bool { return p.refused.Load() > 0 })
		time.Sleep(h.lease + h.lease/10)
		p.off.Store(false)
		if job := s.awaitStart(h); job.ID != id {
			h.Errorf("attempt %d started, of job %s", job.Attempt, job.RetryOf)
		}
	})
}

// A process may be suspended between the answer to its claim and the start.
func TestRunDelayedPastItsLeaseDoesNotStart(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		id := h.addOne()
		job := mustApply[*rota.Claimed](h, &rota.Claim{
			Meta: meta(), Worker: "frozen", Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
		}).Jobs[0]
		r := h.start(registry(s.handle), h.sharedConfig())
		r.StartAfterLeaseEnded(job)
		h.checkFirstNotStarted(s, id)
	})
}

// By the clock of another process the lease may end earlier, and that process takes the job.
func TestRunStopsByTheClockSkewBeforeItsLeaseEnds(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		config := h.sharedConfig()
		config.ClockSkew = h.lease / 5
		down := func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) {
				return errDown
			}
			return nil
		}
		left := make(chan time.Duration, 1)
		h.startOn(wrap.Flaky(h.store, wrap.Fault{Before: down}), registry(func(ctx context.Context, job *rota.Job) error {
			<-ctx.Done()
			select {
			case left <- time.Until(job.Run.StaleAfter):
			default: // a later attempt
			}
			return context.Cause(ctx)
		}), config)
		h.addOne()
		switch ends := <-left; {
		case ends < config.ClockSkew:
			h.retryIfSlow("the run was stopped late")
			h.Errorf("the run was stopped %v before its lease ended, want %v", ends, config.ClockSkew)
		case ends > config.ClockSkew+h.lease/3:
			h.Errorf("the run was stopped %v before its lease ended", ends)
		}
	})
}

// In a store that is not shared no other process takes the job.
func TestLateClaimAnswerOfUnsharedStoreStartsJob(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	g := newGate(rota.VerbClaim)
	id := h.addOne()
	h.startOn(wrap.Flaky(h.store, g.after()), registry(s.handle), engine.Config{Lease: rota.LeaseMin})
	h.await(g.reached, "the claim")
	time.Sleep(rota.LeaseMin)
	close(g.open)
	if job := s.awaitStart(h); job.ID != id {
		t.Errorf("attempt %d started", job.Attempt)
	}
}
