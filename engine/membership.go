package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// membershipLease bounds how long a process that sends no heartbeats still counts as
// a member, and as the leader. It is no longer than a job lease. The process sends a
// heartbeat every third of it.
const membershipLease = 15 * time.Second

// membership knows how many processes share the store and whether this one leads. A
// process whose heartbeats fail stops leading when its lease is over by its own
// clock.
type membership struct {
	e     *Engine
	lease time.Duration
	state atomic.Pointer[membershipAnswer]

	undelivered chan rota.Event // events of nodes that webhooks are to be notified of
}

// membershipAnswer is the answer to the last heartbeat, and how long it is valid.
type membershipAnswer struct {
	rota.MembershipState
	until time.Time
}

func newMembership(e *Engine) *membership {
	return &membership{e: e, lease: min(membershipLease, e.config.Lease), undelivered: make(chan rota.Event, undeliveredMax)}
}

// run sends heartbeats until ctx ends, and then leaves, so that another process can
// lead at once.
func (r *membership) run(ctx context.Context) {
	if r.e.config.Membership == nil {
		return
	}
	var deliveries sync.WaitGroup
	deliveries.Go(func() { r.deliverEvents(ctx) })
	defer deliveries.Wait()
	var outage outageLog
	for ctx.Err() == nil {
		sent := time.Now() // before the request: the lease in the store begins later
		state, err := r.e.config.Membership.Heartbeat(ctx, rota.NodeHeartbeat{
			Node: r.e.config.Name, Incarnation: r.e.incarnation, Lease: r.lease, Since: r.e.uptime.start(),
			Version: r.e.config.Version, Workers: r.e.config.Workers,
		})
		if err == nil {
			r.update(state, sent.Add(r.lease))
			outage.recovered(r.e.config.Logger, "the membership heartbeat succeeds again")
		} else if ctx.Err() == nil {
			outage.failed(r.e.config.Logger, "the membership heartbeat failed; this process leads only until its lease ends", "error", err)
		}
		pause(ctx, r.lease/3)
	}
	r.state.Store(nil)
	leaving, done := context.WithTimeout(context.Background(), leaveTimeout)
	defer done()
	if r.e.config.Membership.Leave(leaving, r.e.config.Name, r.e.incarnation) == nil { // otherwise its lease runs out
		r.deliver(leaving, r.publish(rota.EventNodeLeft, r.e.config.Name, ""))
	}
}

const leaveTimeout = 2 * time.Second

// update stores the answer to a heartbeat, and publishes what has changed.
func (r *membership) update(state rota.MembershipState, until time.Time) {
	before := r.state.Swap(&membershipAnswer{state, until})
	if before == nil || time.Now().After(before.until) { // its lease had ended, and it may have been removed
		r.announce(rota.EventNodeJoined, r.e.config.Name, "")
	}
	for _, name := range state.Left {
		r.announce(rota.EventNodeLeft, name, rota.NodeLeaseEnded)
	}
	if state.Leads && (before == nil || !before.Leads) {
		r.e.config.Logger.Info("this process is the leader now and does the work that one process does for all", "node", r.e.config.Name, "nodes", state.Nodes)
		r.announce(rota.EventNodeLeader, r.e.config.Name, "")
	}
}

// announce publishes an event of a node, and has webhooks notified of it.
func (r *membership) announce(kind rota.EventKind, node, detail string) {
	event := r.publish(kind, node, detail)
	select {
	case r.undelivered <- event:
	default:
		r.warnUndelivered(event, errManyUndelivered)
	}
}

// publish adds an event of a node to the event ring.
func (r *membership) publish(kind rota.EventKind, node, detail string) rota.Event {
	event := rota.Event{Kind: kind, At: r.e.config.Clock().UTC().Truncate(time.Microsecond), Name: node, Detail: detail}
	r.e.events.Publish(event)
	return event
}

// deliverEvents notifies webhooks of the events of nodes, until ctx ends. It is a loop of its own, because
// a delivery waits for the store, and heartbeats must not wait for deliveries.
func (r *membership) deliverEvents(ctx context.Context) {
	for {
		select {
		case event := <-r.undelivered:
			within, done := context.WithTimeout(ctx, deliverTimeout)
			r.deliver(within, event)
			done()
		case <-ctx.Done():
			return
		}
	}
}

func (r *membership) deliver(ctx context.Context, event rota.Event) {
	if err := r.e.notifier.deliver(ctx, &event, nil); err != nil {
		r.warnUndelivered(event, err)
	}
}

func (r *membership) warnUndelivered(event rota.Event, err error) {
	r.e.config.Logger.Warn("webhooks are not notified of an event of a node", "event", string(event.Kind), "node", event.Name, "error", err)
}

const (
	undeliveredMax = 1_000           // events that wait for their delivery
	deliverTimeout = 5 * time.Minute // of the store; the event is then dropped
)

var errManyUndelivered = errors.New("too many events wait for their delivery")

// leads reports whether this process does the work that one process does for all.
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

// othersSince reports whether another node has run since t, as far as this process knows.
// Until the first heartbeat is answered it does not know, and assumes so.
func (r *membership) othersSince(t time.Time) bool {
	if r.e.config.Membership == nil {
		return false
	}
	answer := r.state.Load()
	return answer == nil || !answer.OthersSince.IsZero() && !answer.OthersSince.After(t)
}

// Leads reports whether this engine does the work that one process does for all.
func (e *Engine) Leads() bool { return e.membership.leads() }

// Nodes is how many processes share the store, this one included.
func (e *Engine) Nodes() int { return e.membership.nodes() }
