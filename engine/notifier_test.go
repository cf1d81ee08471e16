package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
)

// addGroup puts members of type work into the queue.
func (w *world) addGroup(size int) rota.ID {
	w.Helper()
	jobs := make([]rota.NewJob, size)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "work", MaxRetries: new(0)}
	}
	return does[*rota.GroupEnqueued](w, &rota.EnqueueGroup{Meta: meta(), Name: "party", Jobs: jobs}).Group.ID
}

// told waits until a feed tells of finished groups, and then for those of a
// second group, so that whatever is told of the first has been.
func told(w *world, f *eventring.Ring, id rota.ID, mark func() rota.ID) (events []rota.Event) {
	w.Helper()
	await := func(id rota.ID) {
		for found := false; !found; {
			changed := f.Changed()
			entries, _ := f.Since(0)
			for _, e := range entries {
				found = found || e.Kind == rota.EventGroupFinished && e.GroupID == id
			}
			if !found {
				w.comes(changed, "the end of the group")
			}
		}
	}
	await(id)
	await(mark())
	entries, _ := f.Since(0)
	for _, e := range entries {
		if e.Kind == rota.EventGroupFinished && e.GroupID == id {
			events = append(events, e.Event)
		}
	}
	return events
}

func TestAGroupThatHasFinishedIsToldOnce(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	fail := make(chan bool, 100)
	w.start(registry(func(context.Context, *rota.Job) error {
		select {
		case <-fail:
			return errors.New("no luck")
		default:
			return nil
		}
	}), engine.Config{Events: f})
	fail <- true
	id := w.addGroup(20)
	events := told(w, f, id, func() rota.ID { return w.addGroup(1) })
	if len(events) != 1 || events[0].Detail != string(rota.GroupPartial) || events[0].Name != "party" || events[0].At.IsZero() {
		t.Errorf("%+v", events)
	}
}

func TestACancelledGroupIsToldOnce(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	s := newStage()
	w.start(registry(s.play), engine.Config{Events: f, Workers: 2})
	id := w.addGroup(5)
	s.next(w)
	s.next(w)
	does[*rota.CancelledGroup](w, &rota.CancelGroup{Meta: meta(), GroupID: id, Reason: "over"})
	events := told(w, f, id, func() rota.ID {
		mark := w.addGroup(1)
		s.next(w)
		s.end <- nil
		return mark
	})
	if len(events) != 1 || events[0].Detail != string(rota.GroupCancelled) {
		t.Errorf("%+v", events)
	}
}

func TestAGroupThatFinishesInAShutdownIsTold(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Events: f, Workers: 1})
	other, id := w.addGroup(1), w.addGroup(1)
	s.next(w)
	s.end <- nil
	s.next(w)
	told(w, f, other, func() rota.ID { return other }) // the notifier rests now
	r.stop()
	s.end <- nil
	w.comes(r.over, "the end of the engine")
	if events := told(w, f, id, func() rota.ID { return id }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
}

// groupless is a store whose groups cannot be read at first.
type groupless struct {
	rota.Store
	failures tally[string]
}

// Group fails three times.
func (g *groupless) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	if g.failures.add("n", 1) <= 3 {
		return nil, errDown
	}
	return g.Store.Group(ctx, id)
}

func TestAGroupThatCouldNotBeReadIsToldLater(t *testing.T) {
	w := newWorld(t)
	f := eventring.New(w.store, 0)
	defer f.Close()
	w.startOn(&groupless{Store: w.store}, registry(done), engine.Config{Events: f})
	id := w.addGroup(1)
	if events := told(w, f, id, func() rota.ID { return id }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
	if n := w.log.count("finished groups could not be published"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}
