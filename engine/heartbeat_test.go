package engine_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// besiege takes every lease that goes stale, for longer than one lasts, as an eager
// process elsewhere would.
func (w *world) besiege() {
	w.Helper()
	for end := time.Now().Add(w.lease + w.lease/3); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if stolen := does[*rota.Reaped](w, &rota.Reap{Meta: meta()}).Jobs; len(stolen) > 0 {
			w.Fatalf("a lease went stale: %+v", stolen)
		}
	}
}

// shortLease is longer than the shortest, so that a busy machine does not lose it.
const shortLease = 2 * rota.LeaseMin

// Nothing but its heart says that a run without a time-out is well.
func TestALeaseLastsAsLongAsTheHandler(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		w.start(registry(s.play), engine.Config{Lease: w.lease})
		id := w.add(rota.NewJob{Timeout: new(time.Duration(0))})[0]
		s.next(w)
		w.besiege()
		s.ends(w, nil)
		if job := w.ended(id); job.State() != rota.StateCompleted || job.Attempt != 1 {
			w.Errorf("%s, attempt %d", job.State(), job.Attempt)
		}
	})
}

func TestTheHeartBeatsDuringAShutdown(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Lease: w.lease})
		id := w.addOne()
		s.next(w)
		r.stop()
		w.besiege()
		s.ends(w, nil)
		w.comes(r.over, "the end of the engine")
		if job := w.job(id); job.State() != rota.StateCompleted {
			w.Errorf("%s", job.State())
		}
	})
}

func TestBeatsThatFailLoseNoLease(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		var beats tally[string]
		store := wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) && beats.add("all", 1) <= 3 { // at every third, the fourth would come too late
				return errDown
			}
			return nil
		}})
		w.startOn(store, registry(s.play), engine.Config{Lease: w.lease})
		id := w.addOne()
		s.next(w)
		w.besiege()
		w.until("leases are extended again", func() bool { return w.log.count("extended again") > 0 })
		s.ends(w, nil)
		if job := w.ended(id); job.State() != rota.StateCompleted {
			w.Errorf("%s", job.State())
		}
		if failed, again := w.log.count("leases were not extended"), w.log.count("extended again"); failed != 1 || again != 1 {
			w.Errorf("the failure was logged %d times, its end %d times", failed, again)
		}
	})
}

// A process whose beats do not come through may still be the one that records
// the end.
func TestAnEngineNeverTakesItsOwnRuns(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	store := wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbExtend) {
			return errDown
		}
		return nil
	}})
	w.startOn(store, registry(s.play), engine.Config{Lease: rota.LeaseMin})
	id := w.addOne()
	s.next(w)
	stale := w.job(id).Run.StaleAfter.Add(rota.LeaseMin) // by then it has looked for stale ones
	w.until("the lease is stale", func() bool { return w.clock.now().After(stale) })
	s.end <- nil
	if job := w.ended(id); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
}

// The end of a run that the store does not take yet must not cost its lease.
func TestALeaseLastsUntilTheEndIsRecorded(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		var broken atomic.Bool
		broken.Store(true)
		store := wrap.Flaky(w.store, wrap.Fault{Before: func(b rota.Batch) error {
			if broken.Load() && hasVerb(b, rota.VerbFinish) {
				return errDown
			}
			return nil
		}})
		w.startOn(store, registry(s.play), engine.Config{Lease: w.lease})
		id := w.addOne()
		s.next(w)
		s.ends(w, nil)
		w.besiege()
		broken.Store(false)
		if job := w.ended(id); job.State() != rota.StateCompleted {
			w.Errorf("%s", job.State())
		}
	})
}
