package rules

import (
	"cmp"
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

// A key queue is the jobs of one concurrency key. Of each type, as many jobs are
// ready as may still start; the others are held back. A key at its limit
// therefore costs a claim next to nothing, however many jobs wait for it.
//
// If the limits of a key count the jobs of each type by themselves, each type of
// the key is a key queue of its own, and a command reads only those of the types
// that it changes.

// keyOfType names the jobs of a concurrency key that are of one type.
type keyOfType struct{ key, typ string }

// keyQueueOf returns the query for the key queue of a key and a type under their
// current limit: one more job than a command changes.
func keyQueueOf(u *UnitOfWork, key, typ string) KeyQueue {
	limit, limited := u.limits().Key(key, typ)
	queue := KeyQueue{Key: key, Limit: rota.KeyLimitMax + 1, Unlimited: !limited}
	if limited {
		queue.Limit = min(limit.Concurrency, rota.KeyLimitMax) + rota.KeySpare + 1
	}
	if limitsTypesApart(u, key) {
		queue.Type = typ
	}
	return queue
}

// changesMax is how many jobs of a key queue one command changes: as many as may
// run, and some to spare.
func (q KeyQueue) changesMax() int { return q.Limit - 1 }

// limitsTypesApart reports whether the limits of a key count the jobs of each
// type by themselves.
func limitsTypesApart(u *UnitOfWork, key string) bool {
	limits := u.limits()
	if len(limits.EachKeyOfType) == 0 {
		return false
	}
	_, shared := limits.Key(key, "")
	return !shared
}

// markKeyChanged notes that the key queue of a job has changed.
func (u *UnitOfWork) markKeyChanged(j *rota.Job) {
	changed := keyOfType{j.ConcurrencyKey, j.Type}
	if changed.key != "" && !slices.Contains(u.keysToBalance, changed) {
		u.keysToBalance = append(u.keysToBalance, changed)
	}
}

// balanceChangedKeys balances the key queues that the command has changed.
func (u *UnitOfWork) balanceChangedKeys() {
	slices.SortFunc(u.keysToBalance, func(a, b keyOfType) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.typ, b.typ)) })
	var queues []KeyQueue
	for _, changed := range u.keysToBalance {
		queues = append(queues, keyQueueOf(u, changed.key, changed.typ))
	}
	queues = slices.Compact(queues)
	u.each(len(queues), func(i int) {
		if _, done := balance(u, u.widenKeyQueue(queues[i]), queues[i].changesMax()); !done {
			u.addIntent(IntentKey, queues[i].Key)
		}
	})
	u.keysToBalance = u.keysToBalance[:0]
}

// widenKeyQueue returns a query for more of a key queue that has more jobs than
// were queried, if some of those left it in the same transaction: the jobs after
// them count instead.
func (u *UnitOfWork) widenKeyQueue(queue KeyQueue) KeyQueue {
	state := KeyQueues.get(u, queue)
	if !slices.ContainsFunc(state.Types, func(t KeyQueueType) bool { return max(len(t.Last), len(t.Held)) == queue.Limit }) {
		return queue
	}
	left := 0
	for _, r := range u.touchedIn(queue) {
		left += boolToInt(changedPlace(r))
	}
	if left == 0 {
		return queue
	}
	wider := queue
	for more := widening; ; more *= widening {
		if wider.Limit = queue.Limit + more; more >= left {
			return wider
		}
	}
}

// touchedIn returns the touched jobs of a key queue.
func (u *UnitOfWork) touchedIn(queue KeyQueue) []*jobRow {
	touched := u.touchedByKey[queue.Key]
	if queue.Type == "" {
		return touched
	}
	var ofType []*jobRow
	for _, r := range touched {
		if r.is != nil && r.is.Type == queue.Type || r.was != nil && r.was.Type == queue.Type {
			ofType = append(ofType, r)
		}
	}
	return ofType
}

// changedPlace reports whether a job that is QUEUED in the store has another
// status or hold now.
func changedPlace(r *jobRow) bool {
	return r.was != nil && r.was.Status == rota.StatusQueued &&
		(r.is == nil || r.is.Status != r.was.Status || r.is.Hold != r.was.Hold)
}

// limits returns the limits in force.
func (u *UnitOfWork) limits() *rota.ThrottleSpec {
	if t := Throttle.get(u, one); t != nil {
		return &t.Spec
	}
	return &noLimits
}

var noLimits rota.ThrottleSpec

// balance makes the first jobs of each type in a key queue ready, as many as
// may start, and holds the others back. Each type has its own share: a ready
// job may be of a type that is paused or that no worker claims, and must not
// block the other types. The claim enforces the limit of the key itself.
//
// It stops after maxCount changes, two at a time where a ready and a held job
// change places, and reports whether the queue is balanced.
func balance(u *UnitOfWork, queue KeyQueue, maxCount int) (changed int, done bool) {
	state := KeyQueues.get(u, queue)
	if queue.Unlimited && len(state.Types) == 0 {
		return 0, true
	}
	capacity := keyCapacity(u, queue, state)
	done = true
	for _, t := range keyQueueTypes(u, queue, state) {
		n, settled := newBalancing(u, queue, t, capacity).run(u, maxCount-changed)
		changed, done = changed+n, done && settled
	}
	return changed, done
}

// keyCapacity is how many more jobs of a key queue may start.
func keyCapacity(u *UnitOfWork, queue KeyQueue, state KeyQueueState) int {
	limit, limited := u.limits().Key(queue.Key, queue.Type)
	if !limited {
		return math.MaxInt
	}
	open := state.Open
	for _, r := range u.touchedIn(queue) {
		open += boolToInt(IsOpen(r.is)) - boolToInt(IsOpen(r.was))
	}
	return max(0, limit.Concurrency-open)
}

// keyQueueTypes returns the types in a key queue: those in the store, and those
// added in this transaction.
func keyQueueTypes(u *UnitOfWork, queue KeyQueue, state KeyQueueState) []KeyQueueType {
	types := slices.Clone(state.Types)
	for _, r := range u.touchedIn(queue) {
		if r.is == nil || slices.ContainsFunc(types, func(t KeyQueueType) bool { return t.Type == r.is.Type }) {
			continue
		}
		types = append(types, KeyQueueType{Type: r.is.Type})
	}
	slices.SortFunc(types, func(a, b KeyQueueType) int { return cmp.Compare(a.Type, b.Type) })
	return types
}

// balancing is the state of balancing one type of a key queue: the ready jobs,
// as far as they may matter, and the jobs that only the key holds back, both in
// dispatch order.
type balancing struct {
	readyIDs, heldIDs    []rota.ID
	readyCount, capacity int
	lastLoaded           rota.ID // last held job of those that were loaded, if the store may have more
	nextUnknown          bool    // none of them is held any more, so the next one is not known
}

func newBalancing(u *UnitOfWork, queue KeyQueue, t KeyQueueType, capacity int) *balancing {
	b := &balancing{readyCount: t.Ready, capacity: capacity}
	ids := slices.Concat(t.Last, t.Held)
	for _, r := range u.touchedByKey[queue.Key] {
		if r.is != nil && r.is.Type == t.Type {
			b.readyCount += boolToInt(isReady(r.is)) - boolToInt(isReady(r.was))
			ids = append(ids, r.is.ID)
		}
	}
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		switch j := u.partOfJob(id); {
		case isReady(j):
			b.readyIDs = append(b.readyIDs, id)
		case j != nil && j.Status == rota.StatusQueued && j.Hold == rota.HoldKey:
			b.heldIDs = append(b.heldIDs, id)
		}
	}
	if len(t.Held) == queue.Limit {
		b.findLastLoaded(t.Held)
	}
	slices.SortFunc(b.readyIDs, u.compareOrder)
	slices.SortFunc(b.heldIDs, u.compareOrder)
	return b
}

// findLastLoaded finds the last of the loaded jobs that is still held. The jobs that
// were not loaded come after it.
func (b *balancing) findLastLoaded(loaded []rota.ID) {
	for _, id := range slices.Backward(loaded) {
		if slices.Contains(b.heldIDs, id) {
			b.lastLoaded = id
			return
		}
	}
	b.nextUnknown = true
}

func (b *balancing) run(u *UnitOfWork, maxCount int) (changed int, done bool) {
	for changed < maxCount {
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

// holdLast holds back the last ready job.
func (b *balancing) holdLast(u *UnitOfWork) {
	last := len(b.readyIDs) - 1
	id := b.readyIDs[last]
	u.edit(id).Hold = rota.HoldKey
	b.readyIDs, b.heldIDs = b.readyIDs[:last], u.insertInOrder(b.heldIDs, id)
	b.readyCount--
}

// releaseFirst makes the first held job ready.
func (b *balancing) releaseFirst(u *UnitOfWork) {
	id := b.heldIDs[0]
	j := u.edit(id)
	j.Hold = 0
	markReady(u, j)
	b.heldIDs, b.readyIDs = b.heldIDs[1:], u.insertInOrder(b.readyIDs, id)
	b.readyCount++
	b.nextUnknown = b.nextUnknown || id == b.lastLoaded
}

// outOfOrder reports whether a held job comes before a ready one.
func (b *balancing) outOfOrder(u *UnitOfWork) bool {
	return len(b.heldIDs) > 0 && len(b.readyIDs) > 0 && u.compareOrder(b.heldIDs[0], b.readyIDs[len(b.readyIDs)-1]) < 0
}

func (b *balancing) balanced(u *UnitOfWork) bool {
	return !b.nextUnknown && b.readyCount <= b.capacity && !(b.readyCount < b.capacity && len(b.heldIDs) > 0) && !b.outOfOrder(u)
}

func (u *UnitOfWork) compareOrder(a, b rota.ID) int {
	switch left, right := u.partOfJob(a), u.partOfJob(b); {
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

func IsOpen(j *rota.Job) bool {
	return j != nil && j.Status == rota.StatusRunning && j.Sequel == ""
}

func isReady(j *rota.Job) bool { return j != nil && j.Ready() }

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
