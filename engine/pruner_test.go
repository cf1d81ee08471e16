package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestPrunerAppliesRetention(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{
		PruneEvery: time.Second, Retention: &rota.Retention{Completed: rota.Keep{Count: 3}},
	})
	ids := h.add(make([]rota.NewJob, 20)...)
	for _, id := range ids {
		h.awaitEnded(id)
	}
	h.eventually("three are left", func() bool {
		jobs, err := h.store.Jobs(context.Background(), rota.JobQuery{})
		return err == nil && len(jobs) == 3
	})
	h.job(ids[19]) // the newest are kept
}

func TestIdleQueueIsRenumbered(t *testing.T) {
	h := newHarness(t)
	for range 3 {
		h.add(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
	}
	before := h.queue()
	mustApply[*rota.Moved](h, &rota.Move{Meta: meta(), JobID: before[8].ID, Place: rota.PlaceBefore, Anchor: before[1].ID})
	reg := engine.NewRegistry()
	reg.Func("other", rota.TypeSpec{}, done)
	h.start(reg, engine.Config{PruneEvery: time.Second})
	h.eventually("the queue has even gaps", func() bool {
		for i, job := range h.queue() {
			if job.Position != int64(i+1)*rota.PositionGap {
				return false
			}
		}
		return true
	})
	if after := h.queue(); after[1].ID != before[8].ID || after[0].ID != before[0].ID || after[8].ID != before[7].ID {
		t.Error("its order has changed")
	}
}

func TestSweeperExpiresReservation(t *testing.T) {
	h := newHarness(t)
	h.start(registry(done), engine.Config{})
	h.add(rota.NewJob{ConcurrencyKey: new("db")}, rota.NewJob{ConcurrencyKey: new("db")})
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1}}}})
	r := mustApply[*rota.Reserved](h, &rota.Reserve{Meta: meta(), Node: "gone", For: time.Second})
	h.setClock(time.Hour)
	h.events.await(t, "the end of the reservation", func(e rota.Event) bool {
		return e.Kind == rota.EventReservationExpired && e.ReservationID == r.Reservation.ID
	})
	h.eventually("nothing is left to sweep", func() bool {
		due, err := h.store.NextDue(context.Background())
		return err == nil && !due.Sweep
	})
}
