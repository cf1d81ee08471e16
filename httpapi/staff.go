package httpapi

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

const (
	staffLately = 2 * time.Minute // how long who was heard of is there: a claim waits a minute at most
	staffTypes  = 16_384          // types that all hands together are known to ask for
	staffRuns   = 65_536          // runs of which is known who has them
)

// staff is who works elsewhere, as far as they were heard of. A worker that has
// its hands full asks for nothing, and is there all the same: it keeps its leases.
//
// It is bounded, whatever names and types are asked under: who was heard of least
// lately is forgotten first, and then it is remembered that somebody was.
type staff struct {
	clock func() time.Time // the store's

	mu    sync.Mutex
	since time.Time        // since when nobody was forgotten who asked
	hands map[string]*hand // by name and types
	heard list.List        // of *hand, who was heard of last comes first
	types int              // of all hands
	runs  map[rota.ID]*hand
}

// hand is a worker that asks for some types. One that asks for others under the
// same name is another.
type hand struct {
	key    string
	worker string
	types  []string // sorted
	place  *list.Element

	asked time.Time // when it last claimed
	heard time.Time // when it last said anything
	open  int       // runs that it has
	stale time.Time // when the last of their leases ends
}

func newStaff(clock func() time.Time) *staff {
	return &staff{clock: clock, since: clock(), hands: map[string]*hand{}, runs: map[rota.ID]*hand{}}
}

// asks notes that a worker claims.
func (s *staff) asks(worker string, types []string) *hand {
	lane, sorted := laneOf(types)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := worker + " " + lane // no name has a space in it
	h := s.hands[key]
	if h == nil {
		h = &hand{key: key, worker: worker, types: sorted}
		h.place = s.heard.PushFront(h)
		s.hands[key] = h
		s.types += len(sorted)
	}
	s.hear(h)
	h.asked = h.heard
	for s.types > staffTypes {
		s.forget(s.heard.Back().Value.(*hand))
	}
	return h
}

// takes notes the runs that a worker was given.
func (s *staff) takes(h *hand, jobs []*rota.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, job := range jobs {
		for id := range s.runs {
			if len(s.runs) < staffRuns {
				break
			}
			s.drop(id) // any: those whose worker died stay until they are in the way
		}
		s.drop(job.Run.ID) // it was taken before, by a claim that is sent again
		s.runs[job.Run.ID] = h
		h.open++
		h.keep(job.Run.StaleAfter)
	}
}

// hears notes what came of a word about a run: until when it is held, or zero, if
// it is over.
func (s *staff) hears(run rota.ID, stale time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.runs[run]
	if h == nil {
		return
	}
	s.hear(h)
	if h.keep(stale); stale.IsZero() {
		s.drop(run)
	}
}

// hear puts a hand first, unless it was forgotten meanwhile.
func (s *staff) hear(h *hand) {
	if h.heard = s.clock(); h.place != nil {
		s.heard.MoveToFront(h.place)
	}
}

func (h *hand) keep(stale time.Time) {
	if stale.After(h.stale) {
		h.stale = stale
	}
}

// drop forgets a run.
func (s *staff) drop(run rota.ID) {
	if h := s.runs[run]; h != nil {
		h.open--
		delete(s.runs, run)
	}
}

// forget forgets a hand. Runs may still lead to it, so it is emptied.
func (s *staff) forget(h *hand) {
	if h.asked.After(s.since) {
		s.since = h.asked
	}
	s.heard.Remove(h.place)
	s.types -= len(h.types)
	delete(s.hands, h.key)
	h.key, h.worker, h.types, h.place = "", "", nil, nil
}

func (h *hand) here(now time.Time) bool {
	return now.Before(h.heard.Add(staffLately)) || h.open > 0 && now.Before(h.stale)
}

// workers counts the workers that are there, by the types that they handle. Those
// that share a name are one.
func (s *staff) workers() map[string]int {
	type one struct{ worker, typ string }
	s.mu.Lock()
	defer s.mu.Unlock()
	now, seen, count := s.clock(), map[one]bool{}, map[string]int{}
	for _, h := range s.hands {
		if !h.here(now) {
			continue
		}
		for _, typ := range h.types {
			if who := (one{h.worker, typ}); !seen[who] {
				seen[who] = true
				count[typ]++
			}
		}
	}
	return count
}

// last says when somebody last asked for a type, or since when surely nobody did,
// and how many runs those have who handle it.
func (s *staff) last(typ string) (asked time.Time, runs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, asked := s.clock(), s.since
	for _, h := range s.hands {
		if _, handles := slices.BinarySearch(h.types, typ); !handles {
			continue
		}
		if h.asked.After(asked) {
			asked = h.asked
		}
		if h.here(now) {
			runs += h.open
		}
	}
	return asked, runs
}
