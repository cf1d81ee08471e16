package rules

import "github.com/rotajobs/rota"

// jobRow is a job with its run. A job that only a heartbeat or the end of a run
// needs is loaded in part.
type jobRow struct {
	was, is    *rota.Job // as stored, as decided
	inserted   *rota.Job // as it was inserted, if this transaction created it
	commandSeq int       // command that made its own copy of is
	known      bool
	complete   bool // all fields are known
	missed     bool // it is to be loaded
	missedFull bool // all its fields are to be loaded
	touched    bool
}

// jobMisses lists jobs that are to be loaded in one of three ways.
type jobMisses struct {
	unit *UnitOfWork
	ids  []rota.ID
}

// full reports whether the jobs are loaded with all fields.
func (m *jobMisses) full() bool { return m != &m.unit.leases }

func (m *jobMisses) loaded() {
	for _, id := range m.ids {
		r := m.unit.jobs[id]
		r.known, r.missed = true, false
		if m.full() {
			r.complete, r.missedFull = true, false
		}
	}
	m.ids = nil
}

func (m *jobMisses) forgetMissing() {
	for _, id := range m.ids {
		r := m.unit.jobs[id]
		r.missed, r.missedFull = false, false
	}
	m.ids = nil
}

func (m *jobMisses) want(id rota.ID) {
	r := m.unit.rowOf(id)
	switch {
	case m.full() && (!r.known || r.is != nil && !r.complete) && !r.missedFull:
		r.missed, r.missedFull = true, true
	case !m.full() && !r.known && !r.missed:
		r.missed = true
	default:
		return
	}
	m.ids = append(m.ids, id)
}

// MissingLeases returns jobs that are to be loaded with their runs, as far as a
// heartbeat or the end of a run needs them.
func (u *UnitOfWork) MissingLeases() []rota.ID { return u.leases.ids }

// MissingJobs returns jobs that are to be loaded with all fields.
func (u *UnitOfWork) MissingJobs() []rota.ID { return u.fullJobs.ids }

// MissingNewJobs returns jobs that are to be created: they exist only if an
// earlier sending of the command created them.
func (u *UnitOfWork) MissingNewJobs() []rota.ID { return u.newJobs.ids }

// partOfJob returns a job, nil if it is absent. If it was loaded as a lease, or
// by a query for the order of jobs, only some of its fields are set.
func (u *UnitOfWork) partOfJob(id rota.ID) *rota.Job {
	r := u.jobs[id]
	if r == nil || !r.known {
		u.leases.want(id)
		panic(missed{})
	}
	return r.is
}

// job returns a job with all fields, nil if it is absent.
func (u *UnitOfWork) job(id rota.ID) *rota.Job { return u.completeJob(&u.fullJobs, id) }

// newJob returns a job that a command creates, nil unless an earlier sending of
// the command created it.
func (u *UnitOfWork) newJob(id rota.ID) *rota.Job { return u.completeJob(&u.newJobs, id) }

func (u *UnitOfWork) completeJob(m *jobMisses, id rota.ID) *rota.Job {
	if id.IsZero() {
		return nil
	}
	r := u.jobs[id]
	if r == nil || !r.known || r.is != nil && !r.complete {
		m.want(id)
		panic(missed{})
	}
	return r.is
}

// PutJob adds a job as stored, with its run, and with or without its params. A
// decided job takes precedence, and so does a job that was loaded with all
// fields.
func (u *UnitOfWork) PutJob(j *rota.Job) {
	r := u.rowOf(j.ID)
	if r.is == r.was && (r.is == nil || !r.complete) {
		r.was, r.is, r.known, r.complete = j, j, true, j.Params != nil
	}
}

// PutLease adds a job as stored, with the fields that a heartbeat or the end of
// a run needs. A row that is known may have more fields, so it stays.
func (u *UnitOfWork) PutLease(j *rota.Job) {
	if r := u.rowOf(j.ID); r.is == nil && r.was == nil {
		u.PutJob(j)
	}
}

// PutLocked adds a lease that another transaction has locked. It cannot be
// changed now.
func (u *UnitOfWork) PutLocked(j *rota.Job) {
	u.PutLease(j)
	if u.lockedByOthers == nil {
		u.lockedByOthers = map[rota.ID]bool{}
	}
	u.lockedByOthers[j.ID] = true
}
