package engine

import (
	"sync/atomic"
	"time"
)

// relay runs handlers that are known to be quick one after the other, in one
// goroutine: to wake one for each, on a processor that has to be woken first,
// takes longer than they do, and what the store has at hand on this one is gone
// when the desk comes back. Whoever turns out to be slow keeps the others waiting
// only until the desk, which watches meanwhile, has them spread.

// pace is how long the handlers of a type take, lately.
type pace struct{ nanos atomic.Int64 }

const (
	quick     = 20 * time.Microsecond
	paceFirst = time.Millisecond // until more is known
	relayMin  = 4                // fewer are not worth it
	relayMax  = 64               // more are done sooner on all processors, while the desk goes on
)

func (p *pace) took(d time.Duration) {
	before := p.nanos.Load()
	if before == 0 {
		before = int64(paceFirst)
	}
	p.nanos.Store(before + (int64(min(d, paceFirst))-before)/8)
}

func (p *pace) quick() bool {
	nanos := p.nanos.Load()
	return nanos > 0 && nanos < int64(quick)
}

// launch begins runs that were started together. Only while every slot is in
// use does the desk wait for them, and can they run in a relay.
func (p *pool) launch(tasks []*task) {
	p.mu.Lock()
	relay := p.free == 0 && len(tasks) >= relayMin && len(tasks) <= relayMax && allQuick(tasks)
	if relay {
		p.relay = append(p.relay, tasks[1:]...)
		tasks = tasks[:1]
	}
	p.mu.Unlock()
	for _, t := range tasks {
		p.hand(t)
	}
}

func allQuick(tasks []*task) bool {
	for _, t := range tasks {
		if !t.typ.pace.quick() {
			return false
		}
	}
	return true
}

// next is the next run of the relay, nil if there is none.
func (p *pool) next() (t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.relay) > 0 {
		t = p.relay[0]
		p.relay[0], p.relay = nil, p.relay[1:]
	}
	return t
}

// spread gives each run of the relay that has not begun a goroutine of its own,
// and reports whether there was any.
func (p *pool) spread() bool {
	p.mu.Lock()
	left := p.relay
	p.relay = nil
	p.mu.Unlock()
	for _, t := range left {
		p.hand(t)
	}
	return len(left) > 0
}
