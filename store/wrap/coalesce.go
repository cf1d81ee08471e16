package wrap

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// How much work shares one transaction, in jobs and leases and in bytes.
// Beyond it the wait of the last grows faster than the gain of sharing.
const (
	gatherEntries = 2_000
	gatherBytes   = 4 << 20
)

// Coalesce makes concurrent callers share a transaction: while one batch is
// being synced to disk, those who come meanwhile gather, and are applied
// together next. A caller who is alone waits for nobody. A store that works on
// several batches at once gets several, and callers gather when all are under way.
//
// Batches with a Now of their own keep to themselves, since a shared batch
// has one clock. A caller whose context ends is let go; its batch may be applied
// all the same if it was under way, as after any lost answer.
func Coalesce(store rota.Store) rota.Store {
	width := max(1, store.Limits().Batches)
	return &coalesced{Store: store, width: width, more: make(chan struct{}, width)}
}

type coalesced struct {
	rota.Store

	width int // batches at once

	mu      sync.Mutex
	waiting []*call
	busy    int           // goroutines that apply
	resting int           // those that have applied, and wait for more
	closed  bool          // they need not
	more    chan struct{} // wakes one

	piggybacks []*PiggybackFunc // never changed in place
}

// rest is how long a goroutine that applies waits for more. One that has been
// deep in the store keeps the stack that it took, which a new one has to grow.
const rest = 5 * time.Second

type call struct {
	commands []rota.Command
	load     load
	results  []rota.Result
	err      error
	done     chan struct{} // closed when answered
}

// load is how much work a call brings.
type load struct{ entries, bytes int }

func weigh(commands []rota.Command) (all load) {
	for _, c := range commands {
		if rota.IsNil(c) {
			return load{gatherEntries + 1, 0} // the store refuses it; nobody should share that
		}
		entries, bytes := rota.Weigh(c)
		all = all.plus(load{entries, bytes})
	}
	return all
}

func (l load) plus(other load) load {
	return load{l.entries + other.entries, l.bytes + other.bytes}
}

func (l load) heavy() bool { return l.entries > gatherEntries || l.bytes > gatherBytes }

// Apply gathers with whoever else is applying.
func (c *coalesced) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	load := weigh(b.Commands)
	if !b.Now.IsZero() || len(b.Commands) == 0 || load.heavy() {
		return c.Store.Apply(ctx, b)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	mine := &call{commands: b.Commands, load: load, done: make(chan struct{})}
	c.join(mine)
	select {
	case <-mine.done:
		return mine.results, mine.err
	case <-ctx.Done():
		c.withdraw(mine)
		return nil, ctx.Err()
	}
}

// join queues a call. If one more may apply, somebody now does.
func (c *coalesced) join(mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, mine)
	switch {
	case c.busy == c.width:
	case c.resting > 0:
		c.busy++
		c.resting--
		c.more <- struct{}{}
	default:
		c.busy++
		go c.run()
	}
}

// run applies what there is, and rests until there is more or it has waited long
// enough.
func (c *coalesced) run() {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	for c.applyAll() {
		timer.Reset(rest)
		select {
		case <-c.more:
		case <-timer.C:
			if c.leave() {
				return
			}
			<-c.more // somebody came at the last moment
		}
	}
}

// leave ends the rest, unless somebody has.
func (c *coalesced) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resting == 0 {
		return false
	}
	c.resting--
	return true
}

// Close ends the rest, and closes the store.
func (c *coalesced) Close() error {
	c.mu.Lock()
	c.closed = true
	for ; c.resting > 0; c.resting-- {
		c.busy++
		c.more <- struct{}{}
	}
	c.mu.Unlock()
	return c.Store.Close()
}

// applyAll applies batch after batch until nobody waits, and reports whether to
// wait for more. A batch belongs to all who share it, so no one's context ends
// it.
func (c *coalesced) applyAll() (rests bool) {
	for {
		calls, rests := c.gather()
		if len(calls) == 0 {
			return rests
		}
		c.applyFor(context.Background(), calls)
	}
}

// gather takes as many calls as fit, in the order in which they came. When
// there are none, whoever comes next begins anew.
func (c *coalesced) gather() (calls []*call, rests bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.busy--
		if !c.closed {
			c.resting++
		}
		return nil, !c.closed
	}
	n, all := 0, load{}
	for n < len(c.waiting) && !all.plus(c.waiting[n].load).heavy() {
		all = all.plus(c.waiting[n].load)
		n++
	}
	calls = append([]*call(nil), c.waiting[:n]...)
	c.waiting = append(c.waiting[:0], c.waiting[n:]...)
	return calls, true
}

// applyFor applies the calls, and what goes along with them, as one batch and
// answers them.
func (c *coalesced) applyFor(ctx context.Context, calls []*call) {
	var all rota.Batch
	for _, one := range calls {
		all.Commands = append(all.Commands, one.commands...)
	}
	fares := c.piggyback(all.Commands)
	for _, one := range fares {
		all.Commands = append(all.Commands, one.commands...)
	}
	results, err := c.applyOne(ctx, all)
	for _, one := range calls {
		results = one.take(results, err)
		close(one.done)
	}
	for _, one := range fares {
		results = one.take(results, err)
		one.deliver()
	}
}

// applyOne applies a batch, and answers for a store that panics: nobody up the
// stack could, since it is not a caller's.
func (c *coalesced) applyOne(ctx context.Context, b rota.Batch) (results []rota.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			results, err = nil, rota.Errorf(rota.Internal, "coalesce", "the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Store.Apply(ctx, b)
}

// take takes what is its own, and leaves the rest.
func (one *call) take(results []rota.Result, err error) []rota.Result {
	if one.err = err; err != nil {
		return nil
	}
	n := len(one.commands)
	one.results = results[:n:n]
	return results[n:]
}

// withdraw takes back a call that nobody has taken up yet.
func (c *coalesced) withdraw(mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(one *call) bool { return one == mine })
}
