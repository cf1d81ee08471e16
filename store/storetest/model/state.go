package model

import (
	"maps"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// state is everything the model holds.
type state struct {
	jobs  []*rota.Job // in the order they were made; each has its run inside
	keys  map[keyName]keyRecord
	audit []rota.AuditEntry
}

type keyName struct{ typ, key string }

// keyRecord says which execution holds a unique key, and until when.
type keyRecord struct {
	execution rota.ID
	freeAt    time.Time // zero: never by time
	ended     bool
}

func (s *state) clone() *state {
	c := &state{keys: maps.Clone(s.keys), audit: slices.Clone(s.audit)}
	c.jobs = make([]*rota.Job, len(s.jobs))
	for i, j := range s.jobs {
		c.jobs[i] = rowCopy(j)
	}
	return c
}

// rowCopy copies what the law writes in place. Documents and lists are always
// replaced whole, so two copies may share them.
func rowCopy(j *rota.Job) *rota.Job {
	c := *j
	if j.Run != nil {
		r := *j.Run
		c.Run = &r
	}
	return &c
}

// shown is a job as everybody may see it: nothing shared, no token.
func shown(j *rota.Job) *rota.Job {
	c := withToken(j)
	if c.Run != nil {
		c.Run.Token = rota.Token{}
	}
	return c
}

// withToken is a job as its claimer sees it.
func withToken(j *rota.Job) *rota.Job {
	c := rowCopy(j)
	c.Params = slices.Clone(j.Params)
	if r := c.Run; r != nil {
		r.Progress = slices.Clone(r.Progress)
		r.Result = slices.Clone(r.Result)
		r.Artifacts = slices.Clone(r.Artifacts)
		r.ExitCode = copyOf(r.ExitCode)
		r.RowsAffected = copyOf(r.RowsAffected)
	}
	return c
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

func (s *state) find(id rota.ID) *rota.Job {
	for _, j := range s.jobs {
		if j.ID == id {
			return j
		}
	}
	return nil
}

// retryOf is the job that retries another, nil if there is none.
func (s *state) retryOf(id rota.ID) *rota.Job {
	for _, j := range s.jobs {
		if j.RetryOf == id {
			return j
		}
	}
	return nil
}

// pick returns the jobs that a condition holds for.
func (s *state) pick(cond func(*rota.Job) bool) []*rota.Job {
	var picked []*rota.Job
	for _, j := range s.jobs {
		if cond(j) {
			picked = append(picked, j)
		}
	}
	return picked
}

// queued returns the QUEUED jobs of a priority in order, held ones included.
func (s *state) queued(priority int) []*rota.Job {
	jobs := s.pick(func(j *rota.Job) bool { return j.Status == rota.StatusQueued && j.Priority == priority })
	slices.SortFunc(jobs, inOrder)
	return jobs
}

// end is the position at the end of a priority.
func (s *state) end(priority int) int64 {
	var tail int64
	found := false
	for _, j := range s.jobs {
		if j.Status == rota.StatusQueued && j.Priority == priority && (!found || j.Position > tail) {
			tail, found = j.Position, true
		}
	}
	return tail + rota.PositionGap
}

func inOrder(a, b *rota.Job) int {
	switch {
	case a.Before(b):
		return -1
	case b.Before(a):
		return 1
	}
	return 0
}

func byID(a, b *rota.Job) int { return a.ID.Compare(b.ID) }

// place holds a job back until its run_at, or puts it into the order now.
func (s *step) place(j *rota.Job) {
	if j.RunAt.After(s.now) {
		j.Hold = rota.HoldDelay
		return
	}
	j.QueuedAt = s.now
}

// write adds a line to the audit.
func (s *step) write(c rota.Command, act string, job rota.ID, detail string) {
	s.audit = append(s.audit, rota.AuditEntry{
		Seq: int64(len(s.audit) + 1), ID: rota.AuditID(c.Head().ID, c.Verb(), job),
		At: s.now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}

// wrote says whether a command has written about a job before.
func (s *step) wrote(c rota.Command, job rota.ID) bool {
	id := rota.AuditID(c.Head().ID, c.Verb(), job)
	return slices.ContainsFunc(s.audit, func(e rota.AuditEntry) bool { return e.ID == id })
}

// page cuts a list to a limit, 0 meaning SweepMax, and says if there was more.
func page[T any](list []T, limit int) ([]T, bool) {
	if limit == 0 {
		limit = rota.SweepMax
	}
	if len(list) <= limit {
		return list, false
	}
	return list[:limit], true
}
