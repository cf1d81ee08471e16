package postgres

import (
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// The dispatched cache is a fast path of a finish. The plain way reads the jobs that end. The fast
// path keeps the jobs that this process has dispatched, as the commit left them, and assumes that
// no other process has changed them. The update checks their versions. If one differs, the batch is
// decided again on jobs that are read.

// dispatchedCache holds the dispatched jobs.
type dispatchedCache struct {
	mu   sync.Mutex
	jobs map[rota.ID]dispatchedJob
}

type dispatchedJob struct {
	job     *rota.Job
	version uint32
}

// dispatchedMax is the maximal number of jobs in the cache; others are read.
const dispatchedMax = 8192

// load puts the cached jobs into the unit of work and returns the ids of the others. On a retry it
// drops the cached jobs, because their versions may be outdated.
func (d *dispatchedCache) load(t *tx, ids []rota.ID, u *rules.UnitOfWork) (others []rota.ID) {
	if !t.store.uses(DispatchedCache) || !t.mayAssumeRows() {
		return ids
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		known, is := d.jobs[id]
		switch {
		case !is || t.writer.changedJobs[id] != nil:
			others = append(others, id)
		case t.pessimistic || t.readSet.passes > 1:
			delete(d.jobs, id)
			others = append(others, id)
		default:
			t.readSet.addJob(id, known.version)
			u.PutJob(known.job)
		}
	}
	return others
}

// get returns a cached job.
func (d *dispatchedCache) get(id rota.ID) (known dispatchedJob, is bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, is = d.jobs[id]
	return known, is
}

// update caches the jobs that a committed transaction has dispatched, and drops the other jobs that
// it changed. It caches copies without params, because the caller of a claim may change its answer.
func (d *dispatchedCache) update(t *tx) {
	if len(t.writer.changedJobs) == 0 || !t.store.uses(DispatchedCache) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.jobs) >= dispatchedMax { // most of them have been finished by other processes
		d.jobs = nil
	}
	for id, c := range t.writer.changedJobs {
		if c.Run == nil || !c.Run.Open() {
			delete(d.jobs, id)
			continue
		}
		if d.jobs == nil {
			d.jobs = map[rota.ID]dispatchedJob{}
		}
		job, run := *c, *c.Run
		job.Params, job.Run = nil, &run
		d.jobs[id] = dispatchedJob{&job, t.writer.xid}
	}
}

// forget drops the jobs that a transaction of a caller has changed.
func (d *dispatchedCache) forget(jobs map[rota.ID]*rota.Job) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for id := range jobs {
		delete(d.jobs, id)
	}
}

// noteChanged keeps the state of changed jobs until the commit.
func (t *tx) noteChanged(jobs []*rota.Job) {
	if t.writer.changedJobs == nil {
		t.writer.changedJobs = map[rota.ID]*rota.Job{}
	}
	for _, j := range jobs {
		t.writer.changedJobs[j.ID] = j
	}
}
