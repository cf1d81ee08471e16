package model

import (
	"encoding/binary"
	"time"

	"github.com/rotajobs/rota"
)

// settling is what the finish of a run decides about its sequel.
type settling struct {
	permanent bool
	retryAt   time.Time // zero: after the backoff
}

// settle sets the sequel of a job whose run has ended.
func (s *step) settle(j *rota.Job, how settling) {
	switch {
	case s.retryOf(j.ID) != nil:
		j.Sequel = rota.SequelRetry
	case !isFailure(j.Run):
		j.Sequel = rota.SequelNone
	case how.permanent || j.Attempt >= j.Policy.MaxAttempts || !j.Run.CancelAt.IsZero() || s.groupEnding(j) || s.wasDropped(j):
		j.Sequel = rota.SequelDead
	default:
		j.Sequel = rota.SequelRetry
		s.createRetry(j, how)
	}
	if j.Sequel == rota.SequelRetry {
		s.runEnded(j)
		return
	}
	s.executionEnded(j)
}

// groupEnding reports whether the group of a job was ended, so that it starts no more jobs.
func (s *step) groupEnding(j *rota.Job) bool {
	g := s.group(j.GroupID)
	return g != nil && g.Ending != ""
}

func isFailure(r *rota.Run) bool {
	timedOut := r.Outcome == rota.OutcomeCancelled && r.ErrorCode == rota.CodeTimeout && r.CancelAt.IsZero()
	return r.Outcome == rota.OutcomeFailed || timedOut
}

func (s *step) createRetry(j *rota.Job, how settling) {
	r := &rota.Job{
		ID: rota.RetryID(s.id(), j.ID), ExecutionID: j.ExecutionID, RetryOf: j.ID, Attempt: j.Attempt + 1,
		Type: j.Type, Name: j.Name, Params: j.Params, Policy: j.Policy, Priority: j.Priority,
		ScopeKind: j.ScopeKind, ScopeID: j.ScopeID, PlanTime: j.PlanTime,
		UniqueKey: j.UniqueKey, UniqueFor: j.UniqueFor,
		Template: j.Template, Schedule: j.Schedule, GroupID: j.GroupID, GroupPosition: j.GroupPosition,
		ConcurrencyKey: j.ConcurrencyKey, CountsAt: j.CountsAt,
		Trace: j.Trace, Owner: j.Owner, CreatedBy: j.CreatedBy, CreatedAt: s.now,
	}
	switch {
	case !how.retryAt.IsZero():
		r.RunAt = how.retryAt
	case j.Run.ErrorCode == rota.CodeShutdown:
		r.RunAt = s.now
	default:
		r.RunAt = micros(s.now.Add(retryDelay(j, r.ID)))
	}
	s.enterQueue(r)
}

// retryDelay returns the backoff before the retry of a job: doubled with every attempt, capped,
// and shortened by a part that is derived from the retry's id.
func retryDelay(j *rota.Job, retry rota.ID) time.Duration {
	maxCount := time.Duration(rota.DelayMax)
	if j.Policy.BackoffMax > 0 && j.Policy.BackoffMax < maxCount {
		maxCount = j.Policy.BackoffMax
	}
	d := min(j.Policy.Backoff, maxCount)
	for n := 1; n < j.Attempt && d < maxCount; n++ {
		d = min(d*2, maxCount)
	}
	u := float64(binary.BigEndian.Uint32(retry[12:])) / (1 << 32)
	off := time.Duration(float64(d) * j.Policy.Jitter * u)
	return (d - off).Truncate(time.Microsecond)
}

// settleKey releases the unique key of a dead or cancelled execution, and that of a completed
// one when its time has passed.
func (s *step) settleKey(j *rota.Job) {
	name := keyName{j.Type, j.UniqueKey}
	record, taken := s.keys[name]
	if j.UniqueKey == "" || !taken || record.execution != j.ExecutionID {
		return
	}
	ran := j.Run != nil && j.Run.Runner != "" // a job that the rules skipped never ran
	switch {
	case !ran || j.Run.Outcome != rota.OutcomeCompleted && j.Run.Outcome != rota.OutcomeSkipped:
		delete(s.keys, name)
	case record.freeAt.IsZero():
	case !record.freeAt.After(s.now):
		delete(s.keys, name)
	default:
		record.ended = true
		s.keys[name] = record
	}
}
