package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// rollLease is how long a process that is not heard of still counts, and leads,
// at most: no longer than a job waits for one that died. It is heard of every
// third of that.
const rollLease = 15 * time.Second

// roll says who else is there, and whether this process leads. Whoever cannot
// ask does not lead once its lease has run out, by its own watch.
type roll struct {
	e     *Engine
	lease time.Duration
	state atomic.Pointer[rollCall]
}

// rollCall is the last answer, and until when it holds.
type rollCall struct {
	rota.MembershipState
	until time.Time
}

func newRoll(e *Engine) *roll { return &roll{e: e, lease: min(rollLease, e.config.Lease)} }

// run attends until ctx ends, and then makes room for another leader.
func (r *roll) run(ctx context.Context) {
	if r.e.config.Roll == nil {
		return
	}
	var out outage
	for ctx.Err() == nil {
		asked := time.Now() // before: the lease begins after it
		at, err := r.e.config.Roll.Heartbeat(ctx, rota.NodeHeartbeat{Node: r.e.config.Name, Incarnation: r.e.incarnation, Lease: r.lease})
		if err == nil {
			r.note(at, asked.Add(r.lease))
			out.passed(r.e.config.Logger, "the roll is kept again")
		} else if ctx.Err() == nil {
			out.failed(r.e.config.Logger, "the roll is not kept; nobody may lead", "error", err)
		}
		pause(ctx, r.lease/3)
	}
	r.state.Store(nil)
	leaving, done := context.WithTimeout(context.Background(), rollLeave)
	defer done()
	_ = r.e.config.Roll.Leave(leaving, r.e.config.Name, r.e.incarnation) // otherwise its lease runs out
}

const rollLeave = 2 * time.Second

func (r *roll) note(at rota.MembershipState, until time.Time) {
	if before := r.state.Swap(&rollCall{at, until}); at.Leads && (before == nil || !before.Leads) {
		r.e.config.Logger.Info("this process leads: it does what need be done only once", "node", r.e.config.Name, "nodes", at.Nodes)
	}
}

// leads says whether this process does what need be done only once.
func (r *roll) leads() bool {
	if r.e.config.Roll == nil {
		return true
	}
	call := r.state.Load()
	return call != nil && call.Leads && time.Now().Before(call.until)
}

// nodes is how many processes share the store.
func (r *roll) nodes() int {
	if call := r.state.Load(); call != nil {
		return call.Nodes
	}
	return 1
}

// Leads says whether this engine does what need be done only once.
func (e *Engine) Leads() bool { return e.roll.leads() }

// Nodes is how many processes share the store, this one included.
func (e *Engine) Nodes() int { return e.roll.nodes() }
