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

// declareMany declares schedules that are due at the same time.
func (h *harness) declareMany(schedules int) {
	h.Helper()
	h.declareSchedule("many-0", rota.ScheduleSpec{Every: time.Hour})
	now := h.clock.now()
	var puts []rota.Command
	for i := 1; i < schedules; i++ {
		put, err := rota.Declare(meta(), fmt.Sprint("many-", i), rota.ScheduleSpec{Template: "t", Every: time.Hour}, now)
		if err != nil {
			h.Fatal(err)
		}
		puts = append(puts, put)
	}
	results, err := h.store.Apply(context.Background(), rota.Batch{Commands: puts})
	if err != nil {
		h.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			h.Fatal(r.Err)
		}
	}
}

// Two thousand schedules are due at the same moment, while a run holds a lease. All of
// them fire and run once, no outage is logged, and the lease is kept.
func TestTwoThousandSchedulesDueAtOnceFireOnce(t *testing.T) {
	const many = 2_000
	withLeaseOnEachStore(t, func(h *harness) {
		s, ran := newControlledHandler(), atomic.Int64{}
		r := h.start(registry(func(ctx context.Context, job *rota.Job) error {
			if job.Schedule != "" {
				ran.Add(1)
				return nil
			}
			return s.handle(ctx, job)
		}), engine.Config{Lease: 5 * h.lease}) // an answer that takes a third of that is logged
		h.declareMany(many)
		id := h.addOne()
		s.awaitStart(h)
		h.setClock(time.Hour + time.Second)
		h.eventually("all have run", func() bool { return ran.Load() >= many })
		h.eventually("all have completed", func() bool {
			return h.events.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == many
		})
		h.checkFiredOnce()
		if fired := h.events.count(func(e rota.Event) bool { return e.Kind == rota.EventScheduleFired }); fired != many {
			h.Errorf("%d were fired", fired)
		}
		s.finish(h, nil)
		h.awaitCompleted(id)
		if n := h.log.count("level=ERROR"); n > 0 || r.Snapshot().LeaseLost > 0 {
			h.Errorf("%d leases lost; log: %q", r.Snapshot().LeaseLost, h.log.lines)
		}
	})
}
