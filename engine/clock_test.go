package engine_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const halfADay = 12 * time.Hour

// clockWorld has a minutely schedule that has fired once. It is the beginning of
// a minute, so that none passes unasked.
func clockWorld(t *testing.T) (*world, *running) {
	w := newWorld(t)
	now := w.clock.now()
	w.clock.set(now.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(now))
	r := w.start(registry(done), engine.Config{})
	w.declare("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	w.jump(time.Minute)
	w.fires("minutely", 1)
	return w, r
}

// realigned waits until the next fire is soon, by the clock as it is.
func (w *world) realigned() {
	w.Helper()
	w.until("the schedule has found its times again", func() bool {
		in := w.schedule("minutely").NextFire.Sub(w.clock.now())
		return in > -time.Minute && in <= time.Minute
	})
}

func TestAJumpForwardFiresTheLastTimeOnly(t *testing.T) {
	w, _ := clockWorld(t)
	w.clock.set(halfADay) // nobody is told: it is noticed within a second
	w.fires("minutely", 2)
	w.jump(time.Minute)
	w.fires("minutely", 3)
}

func TestAClockSetBackSilencesNothingAndRepeatsNothing(t *testing.T) {
	w, _ := clockWorld(t)
	w.clock.set(-halfADay)
	w.realigned()
	w.jump(time.Minute)
	w.fires("minutely", 2) // times half a day ago, which it never fired for
	w.jump(time.Minute)
	w.fires("minutely", 3)
}

func TestAClockThatWasWrongAndIsCorrectedGoesOn(t *testing.T) {
	w, _ := clockWorld(t)
	w.jump(halfADay)
	w.fires("minutely", 2)
	w.jump(-halfADay) // as it should be
	w.realigned()
	for n := 3; n <= 5; n++ {
		w.jump(time.Minute)
		w.fires("minutely", n)
	}
}

// brief is a store whose clock is far ahead from the question what is due until
// the first fire is written.
type brief struct {
	rota.Store
	w           *world
	ahead, back sync.Once
}

// DueSchedules sets the clock ahead.
func (s *brief) DueSchedules(ctx context.Context, limit int) (page rota.DuePage, err error) {
	s.ahead.Do(func() { s.w.clock.set(halfADay) })
	return s.Store.DueSchedules(ctx, limit)
}

// Apply sets it back after a fire.
func (s *brief) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	if hasVerb(b, rota.VerbFire) {
		s.back.Do(func() { s.w.clock.set(-halfADay) })
	}
	return results, err
}

func TestAClockThatIsWrongForAMomentSilencesNothing(t *testing.T) {
	w := newWorld(t)
	w.declare("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	w.clock.set(time.Minute)
	w.startOn(&brief{Store: w.store, w: w}, registry(done), engine.Config{})
	w.until("it has fired", func() bool { return len(w.planned("minutely")) > 0 })
	w.realigned()
}

// A schedule that was declared by a clock that was ahead has fired for nobody
// yet.
func TestAClockSetBackAfterADeclarationIsNoticed(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{})
	w.rest(50 * time.Millisecond) // for its first look, which nobody signals
	w.jump(2 * halfADay)          // further than it is set back: what was fired by it tells nothing
	w.declare("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	w.rest(50 * time.Millisecond) // for the engine to see the jump, which nobody signals
	w.clock.set(-halfADay)
	w.realigned()
}

func TestAClockSetBackAndForthFiresNothingTwice(t *testing.T) {
	w, _ := clockWorld(t)
	w.jump(-halfADay)
	w.realigned()
	w.jump(halfADay)
	w.realigned()
	w.fires("minutely", 1) // the last that was missed is the one that was fired
	w.jump(time.Minute)
	w.fires("minutely", 2)
	w.jump(-time.Minute)
	w.realigned()
	w.jump(time.Minute)
	w.realigned()
	w.jump(time.Minute)
	w.fires("minutely", 3)
}

func TestAClockThatIsSetBackWhileNobodyRunsIsNoticedAtTheStart(t *testing.T) {
	w, r := clockWorld(t)
	w.jump(halfADay)
	w.fires("minutely", 2)
	if err := r.shutdown(); err != nil {
		t.Fatal(err)
	}
	w.clock.set(-halfADay)
	w.start(registry(done), engine.Config{})
	w.realigned()
	w.jump(time.Minute)
	w.fires("minutely", 3)
}

// A schedule that was refused by a clock ahead of this one is not put off until
// that time comes.
func TestARefusalBeforeTheClockIsSetBackIsForgotten(t *testing.T) {
	w := newWorld(t)
	var refuse tally[string]
	refuse.add("on", 1)
	w.startOn(&refusing{w.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbFire && refuse.of("on") > 0 {
			refuse.add("seen", 1)
			return rota.Errorf(rota.Internal, "fire", "not today")
		}
		return nil
	}}, registry(done), engine.Config{})
	w.declare("minutely", rota.ScheduleSpec{Every: time.Minute})
	w.jump(halfADay)
	w.until("it was refused", func() bool { return refuse.of("seen") > 0 })
	w.jump(2*time.Minute - halfADay)
	refuse.add("on", -1)
	w.fires("minutely", 1)
}

func TestAJumpWakesWhoWaitsForARate(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{})
	does[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 1, Per: time.Hour}}},
	}})
	w.add(rota.NewJob{}, rota.NewJob{})
	s.next(w)
	w.rest(50 * time.Millisecond) // for the engine to come to rest, which nobody signals
	w.clock.set(2 * time.Hour)
	s.next(w)
}

// elsewhere is a store with a clock of its own, as one on another machine has.
type elsewhere struct {
	rota.Store
	ahead  time.Duration
	claims tally[rota.Verb]
}

// Apply applies what is decided by that clock.
func (s *elsewhere) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if hasVerb(b, rota.VerbClaim) {
		s.claims.add(rota.VerbClaim, 1)
	}
	b.Now = time.Now().Add(s.ahead)
	return s.Store.Apply(ctx, b)
}

// Neither is a job late because the clocks differ, nor is it asked for all the
// time.
func TestARateIsWaitedForByTheStoresClock(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			w := newWorld(t)
			store := &elsewhere{Store: w.store, ahead: ahead}
			w.startOn(store, registry(done), engine.Config{Workers: 1})
			does[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
				Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 1, Per: time.Second}}},
			}})
			ids := w.add(rota.NewJob{}, rota.NewJob{})
			w.allEnd(ids)
			took := w.job(ids[1]).StartedAt.Sub(w.job(ids[0]).StartedAt)
			if claims := store.claims.of(rota.VerbClaim); took < time.Second || claims > 50 {
				t.Errorf("at one a second the second comes after %s, and %d claims", took, claims)
			}
		})
	}
}

func TestAJumpMakesDelayedJobsDue(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{})
	w.add(rota.NewJob{Delay: time.Hour})
	w.clock.set(2 * time.Hour)
	s.next(w)
}

func TestAJumpForwardCostsNoLease(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Lease: w.lease})
		reg := engine.NewRegistry()
		reg.Func("other", rota.TypeSpec{}, done)
		store, roll := w.another()
		w.startOn(store, reg, engine.Config{Name: "other", Lease: w.lease, Membership: roll})
		id := w.addOne()
		s.next(w)
		time.Sleep(w.lease + w.lease/10) // until the other may take what is stale
		w.clock.set(halfADay)
		time.Sleep(w.lease + w.lease/2) // all beat and reap in that time
		s.ends(w, nil)
		if ended := w.ended(id); ended.State() != rota.StateCompleted || r.Snapshot().LeaseLost != 0 {
			w.Errorf("%s, %d leases lost", ended.State(), r.Snapshot().LeaseLost)
		}
	})
}

// skewed is a clock that is wrong by some time.
func (c *clock) skewed(by time.Duration) func() time.Time {
	return func() time.Time { return c.now().Add(by) }
}

// The clocks of two processes are wrong by more than a lease, and than the time
// between two fires. What the one runs the other does not take for dead, and
// nothing is fired twice, nor before its time, all by the clock of the store.
func TestSkewedClocksFreeNoLeaseAndFireNothingTwice(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Name: "behind", Lease: 2 * w.lease, Clock: w.clock.skewed(-5 * w.lease)})
		reg := engine.NewRegistry()
		reg.Func("other", rota.TypeSpec{}, done)
		store, roll := w.another()
		w.startOn(store, reg, engine.Config{Name: "ahead", Lease: w.lease, Clock: w.clock.skewed(5 * w.lease), Membership: roll})
		id := w.addOne()
		s.next(w)
		w.declare("ticks", rota.ScheduleSpec{Every: time.Second})
		reaps := w.clock.now().Add(w.lease + w.lease/2) // by then the one ahead has looked for stale leases
		w.until("both have had their time", func() bool {
			return w.clock.now().After(reaps) && len(w.planned("ticks")) >= 1
		})
		if w.job(id).Ended() || r.Snapshot().LeaseLost != 0 {
			w.Error("a run was taken from a process whose clock is wrong")
		}
		jobs, err := w.store.Jobs(w.Context(), rota.JobQuery{Schedule: "ticks"})
		if err != nil {
			w.Fatal(err)
		}
		for _, job := range jobs {
			if job.CreatedAt.Before(job.PlanTime) {
				w.T.Errorf("what was planned for %s was fired at %s", job.PlanTime, job.CreatedAt)
			}
		}
		w.firedOnce()
		s.ends(w, nil)
		w.completes(id)
	})
}

// TestALeaseOutlivesAClockThatIsSetBack: it was extended, to an earlier time.
func TestALeaseOutlivesAClockThatIsSetBack(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Lease: w.lease})
		id := w.addOne()
		s.next(w)
		w.clock.set(-5 * w.lease)
		time.Sleep(w.lease + w.lease/4) // longer than a lease
		s.ends(w, nil)
		if ended, lost := w.ended(id), r.Snapshot().LeaseLost; ended.State() != rota.StateCompleted || lost > 0 {
			w.Errorf("%s, %d leases are lost", ended.State(), lost)
		}
	})
}
