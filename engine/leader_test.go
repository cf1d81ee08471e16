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

// firedOnce wants each time that was fired to have been fired once, and each job
// of it to have been started once at most, whoever did.
func (w *world) firedOnce() {
	w.Helper()
	fired, started := map[string]int{}, map[rota.ID]int{}
	events, _ := w.seen.all()
	for _, e := range events {
		switch e.Kind {
		case rota.EventScheduleFired:
			at := fmt.Sprint(e.Schedule, " ", e.PlanTime)
			if fired[at]++; fired[at] > 1 {
				w.T.Errorf("%s was fired %d times", at, fired[at])
			}
		case rota.EventJobStarted:
			if started[e.JobID]++; started[e.JobID] > 1 {
				w.T.Errorf("job %s was started %d times", e.JobID, started[e.JobID])
			}
		}
	}
}

// next jumps to the next time of a schedule, and waits until that is fired and
// its job has completed.
func (w *world) next(name string) {
	w.Helper()
	at := w.schedule(name).NextFire
	w.jump(at.Sub(w.clock.now()) + time.Second)
	fired := w.seen.await(w, "the fire for "+at.String(), func(e rota.Event) bool {
		return e.Kind == rota.EventJobEnqueued && e.Schedule == name && e.PlanTime.Equal(at)
	})
	w.completes(fired.JobID)
}

// A leader that is none any more, and does not know it yet, does what leaders do
// beside its successor.
func TestTwoThatBelieveToLeadDoubleNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		config := engine.Config{
			PruneEvery: time.Second, Retention: &rota.Retention{Completed: rota.Keep{Age: time.Microsecond}},
		}
		store, _ := w.another()
		for name, store := range map[string]rota.Store{"stale": w.store, "new": store} {
			book := &rollBook{}
			book.leads.Store(true)
			config.Name, config.Membership = name, book
			r := w.startOn(store, registry(done), config)
			w.until("it leads", r.Leads)
		}
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		for range 4 {
			w.next("hourly")
		}
		w.until("the history is pruned", func() bool { return len(w.planned("hourly")) == 0 })
		w.next("hourly")
		w.firedOnce()
		if n := w.log.count("level=ERROR"); n > 0 {
			t.Errorf("they complain: %q", w.log.lines)
		}
	})
}

// Whoever goes, and whoever comes: what is due is done by those who are there,
// and what was done before is not done again.
func TestAnElectionStopsNothingAndDoublesNothing(t *testing.T) {
	byLeaseOnEachStore(t, func(w *world) {
		first := w.start(registry(done), engine.Config{Name: "first", Lease: w.lease})
		w.until("the first leads", first.Leads)
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		w.next("hourly")
		before := first
		for i := range 2 {
			store, roll := w.another()
			after := w.startOn(store, registry(done), engine.Config{Name: fmt.Sprint("later-", i), Lease: w.lease, Membership: roll})
			w.next("hourly") // by either of them
			if roll != nil {
				w.until("both are there", func() bool { return after.Nodes() == 2 })
				if after.Leads() {
					w.Error("one who came later leads beside the one who did")
				}
			}
			later := w.add(rota.NewJob{Delay: 30 * time.Minute})[0] // due when only the later one is left
			if err := before.shutdown(); err != nil {
				w.Error(err)
			}
			w.until("the later one leads", after.Leads)
			w.next("hourly")
			w.completes(later)
			w.completes(w.addOne())
			before = after
		}
		w.fires("hourly", 5)
		w.firedOnce()
	})
}

// cutRoll is a roll that cannot be reached for a while.
type cutRoll struct {
	rota.Membership
	away  atomic.Bool
	calls atomic.Int64
}

// Attend may fail.
func (c *cutRoll) Heartbeat(ctx context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	if c.away.Load() {
		return rota.MembershipState{}, errDown
	}
	defer c.calls.Add(1)
	return c.Membership.Heartbeat(ctx, a)
}

// It cannot ask, but can write: another leads when its lease is over, which that
// one does not extend, and not before. Until it is told so, and afterwards, each time
// is fired once. (TestOnlyWhoLeadsPrunes is about one who is alone.)
func TestAStaleLeaderLeadsNoMore(t *testing.T) {
	byLease(t, serverWorld, func(w *world) {
		cut := &cutRoll{Membership: w.roll}
		stale := w.start(registry(done), engine.Config{Name: "stale", Lease: w.lease, Membership: cut})
		w.until("the first leads", stale.Leads)
		store, roll := w.another()
		other := w.startOn(store, registry(done), engine.Config{Name: "other", Lease: w.lease, Membership: roll})
		w.until("both are there", func() bool { return other.Nodes() == 2 })
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		w.next("hourly")
		cut.away.Store(true)
		w.until("the other leads", func() bool {
			leads := other.Leads() // asked first: the one before has stopped by then
			if leads && stale.Leads() {
				w.T.Fatal("both lead")
			}
			return leads
		})
		w.next("hourly")
		cut.away.Store(false)
		for back := cut.calls.Load(); cut.calls.Load() < back+3; time.Sleep(time.Millisecond) {
			if stale.Leads() || !other.Leads() {
				w.Fatalf("one that comes back leads: %t; the other: %t", stale.Leads(), other.Leads())
			}
		}
		w.next("hourly")
		w.fires("hourly", 3)
		w.firedOnce()
	})
}
