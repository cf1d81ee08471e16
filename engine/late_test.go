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

// shared is how an engine is told that others may take what it has lost. It has
// one slot, so that one which is not given back is missed.
func (w *world) shared() engine.Config {
	return engine.Config{Membership: &rollBook{}, Lease: w.lease, Workers: 1}
}

// begunLate wants the first attempt to have been failed without ever having
// begun, and the second to run.
func (w *world) begunLate(s *stage, id rota.ID) {
	w.Helper()
	if second := s.next(w); second.RetryOf != id {
		w.Errorf("job %s began, attempt %d of %s", second.ID, second.Attempt, id)
	}
	if run := w.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown {
		w.Errorf("the first: %s, %q", run.Outcome, run.ErrorCode)
	}
}

// Another may run by then what was claimed.
func TestAClaimThatIsAnsweredAfterItsLeaseStartsNothing(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		g := newGate(rota.VerbClaim)
		id := w.addOne()
		w.startOn(wrap.Flaky(w.store, g.after()), registry(s.play), w.shared())
		w.comes(g.reached, "the claim")
		time.Sleep(w.lease)
		s.nobody(w)
		close(g.open)
		w.begunLate(s, id)
	})
}

// The same of a claim that went along with the enqueue that it is for.
func TestATripThatIsAnsweredAfterItsLeaseStartsNothing(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		var trips atomic.Int64
		late := func(b rota.Batch, _ []rota.Result) error {
			if hasVerb(b, rota.VerbEnqueue) && hasVerb(b, rota.VerbClaim) {
				trips.Add(1)
				time.Sleep(w.lease)
			}
			return nil
		}
		store := wrap.Coalesce(wrap.Flaky(w.store, wrap.Fault{After: late}))
		w.startOn(store, registry(func(_ context.Context, job *rota.Job) error {
			s.began <- job
			return nil
		}), w.shared())
		for range 100 {
			w.rest(50 * time.Millisecond) // for the desk to come to rest, which nobody signals
			enqueued, err := rota.Do[*rota.Enqueued](w.Context(), store, &rota.Enqueue{
				Meta: meta(), Jobs: []rota.NewJob{{Type: "work", Backoff: new(time.Duration(0))}},
			})
			if err != nil {
				w.Fatal(err)
			}
			id := enqueued.Jobs[0].Job.ID
			if trips.Load() > 0 {
				w.begunLate(s, id)
				return
			}
			s.next(w) // the desk was not at rest yet, and claimed it by itself
			w.ended(id)
		}
		w.Fatal("no claim goes along with an enqueue")
	})
}

// What it took when it was sent first it has had since then.
func TestAClaimWhoseFirstAnswerWasLostLongAgoStartsNothing(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		id := w.addOne()
		first := sync.OnceValue(time.Now)
		lost := func(b rota.Batch, _ []rota.Result) error {
			if hasVerb(b, rota.VerbClaim) && time.Since(first()) < w.lease {
				return errDown
			}
			return nil
		}
		w.startOn(wrap.Flaky(w.store, wrap.Fault{After: lost}), registry(s.play), w.shared())
		w.begunLate(s, id)
	})
}

// A claim that was sent in vain for longer than a lease took nothing meanwhile.
func TestAnOutageBeforeAClaimCostsNoAttempt(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		p := &power{}
		w.startOn(wrap.Flaky(w.store, p.fault()), registry(s.play), w.shared())
		p.off.Store(true)
		id := w.addOne()
		w.until("it is asked for in vain", func() bool { return p.denied.Load() > 0 })
		time.Sleep(w.lease + w.lease/10)
		p.off.Store(false)
		if job := s.next(w); job.ID != id {
			w.Errorf("attempt %d began, of job %s", job.Attempt, job.RetryOf)
		}
	})
}

// A process may be frozen between the answer to its claim and the start.
func TestARunThatIsHeldUpUntilItsLeaseIsOverDoesNotBegin(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		id := w.addOne()
		job := does[*rota.Claimed](w, &rota.Claim{
			Meta: meta(), Worker: "frozen", Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
		}).Jobs[0]
		r := w.start(registry(s.play), w.shared())
		r.BeginLate(job)
		w.begunLate(s, id)
	})
}

// Of a store that nobody shares nobody takes anything meanwhile.
func TestALateAnswerOfAStoreOfItsOwnStartsWhatItBrings(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	g := newGate(rota.VerbClaim)
	id := w.addOne()
	w.startOn(wrap.Flaky(w.store, g.after()), registry(s.play), engine.Config{Lease: rota.LeaseMin})
	w.comes(g.reached, "the claim")
	time.Sleep(rota.LeaseMin)
	close(g.open)
	if job := s.next(w); job.ID != id {
		t.Errorf("attempt %d began", job.Attempt)
	}
}
