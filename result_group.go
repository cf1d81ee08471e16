package rota

// GroupEnqueued answers EnqueueGroup.
type GroupEnqueued struct {
	Group *Group
	Jobs  []*Job
}

// CancelledGroup answers CancelGroup. Cancelled and Stopping count the rows that this
// command changed; More means that Sweep changes further rows.
type CancelledGroup struct {
	Group     *Group
	Cancelled int
	Stopping  int
	More      bool
}

func (*GroupEnqueued) reply()  {}
func (*CancelledGroup) reply() {}
