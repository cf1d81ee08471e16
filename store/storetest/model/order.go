package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// enter puts a job into the store at the end of its priority, with the holds
// that were decided and, if its time has not come, that of the delay.
func (s *step) enter(j *rota.Job) {
	j.Status = rota.StatusQueued
	j.Position = s.endOf(j)
	if j.RunAt.After(s.now) {
		j.Hold |= rota.HoldDelay
	}
	s.jobs = append(s.jobs, j)
	s.admit(j)
}

// free takes one reason to wait from a job.
func (s *step) free(j *rota.Job, bit rota.Hold) {
	j.Hold &^= bit
	s.admit(j)
}

// admit lets a job that nothing else holds stand in the order, or wait for its
// concurrency key if that is limited: who of those comes first is settled when
// the command is done.
func (s *step) admit(j *rota.Job) {
	if j.Hold != 0 {
		return
	}
	s.touch(j)
	if _, limited := s.throttle.Spec.Key(j.ConcurrencyKey); limited {
		j.Hold = rota.HoldKey
		return
	}
	s.stand(j)
}

// stand writes down when a job first stood in the order.
func (s *step) stand(j *rota.Job) {
	if j.QueuedAt.IsZero() {
		j.QueuedAt = s.now
	}
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

// endOf is the position of a job that comes last; those of Rota's own take none.
func (s *state) endOf(j *rota.Job) int64 {
	if rota.InternalType(j.Type) {
		return 0
	}
	return s.end(j.Priority)
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
