package engine_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// rides counts the batches that bring a job and claim it.
type rides struct {
	count atomic.Int32
	lose  atomic.Bool // the answer of the next one
}

func (r *rides) fault() wrap.Fault {
	return wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error {
		enqueues, claims := 0, 0
		for _, c := range b.Commands {
			switch c.(type) {
			case *rota.Enqueue:
				enqueues++
			case *rota.Claim:
				claims++
			}
		}
		if enqueues == 0 || claims == 0 {
			return nil
		}
		r.count.Add(1)
		if r.lose.Swap(false) {
			return errDown
		}
		return nil
	}}
}

// An idle engine claims a job in the transaction that brings it. What it cannot
// start, or does not handle, it leaves.
func TestAnIdleEngineStartsAJobWithTheSyncThatBringsIt(t *testing.T) {
	w := newWorld(t)
	var r rides
	w.store = wrap.Coalesce(wrap.Flaky(w.store, r.fault()))
	s := newStage()
	w.start(registry(s.play), engine.Config{Workers: 1})
	for range 20 {
		id := w.add(rota.NewJob{})[0]
		s.next(w)
		s.end <- nil
		if job := w.ended(id); job.State() != rota.StateCompleted {
			t.Fatalf("the job is %s", job.State())
		}
	}
	if r.count.Load() == 0 {
		t.Error("each job waited for a transaction of its own")
	}
	w.add(rota.NewJob{})
	s.next(w)
	before := r.count.Load()
	w.add(rota.NewJob{})                // there is no slot
	w.add(rota.NewJob{Type: "unheard"}) // nobody here runs it
	if r.count.Load() != before {
		t.Error("what could not start was claimed")
	}
	s.end <- nil
	s.next(w)
	s.end <- nil
}

// When the answer is lost, the claim is sent again and the job runs once.
func TestAClaimThatWentAlongIsSentAgain(t *testing.T) {
	w := newWorld(t)
	var r rides
	w.store = wrap.Coalesce(wrap.Flaky(w.store, r.fault()))
	var runs tally[rota.ID]
	w.start(registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return nil
	}), engine.Config{Workers: 4})
	lost := 0
	for range 20 {
		r.lose.Store(true)
		command := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "work"}}}
		if _, err := w.store.Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}}); err != nil {
			lost++
		}
		id := command.JobID(0)
		if job := w.ended(id); job.State() != rota.StateCompleted || runs.of(id) != 1 {
			t.Fatalf("job %s: %s, ran %d times", id, job.State(), runs.of(id))
		}
	}
	if lost == 0 {
		t.Error("no answer was lost")
	}
}
