package postgres

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestMembershipHasOneLeader: the first, as long as it attends. Nobody else extends its
// lease, and when it has run out another leads, and the first is told so.
func TestMembershipHasOneLeader(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	attend := func(node string, incarnation rota.ID, lease time.Duration) rota.MembershipState {
		t.Helper()
		at, err := s.Heartbeat(t.Context(), rota.NodeHeartbeat{Node: node, Incarnation: incarnation, Lease: lease})
		must(t, err)
		return at
	}
	a, b := rota.NewID(), rota.NewID()
	if at := attend("a", a, time.Minute); at != (rota.MembershipState{Nodes: 1, Leader: "a", Leads: true}) {
		t.Errorf("%+v", at)
	}
	if at := attend("b", b, time.Hour); at != (rota.MembershipState{Nodes: 2, Leader: "a"}) {
		t.Errorf("%+v", at)
	}
	if left := rows(t, s, `SELECT (until - since) / 1000000 FROM rota_leader`)[0][0]; left != "60" {
		t.Errorf("somebody else has made its lease %s seconds long", left)
	}
	if at := attend("a", rota.NewID(), time.Minute); at.Leads || at.Nodes != 3 {
		t.Errorf("another life of its name: %+v", at)
	}
	attend("a", a, 0)
	if at := attend("b", b, time.Minute); !at.Leads || at.Leader != "b" {
		t.Errorf("when its lease has run out: %+v", at)
	}
	if at := attend("a", a, time.Minute); at.Leads || at.Leader != "b" {
		t.Errorf("one that comes back: %+v", at)
	}
	must(t, s.Leave(t.Context(), "a", a))
	if at := attend("b", b, time.Minute); !at.Leads {
		t.Errorf("who leaves and does not lead took the leader along: %+v", at)
	}
	must(t, s.Leave(t.Context(), "b", b))
	if at := attend("a", a, time.Minute); !at.Leads || at.Nodes != 2 {
		t.Errorf("when the leader has left: %+v", at)
	}
}

// TestConcurrentHeartbeatsElectOneLeader: there is nobody yet, or whoever led is not
// heard of any more.
func TestConcurrentHeartbeatsElectOneLeader(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	other := openAt(t, urlOf(s), Config{Logger: quiet})
	for round := range 20 {
		var leaders atomic.Int64
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				at, err := []*Store{s, other}[i%2].Heartbeat(t.Context(), rota.NodeHeartbeat{Node: "n", Incarnation: rota.NewID(), Lease: time.Minute})
				if err != nil {
					t.Error(err)
				}
				if at.Leads {
					leaders.Add(1)
				}
			})
		}
		all.Wait()
		if n := leaders.Load(); n != 1 {
			t.Errorf("round %d: %d lead", round, n)
		}
		rows(t, s, `UPDATE rota_leader SET until = 0`)
	}
}
