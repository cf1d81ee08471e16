package wrap

import (
	"context"
	"sync"

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
// together next. A caller who is alone waits for nobody.
//
// Batches with a Now of their own keep to themselves, since a shared batch
// has one clock.
func Coalesce(store rota.Store) rota.Store {
	return &coalesced{Store: store}
}

type coalesced struct {
	rota.Store

	mu      sync.Mutex
	waiting []*call
	busy    bool // somebody is applying
}

type call struct {
	commands []rota.Command
	load     load
	results  []rota.Result
	err      error
	done     chan struct{} // closed when answered
	lead     chan struct{} // closed when this caller is to apply for all
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
	mine := &call{commands: b.Commands, load: load, done: make(chan struct{}), lead: make(chan struct{})}
	c.join(mine)
	select {
	case <-mine.lead:
		c.applyFor(ctx, c.gather())
	case <-mine.done:
	case <-ctx.Done():
		if c.withdraw(mine) {
			return nil, ctx.Err()
		}
		<-mine.done // its batch is under way: the answer is worth having
	}
	return mine.results, mine.err
}

// join queues a call; the first one to come leads.
func (c *coalesced) join(mine *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, mine)
	if !c.busy {
		c.busy = true
		close(mine.lead)
	}
}

// gather takes the call at the front, which is the leader's, and as many
// others as fit, in the order in which they came.
func (c *coalesced) gather() []*call {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, all := 0, load{}
	for n < len(c.waiting) && !all.plus(c.waiting[n].load).heavy() {
		all = all.plus(c.waiting[n].load)
		n++
	}
	calls := append([]*call(nil), c.waiting[:n]...)
	c.waiting = append(c.waiting[:0], c.waiting[n:]...)
	return calls
}

// applyFor applies the calls as one batch, answers them, and hands the lead
// to the next who waits.
func (c *coalesced) applyFor(ctx context.Context, calls []*call) {
	results, err := []rota.Result(nil), error(rota.Errorf(rota.Internal, "coalesce", "the store panicked"))
	defer c.passOn()
	defer func() { answer(calls, results, err) }() // after a panic too, or the others would wait for ever
	var all rota.Batch
	for _, one := range calls {
		all.Commands = append(all.Commands, one.commands...)
	}
	// The batch belongs to all of them: the leader's leaving must not end it.
	results, err = c.Store.Apply(context.WithoutCancel(ctx), all)
}

func answer(calls []*call, results []rota.Result, err error) {
	for _, one := range calls {
		one.err = err
		if err == nil {
			one.results, results = results[:len(one.commands):len(one.commands)], results[len(one.commands):]
		}
		close(one.done)
	}
}

func (c *coalesced) passOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.busy = false
		return
	}
	close(c.waiting[0].lead)
}

// withdraw takes back a call that nobody has taken up yet.
func (c *coalesced) withdraw(mine *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, one := range c.waiting {
		if one != mine {
			continue
		}
		select {
		case <-mine.lead: // it was given the lead: pass it on
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			if len(c.waiting) == 0 {
				c.busy = false
			} else {
				close(c.waiting[0].lead)
			}
		default:
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
		}
		return true
	}
	return false
}
