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

// checkFiredOnce checks that each planned time was fired once, and each job started at
// most once, by whichever process.
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

// fireNext sets the clock to the next time of a schedule, and waits until its job has
// completed.
func (h *harness) fireNext(name string) {
	h.Helper()
	at := h.schedule(name).NextFire
	h.setClock(at.Sub(h.clock.now()) + time.Second)
	fired := h.events.await(h, "the fire for "+at.String(), func(e rota.Event) bool {
		return e.Kind == rota.EventJobEnqueued && e.Schedule == name && e.PlanTime.Equal(at)
	})
	h.awaitCompleted(fired.JobID)
}

// A former leader that does not know it yet does the work of a leader beside its
// successor.
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
			t.Errorf("errors were logged: %q", h.log.lines)
		}
	})
}

// When processes stop and start, the remaining ones do what is due, and nothing is
// repeated.
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
			h.fireNext("hourly") // by either process
			if membership != nil {
				h.eventually("both are members", func() bool { return after.Nodes() == 2 })
				if after.Leads() {
					h.Error("a process that joined later leads beside the leader")
				}
			}
			later := h.add(rota.NewJob{Delay: 30 * time.Minute})[0] // due when only the later process is left
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

// unreachableMembership is a membership that cannot be reached for a while.
type unreachableMembership struct {
	rota.Membership
	unreachable atomic.Bool
	calls       atomic.Int64
}

// Heartbeat fails while it is unreachable.
func (c *unreachableMembership) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	if c.unreachable.Load() {
		return rota.MembershipState{}, errDown
	}
	defer c.calls.Add(1)
	return c.Membership.Heartbeat(ctx, a)
}

// The leader cannot send heartbeats, but can write: another process leads when the lease
// is over, and not before. Each time is fired once throughout. (TestOnlyLeaderPrunes has
// one process only.)
func TestStaleLeaderStopsLeading(t *testing.T) {
	withLease(t, postgresHarness, func(h *harness) {
		cut := &unreachableMembership{Membership: h.membership}
		stale := h.start(registry(done), engine.Config{Name: "stale", Lease: h.lease, Membership: cut})
		h.eventually("the first leads", stale.Leads)
		store, membership := h.secondProcess()
		other := h.startOn(store, registry(done), engine.Config{Name: "other", Lease: h.lease, Membership: membership})
		h.eventually("both are members", func() bool { return other.Nodes() == 2 })
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		h.fireNext("hourly")
		cut.unreachable.Store(true)
		h.eventually("the other leads", func() bool {
			leads := other.Leads() // read first: the former leader has stopped by then
			if leads && stale.Leads() {
				h.T.Fatal("both lead")
			}
			return leads
		})
		h.fireNext("hourly")
		cut.unreachable.Store(false)
		for back := cut.calls.Load(); cut.calls.Load() < back+3; time.Sleep(time.Millisecond) {
			if stale.Leads() || !other.Leads() {
				h.Fatalf("the former leader leads: %t; the other: %t", stale.Leads(), other.Leads())
			}
		}
		h.fireNext("hourly")
		h.awaitFires("hourly", 3)
		h.checkFiredOnce()
	})
}
