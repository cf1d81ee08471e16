package fanout

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rotajobs/rota"
)

// Watchers are the subscribers to events. The list is replaced, not changed, so that
// Publish holds no lock: stop may be called from anywhere, and a Publish in progress
// still reaches all subscribers. The zero value works.
type Watchers struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*watcher]
}

type watcher struct{ handle func([]rota.Event) }

// Add subscribes a function to all events from now on, until stop is called.
func (w *Watchers) Add(handle func([]rota.Event)) (stop func()) {
	one := &watcher{handle: handle}
	w.change(func(list []*watcher) []*watcher { return append(list, one) })
	return func() {
		w.change(func(list []*watcher) []*watcher {
			return slices.DeleteFunc(list, func(other *watcher) bool { return other == one })
		})
	}
}

func (w *Watchers) change(next func([]*watcher) []*watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := next(slices.Clone(w.all()))
	w.list.Store(&list)
}

func (w *Watchers) all() []*watcher {
	if list := w.list.Load(); list != nil {
		return *list
	}
	return nil
}

// Any reports whether there is a subscriber: without one, events need not be created.
func (w *Watchers) Any() bool { return len(w.all()) > 0 }

// Publish calls all subscribers.
func (w *Watchers) Publish(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	for _, one := range w.all() {
		one.handle(events)
	}
}
