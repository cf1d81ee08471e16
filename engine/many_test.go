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

// declareMany makes so many schedules that are due at the same time.
func (w *world) declareMany(schedules int) {
	w.Helper()
	w.declare("many-0", rota.ScheduleSpec{Every: time.Hour})
	now := w.clock.now()
	var puts []rota.Command
	for i := 1; i < schedules; i++ {
		put, err := rota.Declare(meta(), fmt.Sprint("many-", i), rota.ScheduleSpec{Template: "t", Every: time.Hour}, now)
		if err != nil {
			w.Fatal(err)
		}
		puts = append(puts, put)
	}
	results, err := w.store.Apply(context.Background(), rota.Batch{Commands: puts})
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			w.Fatal(r.Err)
		}
	}
}

// Two thousand schedules are due in the same moment, while a run holds a lease. All
// of them are fired and run, once, nobody is told that the store does not answer,
// and the lease is kept.
func TestTwoThousandAtOnceAreNoTrouble(t *testing.T) {
	const many = 2_000
	byLeaseOnEachStore(t, func(w *world) {
		s, ran := newStage(), atomic.Int64{}
		r := w.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.Schedule != "" {
				ran.Add(1)
				return nil
			}
			return s.play(ctx, job)
		}), engine.Config{Lease: 5 * w.lease}) // an answer that takes a third of that is complained of
		w.declareMany(many)
		id := w.addOne()
		s.next(w)
		w.jump(time.Hour + time.Second)
		w.until("all have run", func() bool { return ran.Load() >= many })
		w.until("all have completed", func() bool {
			return w.seen.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == many
		})
		w.firedOnce()
		if fired := w.seen.count(func(e rota.Event) bool { return e.Kind == rota.EventScheduleFired }); fired != many {
			w.Errorf("%d were fired", fired)
		}
		s.ends(w, nil)
		w.completes(id)
		if n := w.log.count("level=ERROR"); n > 0 || r.Snapshot().LeaseLost > 0 {
			w.Errorf("%d leases lost, and it complains: %q", r.Snapshot().LeaseLost, w.log.lines)
		}
	})
}
