package sqlite

import "sync"

// wakers are those who wait for jobs to become ready.
type wakers struct {
	mu   sync.Mutex
	list map[chan struct{}]struct{}
}

func (w *wakers) add() (<-chan struct{}, func()) {
	ch := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.list == nil {
		w.list = map[chan struct{}]struct{}{}
	}
	w.list[ch] = struct{}{}
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.list, ch)
	}
}

// all wakes everybody; one who has not read the last hint needs no second.
func (w *wakers) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.list {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
