package engine_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// rollBook answers as it is told.
type rollBook struct {
	leads, away atomic.Bool
	calls, left atomic.Int32
}

func (b *rollBook) Heartbeat(_ context.Context, a rota.NodeHeartbeat) (rota.MembershipState, error) {
	b.calls.Add(1)
	if b.away.Load() {
		return rota.MembershipState{}, errors.New("away")
	}
	return rota.MembershipState{Nodes: 2, Leader: "x", Leads: b.leads.Load()}, nil
}

func (b *rollBook) Leave(context.Context, string, rota.ID) error {
	b.left.Add(1)
	return nil
}

// TestOnlyWhoLeadsPrunes, and who cannot ask leads no longer than its lease.
func TestOnlyWhoLeadsPrunes(t *testing.T) {
	w := newWorld(t)
	book := &rollBook{}
	s := newStage()
	r := w.start(registry(s.play), engine.Config{
		Membership: book, PruneEvery: time.Second, Lease: rota.LeaseMin, Retention: &rota.Retention{Completed: rota.Keep{Age: time.Microsecond}},
	})
	id := w.addOne()
	s.next(w)
	s.end <- nil
	w.ended(id)
	w.until("it is asked again and again", func() bool { return book.calls.Load() > 6 })
	if _, err := w.store.Job(t.Context(), id); err != nil {
		t.Errorf("somebody who does not lead has pruned: %v", err)
	}
	if r.Leads() || r.Nodes() != 2 {
		t.Errorf("leads %v, nodes %d", r.Leads(), r.Nodes())
	}
	book.leads.Store(true)
	w.until("who leads has pruned", func() bool {
		_, err := w.store.Job(t.Context(), id)
		return rota.CodeOf(err) == rota.NotFound
	})
	book.away.Store(true)
	w.until("it leads no longer", func() bool { return !r.Leads() })
	if err := r.shutdown(); err != nil || book.left.Load() != 1 {
		t.Errorf("%v, left %d times", err, book.left.Load())
	}
}
