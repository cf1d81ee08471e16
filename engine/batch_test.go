package engine_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// concurrentStore is a store that announces that it applies several batches at once,
// and lets a test delay the answers.
type concurrentStore struct {
	rota.Store
	afterApply func(b rota.Batch, results []rota.Result) // called after a batch is applied and before it is answered

	mu                     sync.Mutex
	inFlight, inFlightMost int // batches with a claim or a finish
}

func (s *concurrentStore) Limits() rota.Limits {
	limits := s.Store.Limits()
	limits.Batches = 4
	return limits
}

func (s *concurrentStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if slices.ContainsFunc(b.Commands, isDispatch) {
		s.countInFlight(1)
		defer s.countInFlight(-1)
	}
	results, err := s.Store.Apply(ctx, b)
	if err == nil && s.afterApply != nil {
		s.afterApply(b, results)
	}
	return results, err
}

func isDispatch(c rota.Command) bool {
	return c.Verb() == rota.VerbClaim || c.Verb() == rota.VerbFinish
}

func (s *concurrentStore) countInFlight(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
	s.inFlightMost = max(s.inFlightMost, s.inFlight)
}

// A store that applies several batches at once gets two, no more, and every job runs
// once.
func TestDispatcherKeepsTwoBatchesInFlight(t *testing.T) {
	h := newHarness(t)
	store := &concurrentStore{Store: h.store, afterApply: func(rota.Batch, []rota.Result) { time.Sleep(2 * time.Millisecond) }}
	var ran counter[rota.ID]
	reg := registry(func(_ context.Context, job *rota.Job) error {
		ran.add(job.ID, 1)
		return nil
	})
	ids := h.add(make([]rota.NewJob, 1000)...)
	r := h.startOn(store, reg, engine.Config{Workers: 50})
	for _, id := range ids {
		h.awaitCompleted(id)
	}
	for _, id := range ids {
		if n := ran.get(id); n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
	h.eventually("every slot is free", func() bool { return r.Snapshot().Running == 0 })
	if store.inFlightMost != 2 {
		t.Errorf("at most %d batches were in flight; want 2", store.inFlightMost)
	}
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
}

// The claim found nothing; a job that arrives before its answer is for the next claim.
func TestWakeUpDuringEmptyClaimIsNotLost(t *testing.T) {
	h := newHarness(t)
	found, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	store := &concurrentStore{Store: h.store, afterApply: func(b rota.Batch, results []rota.Result) {
		for i, c := range b.Commands {
			if claimed, is := results[i].Reply.(*rota.Claimed); is && len(claimed.Jobs) == 0 && c.Verb() == rota.VerbClaim {
				once.Do(func() {
					close(found)
					<-goOn
				})
			}
		}
	}}
	reg := registry(func(context.Context, *rota.Job) error { return nil })
	h.startOn(store, reg, engine.Config{Workers: 50})
	h.await(found, "a claim that finds nothing")
	id := h.addOne()                  // the wake-up arrives before the answer to the claim
	time.Sleep(20 * time.Millisecond) // for the dispatcher to receive it
	close(goOn)
	h.awaitCompleted(id)
}

// Ends in flight are recorded before Run returns.
func TestShutdownWithBatchesInFlightRecordsThem(t *testing.T) {
	h := newHarness(t)
	store := &concurrentStore{Store: h.store, afterApply: func(rota.Batch, []rota.Result) { time.Sleep(5 * time.Millisecond) }}
	reg := registry(func(context.Context, *rota.Job) error { return nil })
	h.add(make([]rota.NewJob, 2000)...)
	r := h.startOn(store, reg, engine.Config{Workers: 20})
	h.eventually("two batches are in flight", func() bool {
		store.mu.Lock()
		defer store.mu.Unlock()
		return store.inFlight == 2
	})
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	running, err := h.store.Jobs(context.Background(), rota.JobQuery{State: rota.StateRunning, Limit: 10})
	if err != nil || len(running) > 0 {
		t.Errorf("%d jobs are left running: %v", len(running), err)
	}
}

// Ends are recorded however long the store takes for another batch.
func TestEndsAreRecordedWhileClaimHangs(t *testing.T) {
	h := newHarness(t)
	var started sync.WaitGroup
	first, others := h.addOne(), h.add(make([]rota.NewJob, 19)...)
	hangs, goOn, end, endOthers := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer func() {
		for _, c := range []chan struct{}{goOn, endOthers} {
			select {
			case <-c:
			default:
				close(c) // so that the engine can end
			}
		}
	}()
	store := &concurrentStore{Store: h.store, afterApply: func(_ rota.Batch, results []rota.Result) {
		for _, r := range results {
			if claimed, is := r.Reply.(*rota.Claimed); is && len(claimed.Jobs) > 0 && claimed.Jobs[0].Priority == 7 {
				close(hangs)
				<-goOn
			}
		}
	}}
	reg := registry(func(_ context.Context, job *rota.Job) error {
		switch {
		case job.ID == first:
			started.Done()
			<-end
		case job.Priority != 7:
			started.Done()
			<-endOthers
		}
		return nil
	})
	started.Add(20)
	h.startOn(store, reg, engine.Config{Workers: 50})
	started.Wait()
	late := h.add(rota.NewJob{Priority: new(7)})[0]
	h.await(hangs, "a claim that hangs")
	close(end)
	h.awaitCompleted(first)
	close(goOn)
	close(endOthers)
	for _, id := range append(others, late) {
		h.awaitCompleted(id)
	}
}
