package logstore

import (
	"sync"

	"github.com/rotajobs/rota"
)

// The replica publishes the events of all entries. A process reports its own to watchers, and those of
// others to those who watch others, so that each event is reported once in all processes together.

// othersWatchers are those who watch the events of other processes.
type othersWatchers struct {
	mu    sync.Mutex
	next  int
	watch map[int]othersWatcher
}

type othersWatcher struct {
	see  func([]rota.Event)
	lost func(reason string)
	stop func([]rota.ID)
}

func (o *othersWatchers) add(w othersWatcher) (remove func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.watch == nil {
		o.watch = map[int]othersWatcher{}
	}
	id := o.next
	o.next++
	o.watch[id] = w
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.watch, id)
	}
}

func (o *othersWatchers) each(call func(othersWatcher)) {
	o.mu.Lock()
	all := make([]othersWatcher, 0, len(o.watch))
	for id := range o.next {
		if w, is := o.watch[id]; is {
			all = append(all, w)
		}
	}
	o.mu.Unlock()
	for _, w := range all {
		call(w)
	}
}

func (o *othersWatchers) see(events []rota.Event) {
	o.each(func(w othersWatcher) {
		if w.see != nil {
			w.see(events)
		}
	})
}

// publish passes the events of one commit on.
func (s *Store) publish(events []rota.Event) {
	if s.isOwn.Load() {
		s.own.Publish(events)
		return
	}
	var stopping []rota.ID
	for i := range events {
		if events[i].Kind == rota.EventJobStopping {
			stopping = append(stopping, events[i].JobID)
		}
	}
	s.others.see(events)
	if len(stopping) == 0 {
		return
	}
	s.others.each(func(w othersWatcher) {
		if w.stop != nil {
			w.stop(stopping)
		}
	})
}

// Lost tells those who watch other processes that events may be missing.
func (s *Store) Lost(reason string) {
	s.others.each(func(w othersWatcher) {
		if w.lost != nil {
			w.lost(reason)
		}
	})
}

// Watch has the events of the commits of this process.
func (s *Store) Watch(see func([]rota.Event)) (stop func()) { return s.own.Add(see) }

// WatchOthers has the events of the commits of other processes.
func (s *Store) WatchOthers(see func([]rota.Event), lost func(reason string)) (stop func()) {
	return s.others.add(othersWatcher{see: see, lost: lost})
}

// WatchStops calls a function with the jobs whose runs another process has asked to stop.
func (s *Store) WatchStops(stop func(jobs []rota.ID)) (end func()) {
	return s.others.add(othersWatcher{stop: stop})
}
