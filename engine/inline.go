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

// durationAverage is how long the handlers of a type take, lately.
type durationAverage struct{ nanos atomic.Int64 }

const (
	shortRun       = 20 * time.Microsecond
	averageInitial = time.Millisecond // until more is known
	inlineMin      = 4                // fewer are not worth it
	inlineMax      = 64               // more are done sooner on all processors, while the desk goes on
)

func (p *durationAverage) add(d time.Duration) {
	before := p.nanos.Load()
	if before == 0 {
		before = int64(averageInitial)
	}
	p.nanos.Store(before + (int64(min(d, averageInitial))-before)/8)
}

func (p *durationAverage) short() bool {
	nanos := p.nanos.Load()
	return nanos > 0 && nanos < int64(shortRun)
}

// startTogether begins runs that were started together. Only while every slot is in
// use does the desk wait for them, and can they run in a relay.
func (p *pool) startTogether(tasks []*task) {
	p.mu.Lock()
	inline := p.free == 0 && len(tasks) >= inlineMin && len(tasks) <= inlineMax && allShort(tasks)
	if inline {
		p.inlineQueue = append(p.inlineQueue, tasks[1:]...)
		tasks = tasks[:1]
	}
	p.mu.Unlock()
	for _, t := range tasks {
		p.handOff(t)
	}
}

func allShort(tasks []*task) bool {
	for _, t := range tasks {
		if !t.runner.average.short() {
			return false
		}
	}
	return true
}

// nextInline is the next run of the relay, nil if there is none.
func (p *pool) nextInline() (t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.inlineQueue) > 0 {
		t = p.inlineQueue[0]
		p.inlineQueue[0], p.inlineQueue = nil, p.inlineQueue[1:]
	}
	return t
}

// handOffInline gives each run of the relay that has not begun a goroutine of its own,
// and reports whether there was any.
func (p *pool) handOffInline() bool {
	p.mu.Lock()
	left := p.inlineQueue
	p.inlineQueue = nil
	p.mu.Unlock()
	for _, t := range left {
		p.handOff(t)
	}
	return len(left) > 0
}
