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
	e    *Engine
	bell bell

	mu     sync.Mutex
	groups map[rota.ID]bool // of which a member has ended
	told   map[rota.ID]bool // finished ones, so that each is told once
	out    outage
}

const (
	notifyEvery = 100 * time.Millisecond // a group with many members is not looked at for each
	toldMax     = 10_000
)

func newNotifier(e *Engine) *notifier {
	return &notifier{e: e, bell: newBell(), groups: map[rota.ID]bool{}, told: map[rota.ID]bool{}}
}

// note is told that a member of a group has ended.
func (n *notifier) note(group rota.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.groups[group] = true
	n.bell.ring()
}

// run looks until ctx ends, and then once more: the last run may have been the
// last of its group.
func (n *notifier) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-n.bell:
			n.lookAll()
			pause(ctx, notifyEvery)
		case <-ctx.Done():
		}
	}
	n.lookAll()
}

func (n *notifier) lookAll() {
	ctx, done := context.WithTimeout(context.Background(), recordGrace)
	defer done()
	for _, id := range n.take() {
		n.look(ctx, id)
	}
}

func (n *notifier) take() (groups []rota.ID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for id := range n.groups {
		groups = append(groups, id)
	}
	clear(n.groups)
	return groups
}

// look tells of a group if it has finished. If that cannot be found out, or
// nobody could be told, it is looked at again.
func (n *notifier) look(ctx context.Context, id rota.ID) {
	if n.told[id] {
		return
	}
	group, err := n.e.store.Group(ctx, id)
	if err == nil && finished(group) {
		err = n.tell(ctx, group)
	}
	switch {
	case rota.CodeOf(err) == rota.NotFound:
	case err != nil:
		n.out.failed(n.e.config.Logger, "groups were not looked at; trying until they are", "group", id, "error", err)
		n.note(id)
	default:
		n.out.passed(n.e.config.Logger, "groups are looked at again")
	}
}

func finished(group *rota.Group) bool {
	status := group.Status()
	return status != rota.GroupQueued && status != rota.GroupRunning
}

// tell tells first the webhooks, of which it may be that they cannot be told now.
func (n *notifier) tell(ctx context.Context, group *rota.Group) error {
	event := rota.Event{
		Kind: rota.EventGroupFinished, At: n.e.config.Clock().UTC(), GroupID: group.ID, Name: group.Name, Detail: string(group.Status()),
	}
	if err := n.deliver(ctx, &event); err != nil {
		return err
	}
	if len(n.told) >= toldMax {
		clear(n.told)
	}
	n.told[group.ID] = true
	n.e.feed.Publish(event)
	return nil
}
