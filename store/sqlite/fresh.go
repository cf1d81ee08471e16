package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

// fresh are jobs as this writer dispatched them, so that an end need not read
// what was written a moment ago. One is forgotten as soon as anything about it
// changes, and all of them when a transaction is taken back or somebody else has
// written to the file.
type fresh struct {
	jobs    map[rota.ID]*rota.Job
	version int64 // of the file, as SQLite counts what others write
}

// freshMax bounds them; those beyond are read.
const freshMax = 4096

const sqlDataVersion = `PRAGMA data_version`

// refresh forgets all, and the webhooks, if somebody else has written.
func (w *writer) refresh() error {
	return w.ask(sqlDataVersion, nil, func(s *sqlite.Stmt) error {
		if version := s.ColumnInt64(0); version != w.fresh.version {
			w.fresh, w.hooks = fresh{version: version}, hooks{}
		}
		return nil
	})
}

// keep remembers a job that a change dispatches, without its params: they are
// not needed to end it. It is a copy, since the answer to a claim is the
// claimer's to change.
func (f *fresh) keep(c rules.JobChange) {
	if c.Fields&rules.JobRun == 0 || !c.Job.Run.Open() || len(f.jobs) >= freshMax {
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

func (f *fresh) forgetAll() { clear(f.jobs) }
