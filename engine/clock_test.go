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

// newClockHarness has a minutely schedule that has fired once. Its clock is at the start
// of a minute, so that none passes unless the test sets the clock.
func newClockHarness(t *testing.T) (*harness, *runningEngine) {
	h := newHarness(t)
	now := h.clock.now()
	h.clock.set(now.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(now))
	r := h.start(registry(done), engine.Config{})
	h.declareSchedule("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	h.setClock(time.Minute)
	h.awaitFires("minutely", 1)
	return h, r
}

// awaitRealigned waits until the next fire is within a minute of the clock.
func (h *harness) awaitRealigned() {
	h.Helper()
	h.eventually("the schedule is realigned", func() bool {
		in := h.schedule("minutely").NextFire.Sub(h.clock.now())
		return in > -time.Minute && in <= time.Minute
	})
}

func TestClockSetForwardFiresLastTimeOnly(t *testing.T) {
	h, _ := newClockHarness(t)
	h.clock.set(halfADay) // without a wake-up: the engine notices it within a second
	h.awaitFires("minutely", 2)
	h.setClock(time.Minute)
	h.awaitFires("minutely", 3)
}

func TestClockSetBackNeitherSkipsNorRepeatsFires(t *testing.T) {
	h, _ := newClockHarness(t)
	h.clock.set(-halfADay)
	h.awaitRealigned()
	h.setClock(time.Minute)
	h.awaitFires("minutely", 2) // for times half a day ago, which were never fired
	h.setClock(time.Minute)
	h.awaitFires("minutely", 3)
}

func TestCorrectedClockContinuesFiring(t *testing.T) {
	h, _ := newClockHarness(t)
	h.setClock(halfADay)
	h.awaitFires("minutely", 2)
	h.setClock(-halfADay) // the correct time
	h.awaitRealigned()
	for n := 3; n <= 5; n++ {
		h.setClock(time.Minute)
		h.awaitFires("minutely", n)
	}
}

// clockJumpStore is a store whose clock is far ahead from the read of due schedules until
// the first fire is written.
type clockJumpStore struct {
	rota.Store
	h           *harness
	ahead, back sync.Once
}

// DueSchedules sets the clock ahead.
func (s *clockJumpStore) DueSchedules(ctx context.Context, limit int) (page rota.DuePage, err error) {
	s.ahead.Do(func() { s.h.clock.set(halfADay) })
	return s.Store.DueSchedules(ctx, limit)
}

// Apply sets it back after a fire.
func (s *clockJumpStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	if hasVerb(b, rota.VerbFire) {
		s.back.Do(func() { s.h.clock.set(-halfADay) })
	}
	return results, err
}

func TestClockAheadForAMomentSkipsNoFires(t *testing.T) {
	h := newHarness(t)
	h.declareSchedule("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	h.clock.set(time.Minute)
	h.startOn(&clockJumpStore{Store: h.store, h: h}, registry(done), engine.Config{})
	h.eventually("it has fired", func() bool { return len(h.planTimes("minutely")) > 0 })
	h.awaitRealigned()
}

// A schedule that was declared while the clock was ahead has not fired yet.
func TestClockSetBackAfterDeclarationRealignsSchedule(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{})
	h.pause(50 * time.Millisecond) // for the first check of the engine, which no channel signals
	h.setClock(2 * halfADay)       // further than it is set back: the clock of the last fire shows nothing
	h.declareSchedule("minutely", rota.ScheduleSpec{Cron: "* * * * *"})
	h.pause(50 * time.Millisecond) // for the engine to notice the jump, which no channel signals
	h.clock.set(-halfADay)
	h.awaitRealigned()
}

func TestClockSetBackAndForthFiresOnce(t *testing.T) {
	h, _ := newClockHarness(t)
	h.setClock(-halfADay)
	h.awaitRealigned()
	h.setClock(halfADay)
	h.awaitRealigned()
	h.awaitFires("minutely", 1) // the last missed time is the one that was fired
	h.setClock(time.Minute)
	h.awaitFires("minutely", 2)
	h.setClock(-time.Minute)
	h.awaitRealigned()
	h.setClock(time.Minute)
	h.awaitRealigned()
	h.setClock(time.Minute)
	h.awaitFires("minutely", 3)
}

func TestClockSetBackWhileStoppedRealignsAtStart(t *testing.T) {
	h, r := newClockHarness(t)
	h.setClock(halfADay)
	h.awaitFires("minutely", 2)
	if err := r.shutdown(); err != nil {
		t.Fatal(err)
	}
	h.clock.set(-halfADay)
	h.start(registry(done), engine.Config{})
	h.awaitRealigned()
	h.setClock(time.Minute)
	h.awaitFires("minutely", 3)
}

// A schedule that was refused while the clock was ahead does not wait until that time.
func TestClockSetBackDropsRetryTimeOfRefusedSchedule(t *testing.T) {
	h := newHarness(t)
	var refuse counter[string]
	refuse.add("on", 1)
	h.startOn(&refusing{h.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbFire && refuse.get("on") > 0 {
			refuse.add("seen", 1)
			return rota.Errorf(rota.Internal, "fire", "not today")
		}
		return nil
	}}, registry(done), engine.Config{})
	h.declareSchedule("minutely", rota.ScheduleSpec{Every: time.Minute})
	h.setClock(halfADay)
	h.eventually("it was refused", func() bool { return refuse.get("seen") > 0 })
	h.setClock(2*time.Minute - halfADay)
	refuse.add("on", -1)
	h.awaitFires("minutely", 1)
}

func TestClockSetForwardStartsJobHeldByRate(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
		Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 1, Per: time.Hour}}},
	}})
	h.add(rota.NewJob{}, rota.NewJob{})
	s.awaitStart(h)
	h.pause(50 * time.Millisecond) // for the engine to become idle, which no channel signals
	h.clock.set(2 * time.Hour)
	s.awaitStart(h)
}

// skewedStore is a store with a clock of its own, as on another machine.
type skewedStore struct {
	rota.Store
	ahead  time.Duration
	claims counter[rota.Verb]
}

// Apply applies batches at the time of that clock.
func (s *skewedStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if hasVerb(b, rota.VerbClaim) {
		s.claims.add(rota.VerbClaim, 1)
	}
	b.Now = time.Now().Add(s.ahead)
	return s.Store.Apply(ctx, b)
}

// The difference of the clocks neither delays a job nor causes constant claims.
func TestRateIsTimedByClockOfStore(t *testing.T) {
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		t.Run(ahead.String(), func(t *testing.T) {
			h := newHarness(t)
			store := &skewedStore{Store: h.store, ahead: ahead}
			h.startOn(store, registry(done), engine.Config{Workers: 1})
			mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{
				Types: []rota.TypeLimit{{Type: "work", Rate: rota.Rate{Count: 1, Per: time.Second}}},
			}})
			ids := h.add(rota.NewJob{}, rota.NewJob{})
			h.awaitAllEnded(ids)
			took := h.job(ids[1]).StartedAt.Sub(h.job(ids[0]).StartedAt)
			if claims := store.claims.get(rota.VerbClaim); took < time.Second || claims > 50 {
				t.Errorf("at one a second the second started after %s and %d claims", took, claims)
			}
		})
	}
}

func TestClockSetForwardReadiesDelayedJobs(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{})
	h.add(rota.NewJob{Delay: time.Hour})
	h.clock.set(2 * time.Hour)
	s.awaitStart(h)
}

func TestClockSetForwardLosesNoLease(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Lease: h.lease})
		reg := engine.NewRegistry()
		reg.Func("other", rota.TypeSpec{}, done)
		store, membership := h.secondProcess()
		h.startOn(store, reg, engine.Config{Name: "other", Lease: h.lease, Membership: membership})
		id := h.addOne()
		s.awaitStart(h)
		time.Sleep(h.lease + h.lease/10) // until the other process may reap stale runs
		h.clock.set(halfADay)
		time.Sleep(h.lease + h.lease/2) // both send heartbeats and reap in that time
		s.finish(h, nil)
		if ended := h.awaitEnded(id); ended.State() != rota.StateCompleted || r.Snapshot().LeaseLost != 0 {
			h.Errorf("%s, %d leases lost", ended.State(), r.Snapshot().LeaseLost)
		}
	})
}

// skewed is the clock shifted by some time.
func (c *clock) skewed(by time.Duration) func() time.Time {
	return func() time.Time { return c.now().Add(by) }
}

// The clocks of two processes differ by more than a lease, and than the time between two
// fires. By the clock of the store, neither reaps the runs of the other, and nothing is
// fired twice or too early.
func TestSkewedClocksLoseNoLeaseAndFireOnce(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Name: "behind", Lease: 2 * h.lease, Clock: h.clock.skewed(-5 * h.lease)})
		reg := engine.NewRegistry()
		reg.Func("other", rota.TypeSpec{}, done)
		store, membership := h.secondProcess()
		h.startOn(store, reg, engine.Config{Name: "ahead", Lease: h.lease, Clock: h.clock.skewed(5 * h.lease), Membership: membership})
		id := h.addOne()
		s.awaitStart(h)
		h.declareSchedule("ticks", rota.ScheduleSpec{Every: time.Second})
		reaps := h.clock.now().Add(h.lease + h.lease/2) // by then the process ahead has reaped once
		h.eventually("both processes have reaped and fired", func() bool {
			return h.clock.now().After(reaps) && len(h.planTimes("ticks")) >= 1
		})
		if h.job(id).Ended() || r.Snapshot().LeaseLost != 0 {
			h.Error("a run was taken from a process whose clock is wrong")
		}
		jobs, err := h.store.Jobs(h.Context(), rota.JobQuery{Schedule: "ticks"})
		if err != nil {
			h.Fatal(err)
		}
		for _, job := range jobs {
			if job.CreatedAt.Before(job.PlanTime) {
				h.T.Errorf("the fire planned for %s happened at %s", job.PlanTime, job.CreatedAt)
			}
		}
		h.checkFiredOnce()
		s.finish(h, nil)
		h.awaitCompleted(id)
	})
}

// The heartbeat extends the lease to an earlier time than before.
func TestClockSetBackLosesNoLease(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Lease: h.lease})
		id := h.addOne()
		s.awaitStart(h)
		h.clock.set(-5 * h.lease)
		time.Sleep(h.lease + h.lease/4) // longer than one lease
		s.finish(h, nil)
		if ended, lost := h.awaitEnded(id), r.Snapshot().LeaseLost; ended.State() != rota.StateCompleted || lost > 0 {
			h.Errorf("%s, %d leases are lost", ended.State(), lost)
		}
	})
}
