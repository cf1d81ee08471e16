package postgres

import (
	"sync"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// fresh are jobs as this process dispatched them, so that an end need not read
// what was written a moment ago. Others may have changed one since: then it is no
// longer the version that is kept here, and its end is not written but decided
// anew on what is read.
type fresh struct {
	mu   sync.Mutex
	jobs map[rota.ID]freshJob
}

type freshJob struct {
	job     *rota.Job
	version uint32
}

// freshMax bounds them; those beyond are read.
const freshMax = 8192

// put brings in those of the jobs that are known, and returns the others. When
// somebody has moved rows, what is known is forgotten.
func (f *fresh) put(t *tx, ids []rota.ID, w *rules.UnitOfWork) (others []rota.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range ids {
		known, is := f.jobs[id]
		switch {
		case !is || t.changed[id] != nil:
			others = append(others, id)
		case t.careful || t.passes > 1:
			delete(f.jobs, id)
			others = append(others, id)
		default:
			t.seen.job(id, known.version)
			w.PutJob(known.job)
		}
	}
	return others
}

// keep remembers what a transaction that was committed dispatched, and forgets
// what else it changed. What is kept is a copy without params, since the answer
// to a claim is the claimer's to change.
func (f *fresh) keep(t *tx) {
	if len(t.changed) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.jobs) >= freshMax { // most of them have ended elsewhere
		f.jobs = nil
	}
	for id, c := range t.changed {
		if c.Run == nil || !c.Run.Open() {
			delete(f.jobs, id)
			continue
		}
		if f.jobs == nil {
			f.jobs = map[rota.ID]freshJob{}
		}
		job, run := *c, *c.Run
		job.Params, job.Run = nil, &run
		f.jobs[id] = freshJob{&job, t.xid}
	}
}

// note remembers until the commit how a job was changed.
func (t *tx) note(jobs []*rota.Job) {
	if t.changed == nil {
		t.changed = map[rota.ID]*rota.Job{}
	}
	for _, j := range jobs {
		t.changed[j.ID] = j
	}
}
