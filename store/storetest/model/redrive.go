package model

import "github.com/rotajobs/rota"

// redrive creates a new execution for one that did not complete.
func (s *step) redrive(c *rota.Redrive) (rota.Reply, *rota.Error) {
	if own := s.find(c.NewJobID()); own != nil {
		return &rota.Redriven{Job: own}, nil
	}
	named := s.find(c.JobID)
	if named == nil || s.hidden(s.tail(named.ExecutionID)) {
		return nil, s.refuse(rota.NotFound, "job_id", "there is no job %s", c.JobID)
	}
	tail := s.tail(named.ExecutionID)
	holder := s.holder(tail.Type, tail.UniqueKey)
	switch {
	case s.auditedJob(tail.ID):
		return nil, s.refuse(rota.NotFound, "job_id", "job %s was created and removed", c.NewJobID())
	case live(tail):
		return nil, s.refuse(rota.Conflict, "job_id", "job %s has not ended", tail.ID)
	case completed(tail):
		return nil, s.refuse(rota.Conflict, "job_id", "job %s has completed", tail.ID)
	case s.redriven(tail.ExecutionID):
		return nil, s.refuse(rota.Conflict, "job_id", "job %s was already retried", tail.ID)
	case holder != nil && holder.ExecutionID != tail.ExecutionID:
		return nil, s.refuse(rota.Conflict, "job_id", "job %s holds its unique key", holder.ID)
	}
	j := s.redriveJob(tail, c.NewJobID())
	s.enterQueue(j)
	s.holdKey(j)
	s.auditJob(rota.AuditJobRedriven, tail.ID, j.ID.String())
	return &rota.Redriven{Job: j}, nil
}

// redriven reports whether an execution was redriven and the redrive was not cancelled.
func (s *state) redriven(execution rota.ID) bool {
	tries := s.sorted(func(j *rota.Job) bool { return j.RedriveOf == execution })
	if len(tries) == 0 {
		return false
	}
	last := s.tail(tries[len(tries)-1].ExecutionID)
	cancelled := last.Status == rota.StatusCancelled || last.Run != nil && last.Run.Outcome == rota.OutcomeCancelled && !isFailure(last.Run)
	return !cancelled
}

// redriveJob returns the first attempt of a redrive.
func (s *step) redriveJob(tail *rota.Job, id rota.ID) *rota.Job {
	j := &rota.Job{
		ID: id, ExecutionID: id, Attempt: 1, RedriveOf: tail.ExecutionID,
		Type: tail.Type, Name: tail.Name, Params: tail.Params, Priority: tail.Priority, Policy: tail.Policy,
		Template: tail.Template, Schedule: tail.Schedule, ScopeKind: tail.ScopeKind, ScopeID: tail.ScopeID,
		UniqueKey: tail.UniqueKey, UniqueFor: tail.UniqueFor, ConcurrencyKey: tail.ConcurrencyKey, CountsAt: tail.CountsAt,
		Trace: tail.Trace, CreatedBy: s.actor(), CreatedAt: s.now,
	}
	d := s.schedule(j.Schedule)
	if d != nil && d.Spec.Overlap != rota.OverlapAllow && len(s.liveOf(d.Name, scopeOf(j))) > 0 {
		j.Hold = rota.HoldOverlap
	}
	return j
}
