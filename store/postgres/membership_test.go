package postgres

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestMembershipHasOneLeader checks that the first node leads while its lease lasts, that no other
// node extends the lease, and that another node leads afterwards.
func TestMembershipHasOneLeader(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	heartbeat := func(node string, incarnation rota.ID, lease time.Duration) rota.MembershipState {
		t.Helper()
		at, err := s.Heartbeat(t.Context(), rota.NodeHeartbeat{Node: node, Incarnation: incarnation, Lease: lease})
		must(t, err)
		return at
	}
	a, b := rota.NewID(), rota.NewID()
	if at := heartbeat("a", a, time.Minute); at != (rota.MembershipState{Nodes: 1, Leader: "a", Leads: true}) {
		t.Errorf("%+v", at)
	}
	if at := heartbeat("b", b, time.Hour); at != (rota.MembershipState{Nodes: 2, Leader: "a"}) {
		t.Errorf("%+v", at)
	}
	if left := rows(t, s, `SELECT (until - since) / 1000000 FROM rota_leader`)[0][0]; left != "60" {
		t.Errorf("the leader's lease is %s seconds long, want 60", left)
	}
	if at := heartbeat("a", rota.NewID(), time.Minute); at.Leads || at.Nodes != 3 {
		t.Errorf("another incarnation of the leader's name: %+v", at)
	}
	heartbeat("a", a, 0)
	if at := heartbeat("b", b, time.Minute); !at.Leads || at.Leader != "b" {
		t.Errorf("after the end of the leader's lease: %+v", at)
	}
	if at := heartbeat("a", a, time.Minute); at.Leads || at.Leader != "b" {
		t.Errorf("the former leader after its return: %+v", at)
	}
	must(t, s.Leave(t.Context(), "a", a))
	if at := heartbeat("b", b, time.Minute); !at.Leads {
		t.Errorf("the leader lost the lead when another node left: %+v", at)
	}
	must(t, s.Leave(t.Context(), "b", b))
	if at := heartbeat("a", a, time.Minute); !at.Leads || at.Nodes != 2 {
		t.Errorf("after the leader has left: %+v", at)
	}
}

// TestConcurrentHeartbeatsElectOneLeader checks concurrent heartbeats without a leader and after
// its lease has ended.
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
			t.Errorf("round %d: %d leaders, want 1", round, n)
		}
		rows(t, s, `UPDATE rota_leader SET until = 0`)
	}
}
