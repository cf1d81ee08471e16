package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/store/wrap"
)

// overheard counts what one engine of several sends.
func overheard(store rota.Store) (*tally[rota.Verb], rota.Store) {
	var sent tally[rota.Verb]
	return &sent, wrap.Flaky(store, wrap.Fault{Before: func(b rota.Batch) error {
		for _, c := range b.Commands {
			sent.add(c.Verb(), 1)
		}
		return nil
	}})
}

func TestAnEngineThatOnlyWorksLeavesTheRestToAnother(t *testing.T) {
	w := newWorld(t)
	sent, store := overheard(w.store)
	s := newStage()
	w.startOn(store, registry(s.play), engine.Config{WorkOnly: true, Name: "hand", PruneEvery: time.Second, Lease: shortLease})
	delayed := w.add(rota.NewJob{Delay: time.Hour})[0]
	w.declare("soon", rota.ScheduleSpec{At: w.clock.now().Add(time.Hour)})
	w.jump(time.Hour + time.Second)
	w.until("all is due", func() bool {
		due, err := w.store.NextDue(context.Background())
		return err == nil && due.Ready.Before(due.Now) && due.Fire.Before(due.Now)
	})
	time.Sleep(100 * time.Millisecond) // for what must not come
	s.nobody(w)

	main := engine.NewRegistry()
	main.Func("other", rota.TypeSpec{}, done)
	w.start(main, engine.Config{}) // it runs no jobs of this type
	names := map[string]bool{}
	for range 2 {
		job := s.next(w)
		names[job.Schedule] = true
		s.end <- nil
		if run := w.ended(job.ID).Run; run.Runner != "hand" || run.Incarnation.IsZero() || run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%s by %q, life %s", run.Outcome, run.Runner, run.Incarnation)
		}
	}
	if !names[""] || !names["soon"] {
		t.Errorf("job %s or the schedule's was not run", delayed)
	}
	sent.mu.Lock()
	defer sent.mu.Unlock()
	for verb := range sent.counts {
		switch verb {
		case rota.VerbPutType, rota.VerbRecover, rota.VerbClaim, rota.VerbExtend, rota.VerbNote, rota.VerbFinish:
		default:
			t.Errorf("it sent %s", verb)
		}
	}
}

func TestAnEngineThatOnlyWorksSettlesWhatItLeft(t *testing.T) {
	w := newWorld(t)
	does[*rota.TypePut](w, &rota.PutType{Meta: meta(), Name: "work"})
	id := w.addOne()
	does[*rota.Claimed](w, &rota.Claim{
		Meta: meta(), Worker: "hand", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	s := newStage()
	w.start(registry(s.play), engine.Config{WorkOnly: true, Name: "hand"})
	if job := s.next(w); job.RetryOf != id {
		t.Errorf("%s began", job.ID)
	}
	s.end <- nil
}

func TestACancelReachesAnEngineThatOnlyWorksAtOnce(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.start(registry(s.play), engine.Config{WorkOnly: true, Lease: time.Hour})
	id := w.addOne()
	s.next(w)
	w.cancel(id)
	if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestAnEngineThatOnlyWorksMakesNoDirectRuns(t *testing.T) {
	w := newWorld(t)
	r := w.start(registry(done), engine.Config{WorkOnly: true})
	if _, err := r.Direct(context.Background(), rota.NewJob{Type: "work"}, time.Minute); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%v", err)
	}
	afar := w.remote(w.distant(), registry(done), engine.Config{})
	if _, err := afar.Direct(context.Background(), rota.NewJob{Type: "work"}, time.Minute); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%v", err)
	}
}

// Of two engines on one store, the one that only works does not tell of groups.
func TestAnEngineThatOnlyWorksTellsOfNoGroups(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	main := engine.NewRegistry()
	main.Func("other", rota.TypeSpec{}, done)
	w.start(main, engine.Config{Events: f})
	w.start(registry(done), engine.Config{Events: f, WorkOnly: true, Name: "hand"})
	id := w.addGroup(3)
	if events := told(w, f, id, func() rota.ID { return w.addGroup(1) }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
}
