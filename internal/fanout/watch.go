package fanout

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rotajobs/rota"
)

// Watchers are those who want to know what happened. The list is replaced, not
// changed, so that telling them holds no lock: a stop may come from anywhere,
// and what is being told then is told to the end. The zero value works.
type Watchers struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*watcher]
}

type watcher struct{ see func([]rota.Event) }

// Add has a function told of everything from now on, until it is stopped.
func (w *Watchers) Add(see func([]rota.Event)) (stop func()) {
	one := &watcher{see: see}
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

// Any says whether anybody watches: events that nobody sees need not be made.
func (w *Watchers) Any() bool { return len(w.all()) > 0 }

// Publish tells everybody.
func (w *Watchers) Publish(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	for _, one := range w.all() {
		one.see(events)
	}
}
