package httpapi

import (
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi/longpoll"
)

const (
	workerActiveFor  = 2 * time.Minute // how long a worker counts as active after a request; a claim waits at most one minute
	registryTypesMax = 16_384          // types of all entries together
	registryRunsMax  = 65_536          // runs remembered
)

// workerRegistry holds the remote workers that sent requests recently. A worker whose slots are all in
// use claims nothing but keeps extending its leases, so it still counts as active.
//
// Its size is bounded for any worker names and types: the least recently seen worker is evicted first,
// and completeSince then records how far back the registry is complete.
type workerRegistry struct {
	clock func() time.Time // clock of this process

	mu            sync.Mutex
	completeSince time.Time              // no worker that claimed after this time was evicted
	workers       map[string]*workerInfo // by name and types
	recent        list.List              // *workerInfo, most recently seen first
	typeCount     int                    // types of all entries
	runs          map[rota.ID]*workerInfo
}

// workerInfo is a worker with one set of types. The same name with other types is another entry.
type workerInfo struct {
	key     string
	name    string
	types   []string // sorted
	element *list.Element

	claimedAt  time.Time // last claim
	seenAt     time.Time // last request
	runs       int       // open runs
	staleAfter time.Time // latest expiry of their leases
}

func newWorkerRegistry(clock func() time.Time) *workerRegistry {
	return &workerRegistry{clock: clock, completeSince: clock(), workers: map[string]*workerInfo{}, runs: map[rota.ID]*workerInfo{}}
}

// recordClaim records that a worker claims.
func (r *workerRegistry) recordClaim(worker string, types []string) *workerInfo {
	typesKey, sorted := longpoll.TypesKey(types)
	r.mu.Lock()
	defer r.mu.Unlock()
	key := worker + " " + typesKey // names contain no space
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

// recordRuns records the runs that a worker claimed.
func (r *workerRegistry) recordRuns(w *workerInfo, jobs []*rota.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, job := range jobs {
		for id := range r.runs {
			if len(r.runs) < registryRunsMax {
				break
			}
			r.dropRun(id) // an arbitrary one: runs of dead workers stay until the limit is reached
		}
		r.dropRun(job.Run.ID) // a repeated claim returns the same run
		r.runs[job.Run.ID] = w
		w.runs++
		w.extendTo(job.Run.StaleAfter)
	}
}

// updateRun records an answered extend or finish of a run: the new expiry of its lease, or zero if the
// run is over.
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

// touch marks a worker as seen now, unless it was evicted.
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

// dropRun removes a run.
func (r *workerRegistry) dropRun(run rota.ID) {
	if w := r.runs[run]; w != nil {
		w.runs--
		delete(r.runs, run)
	}
}

// evict removes a worker. Runs may still point to it, so its fields are cleared.
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

// workersByType counts the active workers per type. Entries with the same name count once.
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

// lastClaim returns the time of the last claim of a type, or the time since when there certainly was
// none, and the number of runs of the active workers that handle the type.
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
