package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// limitKey has one job of a key run at a time.
func (h *harness) limitKey(key string) {
	h.Helper()
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Keys: []rota.KeyLimit{{Key: key, Concurrency: 1}},
	}})
}

// A worker that was thought dead is done at last: the slot that its lease held was
// given to another long ago, and is not free a second time.
func TestLimitHoldsWhenReapedWorkerReturns(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		s, back := newControlledHandler(), make(chan struct{})
		r := h.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.ConcurrencyKey == "" {
				return nil
			}
			if job.UniqueKey == "late" && job.Attempt == 1 {
				s.started <- job
				<-back
				return nil
			}
			return s.handle(ctx, job)
		}), engine.Config{Lease: time.Hour, CancelGrace: time.Hour})
		h.limitKey("one")
		late := h.add(rota.NewJob{UniqueKey: "late", ConcurrencyKey: new("one"), Backoff: new(time.Duration(0))})[0]
		s.awaitStart(h)
		if stolen := h.reapAll(); len(stolen) != 1 || stolen[0].JobID != late {
			t.Fatalf("stolen: %+v", stolen)
		}
		s.awaitStart(h)
		waiting := make([]rota.NewJob, 10)
		for i := range waiting {
			waiting[i].ConcurrencyKey = new("one")
		}
		h.add(waiting...)
		close(back)
		h.eventually("it is told that its lease is lost", func() bool { return r.Snapshot().LeaseLost == 1 && r.Snapshot().Running == 1 })
		for range waiting {
			h.awaitCompleted(h.add(rota.NewJob{Priority: new(-1)})[0]) // whatever could be started before it was
			s.checkNoneStarted(h)
			s.results <- nil
			s.awaitStart(h)
		}
		s.results <- nil
		h.eventually("nothing runs", func() bool { return r.Snapshot().Running == 0 })
		s.checkNoneStarted(h)
	})
}

// The only slot of a worker was freed when its handler was given up. When that
// returns after all, it is not freed again.
func TestAbandonedHandlerThatReturnsFreesNoSecondSlot(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		s := newIgnoresCancel(h)
		var atWork, tooMany atomic.Int64
		r := h.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.UniqueKey != "" {
				return s.handle(ctx, job)
			}
			if atWork.Add(1) > 1 {
				tooMany.Add(1)
			}
			time.Sleep(time.Millisecond) // so that another would be met
			atWork.Add(-1)
			return nil
		}), engine.Config{Workers: 1, CancelGrace: 10 * time.Millisecond})
		h.awaitEnded(h.add(rota.NewJob{UniqueKey: "stubborn", Timeout: new(10 * time.Millisecond), MaxRetries: new(0)})[0])
		close(s.release)
		h.eventually("the handler has come back", func() bool { return r.Snapshot().Abandoned == 0 })
		h.awaitAllEnded(h.add(make([]rota.NewJob, 30)...))
		if n := tooMany.Load(); n > 0 {
			t.Errorf("%d times a job began in the only slot while another was in it", n)
		}
	})
}

// claimAsDeadWorker claims jobs as a worker that is never heard of again.
func (h *harness) claimAsDeadWorker(name, typ string, jobs int, lease time.Duration) (ids []rota.ID) {
	h.Helper()
	all := make([]rota.NewJob, jobs)
	for i := range all {
		all[i].Type = typ
	}
	h.add(all...)
	for _, job := range mustApply[*rota.Claimed](h, &rota.Claim{
		Meta: meta(), Worker: name, Incarnation: rota.NewID(), Types: []string{typ}, Limit: jobs, Lease: lease, Seed: rota.NewToken(),
	}).Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// awaitExpired waits until a run was failed because its lease was over.
func (h *harness) awaitExpired(id rota.ID) {
	h.Helper()
	if job := h.awaitEnded(id); job.Run.ErrorCode != rota.CodeLeaseExpired || job.Sequel != rota.SequelRetry {
		h.Errorf("job %s ended %s %q, then %s", id, job.Run.Outcome, job.Run.ErrorCode, job.Sequel)
	}
}

// A worker has the name of one that lives, as after a restart that nobody was told
// of: that the name is heard of keeps none of its runs.
func TestRunsOfDeadWorkerWithSameNameAreReaped(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Name: "kitchen", Lease: h.lease})
		own := h.addOne()
		s.awaitStart(h)
		for _, id := range h.claimAsDeadWorker("kitchen", "other", 2, h.lease) {
			h.awaitExpired(id)
		}
		if r.Snapshot().LeaseLost != 0 || h.job(own).Ended() {
			h.Error("what it runs itself was taken for that of the dead")
		}
	})
}

// smallReaps is a store of which a reaper gets few runs at a time, and which
// refuses the first reapers.
type smallReaps struct {
	rota.Store
	refuse, reaps atomic.Int64
}

// Apply makes reaps small.
func (s *smallReaps) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) == 1 && b.Commands[0].Verb() == rota.VerbReap {
		if s.refuse.Add(-1) >= 0 {
			return []rota.Result{{Err: rota.Errorf(rota.Internal, "reap", "not now")}}, nil
		}
		s.reaps.Add(1)
		reap := *b.Commands[0].(*rota.Reap)
		reap.Limit = 2
		b.Commands = []rota.Command{&reap}
	}
	return s.Store.Apply(ctx, b)
}

// Runs that are long and well come first, the dead are many, and a reaper was
// refused before: all that are dead are found all the same.
func TestReaperPassesLongRunsAndRefusals(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		long := h.claimAsDeadWorker("long", "long", 5, time.Hour)
		store := &smallReaps{Store: h.store}
		store.refuse.Store(1)
		s := newControlledHandler()
		h.startOn(store, registry(s.handle), engine.Config{Lease: h.lease})
		own := h.addOne()
		s.awaitStart(h)
		for _, id := range h.claimAsDeadWorker("gone", "other", 5, h.lease) {
			h.awaitExpired(id)
		}
		for _, id := range append(long, own) {
			if h.job(id).Ended() {
				h.Errorf("job %s was taken, and is well", id)
			}
		}
		if n := store.reaps.Load(); n < 3 || h.log.count("level=ERROR", "stale leases were not reaped") != 1 {
			h.Errorf("%d reaps; %q", n, h.log.lines)
		}
	})
}
