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
func (w *world) limitKey(key string) {
	w.Helper()
	does[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Keys: []rota.KeyLimit{{Key: key, Concurrency: 1}},
	}})
}

// A worker that was thought dead is done at last: the slot that its lease held was
// given to another long ago, and is not free a second time.
func TestALimitHoldsWhenAWorkerThoughtDeadComesBack(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		s, back := newStage(), make(chan struct{})
		r := w.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.ConcurrencyKey == "" {
				return nil
			}
			if job.UniqueKey == "late" && job.Attempt == 1 {
				s.began <- job
				<-back
				return nil
			}
			return s.play(ctx, job)
		}), engine.Config{Lease: time.Hour, CancelGrace: time.Hour})
		w.limitKey("one")
		late := w.add(rota.NewJob{UniqueKey: "late", ConcurrencyKey: new("one"), Backoff: new(time.Duration(0))})[0]
		s.next(w)
		if stolen := w.steal(); len(stolen) != 1 || stolen[0].JobID != late {
			t.Fatalf("stolen: %+v", stolen)
		}
		s.next(w)
		waiting := make([]rota.NewJob, 10)
		for i := range waiting {
			waiting[i].ConcurrencyKey = new("one")
		}
		w.add(waiting...)
		close(back)
		w.until("it is told that its lease is lost", func() bool { return r.Snapshot().LeaseLost == 1 && r.Snapshot().Running == 1 })
		for range waiting {
			w.completes(w.add(rota.NewJob{Priority: new(-1)})[0]) // whatever could be started before it was
			s.nobody(w)
			s.end <- nil
			s.next(w)
		}
		s.end <- nil
		w.until("nothing runs", func() bool { return r.Snapshot().Running == 0 })
		s.nobody(w)
	})
}

// The only slot of a worker was freed when its handler was given up. When that
// returns after all, it is not freed again.
func TestAHandlerThatComesBackFreesNoSecondSlot(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		s := newStubborn(w)
		var atWork, tooMany atomic.Int64
		r := w.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.UniqueKey != "" {
				return s.play(ctx, job)
			}
			if atWork.Add(1) > 1 {
				tooMany.Add(1)
			}
			time.Sleep(time.Millisecond) // so that another would be met
			atWork.Add(-1)
			return nil
		}), engine.Config{Workers: 1, CancelGrace: 10 * time.Millisecond})
		w.ended(w.add(rota.NewJob{UniqueKey: "stubborn", Timeout: new(10 * time.Millisecond), MaxRetries: new(0)})[0])
		close(s.letGo)
		w.until("the handler has come back", func() bool { return r.Snapshot().Abandoned == 0 })
		w.allEnd(w.add(make([]rota.NewJob, 30)...))
		if n := tooMany.Load(); n > 0 {
			t.Errorf("%d times a job began in the only slot while another was in it", n)
		}
	})
}

// dead claims jobs as a worker that is never heard of again.
func (w *world) dead(name, typ string, jobs int, lease time.Duration) (ids []rota.ID) {
	w.Helper()
	all := make([]rota.NewJob, jobs)
	for i := range all {
		all[i].Type = typ
	}
	w.add(all...)
	for _, job := range does[*rota.Claimed](w, &rota.Claim{
		Meta: meta(), Worker: name, Incarnation: rota.NewID(), Types: []string{typ}, Limit: jobs, Lease: lease, Seed: rota.NewToken(),
	}).Jobs {
		ids = append(ids, job.ID)
	}
	return ids
}

// expires waits until a run was failed because its lease was over.
func (w *world) expires(id rota.ID) {
	w.Helper()
	if job := w.ended(id); job.Run.ErrorCode != rota.CodeLeaseExpired || job.Sequel != rota.SequelRetry {
		w.Errorf("job %s ended %s %q, then %s", id, job.Run.Outcome, job.Run.ErrorCode, job.Sequel)
	}
}

// A worker has the name of one that lives, as after a restart that nobody was told
// of: that the name is heard of keeps none of its runs.
func TestADeadNamesakeIsRescued(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Name: "kitchen", Lease: w.lease})
		own := w.addOne()
		s.next(w)
		for _, id := range w.dead("kitchen", "other", 2, w.lease) {
			w.expires(id)
		}
		if r.Snapshot().LeaseLost != 0 || w.job(own).Ended() {
			w.Error("what it runs itself was taken for that of the dead")
		}
	})
}

// narrowReaps is a store of which a reaper gets few runs at a time, and which
// refuses the first reapers.
type narrowReaps struct {
	rota.Store
	refuse, reaps atomic.Int64
}

// Apply makes reaps small.
func (s *narrowReaps) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
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
func TestTheReaperIsNeitherStarvedNorStopped(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		long := w.dead("long", "long", 5, time.Hour)
		store := &narrowReaps{Store: w.store}
		store.refuse.Store(1)
		s := newStage()
		w.startOn(store, registry(s.play), engine.Config{Lease: w.lease})
		own := w.addOne()
		s.next(w)
		for _, id := range w.dead("gone", "other", 5, w.lease) {
			w.expires(id)
		}
		for _, id := range append(long, own) {
			if w.job(id).Ended() {
				w.Errorf("job %s was taken, and is well", id)
			}
		}
		if n := store.reaps.Load(); n < 3 || w.log.count("level=ERROR", "stale leases were not reaped") != 1 {
			w.Errorf("%d reaps; %q", n, w.log.lines)
		}
	})
}
