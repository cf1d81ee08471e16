package engine

import (
	"sync/atomic"
	"time"
)

// Handlers that are known to be short run one after the other in one goroutine. To
// wake a goroutine for each, on a processor that is asleep, takes longer than they
// do, and evicts from the cache what the store will need next. If one of them turns
// out to be slow, the others wait only until the dispatcher, which checks meanwhile,
// hands each to a goroutine of its own.

// durationAverage is a moving average of how long the handlers of a type take.
type durationAverage struct{ nanos atomic.Int64 }

const (
	shortRun       = 20 * time.Microsecond
	averageInitial = time.Millisecond // before the first sample, and the largest sample
	inlineMin      = 4                // fewer are not worth it
	inlineMax      = 64               // more finish sooner on all processors
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

// startTogether starts runs that were claimed together. They run inline only while
// every slot is in use: only then does the dispatcher wait for them.
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

// nextInline returns the next run of the inline queue, nil if it is empty.
func (p *pool) nextInline() (t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.inlineQueue) > 0 {
		t = p.inlineQueue[0]
		p.inlineQueue[0], p.inlineQueue = nil, p.inlineQueue[1:]
	}
	return t
}

// handOffInline hands each run of the inline queue to a goroutine of its own, and
// reports whether there was any.
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
