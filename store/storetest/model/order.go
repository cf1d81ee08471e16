package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// enterQueue inserts a job at the end of its priority, with its holds and, if its run time is
// in the future, the delay.
func (s *step) enterQueue(j *rota.Job) {
	j.Status = rota.StatusQueued
	j.Position = s.endPositionOf(j)
	if j.RunAt.After(s.now) {
		j.Hold |= rota.HoldDelay
	}
	s.jobs = append(s.jobs, j)
	s.resolveHold(j)
}

// releaseHold removes one hold of a job.
func (s *step) releaseHold(j *rota.Job, bit rota.Hold) {
	j.Hold &^= bit
	s.resolveHold(j)
}

// resolveHold makes a job without holds ready, or holds it for its concurrency key if the key
// is limited. The end of the command decides which jobs of the key are ready.
func (s *step) resolveHold(j *rota.Job) {
	if j.Hold != 0 {
		return
	}
	s.markKeyChanged(j)
	if _, limited := s.throttle.Spec.Key(j.ConcurrencyKey, j.Type); limited {
		j.Hold = rota.HoldKey
		return
	}
	s.markReady(j)
}

// markReady records when a job first became ready.
func (s *step) markReady(j *rota.Job) {
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

// endPosition is the position at the end of a priority.
func (s *state) endPosition(priority int) int64 {
	var tail int64
	found := false
	for _, j := range s.jobs {
		if j.Status == rota.StatusQueued && j.Priority == priority && (!found || j.Position > tail) {
			tail, found = j.Position, true
		}
	}
	return tail + rota.PositionGap
}

// endPositionOf returns the position at the end of the priority of a job. Internal jobs have no
// position.
func (s *state) endPositionOf(j *rota.Job) int64 {
	if rota.InternalType(j.Type) {
		return 0
	}
	return s.endPosition(j.Priority)
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
