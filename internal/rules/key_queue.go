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
	n.unit.lanes.ask(&n.KeyQueues, laneOf(n.unit, key))
}

// laneOf is the question that a key asks as it is limited now: for one more job
// than a command changes.
func laneOf(w *UnitOfWork, key string) KeyQueue {
	return KeyQueue{Key: key, Limit: laneMost(w, key) + 1, Unlimited: !limitedKey(w, key)}
}

// laneMost is how many jobs of a lane a command changes: as many as may run, and
// some to spare.
func laneMost(w *UnitOfWork, key string) int {
	limit, limited := w.limits().Key(key)
	if !limited {
		return rota.KeyLimitMax
	}
	return min(limit, rota.KeyLimitMax) + rota.KeySpare
}

// stir notes down that the lane of a key has changed.
func (w *UnitOfWork) stir(key string) {
	if key != "" && !slices.Contains(w.stirred, key) {
		w.stirred = append(w.stirred, key)
	}
}

// balanceAll balances the lanes that the command has stirred.
func (w *UnitOfWork) balanceAll() {
	slices.Sort(w.stirred)
	for _, key := range w.stirred {
		if _, done := balance(w, w.laneAnew(laneOf(w, key)), laneMost(w, key)); !done {
			w.intend(IntentKey, key)
		}
	}
	w.stirred = w.stirred[:0]
}

// laneAnew looks further down a lane that has more jobs than were asked for, if
// some of those left it in this very step: who comes after them counts instead.
func (w *UnitOfWork) laneAnew(lane KeyQueue) KeyQueue {
	view := w.lanes.get(lane)
	if !slices.ContainsFunc(view.Types, func(t KeyQueueType) bool { return max(len(t.Last), len(t.Held)) == lane.Limit }) {
		return lane
	}
	wider := lane
	for _, r := range w.keyed[lane.Key] {
		wider.Limit += truth(leftPlace(r))
	}
	n := &Need{unit: w}
	w.lanes.ask(&n.KeyQueues, wider)
	if len(n.KeyQueues) > 0 && w.more != nil && w.failed == nil {
		w.failed = w.more(n)
	}
	return wider
}

// leftPlace says that a job stands elsewhere than where the store has it: ready,
// held back, or neither.
func leftPlace(r *jobRow) bool {
	return r.was != nil && r.was.Status == rota.StatusQueued &&
		(r.is == nil || r.is.Status != r.was.Status || r.is.Hold != r.was.Hold)
}

func limitedKey(w *UnitOfWork, key string) bool {
	_, limited := w.limits().Key(key)
	return limited
}

// limits are the limits in force.
func (w *UnitOfWork) limits() *rota.ThrottleSpec {
	if t := w.throttle.get(theThrottle); t != nil {
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
func balance(w *UnitOfWork, lane KeyQueue, most int) (changed int, done bool) {
	view := w.lanes.get(lane)
	if lane.Unlimited && len(view.Types) == 0 {
		return 0, true
	}
	want := roomOfLane(w, lane, view)
	done = true
	for _, t := range laneTypes(w, lane, view) {
		n, settled := newBalance(w, lane, t, want).run(w, most-changed)
		changed, done = changed+n, done && settled
	}
	return changed, done
}

// roomOfLane is how many jobs of a lane may start.
func roomOfLane(w *UnitOfWork, lane KeyQueue, view KeyQueueState) int {
	limit, limited := w.limits().Key(lane.Key)
	if !limited {
		return math.MaxInt
	}
	open := view.Open
	for _, r := range w.keyed[lane.Key] {
		open += truth(isOpen(r.is)) - truth(isOpen(r.was))
	}
	return max(0, limit-open)
}

// laneTypes are the types in a lane: those that the store knows of, and those
// that this world has brought.
func laneTypes(w *UnitOfWork, lane KeyQueue, view KeyQueueState) []KeyQueueType {
	types := slices.Clone(view.Types)
	for _, r := range w.keyed[lane.Key] {
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
	stand, held []rota.ID
	ready, want int
	edge        rota.ID // the last that the store has told of, if there may be more
	blind       bool    // that one is held back no longer: who comes next is not known
}

func newBalance(w *UnitOfWork, lane KeyQueue, t KeyQueueType, want int) *balancing {
	b := &balancing{ready: t.Ready, want: want}
	if n := len(t.Held); n == lane.Limit {
		b.edge = t.Held[n-1]
	}
	ids := slices.Concat(t.Last, t.Held)
	for _, r := range w.keyed[lane.Key] {
		if r.is != nil && r.is.Type == t.Type {
			b.ready += truth(isReady(r.is)) - truth(isReady(r.was))
			ids = append(ids, r.is.ID)
		}
	}
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		switch j := w.job(id); {
		case isReady(j):
			b.stand = append(b.stand, id)
		case j != nil && j.Status == rota.StatusQueued && j.Hold == rota.HoldKey:
			b.held = append(b.held, id)
		}
	}
	b.blind = !b.edge.IsZero() && !slices.Contains(b.held, b.edge)
	slices.SortFunc(b.stand, w.inOrder)
	slices.SortFunc(b.held, w.inOrder)
	return b
}

func (b *balancing) run(w *UnitOfWork, most int) (changed int, done bool) {
	for changed < most {
		switch {
		case b.ready > b.want && len(b.stand) > 0:
			b.hold(w)
			changed++
		case b.blind || b.ready > b.want:
			return changed, false
		case b.ready < b.want && len(b.held) > 0:
			b.let(w)
			changed++
		case b.outOfOrder(w):
			b.hold(w)
			b.let(w)
			changed += 2
		default:
			return changed, true
		}
	}
	return changed, b.settled(w)
}

// hold holds back the last of those who stand.
func (b *balancing) hold(w *UnitOfWork) {
	last := len(b.stand) - 1
	id := b.stand[last]
	w.edit(id).Hold = rota.HoldKey
	b.stand, b.held = b.stand[:last], w.intoOrder(b.held, id)
	b.ready--
}

// let lets the first of those who are held back stand.
func (b *balancing) let(w *UnitOfWork) {
	id := b.held[0]
	j := w.edit(id)
	j.Hold = 0
	ready(w, j)
	b.held, b.stand = b.held[1:], w.intoOrder(b.stand, id)
	b.ready++
	b.blind = b.blind || id == b.edge
}

// outOfOrder says whether somebody is held back who comes before one who stands.
func (b *balancing) outOfOrder(w *UnitOfWork) bool {
	return len(b.held) > 0 && len(b.stand) > 0 && w.inOrder(b.held[0], b.stand[len(b.stand)-1]) < 0
}

func (b *balancing) settled(w *UnitOfWork) bool {
	return !b.blind && b.ready <= b.want && !(b.ready < b.want && len(b.held) > 0) && !b.outOfOrder(w)
}

func (w *UnitOfWork) inOrder(a, b rota.ID) int {
	switch left, right := w.job(a), w.job(b); {
	case left.Before(right):
		return -1
	case right.Before(left):
		return 1
	}
	return 0
}

func (w *UnitOfWork) intoOrder(ids []rota.ID, id rota.ID) []rota.ID {
	at, _ := slices.BinarySearchFunc(ids, id, w.inOrder)
	return slices.Insert(slices.Clone(ids), at, id)
}

func isOpen(j *rota.Job) bool {
	return j != nil && j.Status == rota.StatusRunning && j.Sequel == ""
}

func isReady(j *rota.Job) bool { return j != nil && j.Ready() }

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}
