package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// notifier publishes groups that have finished, to the event ring and to webhooks. A
// store does not: the status of a group is derived from its members, so a process
// has to check it when they end.
//
// So these deliveries, unlike all others, do not share a transaction with the change
// they report: if the process dies after the last member has ended and before the
// notifier has checked the group, its end is never published.
type notifier struct {
	e      *Engine
	signal signal

	mu       sync.Mutex
	changed  map[rota.ID]bool // groups of which a member has ended
	notified map[rota.ID]bool // finished groups already published
	outage   outageLog
}

const (
	notifyEvery = 100 * time.Millisecond // so that a group with many members is not checked for each
	notifiedMax = 10_000
)

func newNotifier(e *Engine) *notifier {
	return &notifier{e: e, signal: newSignal(), changed: map[rota.ID]bool{}, notified: map[rota.ID]bool{}}
}

// memberEnded notes that a member of a group has ended.
func (n *notifier) memberEnded(group rota.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed[group] = true
	n.signal.send()
}

// run checks groups until ctx ends, and then once more: the last run may have been the
// last of its group.
func (n *notifier) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-n.signal:
			n.checkAll()
			pause(ctx, notifyEvery)
		case <-ctx.Done():
		}
	}
	n.checkAll()
}

func (n *notifier) checkAll() {
	ctx, done := context.WithTimeout(context.Background(), recordGrace)
	defer done()
	for _, id := range n.take() {
		n.check(ctx, id)
	}
}

func (n *notifier) take() (groups []rota.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.changed {
		groups = append(groups, id)
	}
	clear(n.changed)
	return groups
}

// check publishes a group if it has finished. If the store does not answer, or refuses
// the deliveries, it checks again later.
func (n *notifier) check(ctx context.Context, id rota.ID) {
	if n.notified[id] {
		return
	}
	group, err := n.e.store.Group(ctx, id)
	if err == nil && finished(group) {
		err = n.notify(ctx, group)
	}
	switch {
	case rota.CodeOf(err) == rota.NotFound:
	case err != nil:
		n.outage.failed(n.e.config.Logger, "finished groups could not be published; retrying", "group", id, "error", err)
		n.memberEnded(id)
	default:
		n.outage.recovered(n.e.config.Logger, "finished groups are published again")
	}
}

func finished(group *rota.Group) bool {
	status := group.Status()
	return status != rota.GroupQueued && status != rota.GroupRunning
}

// notify creates the webhook deliveries first, since only they can fail.
func (n *notifier) notify(ctx context.Context, group *rota.Group) error {
	event := rota.Event{
		Kind: rota.EventGroupFinished, At: n.e.config.Clock().UTC(), GroupID: group.ID, Name: group.Name, Detail: string(group.Status()),
	}
	ended := func(ctx context.Context) (time.Time, error) { return n.lastEnd(ctx, group.ID) }
	if err := n.deliver(ctx, &event, ended); err != nil {
		return err
	}
	if len(n.notified) >= notifiedMax {
		clear(n.notified)
	}
	n.notified[group.ID] = true
	n.e.events.Publish(event)
	return nil
}
