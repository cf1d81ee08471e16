package engine_test

import (
	"context"
	"sync/atomic"
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

// quietStore counts how often the engine asks whether a job runs.
type quietStore struct {
	rota.Store
	asked atomic.Int64
}

// Jobs counts the question.
func (s *quietStore) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	jobs, err := s.Store.Jobs(ctx, q)
	if q.State == rota.StateRunning {
		s.asked.Add(1)
	}
	return jobs, err
}

func TestQueueIsNotRenumberedWhileAnotherProcessRunsAJob(t *testing.T) {
	h := newHarness(t)
	ids := h.add(make([]rota.NewJob, 4)...)
	mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: ids[0]})
	claim := &rota.Claim{Meta: meta(), Worker: "elsewhere", Types: []string{h.job(ids[1]).Type}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken()}
	running := mustApply[*rota.Claimed](h, claim).Jobs[0]
	reg := engine.NewRegistry()
	reg.Func("other", rota.TypeSpec{}, done)
	store := &quietStore{Store: h.store}
	h.startOn(store, reg, engine.Config{PruneEvery: time.Second})
	h.eventually("two rounds have asked whether a job runs", func() bool { return store.asked.Load() > 1 })
	if at := h.job(ids[3]).Position; at != 4*rota.PositionGap {
		t.Errorf("the last job was renumbered to %d while a job ran in another process", at)
	}
	item := rota.FinishItem{LeaseRef: running.Lease(), Outcome: rota.OutcomeCompleted}
	mustApply[*rota.Finished](h, &rota.Finish{Meta: meta(), Items: []rota.FinishItem{item}})
	h.eventually("the queue was renumbered", func() bool { return h.job(ids[3]).Position == 2*rota.PositionGap })
}

// conflictStore is a store whose queue changes between any two pages of the default priority.
type conflictStore struct{ rota.Store }

// Apply refuses to renumber the default priority.
func (s conflictStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if c, is := b.Commands[0].(*rota.Normalise); is && c.Priority == 0 {
		return []rota.Result{{Err: &rota.Error{Code: rota.Conflict, Field: "after", Reason: "it is not queued any more"}}}, nil
	}
	return s.Store.Apply(ctx, b)
}

func TestConflictOfOnePageDoesNotEndTheRound(t *testing.T) {
	h := newHarness(t)
	h.addOne()
	low := h.add(rota.NewJob{Priority: new(-5)}, rota.NewJob{Priority: new(-5)})
	mustApply[*rota.CancelledJob](h, &rota.Cancel{Meta: meta(), JobID: low[0]})
	reg := engine.NewRegistry()
	reg.Func("other", rota.TypeSpec{}, done)
	h.startOn(conflictStore{h.store}, reg, engine.Config{PruneEvery: time.Second})
	h.eventually("the priority below was renumbered", func() bool { return h.job(low[1]).Position == rota.PositionGap })
	if n := h.log.count("was not renumbered"); n > 0 {
		t.Errorf("the round ended at the conflict: %q", h.log.lines)
	}
}
