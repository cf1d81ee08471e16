package logstore_test

import (
	"context"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// The suite runs on one of two processes. At the end of each test, both replicas are equal.
func TestConformance(t *testing.T) {
	h := storetest.Harness{
		Open: func(t testing.TB) rota.Store {
			nodes := openNodes(t, 2)
			return &audited{node: nodes[0], check: func() { checkEqual(t, nodes) }}
		},
		Break: func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
			for _, n := range s.(*audited).log.nodes {
				if err := n.CatchUp(t.Context()); err != nil {
					t.Fatal(err)
				}
				sqlitetest.Break(t, n.path, job, how)
			}
		},
		Tamper: func(t testing.TB, s rota.Store) storetest.Tamper {
			a := s.(*audited)
			a.check = func() {} // the audit of one replica differs
			return sqlitetest.Tamper(t, a.path)
		},
	}
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.StoriesOf(t, h, twoReplicaStories...)
}

// twoReplicaStories are those in which a replica that orders or dates rows differently would show it. The store on DynamoDB
// runs the whole suite on one replica, and a deep run on two.
var twoReplicaStories = []string{
	"claim", "extend", "finish", "retry", "reap", "ready", "fire", "limits", "group", "all", "batch", "resend", "prune", "redrive", "audit chain",
}

// audited compares the replicas when the store is closed.
type audited struct {
	*node
	check func()
}

func (a *audited) Close() error {
	a.check()
	return a.node.Close()
}

// checkEqual compares what the replicas hold, after they have applied the whole log.
func checkEqual(t testing.TB, nodes []*node) {
	t.Helper()
	first := dump(t, nodes[0])
	for i, n := range nodes[1:] {
		if other := dump(t, n); other != first {
			t.Errorf("replica %d differs:\n%s\nand\n%s", i+1, first, other)
		}
		if a, b := nodes[0].Applied(), n.Applied(); a != b {
			t.Errorf("replica %d is at %+v, and the first at %+v", i+1, b, a)
		}
	}
}

func dump(t testing.TB, n *node) string {
	t.Helper()
	text, err := storetest.Dump(context.Background(), n)
	if err != nil {
		t.Errorf("dump: %v", err)
	}
	return text
}
