package system

import (
	"time"

	"zombiezen.com/go/sqlite"
)

// Node is a running process.
type Node struct {
	Name    string
	State   string // such as ACTIVE
	Leader  bool
	Workers *int // how many jobs it runs at once; nil: unknown
	Running *int // how many it runs now; nil: unknown
	Version string
	Since   time.Time // when it started
}

var nodes = &table[Node]{
	name: "nodes", key: func(n *Node) string { return n.Name },
	columns: append([]column[Node]{
		{name: "node_name", kind: Text, value: func(n *Node) sqlite.Value { return notNullText(n.Name) }, notNull: true},
		{name: "state", kind: Text, value: func(n *Node) sqlite.Value { return notNullText(n.State) }, notNull: true},
		{name: "is_leader", kind: Boolean, value: func(n *Node) sqlite.Value { return boolean(n.Leader) }, notNull: true},
		{name: "workers", kind: Integer, value: func(n *Node) sqlite.Value { return integerOf(n.Workers) }},
		{name: "running", kind: Integer, value: func(n *Node) sqlite.Value { return integerOf(n.Running) }},
		{name: "version", kind: Text, value: func(n *Node) sqlite.Value { return text(n.Version) }},
	}, timeColumns("started_at", func(n *Node) time.Time { return n.Since })...),
	paths: []accessPath[Node]{{rows: 10, read: func(q *query, _ readRequest) pages[Node] {
		if q.source.Nodes == nil {
			return noRows[Node]
		}
		return once(func() ([]Node, error) { return liveNodes(q) })
	}}},
}

// liveNodes returns the nodes. They say how many jobs run in all, so they need the right to read the limits of all jobs, as
// sys.performance does.
func liveNodes(q *query) ([]Node, error) {
	view, err := q.store()
	if err != nil {
		return nil, err
	}
	if _, err := view.Throttle(q.ctx); err != nil {
		return nil, err
	}
	return q.source.Nodes(q.ctx)
}
