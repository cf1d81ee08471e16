package httpapi

import (
	"maps"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/mask"
)

const (
	maskedRunsMax   = 65_536      // runs remembered
	maskedRunsKeep  = time.Hour   // how long a run is remembered after its lease, in which its last requests may be sent again
	maskedRunsPrune = time.Minute // time between two searches for runs that are over
)

// maskedRuns remembers the runs on workers whose jobs have secrets, with the values that the workers have got. What it does not know is
// read from the store: those of runs that another process has given to a worker, or that were dropped.
type maskedRuns struct {
	clock func() time.Time

	mu         sync.Mutex
	runs       map[rota.ID]*maskedRun
	ofTemplate map[string]*maskedValues // the last ones, which most runs of a template share
	prunedAt   time.Time
}

func newMaskedRuns(clock func() time.Time) *maskedRuns {
	return &maskedRuns{clock: clock, runs: map[rota.ID]*maskedRun{}, ofTemplate: map[string]*maskedValues{}}
}

// maskedValues are the secrets of a template. The masks are built when they are first used.
type maskedValues struct {
	values map[string]string
	once   sync.Once
	set    mask.Set
}

func (v *maskedValues) masks() *mask.Set {
	v.once.Do(func() {
		for _, value := range v.values {
			v.set.Add(value)
		}
	})
	return &v.set
}

// of returns a run, nil if it is not known.
func (r *maskedRuns) of(run rota.ID) *maskedRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[run]
}

// add remembers the secrets of the run of a job. A claim that is repeated may have got other values than the first time: both are masked.
func (r *maskedRuns) add(job *rota.Job, values map[string]string) *maskedRun {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.prune()
	if known := r.runs[job.Run.ID]; known != nil {
		if maps.Equal(known.values.values, values) {
			return known
		}
		values = maps.Clone(values)
		for key, value := range known.values.values {
			if values[key] != value {
				values[key+" before"] = value
			}
		}
	}
	for id := range r.runs {
		if len(r.runs) < maskedRunsMax {
			break
		}
		delete(r.runs, id)
	}
	shared := r.ofTemplate[job.Template]
	if shared == nil || !maps.Equal(shared.values, values) {
		shared = &maskedValues{values: values}
		r.ofTemplate[job.Template] = shared
	}
	run := &maskedRun{template: job.Template, values: shared, until: job.Run.StaleAfter.Add(maskedRunsKeep)}
	if known := r.runs[job.Run.ID]; known != nil {
		known.mu.Lock()
		run.log, run.before = known.log, known.before
		known.mu.Unlock()
	}
	r.runs[job.Run.ID] = run
	return run
}

// keep remembers a run whose lease was extended.
func (r *maskedRuns) keep(run rota.ID, stale time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.runs[run]; known != nil && stale.Add(maskedRunsKeep).After(known.until) {
		known.until = stale.Add(maskedRunsKeep)
	}
}

// prune forgets the runs that are over, and the values that no run has.
func (r *maskedRuns) prune() {
	now := r.clock()
	if now.Before(r.prunedAt.Add(maskedRunsPrune)) {
		return
	}
	r.prunedAt = now
	used := map[string]bool{}
	for id, run := range r.runs {
		if run.until.Before(now) {
			delete(r.runs, id)
		} else {
			used[run.template] = true
		}
	}
	maps.DeleteFunc(r.ofTemplate, func(template string, _ *maskedValues) bool { return !used[template] })
}
