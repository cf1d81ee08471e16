package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// dispatchedCache holds the jobs that this writer has dispatched, so that a finish need not read
// them again. A job is dropped when it changes. All jobs are dropped after a rollback, and after
// another connection has written to the file.
type dispatchedCache struct {
	jobs    map[rota.ID]*rota.Job
	version int64 // data_version of the file, which changes when another connection writes
}

// dispatchedMax is the maximal number of jobs in the cache; others are read.
const dispatchedMax = 4096

// update caches a job that a change dispatches, and drops a job that another change concerns. It
// caches a copy without params, because the caller of a claim may change its answer.
func (d *dispatchedCache) update(c rules.JobChange) {
	if c.Fields&rules.JobRun == 0 || !c.Job.Run.Open() || len(d.jobs) >= dispatchedMax {
		delete(d.jobs, c.Job.ID)
		return
	}
	if d.jobs == nil {
		d.jobs = map[rota.ID]*rota.Job{}
	}
	job, run := *c.Job, *c.Job.Run
	job.Params, job.Run = nil, &run
	d.jobs[job.ID] = &job
}

func (d *dispatchedCache) clear() { clear(d.jobs) }
