package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// membershipLease is how long a process that is not heard of still counts, and leads,
// at most: no longer than a job waits for one that died. It is heard of every
// third of that.
const membershipLease = 15 * time.Second

// membership says who else is there, and whether this process leads. Whoever cannot
// ask does not lead once its lease has run out, by its own watch.
type membership struct {
	e     *Engine
	lease time.Duration
	state atomic.Pointer[membershipAnswer]
}

// membershipAnswer is the last answer, and until when it holds.
type membershipAnswer struct {
	rota.MembershipState
	until time.Time
}

func newMembership(e *Engine) *membership {
	return &membership{e: e, lease: min(membershipLease, e.config.Lease)}
}

// run attends until ctx ends, and then makes room for another leader.
func (r *membership) run(ctx context.Context) {
	if r.e.config.Membership == nil {
		return
	}
	var outage outageLog
	for ctx.Err() == nil {
		sent := time.Now() // before: the lease begins after it
		state, err := r.e.config.Membership.Heartbeat(ctx, rota.NodeHeartbeat{Node: r.e.config.Name, Incarnation: r.e.incarnation, Lease: r.lease})
		if err == nil {
			r.update(state, sent.Add(r.lease))
			outage.recovered(r.e.config.Logger, "the roll is kept again")
		} else if ctx.Err() == nil {
			outage.failed(r.e.config.Logger, "the roll is not kept; nobody may lead", "error", err)
		}
		pause(ctx, r.lease/3)
	}
	r.state.Store(nil)
	leaving, done := context.WithTimeout(context.Background(), leaveTimeout)
	defer done()
	_ = r.e.config.Membership.Leave(leaving, r.e.config.Name, r.e.incarnation) // otherwise its lease runs out
}

const leaveTimeout = 2 * time.Second

func (r *membership) update(state rota.MembershipState, until time.Time) {
	if before := r.state.Swap(&membershipAnswer{state, until}); state.Leads && (before == nil || !before.Leads) {
		r.e.config.Logger.Info("this process leads: it does what need be done only once", "node", r.e.config.Name, "nodes", state.Nodes)
	}
}

// leads says whether this process does what need be done only once.
func (r *membership) leads() bool {
	if r.e.config.Membership == nil {
		return true
	}
	answer := r.state.Load()
	return answer != nil && answer.Leads && time.Now().Before(answer.until)
}

// nodes is how many processes share the store.
func (r *membership) nodes() int {
	if answer := r.state.Load(); answer != nil {
		return answer.Nodes
	}
	return 1
}

// Leads says whether this engine does what need be done only once.
func (e *Engine) Leads() bool { return e.membership.leads() }

// Nodes is how many processes share the store, this one included.
func (e *Engine) Nodes() int { return e.membership.nodes() }
