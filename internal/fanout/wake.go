// Package fanout delivers what a store reports to its subscribers: Wakeups delivers hints
// that jobs may have become ready, Watchers delivers events.
package fanout

import "sync"

// Wakeups are the subscribers that wait for jobs to become ready. The zero value works.
type Wakeups struct {
	mu   sync.Mutex
	list map[chan struct{}]struct{}
}

// Add returns a channel that receives a value at each wake-up, until remove is called.
func (w *Wakeups) Add() (wake <-chan struct{}, remove func()) {
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

// WakeAll wakes all subscribers. One that has not read its last wake-up gets no second.
func (w *Wakeups) WakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ch := range w.list {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}
