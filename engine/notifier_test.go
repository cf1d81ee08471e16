package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
)

// addGroup enqueues a group with members of type work.
func (h *harness) addGroup(size int) rota.ID {
	h.Helper()
	jobs := make([]rota.NewJob, size)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "work", MaxRetries: new(0)}
	}
	return mustApply[*rota.GroupEnqueued](h, &rota.EnqueueGroup{Meta: meta(), Name: "party", Jobs: jobs}).Group.ID
}

// awaitGroupEvents waits until the ring has the end of a group, then that of a second
// group, so that all events of the first have arrived.
func awaitGroupEvents(h *harness, f *eventring.Ring, id rota.ID, mark func() rota.ID) (events []rota.Event) {
	h.Helper()
	await := func(id rota.ID) {
		for found := false; !found; {
			changed := f.Changed()
			entries, _ := f.Since(0)
			for _, e := range entries {
				found = found || e.Kind == rota.EventGroupFinished && e.GroupID == id
			}
			if !found {
				h.await(changed, "the end of the group")
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

func TestFinishedGroupIsPublishedOnce(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	fail := make(chan bool, 100)
	h.start(registry(func(context.Context, *rota.Job) error {
		select {
		case <-fail:
			return errors.New("no luck")
		default:
			return nil
		}
	}), engine.Config{Events: f})
	fail <- true
	id := h.addGroup(20)
	events := awaitGroupEvents(h, f, id, func() rota.ID { return h.addGroup(1) })
	if len(events) != 1 || events[0].Detail != string(rota.GroupPartial) || events[0].Name != "party" || events[0].At.IsZero() {
		t.Errorf("%+v", events)
	}
}

func TestCancelledGroupIsPublishedOnce(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	s := newControlledHandler()
	h.start(registry(s.handle), engine.Config{Events: f, Workers: 2})
	id := h.addGroup(5)
	s.awaitStart(h)
	s.awaitStart(h)
	mustApply[*rota.CancelledGroup](h, &rota.CancelGroup{Meta: meta(), GroupID: id, Reason: "over"})
	events := awaitGroupEvents(h, f, id, func() rota.ID {
		mark := h.addGroup(1)
		s.awaitStart(h)
		s.results <- nil
		return mark
	})
	if len(events) != 1 || events[0].Detail != string(rota.GroupCancelled) {
		t.Errorf("%+v", events)
	}
}

func TestGroupFinishedDuringShutdownIsPublished(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Events: f, Workers: 1})
	other, id := h.addGroup(1), h.addGroup(1)
	s.awaitStart(h)
	s.results <- nil
	s.awaitStart(h)
	awaitGroupEvents(h, f, other, func() rota.ID { return other }) // the notifier is idle now
	r.stop()
	s.results <- nil
	h.await(r.done, "the end of the engine")
	if events := awaitGroupEvents(h, f, id, func() rota.ID { return id }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
}

// unreadableGroups is a store whose groups cannot be read at first.
type unreadableGroups struct {
	rota.Store
	failures counter[string]
}

// Group fails three times.
func (g *unreadableGroups) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	if g.failures.add("n", 1) <= 3 {
		return nil, errDown
	}
	return g.Store.Group(ctx, id)
}

func TestUnreadableGroupIsPublishedLater(t *testing.T) {
	h := newHarness(t)
	f := eventring.New(h.store, 0)
	defer f.Close()
	h.startOn(&unreadableGroups{Store: h.store}, registry(done), engine.Config{Events: f})
	id := h.addGroup(1)
	if events := awaitGroupEvents(h, f, id, func() rota.ID { return id }); len(events) != 1 {
		t.Errorf("%+v", events)
	}
	if n := h.log.count("finished groups could not be published"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}
