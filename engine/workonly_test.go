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

// countVerbs counts the commands that one engine of several sends.
func countVerbs(store rota.Store) (*counter[rota.Verb], rota.Store) {
	var sent counter[rota.Verb]
	return &sent, wrap.Flaky(store, wrap.Fault{Before: func(b rota.Batch) error {
		for _, c := range b.Commands {
			sent.add(c.Verb(), 1)
		}
		return nil
	}})
}

func TestWorkOnlyEngineDoesNoMaintenance(t *testing.T) {
	h := newHarness(t)
	sent, store := countVerbs(h.store)
	s := newControlledHandler()
	h.startOn(store, registry(s.handle), engine.Config{WorkOnly: true, Name: "hand", PruneEvery: time.Second, Lease: shortLease})
	delayed := h.add(rota.NewJob{Delay: time.Hour})[0]
	h.declareSchedule("soon", rota.ScheduleSpec{At: h.clock.now().Add(time.Hour)})
	h.setClock(time.Hour + time.Second)
	h.eventually("all is due", func() bool {
		due, err := h.store.NextDue(context.Background())
		return err == nil && due.Ready.Before(due.Now) && due.Fire.Before(due.Now)
	})
	time.Sleep(100 * time.Millisecond) // for a start that must not happen
	s.checkNoneStarted(h)

	main := engine.NewRegistry()
	main.Func("other", rota.TypeSpec{}, done)
	h.start(main, engine.Config{}) // it runs no jobs of type work
	names := map[string]bool{}
	for range 2 {
		job := s.awaitStart(h)
		names[job.Schedule] = true
		s.results <- nil
		if run := h.awaitEnded(job.ID).Run; run.Runner != "hand" || run.Incarnation.IsZero() || run.Outcome != rota.OutcomeCompleted {
			t.Errorf("%s by %q, incarnation %s", run.Outcome, run.Runner, run.Incarnation)
		}
	}
	if !names[""] || !names["soon"] {
		t.Errorf("job %s or that of the schedule was not run", delayed)
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

func TestWorkOnlyEngineRecoversItsJobs(t *testing.T) {
	h := newHarness(t)
	mustApply[*rota.TypePut](h, &rota.PutType{Meta: meta(), Name: "work"})
	id := h.addOne()
	mustApply[*rota.Claimed](h, &rota.Claim{
		Meta: meta(), Worker: "hand", Incarnation: rota.NewID(), Types: []string{"work"}, Limit: 1, Lease: time.Hour, Seed: rota.NewToken(),
	})
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{WorkOnly: true, Name: "hand"})
	if job := s.awaitStart(h); job.RetryOf != id {
		t.Errorf("%s began", job.ID)
	}
	s.results <- nil
}

func TestCancelReachesWorkOnlyEngineAtOnce(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{WorkOnly: true, Lease: time.Hour})
	id := h.addOne()
	s.awaitStart(h)
	h.cancel(id)
	if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled {
		t.Errorf("%s", job.Run.Outcome)
	}
}

func TestWorkOnlyEngineRefusesDirectRuns(t *testing.T) {
	h := newHarness(t)
	r := h.start(registry(done), engine.Config{WorkOnly: true})
	if _, err := r.Direct(context.Background(), rota.NewJob{Type: "work"}, time.Minute); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%v", err)
	}
	remote := h.startRemote(h.newRemoteStore(), registry(done), engine.Config{})
	if _, err := remote.Direct(context.Background(), rota.NewJob{Type: "work"}, time.Minute); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%v", err)
	}
}

// Of two engines on one store, the one with WorkOnly does not publish groups.
func TestWorkOnlyEnginePublishesNoGroups(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	main := engine.NewRegistry()
	main.Func("other", rota.TypeSpec{}, done)
	h.start(main, engine.Config{Events: f})
	h.start(registry(done), engine.Config{Events: f, WorkOnly: true, Name: "hand"})
	id := h.addGroup(3)
	if events := awaitGroupEvents(h, f, id, func() rota.ID { return h.addGroup(1) }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
}
