package sys

import (
	"time"

	"zombiezen.com/go/sqlite"
)

// Node is a process that is there.
type Node struct {
	Name    string
	State   string // such as ACTIVE
	Leader  bool
	Workers int // how many jobs it runs at once
	Running int // how many it runs now
	Version string
	Since   time.Time // when it started
}

var nodes = &table[Node]{
	name: "nodes", key: func(n *Node) string { return n.Name },
	columns: append([]column[Node]{
		{name: "node_name", kind: Text, value: func(n *Node) sqlite.Value { return word(n.Name) }, must: true},
		{name: "state", kind: Text, value: func(n *Node) sqlite.Value { return word(n.State) }, must: true},
		{name: "is_leader", kind: Boolean, value: func(n *Node) sqlite.Value { return boolean(n.Leader) }, must: true},
		{name: "workers", kind: Integer, value: func(n *Node) sqlite.Value { return integer(int64(n.Workers)) }, must: true},
		{name: "running", kind: Integer, value: func(n *Node) sqlite.Value { return integer(int64(n.Running)) }, must: true},
		{name: "version", kind: Text, value: func(n *Node) sqlite.Value { return text(n.Version) }},
	}, timed("started_at", func(n *Node) time.Time { return n.Since })...),
	ways: []way[Node]{{rows: 10, read: func(q *query, _ want) pages[Node] {
		if q.from.Nodes == nil {
			return nothing[Node]
		}
		return once(func() ([]Node, error) { return q.from.Nodes(q.ctx) })
	}}},
}
