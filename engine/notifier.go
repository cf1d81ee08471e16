package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// notifier tells of groups that have finished: the feed, and the webhooks that are
// told of it. A store does not: how a group stands is derived from its members, so
// somebody has to look when they end.
//
// So these deliveries are not made in one step with what they tell of, as all
// others are: if the process dies after the last member has ended, and before the
// notifier has looked, nobody is told that the group has finished.
type notifier struct {
	e      *Engine
	signal signal

	mu       sync.Mutex
	changed  map[rota.ID]bool // of which a member has ended
	notified map[rota.ID]bool // finished ones, so that each is told once
	outage   outageLog
}

const (
	notifyEvery = 100 * time.Millisecond // a group with many members is not looked at for each
	notifiedMax = 10_000
)

func newNotifier(e *Engine) *notifier {
	return &notifier{e: e, signal: newSignal(), changed: map[rota.ID]bool{}, notified: map[rota.ID]bool{}}
}

// memberEnded is told that a member of a group has ended.
func (n *notifier) memberEnded(group rota.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed[group] = true
	n.signal.send()
}

// run looks until ctx ends, and then once more: the last run may have been the
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

// check tells of a group if it has finished. If that cannot be found out, or
// nobody could be told, it is looked at again.
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
		n.outage.failed(n.e.config.Logger, "groups were not looked at; trying until they are", "group", id, "error", err)
		n.memberEnded(id)
	default:
		n.outage.recovered(n.e.config.Logger, "groups are looked at again")
	}
}

func finished(group *rota.Group) bool {
	status := group.Status()
	return status != rota.GroupQueued && status != rota.GroupRunning
}

// notify tells first the webhooks, of which it may be that they cannot be told now.
func (n *notifier) notify(ctx context.Context, group *rota.Group) error {
	event := rota.Event{
		Kind: rota.EventGroupFinished, At: n.e.config.Clock().UTC(), GroupID: group.ID, Name: group.Name, Detail: string(group.Status()),
	}
	if err := n.deliver(ctx, &event); err != nil {
		return err
	}
	if len(n.notified) >= notifiedMax {
		clear(n.notified)
	}
	n.notified[group.ID] = true
	n.e.events.Publish(event)
	return nil
}
