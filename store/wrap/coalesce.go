package wrap

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// Bounds of one shared transaction, in jobs and leases and in bytes. Beyond them the wait
// of the last caller grows faster than the gain of sharing.
const (
	batchEntriesMax = 2_000
	batchBytesMax   = 4 << 20
)

// Coalesce makes concurrent callers share a transaction: while one batch is synced to
// disk, callers that arrive wait, and the next batch applies all of them. A single caller
// does not wait for others. A store that applies several batches at once gets several,
// and callers wait when all are in flight.
//
// Batches with a Now of their own are not shared, since a shared batch has one clock. A
// caller whose context ends returns at once; its commands may be applied all the same if
// they are in flight, as after any lost answer.
//
// Batches in transactions of callers are not shared either: StoreAs finds the store that
// applies them behind this one.
func Coalesce(store rota.Store) rota.Store {
	batchesMax := max(1, store.Limits().Batches)
	return &coalesced{Store: store, batchesMax: batchesMax, wakeIdle: make(chan struct{}, batchesMax)}
}

type coalesced struct {
	rota.Store

	batchesMax int // batches in flight at once

	mu       sync.Mutex
	waiting  []*call
	applying int           // goroutines that apply batches
	idle     int           // goroutines that have applied one and wait for more
	closed   bool          // idle goroutines end
	wakeIdle chan struct{} // wakes one idle goroutine

	piggybacks []*PiggybackFunc // never changed in place
}

// Unwrap returns the store that applies the batches.
func (c *coalesced) Unwrap() rota.Store { return c.Store }

// idleTimeout is how long a goroutine that applies batches waits for more. It keeps the
// stack that it has grown in the store; a new goroutine has to grow its own.
const idleTimeout = 5 * time.Second

type call struct {
	commands []rota.Command
	size     size
	results  []rota.Result
	err      error
	done     chan struct{} // closed when answered
}

// size is how much work a call has.
type size struct{ entries, bytes int }

func weigh(commands []rota.Command) (all size) {
	for _, c := range commands {
		if rota.IsNil(c) {
			return size{batchEntriesMax + 1, 0} // the store refuses it; no other caller should share that
		}
		entries, bytes := rota.Weigh(c)
		all = all.plus(size{entries, bytes})
	}
	return all
}

func (l size) plus(other size) size {
	return size{l.entries + other.entries, l.bytes + other.bytes}
}

func (l size) tooLarge() bool { return l.entries > batchEntriesMax || l.bytes > batchBytesMax }

// Apply waits for a batch that it shares with other callers.
func (c *coalesced) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	load := weigh(b.Commands)
	if !b.Now.IsZero() || len(b.Commands) == 0 || load.tooLarge() {
		return c.Store.Apply(ctx, b)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mine := &call{commands: b.Commands, size: load, done: make(chan struct{})}
	c.enqueue(mine)
	select {
	case <-mine.done:
		return mine.results, mine.err
	case <-ctx.Done():
		c.remove(mine)
		return nil, ctx.Err()
	}
}

// enqueue queues a call, and wakes or starts a goroutine if one more may apply.
func (c *coalesced) enqueue(mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, mine)
	switch {
	case c.applying == c.batchesMax:
	case c.idle > 0:
		c.applying++
		c.idle--
		c.wakeIdle <- struct{}{}
	default:
		c.applying++
		go c.run()
	}
}

// run applies what is queued, and waits for more until idleTimeout.
func (c *coalesced) run() {
	timer := time.NewTimer(idleTimeout)
	defer timer.Stop()
	for c.applyAll() {
		timer.Reset(idleTimeout)
		select {
		case <-c.wakeIdle:
		case <-timer.C:
			if c.leaveIdle() {
				return
			}
			<-c.wakeIdle // a call arrived at the last moment
		}
	}
}

// leaveIdle ends the wait, unless a call has just started this goroutine.
func (c *coalesced) leaveIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle == 0 {
		return false
	}
	c.idle--
	return true
}

// Close ends the idle goroutines, and closes the store.
func (c *coalesced) Close() error {
	c.mu.Lock()
	c.closed = true
	for ; c.idle > 0; c.idle-- {
		c.applying++
		c.wakeIdle <- struct{}{}
	}
	c.mu.Unlock()
	return c.Store.Close()
}

// applyAll applies batch after batch until no call waits, and reports whether to wait for
// more. A batch belongs to all its callers, so the context of none ends it.
func (c *coalesced) applyAll() (stayIdle bool) {
	for {
		calls, stayIdle := c.takeBatch()
		if len(calls) == 0 {
			return stayIdle
		}
		c.applyCalls(context.Background(), calls)
	}
}

// takeBatch takes as many calls as fit, in the order of their arrival. If there are none,
// this goroutine becomes idle.
func (c *coalesced) takeBatch() (calls []*call, stayIdle bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.applying--
		if !c.closed {
			c.idle++
		}
		return nil, !c.closed
	}
	n, all := 0, size{}
	for n < len(c.waiting) && !all.plus(c.waiting[n].size).tooLarge() {
		all = all.plus(c.waiting[n].size)
		n++
	}
	calls = append([]*call(nil), c.waiting[:n]...)
	c.waiting = append(c.waiting[:0], c.waiting[n:]...)
	return calls, true
}

// applyCalls applies the calls, and the commands piggybacked on them, as one batch and
// answers them.
func (c *coalesced) applyCalls(ctx context.Context, calls []*call) {
	var all rota.Batch
	for _, one := range calls {
		all.Commands = append(all.Commands, one.commands...)
	}
	piggybacked := c.piggyback(all.Commands)
	for _, one := range piggybacked {
		all.Commands = append(all.Commands, one.commands...)
	}
	results, err := c.applyRecovering(ctx, all)
	for _, one := range calls {
		results = one.takeResults(results, err)
		close(one.done)
	}
	for _, one := range piggybacked {
		results = one.takeResults(results, err)
		one.sendAnswer()
	}
}

// applyRecovering applies a batch, and turns a panic of the store into an error: this
// goroutine belongs to no caller that could recover.
func (c *coalesced) applyRecovering(ctx context.Context, b rota.Batch) (results []rota.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			results, err = nil, rota.Errorf(rota.Internal, "coalesce", "the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Store.Apply(ctx, b)
}

// takeResults takes the results of its own commands, and returns the rest.
func (one *call) takeResults(results []rota.Result, err error) []rota.Result {
	if one.err = err; err != nil {
		return nil
	}
	n := len(one.commands)
	one.results = results[:n:n]
	return results[n:]
}

// remove removes a call that no batch has taken yet.
func (c *coalesced) remove(mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(one *call) bool { return one == mine })
}
