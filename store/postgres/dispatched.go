package postgres

import (
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// dispatchedCache are jobs as this process dispatched them, so that an end need not read
// what was written a moment ago. Others may have changed one since: then it is no
// longer the version that is kept here, and its end is not written but decided
// anew on what is read.
type dispatchedCache struct {
	mu   sync.Mutex
	jobs map[rota.ID]dispatchedJob
}

type dispatchedJob struct {
	job     *rota.Job
	version uint32
}

// dispatchedMax bounds them; those beyond are read.
const dispatchedMax = 8192

// load brings in those of the jobs that are known, and returns the others. When
// somebody has moved rows, what is known is forgotten.
func (f *dispatchedCache) load(t *tx, ids []rota.ID, u *rules.UnitOfWork) (others []rota.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		known, is := f.jobs[id]
		switch {
		case !is || t.changedJobs[id] != nil:
			others = append(others, id)
		case t.pessimistic || t.passes > 1:
			delete(f.jobs, id)
			others = append(others, id)
		default:
			t.readSet.addJob(id, known.version)
			u.PutJob(known.job)
		}
	}
	return others
}

// update remembers what a transaction that was committed dispatched, and forgets
// what else it changed. What is kept is a copy without params, since the answer
// to a claim is the claimer's to change.
func (f *dispatchedCache) update(t *tx) {
	if len(t.changedJobs) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.jobs) >= dispatchedMax { // most of them have ended elsewhere
		f.jobs = nil
	}
	for id, c := range t.changedJobs {
		if c.Run == nil || !c.Run.Open() {
			delete(f.jobs, id)
			continue
		}
		if f.jobs == nil {
			f.jobs = map[rota.ID]dispatchedJob{}
		}
		job, run := *c, *c.Run
		job.Params, job.Run = nil, &run
		f.jobs[id] = dispatchedJob{&job, t.xid}
	}
}

// noteChanged remembers until the commit how a job was changed.
func (t *tx) noteChanged(jobs []*rota.Job) {
	if t.changedJobs == nil {
		t.changedJobs = map[rota.ID]*rota.Job{}
	}
	for _, j := range jobs {
		t.changedJobs[j.ID] = j
	}
}
