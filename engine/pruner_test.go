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

// TestPrunerContinuesWithRestOfPage prunes 30 executions of 100 attempts, more rows than one Prune changes.
func TestPrunerContinuesWithRestOfPage(t *testing.T) {
	h := newHarness(t)
	const executions, attempts = 30, 100
	enqueue := &rota.Enqueue{Meta: meta()}
	for range executions {
		enqueue.Jobs = append(enqueue.Jobs, rota.NewJob{Type: "work", MaxRetries: new(attempts - 1), Backoff: new(time.Duration(0))})
	}
	mustApply[*rota.Enqueued](h, enqueue)
	for range attempts {
		finish := &rota.Finish{Meta: meta()}
		claimed := mustApply[*rota.Claimed](h, &rota.Claim{Meta: meta(), Worker: "w", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: executions, Lease: rota.DefaultLease, Seed: rota.Token(rota.NewID())})
		for _, j := range claimed.Jobs {
			finish.Items = append(finish.Items, rota.FinishItem{LeaseRef: rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}, Outcome: rota.OutcomeFailed})
		}
		mustApply[*rota.Finished](h, finish)
	}
	h.setClock(2 * time.Hour)
	h.start(registry(done), engine.Config{PruneEvery: time.Second, Retention: &rota.Retention{Dead: rota.Keep{Age: time.Hour}}})
	h.eventually("all are pruned at once", func() bool { return h.log.count("the history was pruned", "executions=30") == 1 })
}

func TestPrunerAppliesRetentionOfAudit(t *testing.T) {
	h := newHarness(t)
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{Global: 50}})
	h.setClock(2 * time.Hour)
	mustApply[*rota.ThrottlePut](h, &rota.PutThrottle{Meta: meta(), Spec: rota.ThrottleSpec{Global: 60}})
	h.start(registry(done), engine.Config{PruneEvery: time.Second, Retention: &rota.Retention{Audit: time.Hour}})
	h.eventually("the newer change is left", func() bool {
		page, err := h.store.Audit(context.Background(), rota.AuditQuery{Subject: "limits"})
		return err == nil && len(page.Entries) == 1
	})
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
