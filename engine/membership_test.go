package engine_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
)

// fakeMembership answers heartbeats as the test sets it.
type fakeMembership struct {
	othersSince    time.Time
	leads, failing atomic.Bool
	calls, left    atomic.Int32
	last           atomic.Pointer[rota.NodeHeartbeat]
}

func (b *fakeMembership) Heartbeat(_ context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	b.calls.Add(1)
	b.last.Store(&a)
	if b.failing.Load() {
		return rota.MembershipState{}, errors.New("unreachable")
	}
	return rota.MembershipState{Nodes: 2, Leader: "x", Leads: b.leads.Load(), OthersSince: b.othersSince}, nil
}

func (b *fakeMembership) Leave(context.Context, string, rota.ID) error {
	b.left.Add(1)
	return nil
}

// A heartbeat has the version and the slots of the process.
func TestHeartbeatHasVersionAndWorkers(t *testing.T) {
	h := newHarness(t)
	book := &fakeMembership{}
	h.start(registry(newControlledHandler().handle), engine.Config{Membership: book, Version: "v2", Workers: 7})
	h.eventually("a heartbeat was sent", func() bool { return book.last.Load() != nil })
	if a := book.last.Load(); a.Version != "v2" || a.Workers != 7 {
		t.Errorf("%+v", a)
	}
}

// Only the leader prunes, and without heartbeats it leads no longer than its lease.
func TestOnlyLeaderPrunes(t *testing.T) {
	h := newHarness(t)
	book := &fakeMembership{}
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{
		Membership: book, PruneEvery: time.Second, Lease: rota.LeaseMin, Retention: &rota.Retention{Completed: rota.Keep{Age: time.Microsecond}},
	})
	id := h.addOne()
	s.awaitStart(h)
	s.results <- nil
	h.awaitEnded(id)
	h.eventually("several heartbeats were sent", func() bool { return book.calls.Load() > 6 })
	if _, err := h.store.Job(t.Context(), id); err != nil {
		t.Errorf("a process that does not lead has pruned: %v", err)
	}
	if r.Leads() || r.Nodes() != 2 {
		t.Errorf("leads %v, nodes %d", r.Leads(), r.Nodes())
	}
	book.leads.Store(true)
	h.eventually("the leader has pruned", func() bool {
		_, err := h.store.Job(t.Context(), id)
		return rota.CodeOf(err) == rota.NotFound
	})
	book.failing.Store(true)
	h.eventually("it stops leading", func() bool { return !r.Leads() })
	if err := r.shutdown(); err != nil || book.left.Load() != 1 {
		t.Errorf("%v, left %d times", err, book.left.Load())
	}
}

// Members lists nothing: the engine does not ask for it.
func (b *fakeMembership) Members(context.Context) ([]rota.Member, error) { return nil, nil }

// withoutWebhooks is a store that does not answer when webhooks are read.
type withoutWebhooks struct{ rota.Store }

func (withoutWebhooks) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// The delivery of an event to webhooks delays neither the heartbeats nor the event itself.
func TestHeartbeatsDoNotWaitForWebhooks(t *testing.T) {
	h := newHarness(t)
	book := &fakeMembership{}
	f := eventring.New(h.store, 0)
	defer f.Close()
	h.startOn(withoutWebhooks{h.store}, registry(newControlledHandler().handle), engine.Config{Membership: book, Lease: rota.LeaseMin, Events: f})
	h.eventually("several heartbeats were sent", func() bool { return book.calls.Load() > 3 })
	entries, _ := f.Since(0)
	if !slices.ContainsFunc(entries, func(e eventring.Entry) bool { return e.Kind == rota.EventNodeJoined }) {
		t.Errorf("%v", entries)
	}
}
