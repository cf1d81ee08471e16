package storekit

import "sync"

// Views holds the open views of a store, which ends them when it closes.
type Views[V comparable] struct {
	mu     sync.Mutex
	closed bool
	open   map[V]struct{}
}

// Add returns false if the store is closed.
func (o *Views[V]) Add(v V) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	if o.open == nil {
		o.open = map[V]struct{}{}
	}
	o.open[v] = struct{}{}
	return true
}

// Remove removes a view that has ended.
func (o *Views[V]) Remove(v V) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, v)
}

// Close refuses further views and calls end with each open one.
func (o *Views[V]) Close(end func(V)) {
	o.mu.Lock()
	o.closed = true
	all := o.open
	o.open = nil
	o.mu.Unlock()
	for v := range all {
		end(v)
	}
}
