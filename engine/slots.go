package engine

import "context"

// setOpenUntil lets slots be taken until ctx ends. The pool checks ctx itself, so that
// no slot is taken between its end and the call of close.
func (p *pool) setOpenUntil(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openUntil = ctx
}

func (p *pool) isClosed() bool { return p.closed || p.openUntil.Err() != nil }

// takeSlots takes up to limit free slots. Each must be used by start or returned.
func (p *pool) takeSlots(limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		return 0
	}
	n := min(p.free, limit)
	p.free -= n
	p.held += n
	return n
}

// returnSlots returns slots in which nothing was started.
func (p *pool) returnSlots(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= n
	p.freeSlots(n)
	p.notifyNoneHeld()
	p.notifyIdle()
}

// freeSlots gives free slots to the callers that wait for one, and keeps the rest.
func (p *pool) freeSlots(n int) {
	for ; n > 0 && len(p.slotWaiters) > 0 && !p.isClosed(); n-- {
		p.slotWaiters[0] <- nil
		p.slotWaiters = p.slotWaiters[1:]
		p.held++
	}
	p.free += n
}

// close lets no more slots be taken, and turns away the callers that wait for one.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, turn := range p.slotWaiters {
		turn <- errNotReady()
	}
	p.slotWaiters = nil
}

// enterDirect admits the caller of a direct run, until it has begun or failed.
// The engine does not end before.
func (p *pool) enterDirect() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed() {
		return false
	}
	p.directCallers++
	return true
}

func (p *pool) leaveDirect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.directCallers--
	p.notifyIdle()
}

// awaitSlot takes a slot, or waits for one until ctx ends.
func (p *pool) awaitSlot(ctx context.Context) error {
	p.mu.Lock()
	if p.isClosed() {
		p.mu.Unlock()
		return errNotReady()
	}
	if p.free > 0 {
		p.free--
		p.held++
		p.mu.Unlock()
		return nil
	}
	turn := make(chan error, 1)
	p.slotWaiters = append(p.slotWaiters, turn)
	p.mu.Unlock()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
	}
	select { // a claim in flight holds the free slots and may return some
	case err := <-turn:
		return err
	case <-p.noneHeld():
		return p.stopWaiting(ctx, turn)
	}
}

// noneHeld returns a channel that is closed when no slot is held for a job that has
// yet to start.
func (p *pool) noneHeld() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	none := make(chan struct{})
	p.heldWaiters = append(p.heldWaiters, none)
	p.notifyNoneHeld()
	return none
}

// notifyNoneHeld closes the channels of noneHeld if no slot is held: then no answer
// that may bring jobs is in flight.
func (p *pool) notifyNoneHeld() {
	if p.held > 0 {
		return
	}
	clear(p.earlyStops)
	for _, none := range p.heldWaiters {
		close(none)
	}
	p.heldWaiters = nil
}

// stopWaiting removes a caller from those that wait, unless its slot has just arrived.
func (p *pool) stopWaiting(ctx context.Context, turn chan error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.slotWaiters {
		if other == turn {
			p.slotWaiters = append(p.slotWaiters[:i:i], p.slotWaiters[i+1:]...)
			return ctx.Err()
		}
	}
	return <-turn
}
