package model

import "github.com/rotajobs/rota"

func (s *step) cancel(c *rota.Cancel) (rota.Reply, *rota.Error) {
	j := s.find(c.JobID)
	if j == nil {
		return nil, s.refuse(rota.NotFound, "job_id", "there is no job %s", c.JobID)
	}
	for j.Sequel == rota.SequelRetry {
		j = s.retryOf(j.ID)
	}
	if s.auditedJob(j.ID) {
		return &rota.CancelledJob{Job: j, Stopping: leased(j)}, nil
	}
	if err := s.checkVersion(c.Version, j.Version, "job "+j.ID.String()); err != nil {
		return nil, err
	}
	switch {
	case j.Status == rota.StatusQueued:
		s.cancelQueued(j)
		s.auditJob(rota.AuditJobCancelled, j, c.Reason)
		return &rota.CancelledJob{Job: j}, nil
	case leased(j):
		if s.askToStop(j, c.Actor, c.Reason) {
			s.auditJob(rota.AuditJobStopping, j, c.Reason)
		}
		return &rota.CancelledJob{Job: j, Stopping: true}, nil
	case j.Status == rota.StatusCancelled:
		return &rota.CancelledJob{Job: j}, nil
	case j.Run != nil && j.Run.Outcome == rota.OutcomeCancelled && !j.Run.CancelAt.IsZero():
		return &rota.CancelledJob{Job: j}, nil
	}
	return nil, s.refuse(rota.Conflict, "job_id", "job %s has ended", j.ID)
}

// cancelQueued cancels a job that has not started.
func (s *step) cancelQueued(j *rota.Job) {
	j.Status = rota.StatusCancelled
	j.FinishedAt = s.now
	j.Sequel = rota.SequelNone
	s.executionEnded(j)
}

// askToStop records the first cancel of a run; later ones change nothing. It reports whether
// this was the first.
func (s *step) askToStop(j *rota.Job, by, reason string) bool {
	if !j.Run.CancelAt.IsZero() {
		return false
	}
	j.Run.CancelAt, j.Run.CancelBy, j.Run.CancelReason = s.now, by, reason
	return true
}

// skip records that a waiting job will not run. Its run states the reason and has no duration.
func (s *step) skip(j *rota.Job, code, text string) {
	j.Status = rota.StatusRunning
	j.Hold = 0
	s.markReady(j)
	j.StartedAt, j.FinishedAt = s.now, s.now
	j.Sequel = rota.SequelNone
	j.Run = &rota.Run{
		ID: rota.RunID(s.id(), j.ID), StartedAt: s.now, HeartbeatAt: s.now, StaleAfter: s.now, FinishedAt: s.now,
		Outcome: rota.OutcomeSkipped, ErrorCode: code, Error: text,
	}
	s.executionEnded(j)
}
