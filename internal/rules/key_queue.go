package rules

import (
	"cmp"
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

// A lane is the jobs of one concurrency key. As many of each type stand in the
// order as may still start; the others are held back. So a key at its limit costs
// a claim next to nothing, however many jobs wait for it.

// keyQueue asks for what it takes to balance a key.
func (n *Need) keyQueue(key string) {
	if key == "" {
		return
	}
	n.throttle()
	if n.Throttle {
		return // it comes first: the limit says how much of the lane matters
	}
	n.unit.keyQueues.lookup(&n.KeyQueues, keyQueueQuery(n.unit, key))
}

// keyQueueQuery is the question that a key asks as it is limited now: for one more job
// than a command changes.
func keyQueueQuery(u *UnitOfWork, key string) KeyQueue {
	return KeyQueue{Key: key, Limit: keyQueueChangesMax(u, key) + 1, Unlimited: !limitedKey(u, key)}
}

// keyQueueChangesMax is how many jobs of a lane a command changes: as many as may run, and
// some to spare.
func keyQueueChangesMax(u *UnitOfWork, key string) int {
	limit, limited := u.limits().Key(key)
	if !limited {
		return rota.KeyLimitMax
	}
	return min(limit, rota.KeyLimitMax) + rota.KeySpare
}

// markKeyChanged notes down that the lane of a key has changed.
func (u *UnitOfWork) markKeyChanged(key string) {
	if key != "" && !slices.Contains(u.keysToBalance, key) {
		u.keysToBalance = append(u.keysToBalance, key)
	}
}

// balanceChangedKeys balances the lanes that the command has stirred.
func (u *UnitOfWork) balanceChangedKeys() {
	slices.Sort(u.keysToBalance)
	for _, key := range u.keysToBalance {
		if _, done := balance(u, u.reloadKeyQueue(keyQueueQuery(u, key)), keyQueueChangesMax(u, key)); !done {
			u.addIntent(IntentKey, key)
		}
	}
	u.keysToBalance = u.keysToBalance[:0]
}

// reloadKeyQueue looks further down a lane that has more jobs than were asked for, if
// some of those left it in this very step: who comes after them counts instead.
func (u *UnitOfWork) reloadKeyQueue(queue KeyQueue) KeyQueue {
	state := u.keyQueues.get(queue)
	if !slices.ContainsFunc(state.Types, func(t KeyQueueType) bool { return max(len(t.Last), len(t.Held)) == queue.Limit }) {
		return queue
	}
	wider := queue
	for _, r := range u.touchedByKey[queue.Key] {
		wider.Limit += boolToInt(changedPlace(r))
	}
	n := &Need{unit: u}
	u.keyQueues.lookup(&n.KeyQueues, wider)
	if len(n.KeyQueues) > 0 && u.loadMore != nil && u.loadErr == nil {
		u.loadErr = u.loadMore(n)
	}
	return wider
}

// changedPlace says that a job stands elsewhere than where the store has it: ready,
// held back, or neither.
func changedPlace(r *jobRow) bool {
	return r.was != nil && r.was.Status == rota.StatusQueued &&
		(r.is == nil || r.is.Status != r.was.Status || r.is.Hold != r.was.Hold)
}

func limitedKey(u *UnitOfWork, key string) bool {
	_, limited := u.limits().Key(key)
	return limited
}

// limits are the limits in force.
func (u *UnitOfWork) limits() *rota.ThrottleSpec {
	if t := u.throttle.get(throttleKey); t != nil {
		return &t.Spec
	}
	return &noLimits
}

var noLimits rota.ThrottleSpec

// balance makes the first jobs of each type in a lane ready, as many as may
// start, and holds the others back. Each type has its own: whoever stands may be
// of a type that is paused, or that no worker takes, and must not keep the others
// waiting. That no more start than may, the claim sees to.
//
// It stops when it has changed so many jobs, two at a time where they change
// places, and reports whether it got done.
func balance(u *UnitOfWork, queue KeyQueue, most int) (changed int, done bool) {
	state := u.keyQueues.get(queue)
	if queue.Unlimited && len(state.Types) == 0 {
		return 0, true
	}
	capacity := keyCapacity(u, queue, state)
	done = true
	for _, t := range keyQueueTypes(u, queue, state) {
		n, settled := newBalancing(u, queue, t, capacity).run(u, most-changed)
		changed, done = changed+n, done && settled
	}
	return changed, done
}

// keyCapacity is how many jobs of a lane may start.
func keyCapacity(u *UnitOfWork, queue KeyQueue, state KeyQueueState) int {
	limit, limited := u.limits().Key(queue.Key)
	if !limited {
		return math.MaxInt
	}
	open := state.Open
	for _, r := range u.touchedByKey[queue.Key] {
		open += boolToInt(isOpen(r.is)) - boolToInt(isOpen(r.was))
	}
	return max(0, limit-open)
}

// keyQueueTypes are the types in a lane: those that the store knows of, and those
// that this world has brought.
func keyQueueTypes(u *UnitOfWork, queue KeyQueue, state KeyQueueState) []KeyQueueType {
	types := slices.Clone(state.Types)
	for _, r := range u.touchedByKey[queue.Key] {
		if r.is == nil || slices.ContainsFunc(types, func(t KeyQueueType) bool { return t.Type == r.is.Type }) {
			continue
		}
		types = append(types, KeyQueueType{Type: r.is.Type})
	}
	slices.SortFunc(types, func(a, b KeyQueueType) int { return cmp.Compare(a.Type, b.Type) })
	return types
}

// balancing is one type of a lane under way: who stands in the order, as far as
// may matter, and who is held back by the key alone, both in dispatch order.
type balancing struct {
	readyIDs, heldIDs    []rota.ID
	readyCount, capacity int
	lastLoaded           rota.ID // the last that the store has told of, if there may be more
	nextUnknown          bool    // that one is held back no longer: who comes next is not known
}

func newBalancing(u *UnitOfWork, queue KeyQueue, t KeyQueueType, capacity int) *balancing {
	b := &balancing{readyCount: t.Ready, capacity: capacity}
	if n := len(t.Held); n == queue.Limit {
		b.lastLoaded = t.Held[n-1]
	}
	ids := slices.Concat(t.Last, t.Held)
	for _, r := range u.touchedByKey[queue.Key] {
		if r.is != nil && r.is.Type == t.Type {
			b.readyCount += boolToInt(isReady(r.is)) - boolToInt(isReady(r.was))
			ids = append(ids, r.is.ID)
		}
	}
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		switch j := u.job(id); {
		case isReady(j):
			b.readyIDs = append(b.readyIDs, id)
		case j != nil && j.Status == rota.StatusQueued && j.Hold == rota.HoldKey:
			b.heldIDs = append(b.heldIDs, id)
		}
	}
	b.nextUnknown = !b.lastLoaded.IsZero() && !slices.Contains(b.heldIDs, b.lastLoaded)
	slices.SortFunc(b.readyIDs, u.compareOrder)
	slices.SortFunc(b.heldIDs, u.compareOrder)
	return b
}

func (b *balancing) run(u *UnitOfWork, most int) (changed int, done bool) {
	for changed < most {
		switch {
		case b.readyCount > b.capacity && len(b.readyIDs) > 0:
			b.holdLast(u)
			changed++
		case b.nextUnknown || b.readyCount > b.capacity:
			return changed, false
		case b.readyCount < b.capacity && len(b.heldIDs) > 0:
			b.releaseFirst(u)
			changed++
		case b.outOfOrder(u):
			b.holdLast(u)
			b.releaseFirst(u)
			changed += 2
		default:
			return changed, true
		}
	}
	return changed, b.balanced(u)
}

// holdLast holds back the last of those who stand.
func (b *balancing) holdLast(u *UnitOfWork) {
	last := len(b.readyIDs) - 1
	id := b.readyIDs[last]
	u.edit(id).Hold = rota.HoldKey
	b.readyIDs, b.heldIDs = b.readyIDs[:last], u.insertInOrder(b.heldIDs, id)
	b.readyCount--
}

// releaseFirst lets the first of those who are held back stand.
func (b *balancing) releaseFirst(u *UnitOfWork) {
	id := b.heldIDs[0]
	j := u.edit(id)
	j.Hold = 0
	markReady(u, j)
	b.heldIDs, b.readyIDs = b.heldIDs[1:], u.insertInOrder(b.readyIDs, id)
	b.readyCount++
	b.nextUnknown = b.nextUnknown || id == b.lastLoaded
}

// outOfOrder says whether somebody is held back who comes before one who stands.
func (b *balancing) outOfOrder(u *UnitOfWork) bool {
	return len(b.heldIDs) > 0 && len(b.readyIDs) > 0 && u.compareOrder(b.heldIDs[0], b.readyIDs[len(b.readyIDs)-1]) < 0
}

func (b *balancing) balanced(u *UnitOfWork) bool {
	return !b.nextUnknown && b.readyCount <= b.capacity && !(b.readyCount < b.capacity && len(b.heldIDs) > 0) && !b.outOfOrder(u)
}

func (u *UnitOfWork) compareOrder(a, b rota.ID) int {
	switch left, right := u.job(a), u.job(b); {
	case left.Before(right):
		return -1
	case right.Before(left):
		return 1
	}
	return 0
}

func (u *UnitOfWork) insertInOrder(ids []rota.ID, id rota.ID) []rota.ID {
	at, _ := slices.BinarySearchFunc(ids, id, u.compareOrder)
	return slices.Insert(slices.Clone(ids), at, id)
}

func isOpen(j *rota.Job) bool {
	return j != nil && j.Status == rota.StatusRunning && j.Sequel == ""
}

func isReady(j *rota.Job) bool { return j != nil && j.Ready() }

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
