package rota

import (
	"context"
	"time"
)

// Membership is implemented by a store that several processes share. It tracks the live
// nodes and elects a leader for work that one node should do, such as pruning. No
// promise depends on it: if two nodes believe that they lead, both do that work, and one
// of them finds it done.
type Membership interface {
	// Heartbeat records that a node is alive for the length of its lease. The
	// first node leads. When the lease of the leader ends, the next node that sends
	// a heartbeat leads.
	Heartbeat(ctx context.Context, a NodeHeartbeat) (MembershipState, error)
	// Members lists the live nodes by name.
	Members(ctx context.Context) ([]Member, error)
	// Leave removes a node. If it led, the next node that sends a heartbeat leads.
	Leave(ctx context.Context, node string, incarnation ID) error
}

// NodeHeartbeat is the heartbeat of a node.
type NodeHeartbeat struct {
	Node        string
	Incarnation ID // this start of the process
	Lease       time.Duration
	Since       time.Time // since when the process has run without interruption, by the store's clock; zero: since now
	Version     string    // of the program; empty: unknown
	Workers     int       // how many jobs it runs at once; 0: unknown
}

// Member is a live node.
type Member struct {
	Name    string
	Leads   bool
	Since   time.Time // since when it has run
	Version string    // of the program; empty: unknown
	Workers int       // how many jobs it runs at once; 0: unknown
}

// MembershipState is the answer to a heartbeat.
type MembershipState struct {
	Nodes  int    // live nodes, including this one
	Leader string // name of the leader
	Leads  bool   // this node leads

	// OthersSince is since when the oldest live node of another name has run; zero: there
	// is none. A process of the same name has replaced one that has ended.
	OthersSince time.Time

	// Left are the nodes whose leases have ended, and which this heartbeat removed. Each
	// is reported to one process.
	Left []string
}
