package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// limitKey lets one job of a concurrency key run at a time.
func (h *harness) limitKey(key string) {
	h.Helper()
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Keys: []rota.KeyLimit{{Key: key, Concurrency: 1}},
	}})
}

// A worker whose run was reaped ends it late: the place in the limit that its lease held
// belongs to another attempt, and is not freed again.
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
			t.Fatalf("reaped: %+v", stolen)
		}
		s.awaitStart(h)
		waiting := make([]rota.NewJob, 10)
		for i := range waiting {
			waiting[i].ConcurrencyKey = new("one")
		}
		h.add(waiting...)
		close(back)
		h.eventually("the lost lease is counted", func() bool { return r.Snapshot().LeaseLost == 1 && r.Snapshot().Running == 1 })
		for range waiting {
			h.awaitCompleted(h.add(rota.NewJob{Priority: new(-1)})[0]) // any job that could start has started before it
			s.checkNoneStarted(h)
			s.results <- nil
			s.awaitStart(h)
		}
		s.results <- nil
		h.eventually("nothing runs", func() bool { return r.Snapshot().Running == 0 })
		s.checkNoneStarted(h)
	})
}

// The only slot of a worker was freed when its handler was abandoned. When the handler
// returns after all, the slot is not freed again.
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
			time.Sleep(time.Millisecond) // long enough to overlap with another run
			atWork.Add(-1)
			return nil
		}), engine.Config{Workers: 1, CancelGrace: 10 * time.Millisecond})
		h.awaitEnded(h.add(rota.NewJob{UniqueKey: "stubborn", Timeout: new(10 * time.Millisecond), MaxRetries: new(0)})[0])
		close(s.release)
		h.eventually("the handler has returned", func() bool { return r.Snapshot().Abandoned == 0 })
		h.awaitAllEnded(h.add(make([]rota.NewJob, 30)...))
		if n := tooMany.Load(); n > 0 {
			t.Errorf("%d times a job started in the only slot while another used it", n)
		}
	})
}

// claimAsDeadWorker claims jobs as a worker that sends no heartbeats.
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

// awaitExpired waits until a run has failed because its lease expired.
func (h *harness) awaitExpired(id rota.ID) {
	h.Helper()
	if job := h.awaitEnded(id); job.Run.ErrorCode != rota.CodeLeaseExpired || job.Sequel != rota.SequelRetry {
		h.Errorf("job %s ended %s %q, then %s", id, job.Run.Outcome, job.Run.ErrorCode, job.Sequel)
	}
}

// A dead worker has the name of a live one, as after an unnoticed restart: heartbeats
// under that name do not extend its leases.
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
			h.Error("the live worker's own run was reaped")
		}
	})
}

// smallReaps is a store that reaps few runs at a time, and refuses the first reaps.
type smallReaps struct {
	rota.Store
	refuse, reaps atomic.Int64
}

// Apply limits reaps.
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

// Long runs come first, there are many stale runs, and the first reap was refused: all
// stale runs are reaped all the same.
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
				h.Errorf("job %s was reaped before its lease expired", id)
			}
		}
		if n := store.reaps.Load(); n < 3 || h.log.count("level=ERROR", "stale leases were not reaped") != 1 {
			h.Errorf("%d reaps; %q", n, h.log.lines)
		}
	})
}

// firstReap is a store that records the first reap.
type firstReap struct {
	rota.Store
	command atomic.Pointer[rota.Reap]
}

// Apply records the first reap.
func (s *firstReap) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if reap, is := b.Commands[0].(*rota.Reap); is {
		s.command.CompareAndSwap(nil, reap)
	}
	return s.Store.Apply(ctx, b)
}

// An engine that has just started waits a lease before it fails stale runs. It does not
// wait that long before it ends the run of a remote worker that was asked to stop.
func TestRunOfRemoteWorkerIsEndedSoonAfterStart(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		id := h.add(rota.NewJob{Type: "remote"})[0]
		mustApply[*rota.Claimed](h, &rota.Claim{
			Meta: meta(), Worker: "remote", Types: []string{"remote"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
		})
		mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: id})
		store := &firstReap{Store: h.store}
		h.startOn(store, registry(done), engine.Config{Lease: time.Hour, CancelGrace: 10 * time.Millisecond})
		if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
			t.Errorf("the run ended %s %q", job.Run.Outcome, job.Run.ErrorCode)
		}
		if reap := store.command.Load(); !reap.KeepStale {
			t.Error("the first reap failed stale runs, whose workers had no time to extend their leases")
		}
	})
}
