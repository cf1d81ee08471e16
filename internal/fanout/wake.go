// Package fanout delivers what a store reports to its subscribers: Wakeups are
// something to do, Watchers hear what happened.
package fanout

import "sync"

// Wakeups are those who wait for jobs to become ready. The zero value works.
type Wakeups struct {
	mu   sync.Mutex
	list map[chan struct{}]struct{}
}

// Add returns a channel that receives at each hint, until it is taken away.
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

// WakeAll wakes everybody; one who has not read the last hint needs no second.
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
