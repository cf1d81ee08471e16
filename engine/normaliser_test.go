package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

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

// TestIdleQueueIsRenumberedAtEveryPriority has a long queue of ready jobs, and lower
// priorities with delayed jobs between ready ones and with delayed jobs only.
func TestIdleQueueIsRenumberedAtEveryPriority(t *testing.T) {
	h := newHarness(t)
	ready := h.add(make([]rota.NewJob, rota.PageMax+500)...)
	low, lowest := new(-1), new(-2)
	mixed := h.add(rota.NewJob{Priority: low}, rota.NewJob{Priority: low, Delay: time.Hour}, rota.NewJob{Priority: low}, rota.NewJob{Priority: low, Delay: time.Hour})
	delayed := h.add(rota.NewJob{Priority: lowest, Delay: time.Hour}, rota.NewJob{Priority: lowest, Delay: time.Hour}, rota.NewJob{Priority: lowest, Delay: time.Hour})
	for _, first := range []rota.ID{ready[0], mixed[0], delayed[0]} {
		mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: first})
	}
	reg := engine.NewRegistry()
	reg.Func("other", rota.TypeSpec{}, done)
	h.start(reg, engine.Config{PruneEvery: time.Second})
	for _, row := range [][]rota.ID{ready[1:], mixed[1:], delayed[1:]} {
		for _, at := range []int{0, len(row) - 1} {
			h.eventually("its position follows its place", func() bool {
				job, err := h.store.Job(context.Background(), row[at])
				return err == nil && job.Position == int64(at+1)*rota.PositionGap
			})
		}
	}
}
