package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// dispatchedCache are jobs as this writer dispatched them, so that an end need not read
// what was written a moment ago. One is forgotten as soon as anything about it
// changes, and all of them when a transaction is taken back or somebody else has
// written to the file.
type dispatchedCache struct {
	jobs    map[rota.ID]*rota.Job
	version int64 // of the file, as SQLite counts what others write
}

// dispatchedMax bounds them; those beyond are read.
const dispatchedMax = 4096

const sqlDataVersion = `PRAGMA data_version`

// dropStaleCaches forgets all, and the webhooks, if somebody else has written.
func (w *writer) dropStaleCaches() error {
	return w.query(sqlDataVersion, nil, func(s *sqlite.Stmt) error {
		if version := s.ColumnInt64(0); version != w.dispatched.version {
			w.dispatched, w.hooks = dispatchedCache{version: version}, hooksCache{}
		}
		return nil
	})
}

// update remembers a job that a change dispatches, without its params: they are
// not needed to end it. It is a copy, since the answer to a claim is the
// claimer's to change.
func (f *dispatchedCache) update(c rules.JobChange) {
	if c.Fields&rules.JobRun == 0 || !c.Job.Run.Open() || len(f.jobs) >= dispatchedMax {
		delete(f.jobs, c.Job.ID)
		return
	}
	if f.jobs == nil {
		f.jobs = map[rota.ID]*rota.Job{}
	}
	job, run := *c.Job, *c.Job.Run
	job.Params, job.Run = nil, &run
	f.jobs[job.ID] = &job
}

func (f *dispatchedCache) clear() { clear(f.jobs) }
