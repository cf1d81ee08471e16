package dynamo

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

// eachServer runs a test on both servers.
func eachServer(t *testing.T, test func(t *testing.T, server *dyntest.Server)) {
	for _, kind := range []dyntest.Kind{dyntest.Dynoxide, dyntest.Dynalite} {
		t.Run(string(kind), func(t *testing.T) { test(t, dyntest.Shared(t, kind)) })
	}
}

// openTable opens a store in a table of its own, and returns its URL.
func openTable(t *testing.T, server *dyntest.Server) (s *testStore, url string) {
	t.Helper()
	url = server.URL(server.TableName(t)) + testParameters
	s = openTest(t, url)
	t.Cleanup(func() { _ = s.Close() })
	return s, url
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// endLeases ends the leases of items of the membership: of the leader, or of all nodes.
func endLeases(t *testing.T, s *testStore, leader bool) {
	t.Helper()
	all, err := s.log.table.queryAll(t.Context(), "test", membersPK)
	must(t, err)
	for _, i := range all {
		if (i.text(attrSK) == leaderSK) == leader {
			i[attrUntil] = numberValue(1)
			must(t, s.log.table.put(t.Context(), "test", i))
		}
	}
}

func beat(t *testing.T, s *testStore, a rota.NodeHeartbeat) rota.MembershipState {
	t.Helper()
	if a.Lease == 0 {
		a.Lease = time.Minute
	}
	if a.Incarnation.IsZero() {
		a.Incarnation = rota.NewID()
	}
	state, err := s.Heartbeat(t.Context(), a)
	must(t, err)
	return state
}

// The first node leads while its lease lasts, no other node extends the lease, and another node leads afterwards.
func TestMembershipHasOneLeader(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		a, b := rota.NodeHeartbeat{Node: "a", Incarnation: rota.NewID()}, rota.NodeHeartbeat{Node: "b", Incarnation: rota.NewID(), Lease: time.Hour}
		if at := beat(t, s, a); at.Nodes != 1 || at.Leader != "a" || !at.Leads || !at.OthersSince.IsZero() || at.Left != nil {
			t.Errorf("%+v", at)
		}
		if at := beat(t, s, b); at.Nodes != 2 || at.Leader != "a" || at.Leads || at.OthersSince.IsZero() {
			t.Errorf("%+v", at)
		}
		if at := beat(t, s, rota.NodeHeartbeat{Node: "a"}); at.Leads || at.Nodes != 3 {
			t.Errorf("another incarnation of the leader's name: %+v", at)
		}
		endLeases(t, s, true)
		if at := beat(t, s, b); !at.Leads || at.Leader != "b" {
			t.Errorf("after the end of the leader's lease: %+v", at)
		}
		if at := beat(t, s, a); at.Leads || at.Leader != "b" {
			t.Errorf("the former leader after its return: %+v", at)
		}
		must(t, s.Leave(t.Context(), "a", a.Incarnation))
		if at := beat(t, s, b); !at.Leads {
			t.Errorf("the leader lost the lead when another node left: %+v", at)
		}
		must(t, s.Leave(t.Context(), "b", b.Incarnation))
		if at := beat(t, s, a); !at.Leads || at.Nodes != 2 {
			t.Errorf("after the leader has left: %+v", at)
		}
	})
}

// A heartbeat is answered with the start of the oldest live node of another name, as that node reported it last.
func TestMembershipReportsOldestOtherNode(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		others := func(node string, incarnation rota.ID, since time.Time) time.Time {
			t.Helper()
			return beat(t, s, rota.NodeHeartbeat{Node: node, Incarnation: incarnation, Since: since}).OthersSince
		}
		start := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
		a, b := rota.NewID(), rota.NewID()
		if since := others("a", a, start); !since.IsZero() {
			t.Errorf("others than the only node run since %s", since)
		}
		if since := others("a", rota.NewID(), start.Add(time.Second)); !since.IsZero() {
			t.Errorf("a process counts the one of its name that it replaced, since %s", since)
		}
		if since := others("b", b, start.Add(time.Hour)); !since.Equal(start) {
			t.Errorf("others run since %s, want %s", since, start)
		}
		others("a", a, start.Add(2*time.Second)) // the machine of a slept
		for _, name := range []string{"b", "c"} {
			if since := others(name, b, time.Time{}); !since.Equal(start.Add(time.Second)) {
				t.Errorf("others than %s run since %s, want %s", name, since, start.Add(time.Second))
			}
		}
	})
}

// Concurrent heartbeats elect one leader, without a leader and after its lease has ended.
func TestConcurrentHeartbeatsElectOneLeader(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, url := openTable(t, server)
		other := openTest(t, url)
		defer other.Close()
		for round := range 5 {
			var leaders atomic.Int64
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					at, err := []*testStore{s, other}[i%2].Heartbeat(t.Context(), rota.NodeHeartbeat{Node: "n", Incarnation: rota.NewID(), Lease: time.Minute})
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
			endLeases(t, s, true)
		}
	})
}

// A node is listed once, also after a restart, and no longer than its lease.
func TestMembersListsLiveNodesByName(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		old, recent := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
		b := rota.NewID()
		beat(t, s, rota.NodeHeartbeat{Node: "b", Incarnation: b, Since: old}) // the first leads
		beat(t, s, rota.NodeHeartbeat{Node: "a", Since: old})
		restarted := rota.NodeHeartbeat{Node: "a", Incarnation: rota.NewID(), Lease: time.Hour, Since: recent, Version: "v1", Workers: 3}
		beat(t, s, restarted)
		restarted.Version, restarted.Workers = "v2", 7
		beat(t, s, restarted)
		beat(t, s, rota.NodeHeartbeat{Node: "gone", Lease: -time.Minute, Since: old})
		got, err := s.Members(t.Context())
		must(t, err)
		if want := []rota.Member{{Name: "a", Since: recent, Version: "v2", Workers: 7}, {Name: "b", Leads: true, Since: old}}; !slices.Equal(got, want) {
			t.Errorf("got %+v\nwant %+v", got, want)
		}
		must(t, s.Leave(t.Context(), "b", b))
		if got, err := s.Members(t.Context()); err != nil || len(got) != 1 || got[0].Leads {
			t.Errorf("after b has left: %+v, %v", got, err)
		}
	})
}

// One heartbeat reports each node whose lease has ended.
func TestHeartbeatReportsNodesWhoseLeaseEnded(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		beat(t, s, rota.NodeHeartbeat{Node: "gone"})
		beat(t, s, rota.NodeHeartbeat{Node: "restarted"})
		endLeases(t, s, false)
		if left := beat(t, s, rota.NodeHeartbeat{Node: "restarted"}).Left; !slices.Equal(left, []string{"gone"}) {
			t.Errorf("the heartbeat reports that %q left, want gone", left)
		}
		if left := beat(t, s, rota.NodeHeartbeat{Node: "b"}).Left; left != nil {
			t.Errorf("the next heartbeat reports that %q left", left)
		}
	})
}

// The heartbeat of a node that leads is one put, one query and one update; that of another has no update.
func TestHeartbeatSendsFewRequests(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	proxy := server.Proxy(t)
	s := openTest(t, proxy.URL(server.TableName(t))+testParameters)
	defer s.Close()
	for !s.log.lead.leads() { // its requests are not those of a heartbeat
		must(t, sleep(t.Context(), time.Millisecond))
	}
	for _, node := range []string{"leader", "other"} {
		a := rota.NodeHeartbeat{Node: node, Incarnation: rota.NewID()}
		beat(t, s, a)
		counts := requestsOf(proxy, func() { beat(t, s, a) })
		if updates := counts["UpdateItem"]; counts["PutItem"] != 1 || counts["Query"] != 1 || (updates == 1) != (node == "leader") {
			t.Errorf("the heartbeat of the %s sends %v", node, counts)
		}
	}
}

// requestsOf counts the requests of a call.
func requestsOf(p *dyntest.Proxy, call func()) map[string]int {
	p.ResetCounts()
	call()
	return p.ResetCounts().Requests
}
