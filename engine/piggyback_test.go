package engine_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// piggybackCounter counts the batches that enqueue a job and claim it.
type piggybackCounter struct {
	count    atomic.Int32
	loseNext atomic.Bool // the answer to the next one is lost
}

func (r *piggybackCounter) fault() wrap.Fault {
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
		if r.loseNext.Swap(false) {
			return errDown
		}
		return nil
	}}
}

// An idle engine claims a job in the transaction that enqueues it. It leaves jobs that
// it has no slot or no handler for.
func TestIdleEngineClaimsInTransactionOfEnqueue(t *testing.T) {
	h := newHarness(t)
	var r piggybackCounter
	h.store = wrap.Coalesce(wrap.Flaky(h.store, r.fault()))
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Workers: 1})
	for range 20 {
		id := h.add(rota.NewJob{})[0]
		s.awaitStart(h)
		s.results <- nil
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted {
			t.Fatalf("the job is %s", job.State())
		}
	}
	if r.count.Load() == 0 {
		t.Error("each job was claimed in a transaction of its own")
	}
	h.add(rota.NewJob{})
	s.awaitStart(h)
	before := r.count.Load()
	h.add(rota.NewJob{})                // no slot is free
	h.add(rota.NewJob{Type: "unheard"}) // no handler is registered
	if r.count.Load() != before {
		t.Error("a job that could not start was claimed")
	}
	s.results <- nil
	s.awaitStart(h)
	s.results <- nil
}

// If the answer is lost, the claim is sent again and the job runs once.
func TestPiggybackedClaimIsResentWhenAnswerIsLost(t *testing.T) {
	h := newHarness(t)
	var r piggybackCounter
	h.store = wrap.Coalesce(wrap.Flaky(h.store, r.fault()))
	var runs counter[rota.ID]
	h.start(registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return nil
	}), engine.Config{Workers: 4})
	lost := 0
	for range 20 {
		r.loseNext.Store(true)
		command := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{{Type: "work"}}}
		if _, err := h.store.Apply(t.Context(), rota.Batch{Commands: []rota.Command{command}}); err != nil {
			lost++
		}
		id := command.JobID(0)
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || runs.get(id) != 1 {
			t.Fatalf("job %s: %s, ran %d times", id, job.State(), runs.get(id))
		}
	}
	if lost == 0 {
		t.Error("no answer was lost")
	}
}

// A piggybacked claim that finds nothing does not know of jobs enqueued after it: they
// start in the slot that it returns.
func TestEmptyPiggybackedClaimStrandsNoJob(t *testing.T) {
	h := newHarness(t)
	under, gate := make(chan struct{}), make(chan struct{})
	held := func(b rota.Batch, _ []rota.Result) error {
		enqueue, ok := b.Commands[0].(*rota.Enqueue)
		if _, claims := b.Commands[len(b.Commands)-1].(*rota.Claim); ok && claims && enqueue.Jobs[0].Template != "" {
			close(under)
			<-gate
		}
		return nil
	}
	h.store = wrap.Coalesce(wrap.Flaky(h.store, wrap.Fault{After: held}))
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Workers: 2})
	send := func(job rota.NewJob) {
		command := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: []rota.NewJob{job}}
		_, _ = h.store.Apply(context.Background(), rota.Batch{Commands: []rota.Command{command}})
	}
	h.add(rota.NewJob{})
	s.awaitStart(h)
	for away := false; !away; { // the enqueue is refused, so that its claim finds nothing
		refused := make(chan struct{})
		go func() {
			defer close(refused)
			send(rota.NewJob{Template: "unheard"})
		}()
		select {
		case <-under:
			away = true
		case <-refused: // the dispatcher was not waiting yet
		}
	}
	s.results <- nil // the dispatcher sends the end after the piggybacked claim
	for range 2 {
		go send(rota.NewJob{Type: "work"})
	}
	time.Sleep(50 * time.Millisecond) // usually long enough for both to wait
	close(gate)
	s.awaitStart(h)
	s.awaitStart(h)
	s.results <- nil
	s.results <- nil
}

// One slow job among many of a piggybacked claim delays no other.
func TestSlowJobOfPiggybackedClaimDelaysNoOther(t *testing.T) {
	h := newHarness(t)
	const many = 500
	var ran, slow atomic.Int64
	rest := make(chan struct{})
	h.start(registry(func(context.Context, *rota.Job) error {
		if slow.CompareAndSwap(1, 2) {
			<-rest
		}
		ran.Add(1)
		return nil
	}), engine.Config{Workers: many})
	for range 3 {
		h.awaitAllEnded(h.add(make([]rota.NewJob, many)...))
	}
	for range 5 {
		before := ran.Load()
		slow.Store(1)
		ids := h.add(make([]rota.NewJob, many)...)
		h.eventually("all but one have run", func() bool { return ran.Load() == before+many-1 })
		rest <- struct{}{}
		h.awaitAllEnded(ids)
	}
}
