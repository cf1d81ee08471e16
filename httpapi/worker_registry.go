package httpapi

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

const (
	workerActiveFor  = 2 * time.Minute // how long who was heard of is there: a claim waits a minute at most
	registryTypesMax = 16_384          // types that all hands together are known to ask for
	registryRunsMax  = 65_536          // runs of which is known who has them
)

// workerRegistry is who works elsewhere, as far as they were heard of. A worker that has
// its hands full asks for nothing, and is there all the same: it keeps its leases.
//
// It is bounded, whatever names and types are asked under: who was heard of least
// lately is forgotten first, and then it is remembered that somebody was.
type workerRegistry struct {
	clock func() time.Time // the store's

	mu            sync.Mutex
	completeSince time.Time              // since when nobody was forgotten who asked
	workers       map[string]*workerInfo // by name and types
	recent        list.List              // of *hand, who was heard of last comes first
	typeCount     int                    // of all hands
	runs          map[rota.ID]*workerInfo
}

// workerInfo is a worker that asks for some types. One that asks for others under the
// same name is another.
type workerInfo struct {
	key     string
	name    string
	types   []string // sorted
	element *list.Element

	claimedAt  time.Time // when it last claimed
	seenAt     time.Time // when it last said anything
	runs       int       // runs that it has
	staleAfter time.Time // when the last of their leases ends
}

func newWorkerRegistry(clock func() time.Time) *workerRegistry {
	return &workerRegistry{clock: clock, completeSince: clock(), workers: map[string]*workerInfo{}, runs: map[rota.ID]*workerInfo{}}
}

// recordClaim notes that a worker claims.
func (r *workerRegistry) recordClaim(worker string, types []string) *workerInfo {
	typesKey, sorted := typesKey(types)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := worker + " " + typesKey // no name has a space in it
	w := r.workers[key]
	if w == nil {
		w = &workerInfo{key: key, name: worker, types: sorted}
		w.element = r.recent.PushFront(w)
		r.workers[key] = w
		r.typeCount += len(sorted)
	}
	r.touch(w)
	w.claimedAt = w.seenAt
	for r.typeCount > registryTypesMax {
		r.evict(r.recent.Back().Value.(*workerInfo))
	}
	return w
}

// recordRuns notes the runs that a worker was given.
func (r *workerRegistry) recordRuns(w *workerInfo, jobs []*rota.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		for id := range r.runs {
			if len(r.runs) < registryRunsMax {
				break
			}
			r.dropRun(id) // any: those whose worker died stay until they are in the way
		}
		r.dropRun(job.Run.ID) // it was taken before, by a claim that is sent again
		r.runs[job.Run.ID] = w
		w.runs++
		w.extendTo(job.Run.StaleAfter)
	}
}

// updateRun notes what came of a word about a run: until when it is held, or zero, if
// it is over.
func (r *workerRegistry) updateRun(run rota.ID, stale time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.runs[run]
	if w == nil {
		return
	}
	r.touch(w)
	if w.extendTo(stale); stale.IsZero() {
		r.dropRun(run)
	}
}

// touch puts a hand first, unless it was forgotten meanwhile.
func (r *workerRegistry) touch(w *workerInfo) {
	if w.seenAt = r.clock(); w.element != nil {
		r.recent.MoveToFront(w.element)
	}
}

func (w *workerInfo) extendTo(stale time.Time) {
	if stale.After(w.staleAfter) {
		w.staleAfter = stale
	}
}

// dropRun forgets a run.
func (r *workerRegistry) dropRun(run rota.ID) {
	if w := r.runs[run]; w != nil {
		w.runs--
		delete(r.runs, run)
	}
}

// evict forgets a hand. Runs may still lead to it, so it is emptied.
func (r *workerRegistry) evict(w *workerInfo) {
	if w.claimedAt.After(r.completeSince) {
		r.completeSince = w.claimedAt
	}
	r.recent.Remove(w.element)
	r.typeCount -= len(w.types)
	delete(r.workers, w.key)
	w.key, w.name, w.types, w.element = "", "", nil, nil
}

func (w *workerInfo) active(now time.Time) bool {
	return now.Before(w.seenAt.Add(workerActiveFor)) || w.runs > 0 && now.Before(w.staleAfter)
}

// workersByType counts the workers that are there, by the types that they handle. Those
// that share a name are one.
func (r *workerRegistry) workersByType() map[string]int {
	type workerType struct{ worker, typ string }
	r.mu.Lock()
	defer r.mu.Unlock()
	now, seen, count := r.clock(), map[workerType]bool{}, map[string]int{}
	for _, w := range r.workers {
		if !w.active(now) {
			continue
		}
		for _, typ := range w.types {
			if pair := (workerType{w.name, typ}); !seen[pair] {
				seen[pair] = true
				count[typ]++
			}
		}
	}
	return count
}

// lastClaim says when somebody last asked for a type, or since when surely nobody did,
// and how many runs those have who handle it.
func (r *workerRegistry) lastClaim(typ string) (claimedAt time.Time, runs int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, claimedAt := r.clock(), r.completeSince
	for _, w := range r.workers {
		if _, handles := slices.BinarySearch(w.types, typ); !handles {
			continue
		}
		if w.claimedAt.After(claimedAt) {
			claimedAt = w.claimedAt
		}
		if w.active(now) {
			runs += w.runs
		}
	}
	return claimedAt, runs
}
