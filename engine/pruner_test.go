package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestTheHistoryIsPruned(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{
		PruneEvery: time.Second, Retention: &rota.Retention{Completed: rota.Keep{Count: 3}},
	})
	ids := w.add(make([]rota.NewJob, 20)...)
	for _, id := range ids {
		w.ended(id)
	}
	w.until("three are left", func() bool {
		jobs, err := w.store.Jobs(context.Background(), rota.JobQuery{})
		return err == nil && len(jobs) == 3
	})
	w.job(ids[19]) // the newest are kept
}

func TestTheQueueIsNumberedAnewInQuietTimes(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		w.add(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
	}
	before := w.queue()
	does[*rota.Moved](w, &rota.Move{Meta: meta(), JobID: before[8].ID, Place: rota.PlaceBefore, Anchor: before[1].ID})
	reg := engine.NewRegistry()
	reg.Func("other", rota.TypeSpec{}, done)
	w.start(reg, engine.Config{PruneEvery: time.Second})
	w.until("the queue has even gaps", func() bool {
		for i, job := range w.queue() {
			if job.Position != int64(i+1)*rota.PositionGap {
				return false
			}
		}
		return true
	})
	if after := w.queue(); after[1].ID != before[8].ID || after[0].ID != before[0].ID || after[8].ID != before[7].ID {
		t.Error("its order has changed")
	}
}

func TestWhatHasWaitedTooLongIsSwept(t *testing.T) {
	w := newWorld(t)
	w.start(registry(done), engine.Config{})
	w.add(rota.NewJob{ConcurrencyKey: new("db")}, rota.NewJob{ConcurrencyKey: new("db")})
	does[*rota.ThrottlePut](w, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1}}}})
	r := does[*rota.Reserved](w, &rota.Reserve{Meta: meta(), Node: "gone", For: time.Second})
	w.jump(time.Hour)
	w.seen.await(t, "the end of the reservation", func(e rota.Event) bool {
		return e.Kind == rota.EventReservationExpired && e.ReservationID == r.Reservation.ID
	})
	w.until("nothing is left to sweep", func() bool {
		due, err := w.store.NextDue(context.Background())
		return err == nil && !due.Sweep
	})
}
