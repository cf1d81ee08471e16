package engine

import "context"

// setOpenUntil has slots taken until ctx ends: from that moment on, not from when
// somebody gets round to closing.
func (p *pool) setOpenUntil(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.openUntil = ctx
}

func (p *pool) isClosed() bool { return p.closed || p.openUntil.Err() != nil }

// takeSlots takes up to so many free slots. Each is used by start or given back.
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

// returnSlots gives slots back in which nothing was started.
func (p *pool) returnSlots(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= n
	p.freeSlots(n)
	p.notifyNoneHeld()
	p.notifyIdle()
}

// freeSlots hands free slots to those who wait for one, and keeps the others.
func (p *pool) freeSlots(n int) {
	for ; n > 0 && len(p.slotWaiters) > 0 && !p.isClosed(); n-- {
		p.slotWaiters[0] <- nil
		p.slotWaiters = p.slotWaiters[1:]
		p.held++
	}
	p.free += n
}

// close has no more slots taken, and sends away who waits for one.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, turn := range p.slotWaiters {
		turn <- errNotReady()
	}
	p.slotWaiters = nil
}

// enterDirect lets a caller of a direct run in, who leaves once it has begun or never
// will: the store is not let go before.
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
	select { // a claim under way, which holds all that was free, may bring some back
	case err := <-turn:
		return err
	case <-p.none():
		return p.stopWaiting(ctx, turn)
	}
}

// none returns a channel that is closed when no slot is held for what has yet
// to start.
func (p *pool) none() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	none := make(chan struct{})
	p.heldWaiters = append(p.heldWaiters, none)
	p.notifyNoneHeld()
	return none
}

// notifyNoneHeld settles what was put off until no answer of the store is under way that
// may bring jobs.
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

// stopWaiting leaves the row of those who wait, unless the answer has just come.
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
