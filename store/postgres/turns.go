package postgres

import "sync"

// turns have what several transactions did told in the order in which they sent
// their COMMIT. A transaction that changes a row again sends its own only after
// the one before it was committed, so each row's story is told in order.
type turns struct {
	mu   sync.Mutex
	last chan struct{} // closed when the turn before is over
}

type turn struct{ before, done chan struct{} }

// take takes the next turn, right before the COMMIT is sent.
func (t *turns) take() *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := &turn{before: t.last, done: make(chan struct{})}
	t.last = mine.done
	return mine
}

// wait waits until it has come.
func (t *turn) wait() {
	if t.before != nil {
		<-t.before
		t.before = nil
	}
}

// over lets the next one have its own, when those before have had theirs.
func (t *turn) over() {
	t.wait()
	close(t.done)
}
