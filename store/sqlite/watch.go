package sqlite

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rotajobs/rota"
)

// Watch calls a function with what happened, after each commit and before the
// next: whoever applied it has not been answered yet, and the writer is held.
// Each function may keep the slice, and must not change it.
func (s *Store) Watch(see func([]rota.Event)) (stop func()) { return s.watch.add(see) }

// watchers are those who want to know what happened. The list is replaced, not
// changed, so that telling them holds no lock: a stop may come from anywhere,
// and what is being told then is told to the end.
type watchers struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*watcher]
}

type watcher struct{ see func([]rota.Event) }

func (w *watchers) add(see func([]rota.Event)) (stop func()) {
	one := &watcher{see: see}
	w.change(func(list []*watcher) []*watcher { return append(list, one) })
	return func() {
		w.change(func(list []*watcher) []*watcher {
			return slices.DeleteFunc(list, func(other *watcher) bool { return other == one })
		})
	}
}

func (w *watchers) change(next func([]*watcher) []*watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := next(slices.Clone(w.all()))
	w.list.Store(&list)
}

func (w *watchers) all() []*watcher {
	if list := w.list.Load(); list != nil {
		return *list
	}
	return nil
}

// some says whether anybody watches: events that nobody sees are not made.
func (w *watchers) some() bool { return len(w.all()) > 0 }

func (w *watchers) tell(events []rota.Event) {
	if len(events) == 0 {
		return
	}
	for _, one := range w.all() {
		one.see(events)
	}
}
