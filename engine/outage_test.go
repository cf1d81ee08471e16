package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

func TestOutageRecordsEachEndOnceAndRunsNothingTwice(t *testing.T) {
	h := newHarness(t)
	p := &outageSwitch{}
	var runs counter[rota.ID]
	s := newControlledHandler()
	h.startOn(wrap.Flaky(h.store, p.fault()), registry(func(ctx context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return s.handle(ctx, job)
	}), engine.Config{Workers: 4})
	ids := h.add(make([]rota.NewJob, 8)...)
	for range 4 {
		s.awaitStart(h)
	}
	p.off.Store(true)
	for range 4 {
		s.results <- nil
	}
	h.eventually("the ends were sent without success", func() bool { return p.refused.Load() > 2 })
	p.off.Store(false)
	for range 4 {
		s.awaitStart(h)
		s.results <- nil
	}
	for _, id := range ids {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || runs.get(id) != 1 {
			t.Errorf("job %s: %s, ran %d times", id, job.State(), runs.get(id))
		}
	}
	if began, ended := h.log.count("the store does not answer"), h.log.count("the store answers again"); began != 1 || ended != 1 {
		t.Errorf("the outage was logged %d times, its end %d times", began, ended)
	}
}

func TestEndDuringOutageIsRecordedWithItsTime(t *testing.T) {
	h := newHarness(t)
	var restored atomic.Bool
	var refused atomic.Int64
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if restored.Load() || !hasVerb(b, rota.VerbFinish) {
			return nil
		}
		refused.Add(1)
		return errDown
	}})
	s := newControlledHandler()
	h.startOn(store, registry(s.handle), engine.Config{})
	id := h.addOne()
	s.awaitStart(h)
	s.results <- nil
	h.eventually("the end was sent many times", func() bool { return refused.Load() > 6 })
	at := h.clock.now()
	restored.Store(true)
	job := h.awaitEnded(id)
	if !job.FinishedAt.Before(at) || !job.Run.FinishedAt.Equal(job.FinishedAt) || job.FinishedAt.Before(job.StartedAt) {
		t.Errorf("the job started at %s and ended at %s, its run at %s; the store was restored at %s, after the handler had returned",
			job.StartedAt, job.FinishedAt, job.Run.FinishedAt, at)
	}
}

// A store may hold a batch for seconds before it decides it: it waits for a lock, a connection, or
// the batches before it.
func TestEndThatTheStoreHoldsIsRecordedWithItsTime(t *testing.T) {
	h := newHarness(t)
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	store := wrap.Flaky(h.store, wrap.Fault{Before: func(b rota.Batch) error {
		if hasVerb(b, rota.VerbFinish) {
			once.Do(func() {
				close(held)
				<-release
			})
		}
		return nil
	}})
	s := newControlledHandler()
	h.startOn(store, registry(s.handle), engine.Config{})
	id := h.addOne()
	s.awaitStart(h)
	s.results <- nil
	<-held
	at := h.clock.now()
	close(release)
	if job := h.awaitEnded(id); !job.FinishedAt.Before(at) || !job.Run.FinishedAt.Equal(job.FinishedAt) {
		t.Errorf("the job ended at %s, its run at %s; at %s the store held the command of a handler that had returned",
			job.FinishedAt, job.Run.FinishedAt, at)
	}
}

// The engine cannot distinguish a batch that never arrived from a lost answer.
func TestRandomStoreFailuresRunEachJobOnce(t *testing.T) {
	h := newHarness(t)
	flip := func(rota.Batch) error {
		if rand.IntN(3) == 0 {
			return errDown
		}
		return nil
	}
	store := wrap.Flaky(h.store, wrap.Fault{Before: flip, After: func(b rota.Batch, _ []rota.Result) error { return flip(b) }})
	var runs counter[rota.ID]
	h.startOn(store, registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		if runs.get(job.ExecutionID) == 1 && job.Attempt == 1 && job.UniqueKey == "unlucky" {
			return errors.New("no luck")
		}
		return nil
	}), engine.Config{Workers: 4})
	ids := h.add(make([]rota.NewJob, 60)...)
	unlucky := h.add(rota.NewJob{UniqueKey: "unlucky", Backoff: new(time.Duration(0))})[0]
	ids = append(ids, h.awaitRetry(unlucky).ID)
	for _, id := range ids {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || runs.get(id) != 1 || h.events.starts(id) != 1 {
			t.Errorf("job %s: %s, ran %d times, started %d times", id, job.State(), runs.get(id), h.events.starts(id))
		}
	}
}

// unreadableStore is a store that cannot be read for a while.
type unreadableStore struct {
	rota.Store
	p *outageSwitch
}

// NextDue may fail.
func (s *unreadableStore) NextDue(ctx context.Context) (rota.Due, error) {
	if s.p.off.Load() {
		s.p.refused.Add(1)
		return rota.Due{}, errDown
	}
	return s.Store.NextDue(ctx)
}

// DueSchedules may fail.
func (s *unreadableStore) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	if s.p.off.Load() {
		return rota.DuePage{}, errDown
	}
	return s.Store.DueSchedules(ctx, limit)
}

func TestFailedReadsEndNoLoop(t *testing.T) {
	h := newHarness(t)
	p := &outageSwitch{}
	s := newControlledHandler()
	h.startOn(&unreadableStore{h.store, p}, registry(s.handle), engine.Config{})
	p.off.Store(true)
	h.declareSchedule("soon", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(2 * time.Hour)
	h.eventually("reads have failed", func() bool { return p.refused.Load() > 2 })
	p.off.Store(false)
	if job := s.awaitStart(h); job.Schedule != "soon" {
		t.Errorf("job %s started", job.ID)
	}
	if n := h.log.count("next due time cannot be read"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// singleCommandStore is a store that refuses whole batches, as no real store does.
type singleCommandStore struct{ rota.Store }

// Apply refuses batches with more than one command.
func (s singleCommandStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) > 1 {
		return nil, rota.Invalidf("commands", "are too many")
	}
	return s.Store.Apply(ctx, b)
}

func TestRefusedBatchLosesNoEndAndNoSlot(t *testing.T) {
	h := newHarness(t)
	h.startOn(singleCommandStore{h.store}, registry(done), engine.Config{Workers: 1})
	for range 3 {
		if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
			t.Errorf("%s", job.State())
		}
	}
}

// hangingStore is a store that does not answer for a while. Its calls end with an error
// after a timeout, as those of each real store do.
type hangingStore struct {
	rota.Store
	on atomic.Bool
}

const hangFor = 20 * time.Millisecond

func (s *hangingStore) hang(ctx context.Context) error {
	if !s.on.Load() {
		return nil
	}
	select {
	case <-time.After(hangFor):
		return errDown
	case <-ctx.Done():
		return ctx.Err()
	}
}

// NextDue may hang.
func (s *hangingStore) NextDue(ctx context.Context) (rota.Due, error) {
	if err := s.hang(ctx); err != nil {
		return rota.Due{}, err
	}
	return s.Store.NextDue(ctx)
}

// DueSchedules may hang.
func (s *hangingStore) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	if err := s.hang(ctx); err != nil {
		return rota.DuePage{}, err
	}
	return s.Store.DueSchedules(ctx, limit)
}

// Apply may hang.
func (s *hangingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := s.hang(ctx); err != nil {
		return nil, err
	}
	return s.Store.Apply(ctx, b)
}

// No run is active, so no heartbeat fails: the due checker must log that nothing can be
// fired, and firing continues by itself. Each store tests that its calls end.
func TestFiringWithHangingStoreIsLogged(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		store := &hangingStore{Store: h.store}
		h.startOn(store, registry(done), engine.Config{})
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		for n := 1; n <= 2; n++ {
			store.on.Store(true)
			h.setClock(time.Hour + time.Second)
			h.eventually("it is logged", func() bool { return h.log.count("level=ERROR", "next due time cannot be read") == n })
			if got := len(h.planTimes("hourly")); got != n-1 {
				t.Errorf("fired %d times, while the store hangs", got)
			}
			store.on.Store(false)
			h.awaitFires("hourly", n)
			h.eventually("its end is logged", func() bool { return h.log.count("next due time can be read again") == n })
		}
	})
}
