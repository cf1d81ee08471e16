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

// wide is a store that says that it works on several batches at once, and shows
// the steps of an engine on their way back.
type wide struct {
	rota.Store
	back func(b rota.Batch, results []rota.Result) // called when a batch is applied and not yet answered

	mu          sync.Mutex
	aloft, most int // steps that claim or finish
}

func (s *wide) Limits() rota.Limits {
	limits := s.Store.Limits()
	limits.Batches = 4
	return limits
}

func (s *wide) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if slices.ContainsFunc(b.Commands, isStep) {
		s.fly(1)
		defer s.fly(-1)
	}
	results, err := s.Store.Apply(ctx, b)
	if err == nil && s.back != nil {
		s.back(b, results)
	}
	return results, err
}

func isStep(c rota.Command) bool { return c.Verb() == rota.VerbClaim || c.Verb() == rota.VerbFinish }

func (s *wide) fly(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.aloft += n
	s.most = max(s.most, s.aloft)
}

// TestTwoStepsAreUnderWay where a store works on several batches at once, no more,
// and everything runs once.
func TestTwoStepsAreUnderWay(t *testing.T) {
	w := newWorld(t)
	store := &wide{Store: w.store, back: func(rota.Batch, []rota.Result) { time.Sleep(2 * time.Millisecond) }}
	var ran tally[rota.ID]
	reg := registry(func(_ context.Context, job *rota.Job) error {
		ran.add(job.ID, 1)
		return nil
	})
	ids := w.add(make([]rota.NewJob, 1000)...)
	r := w.startOn(store, reg, engine.Config{Workers: 50})
	for _, id := range ids {
		w.completes(id)
	}
	for _, id := range ids {
		if n := ran.of(id); n != 1 {
			t.Errorf("job %s ran %d times", id, n)
		}
	}
	w.until("every slot is free", func() bool { return r.Snapshot().Running == 0 })
	if store.most != 2 {
		t.Errorf("at most %d steps were under way; want 2", store.most)
	}
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
}

// TestAWakeDuringAClaimIsNotLost: the claim found nothing, and what came then is
// for the next.
func TestAWakeDuringAClaimIsNotLost(t *testing.T) {
	w := newWorld(t)
	found, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	store := &wide{Store: w.store, back: func(b rota.Batch, results []rota.Result) {
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
	w.startOn(store, reg, engine.Config{Workers: 50})
	w.comes(found, "a claim that finds nothing")
	id := w.addOne()                  // the engine is woken, and its claim has yet to be answered
	time.Sleep(20 * time.Millisecond) // it has heard
	close(goOn)
	w.completes(id)
}

// TestAnEngineEndsWithStepsUnderWay: what they carry is recorded.
func TestAnEngineEndsWithStepsUnderWay(t *testing.T) {
	w := newWorld(t)
	store := &wide{Store: w.store, back: func(rota.Batch, []rota.Result) { time.Sleep(5 * time.Millisecond) }}
	reg := registry(func(context.Context, *rota.Job) error { return nil })
	w.add(make([]rota.NewJob, 2000)...)
	r := w.startOn(store, reg, engine.Config{Workers: 20})
	w.until("two steps are under way", func() bool {
		store.mu.Lock()
		defer store.mu.Unlock()
		return store.aloft == 2
	})
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	running, err := w.store.Jobs(context.Background(), rota.JobQuery{State: rota.StateRunning, Limit: 10})
	if err != nil || len(running) > 0 {
		t.Errorf("%d jobs are left running: %v", len(running), err)
	}
}

// TestEndsLeaveBesideAClaimThatHangs: what has ended is recorded, however long the
// store takes over another step, and however much else goes on.
func TestEndsLeaveBesideAClaimThatHangs(t *testing.T) {
	w := newWorld(t)
	var started sync.WaitGroup
	first, others := w.addOne(), w.add(make([]rota.NewJob, 19)...)
	hangs, goOn, end, endOthers := make(chan struct{}), make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer func() {
		for _, c := range []chan struct{}{goOn, endOthers} {
			select {
			case <-c:
			default:
				close(c) // the engine can end
			}
		}
	}()
	store := &wide{Store: w.store, back: func(_ rota.Batch, results []rota.Result) {
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
	w.startOn(store, reg, engine.Config{Workers: 50})
	started.Wait()
	late := w.add(rota.NewJob{Priority: new(7)})[0]
	w.comes(hangs, "a claim that hangs")
	close(end)
	w.completes(first)
	close(goOn)
	close(endOthers)
	for _, id := range append(others, late) {
		w.completes(id)
	}
}
