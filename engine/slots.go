package engine

import "context"

// open has slots taken until ctx ends: from that moment on, not from when
// somebody gets round to closing.
func (p *pool) open(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = ctx
}

func (p *pool) shut() bool { return p.closed || p.until.Err() != nil }

// take takes up to so many free slots. Each is used by start or given back.
func (p *pool) take(limit int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut() {
		return 0
	}
	n := min(p.free, limit)
	p.free -= n
	p.held += n
	return n
}

// give gives slots back in which nothing was started.
func (p *pool) give(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held -= n
	p.freed(n)
	p.land()
	p.rest()
}

// freed hands free slots to those who wait for one, and keeps the others.
func (p *pool) freed(n int) {
	for ; n > 0 && len(p.waiters) > 0 && !p.shut(); n-- {
		p.waiters[0] <- nil
		p.waiters = p.waiters[1:]
		p.held++
	}
	p.free += n
}

// close has no more slots taken, and sends away who waits for one.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, turn := range p.waiters {
		turn <- errNotReady()
	}
	p.waiters = nil
}

// enter lets a caller of a direct run in, who leaves once it has begun or never
// will: the store is not let go before.
func (p *pool) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut() {
		return false
	}
	p.callers++
	return true
}

func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.callers--
	p.rest()
}

// await takes a slot, or waits for one until ctx ends.
func (p *pool) await(ctx context.Context) error {
	p.mu.Lock()
	if p.shut() {
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
	p.waiters = append(p.waiters, turn)
	p.mu.Unlock()
	select {
	case err := <-turn:
		return err
	case <-ctx.Done():
	}
	select { // a claim under way, which holds all that was free, may bring some back
	case err := <-turn:
		return err
	case <-p.landed():
		return p.unwait(ctx, turn)
	}
}

// landed returns a channel that is closed when no slot is held for what has yet
// to start.
func (p *pool) landed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	landed := make(chan struct{})
	p.landing = append(p.landing, landed)
	p.land()
	return landed
}

// land settles what was put off until no answer of the store is under way that
// may bring jobs.
func (p *pool) land() {
	if p.held > 0 {
		return
	}
	clear(p.early)
	for _, landed := range p.landing {
		close(landed)
	}
	p.landing = nil
}

// unwait leaves the row of those who wait, unless the answer has just come.
func (p *pool) unwait(ctx context.Context, turn chan error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, other := range p.waiters {
		if other == turn {
			p.waiters = append(p.waiters[:i:i], p.waiters[i+1:]...)
			return ctx.Err()
		}
	}
	return <-turn
}
