package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// checkFiredOnce wants each time that was fired to have been fired once, and each job
// of it to have been started once at most, whoever did.
func (h *harness) checkFiredOnce() {
	h.Helper()
	fired, started := map[string]int{}, map[rota.ID]int{}
	events, _ := h.events.all()
	for _, e := range events {
		switch e.Kind {
		case rota.EventScheduleFired:
			at := fmt.Sprint(e.Schedule, " ", e.PlanTime)
			if fired[at]++; fired[at] > 1 {
				h.T.Errorf("%s was fired %d times", at, fired[at])
			}
		case rota.EventJobStarted:
			if started[e.JobID]++; started[e.JobID] > 1 {
				h.T.Errorf("job %s was started %d times", e.JobID, started[e.JobID])
			}
		}
	}
}

// fireNext jumps to the next time of a schedule, and waits until that is fired and
// its job has completed.
func (h *harness) fireNext(name string) {
	h.Helper()
	at := h.schedule(name).NextFire
	h.setClock(at.Sub(h.clock.now()) + time.Second)
	fired := h.events.await(h, "the fire for "+at.String(), func(e rota.Event) bool {
		return e.Kind == rota.EventJobEnqueued && e.Schedule == name && e.PlanTime.Equal(at)
	})
	h.awaitCompleted(fired.JobID)
}

// A leader that is none any more, and does not know it yet, does what leaders do
// beside its successor.
func TestTwoProcessesThatBothLeadRepeatNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		config := engine.Config{
			PruneEvery: time.Second, Retention: &rota.Retention{Completed: rota.Keep{Age: time.Microsecond}},
		}
		store, _ := h.secondProcess()
		for name, store := range map[string]rota.Store{"stale": h.store, "new": store} {
			book := &fakeMembership{}
			book.leads.Store(true)
			config.Name, config.Membership = name, book
			r := h.startOn(store, registry(done), config)
			h.eventually("it leads", r.Leads)
		}
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		for range 4 {
			h.fireNext("hourly")
		}
		h.eventually("the history is pruned", func() bool { return len(h.planTimes("hourly")) == 0 })
		h.fireNext("hourly")
		h.checkFiredOnce()
		if n := h.log.count("level=ERROR"); n > 0 {
			t.Errorf("they complain: %q", h.log.lines)
		}
	})
}

// Whoever goes, and whoever comes: what is due is done by those who are there,
// and what was done before is not done again.
func TestLeaderChangeSkipsAndRepeatsNothing(t *testing.T) {
	withLeaseOnEachStore(t, func(h *harness) {
		first := h.start(registry(done), engine.Config{Name: "first", Lease: h.lease})
		h.eventually("the first leads", first.Leads)
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		h.fireNext("hourly")
		before := first
		for i := range 2 {
			store, membership := h.secondProcess()
			after := h.startOn(store, registry(done), engine.Config{Name: fmt.Sprint("later-", i), Lease: h.lease, Membership: membership})
			h.fireNext("hourly") // by either of them
			if membership != nil {
				h.eventually("both are there", func() bool { return after.Nodes() == 2 })
				if after.Leads() {
					h.Error("one who came later leads beside the one who did")
				}
			}
			later := h.add(rota.NewJob{Delay: 30 * time.Minute})[0] // due when only the later one is left
			if err := before.shutdown(); err != nil {
				h.Error(err)
			}
			h.eventually("the later one leads", after.Leads)
			h.fireNext("hourly")
			h.awaitCompleted(later)
			h.awaitCompleted(h.addOne())
			before = after
		}
		h.awaitFires("hourly", 5)
		h.checkFiredOnce()
	})
}

// unreachableMembership is a roll that cannot be reached for a while.
type unreachableMembership struct {
	rota.Membership
	unreachable atomic.Bool
	calls       atomic.Int64
}

// Attend may fail.
func (c *unreachableMembership) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	if c.unreachable.Load() {
		return rota.MembershipState{}, errDown
	}
	defer c.calls.Add(1)
	return c.Membership.Heartbeat(ctx, a)
}

// It cannot ask, but can write: another leads when its lease is over, which that
// one does not extend, and not before. Until it is told so, and afterwards, each time
// is fired once. (TestOnlyLeaderPrunes is about one who is alone.)
func TestStaleLeaderStopsLeading(t *testing.T) {
	withLease(t, postgresHarness, func(h *harness) {
		cut := &unreachableMembership{Membership: h.membership}
		stale := h.start(registry(done), engine.Config{Name: "stale", Lease: h.lease, Membership: cut})
		h.eventually("the first leads", stale.Leads)
		store, membership := h.secondProcess()
		other := h.startOn(store, registry(done), engine.Config{Name: "other", Lease: h.lease, Membership: membership})
		h.eventually("both are there", func() bool { return other.Nodes() == 2 })
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		h.fireNext("hourly")
		cut.unreachable.Store(true)
		h.eventually("the other leads", func() bool {
			leads := other.Leads() // asked first: the one before has stopped by then
			if leads && stale.Leads() {
				h.T.Fatal("both lead")
			}
			return leads
		})
		h.fireNext("hourly")
		cut.unreachable.Store(false)
		for back := cut.calls.Load(); cut.calls.Load() < back+3; time.Sleep(time.Millisecond) {
			if stale.Leads() || !other.Leads() {
				h.Fatalf("one that comes back leads: %t; the other: %t", stale.Leads(), other.Leads())
			}
		}
		h.fireNext("hourly")
		h.awaitFires("hourly", 3)
		h.checkFiredOnce()
	})
}
