package postgres

import (
	"slices"
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
	if at := heartbeat("a", a, time.Minute); at.Nodes != 1 || at.Leader != "a" || !at.Leads || !at.OthersSince.IsZero() || at.Left != nil {
		t.Errorf("%+v", at)
	}
	if at := heartbeat("b", b, time.Hour); at.Nodes != 2 || at.Leader != "a" || at.Leads || at.OthersSince.IsZero() {
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

// TestMembershipReportsOldestOtherNode checks that a heartbeat is answered with the start of the
// oldest live node of another name, as that node reported it last.
func TestMembershipReportsOldestOtherNode(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	others := func(node string, incarnation rota.ID, lease time.Duration, since time.Time) time.Time {
		t.Helper()
		at, err := s.Heartbeat(t.Context(), rota.NodeHeartbeat{Node: node, Incarnation: incarnation, Lease: lease, Since: since})
		must(t, err)
		return at.OthersSince
	}
	start := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	a, b := rota.NewID(), rota.NewID()
	if since := others("a", a, time.Minute, start); !since.IsZero() {
		t.Errorf("others than the only node run since %s", since)
	}
	if since := others("a", rota.NewID(), time.Minute, start.Add(time.Second)); !since.IsZero() {
		t.Errorf("a process counts the one of its name that it replaced, since %s", since)
	}
	if since := others("b", b, time.Minute, start.Add(time.Hour)); !since.Equal(start) {
		t.Errorf("others run since %s, want %s", since, start)
	}
	others("a", a, time.Minute, start.Add(2*time.Second)) // the machine of a slept
	if since := others("b", b, time.Minute, start.Add(time.Hour)); !since.Equal(start.Add(time.Second)) {
		t.Errorf("others run since %s, want %s", since, start.Add(time.Second))
	}
	if since := others("c", rota.NewID(), time.Minute, time.Time{}); !since.Equal(start.Add(time.Second)) {
		t.Errorf("others run since %s, want %s", since, start.Add(time.Second))
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

// TestMembersListsLiveNodesByName checks that a node is listed once, also after a restart, and no longer
// than its lease.
func TestMembersListsLiveNodesByName(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	send := func(a rota.NodeHeartbeat) rota.ID {
		t.Helper()
		_, err := s.Heartbeat(t.Context(), a)
		must(t, err)
		return a.Incarnation
	}
	heartbeat := func(node string, lease time.Duration, since time.Time) rota.ID {
		t.Helper()
		return send(rota.NodeHeartbeat{Node: node, Incarnation: rota.NewID(), Lease: lease, Since: since})
	}
	old, recent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	b := heartbeat("b", time.Minute, old) // the first leads
	heartbeat("a", time.Minute, old)
	restarted := rota.NodeHeartbeat{Node: "a", Incarnation: rota.NewID(), Lease: time.Hour, Since: recent, Version: "v1", Workers: 3}
	send(restarted)
	restarted.Version, restarted.Workers = "v2", 7
	send(restarted)
	heartbeat("gone", -time.Second, old)
	got, err := s.Members(t.Context())
	must(t, err)
	if want := []rota.Member{{Name: "a", Since: recent, Version: "v2", Workers: 7}, {Name: "b", Leads: true, Since: old}}; !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	must(t, s.Leave(t.Context(), "b", b))
	if got, err := s.Members(t.Context()); err != nil || len(got) != 1 || got[0].Leads {
		t.Errorf("after b has left: %+v, %v", got, err)
	}
}

// One heartbeat reports each node whose lease has ended.
func TestHeartbeatReportsNodesWhoseLeaseEnded(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	beat := func(node string, incarnation rota.ID, lease time.Duration) rota.MembershipState {
		t.Helper()
		state, err := s.Heartbeat(t.Context(), rota.NodeHeartbeat{Node: node, Incarnation: incarnation, Lease: lease})
		must(t, err)
		return state
	}
	beat("gone", rota.NewID(), time.Minute)
	beat("restarted", rota.NewID(), time.Minute)
	rows(t, s, `UPDATE rota_nodes SET until = 1`)
	if left := beat("restarted", rota.NewID(), time.Minute).Left; !slices.Equal(left, []string{"gone"}) {
		t.Errorf("the heartbeat reports that %q left, want gone", left)
	}
	if left := beat("b", rota.NewID(), time.Minute).Left; left != nil {
		t.Errorf("the next heartbeat reports that %q left", left)
	}
}
