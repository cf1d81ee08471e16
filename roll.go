package rota

import (
	"context"
	"time"
)

// Roll is kept by a store that several processes share: who is there, and who of
// them does what need be done only once, such as removing old history. Nothing
// that Rota promises rests on it: if two believe to lead, both do that work, and
// one of them finds it done.
type Roll interface {
	// Attend notes that a node is there for as long as a lease lasts. The first
	// leads; when its lease has run out, the next who attends does. Only who leads
	// extends that.
	Attend(ctx context.Context, a Attend) (Attendance, error)
	// Depart takes a node off the roll. If it led, the next who attends does.
	Depart(ctx context.Context, node string, life ID) error
}

// Attend is what a node says of itself.
type Attend struct {
	Node  string
	Life  ID // this start of it
	Lease time.Duration
}

// Attendance is who is there.
type Attendance struct {
	Nodes  int    // this one included
	Leader string // the node that leads
	Leads  bool   // it is this one
}
