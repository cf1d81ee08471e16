package rota

import (
	"context"
	"time"
)

// Membership is kept by a store that several processes share: who is there, and who of
// them does what need be done only once, such as removing old history. Nothing
// that Rota promises rests on it: if two believe to lead, both do that work, and
// one of them finds it done.
type Membership interface {
	// Heartbeat notes that a node is there for as long as a lease lasts. The first
	// leads; when its lease has run out, the next who attends does. Only who leads
	// extends that.
	Heartbeat(ctx context.Context, a NodeHeartbeat) (MembershipState, error)
	// Leave takes a node off the roll. If it led, the next who attends does.
	Leave(ctx context.Context, node string, incarnation ID) error
}

// NodeHeartbeat is what a node says of itself.
type NodeHeartbeat struct {
	Node        string
	Incarnation ID // this start of it
	Lease       time.Duration
}

// MembershipState is who is there.
type MembershipState struct {
	Nodes  int    // this one included
	Leader string // the node that leads
	Leads  bool   // it is this one
}
