package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

func TestAfterAnOutageEachEndIsRecordedOnceAndNothingRunsTwice(t *testing.T) {
	w := newWorld(t)
	p := &power{}
	var runs tally[rota.ID]
	s := newStage()
	w.startOn(wrap.Flaky(w.store, p.fault()), registry(func(ctx context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return s.play(ctx, job)
	}), engine.Config{Workers: 4})
	ids := w.add(make([]rota.NewJob, 8)...)
	for range 4 {
		s.next(w)
	}
	p.off.Store(true)
	for range 4 {
		s.end <- nil
	}
	w.until("the ends were sent in vain", func() bool { return p.denied.Load() > 2 })
	p.off.Store(false)
	for range 4 {
		s.next(w)
		s.end <- nil
	}
	for _, id := range ids {
		if job := w.ended(id); job.State() != rota.StateCompleted || runs.of(id) != 1 {
			t.Errorf("job %s: %s, ran %d times", id, job.State(), runs.of(id))
		}
	}
	if began, ended := w.log.count("the store does not answer"), w.log.count("the store answers again"); began != 1 || ended != 1 {
		t.Errorf("the outage was logged %d times, its end %d times", began, ended)
	}
}

// Both ways of failing look the same to the engine: a batch that never came, and
// an answer that was lost.
func TestAStoreThatFailsAtRandomRunsEachJobOnce(t *testing.T) {
	w := newWorld(t)
	flip := func(rota.Batch) error {
		if rand.IntN(3) == 0 {
			return errDown
		}
		return nil
	}
	store := wrap.Flaky(w.store, wrap.Fault{Before: flip, After: func(b rota.Batch, _ []rota.Result) error { return flip(b) }})
	var runs tally[rota.ID]
	w.startOn(store, registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		if runs.of(job.ExecutionID) == 1 && job.Attempt == 1 && job.UniqueKey == "unlucky" {
			return errors.New("no luck")
		}
		return nil
	}), engine.Config{Workers: 4})
	ids := w.add(make([]rota.NewJob, 60)...)
	unlucky := w.add(rota.NewJob{UniqueKey: "unlucky", Backoff: new(time.Duration(0))})[0]
	ids = append(ids, w.retryOf(unlucky).ID)
	for _, id := range ids {
		if job := w.ended(id); job.State() != rota.StateCompleted || runs.of(id) != 1 || w.seen.starts(id) != 1 {
			t.Errorf("job %s: %s, ran %d times, started %d times", id, job.State(), runs.of(id), w.seen.starts(id))
		}
	}
}

// readless is a store that cannot be read for a while.
type readless struct {
	rota.Store
	p *power
}

// NextDue may fail.
func (s *readless) NextDue(ctx context.Context) (rota.Due, error) {
	if s.p.off.Load() {
		s.p.denied.Add(1)
		return rota.Due{}, errDown
	}
	return s.Store.NextDue(ctx)
}

// DueSchedules may fail.
func (s *readless) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	if s.p.off.Load() {
		return rota.DuePage{}, errDown
	}
	return s.Store.DueSchedules(ctx, limit)
}

func TestAReadThatFailsEndsNoLoop(t *testing.T) {
	w := newWorld(t)
	p := &power{}
	s := newStage()
	w.startOn(&readless{w.store, p}, registry(s.play), engine.Config{})
	p.off.Store(true)
	w.declare("soon", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(2 * time.Hour)
	w.until("it was read in vain", func() bool { return p.denied.Load() > 2 })
	p.off.Store(false)
	if job := s.next(w); job.Schedule != "soon" {
		t.Errorf("%s began", job.ID)
	}
	if n := w.log.count("does not answer what is due"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

// strict is a store that refuses whole batches, which none should.
type strict struct{ rota.Store }

// Apply refuses batches with more than one command.
func (s strict) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if len(b.Commands) > 1 {
		return nil, rota.Invalidf("commands", "are too many")
	}
	return s.Store.Apply(ctx, b)
}

func TestABatchThatIsRefusedWholeLosesNoEndAndNoSlot(t *testing.T) {
	w := newWorld(t)
	w.startOn(strict{w.store}, registry(done), engine.Config{Workers: 1})
	for range 3 {
		if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
			t.Errorf("%s", job.State())
		}
	}
}

// hung is a store that does not answer for a while. Whoever asks waits, and is told
// so when a store has waited long enough, as each does by itself.
type hung struct {
	rota.Store
	on atomic.Bool
}

const hungFor = 20 * time.Millisecond

func (s *hung) waits(ctx context.Context) error {
	if !s.on.Load() {
		return nil
	}
	select {
	case <-time.After(hungFor):
		return errDown
	case <-ctx.Done():
		return ctx.Err()
	}
}

// NextDue may hang.
func (s *hung) NextDue(ctx context.Context) (rota.Due, error) {
	if err := s.waits(ctx); err != nil {
		return rota.Due{}, err
	}
	return s.Store.NextDue(ctx)
}

// DueSchedules may hang.
func (s *hung) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	if err := s.waits(ctx); err != nil {
		return rota.DuePage{}, err
	}
	return s.Store.DueSchedules(ctx, limit)
}

// Apply may hang.
func (s *hung) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if err := s.waits(ctx); err != nil {
		return nil, err
	}
	return s.Store.Apply(ctx, b)
}

// Nothing runs, so no heart beats in vain: it is the firing that has to say that it
// stands still, and it goes on by itself. That a call ends at all is the stores'
// to see to, and is tested there.
func TestFiringThatStandsStillIsNotSilent(t *testing.T) {
	onEachStore(t, func(t *testing.T, w *world) {
		store := &hung{Store: w.store}
		w.startOn(store, registry(done), engine.Config{})
		w.declare("hourly", rota.ScheduleSpec{Every: time.Hour})
		for n := 1; n <= 2; n++ {
			store.on.Store(true)
			w.jump(time.Hour + time.Second)
			w.until("it is logged", func() bool { return w.log.count("level=ERROR", "what is due") == n })
			if got := len(w.planned("hourly")); got != n-1 {
				t.Errorf("fired %d times, while the store hangs", got)
			}
			store.on.Store(false)
			w.fires("hourly", n)
			w.until("its end is logged", func() bool { return w.log.count("answers again what is due") == n })
		}
	})
}
