package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// reapContinuously reaps every stale lease for longer than a lease lasts, as another
// process would.
func (h *harness) reapContinuously() {
	h.Helper()
	for end := time.Now().Add(h.lease + h.lease/3); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if stolen := mustApply[*rota.Reaped](h, &rota.Reap{Meta: meta()}).Jobs; len(stolen) > 0 {
			h.Fatalf("a lease went stale: %+v", stolen)
		}
	}
}

// shortLease is longer than the minimum, so that a busy machine does not lose it.
const shortLease = 2 * rota.LeaseMin

// Only the heartbeat shows that a run without a timeout is alive.
func TestHeartbeatExtendsLeaseWhileHandlerRuns(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		h.start(registry(s.handle), engine.Config{Lease: h.lease})
		id := h.add(rota.NewJob{Timeout: new(time.Duration(0))})[0]
		s.awaitStart(h)
		h.reapContinuously()
		s.finish(h, nil)
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || job.Attempt != 1 {
			h.Errorf("%s, attempt %d", job.State(), job.Attempt)
		}
	})
}

func TestHeartbeatContinuesDuringShutdown(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Lease: h.lease})
		id := h.addOne()
		s.awaitStart(h)
		r.stop()
		h.reapContinuously()
		s.finish(h, nil)
		h.await(r.done, "the end of the engine")
		if job := h.job(id); job.State() != rota.StateCompleted {
			h.Errorf("%s", job.State())
		}
	})
}

func TestFailedHeartbeatsAreRetriedBeforeLeaseEnds(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		var beats counter[string]
		store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) && beats.add("all", 1) <= 3 { // at every third of a lease the fourth would be too late
				return errDown
			}
			return nil
		}})
		h.startOn(store, registry(s.handle), engine.Config{Lease: h.lease})
		id := h.addOne()
		s.awaitStart(h)
		h.reapContinuously()
		h.eventually("leases are extended again", func() bool { return h.log.count("extended again") > 0 })
		s.finish(h, nil)
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted {
			h.Errorf("%s", job.State())
		}
		if failed, again := h.log.count("leases were not extended"), h.log.count("extended again"); failed != 1 || again != 1 {
			h.Errorf("the failure was logged %d times, its end %d times", failed, again)
		}
	})
}

// A process whose heartbeats do not arrive may still record the end.
func TestEngineNeverReapsItsOwnRuns(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbExtend) {
			return errDown
		}
		return nil
	}})
	h.startOn(store, registry(s.handle), engine.Config{Lease: rota.LeaseMin})
	id := h.addOne()
	s.awaitStart(h)
	stale := h.job(id).Run.StaleAfter.Add(rota.LeaseMin) // by then it has reaped
	h.eventually("the lease is stale", func() bool { return h.clock.now().After(stale) })
	s.results <- nil
	if job := h.awaitEnded(id); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
}

// While the end of a run cannot be recorded, its lease is still extended.
func TestHeartbeatExtendsLeaseUntilEndIsRecorded(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		var broken atomic.Bool
		broken.Store(true)
		store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
			if broken.Load() && hasVerb(b, rota.VerbFinish) {
				return errDown
			}
			return nil
		}})
		h.startOn(store, registry(s.handle), engine.Config{Lease: h.lease})
		id := h.addOne()
		s.awaitStart(h)
		s.finish(h, nil)
		h.reapContinuously()
		broken.Store(false)
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted {
			h.Errorf("%s", job.State())
		}
	})
}
