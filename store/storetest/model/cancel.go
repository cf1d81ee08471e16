package model

import "github.com/rotajobs/rota"

func (s *step) cancel(c *rota.Cancel) (rota.Reply, *rota.Error) {
	j := s.find(c.JobID)
	if j == nil {
		return nil, rota.Errorf(rota.NotFound, "cancel", "there is no job %s", c.JobID)
	}
	for j.Sequel == rota.SequelRetry {
		j = s.retryOf(j.ID)
	}
	switch {
	case s.wrote(c, j.ID):
		return &rota.CancelledJob{Job: shown(j), Stopping: open(j)}, nil
	case j.Status == rota.StatusQueued:
		j.Status = rota.StatusCancelled
		j.FinishedAt = s.now
		j.Sequel = rota.SequelNone
		s.settleKey(j)
		s.write(c, rota.AuditJobCancelled, j.ID, c.Reason)
		return &rota.CancelledJob{Job: shown(j)}, nil
	case open(j):
		s.askToStop(c, j)
		return &rota.CancelledJob{Job: shown(j), Stopping: true}, nil
	case j.Status == rota.StatusCancelled:
		return &rota.CancelledJob{Job: shown(j)}, nil
	case j.Run != nil && j.Run.Outcome == rota.OutcomeCancelled && !j.Run.CancelAt.IsZero():
		return &rota.CancelledJob{Job: shown(j)}, nil
	}
	return nil, rota.Errorf(rota.Conflict, "cancel", "job %s has ended", j.ID)
}

// askToStop keeps the first question: a second one changes nothing.
func (s *step) askToStop(c *rota.Cancel, j *rota.Job) {
	if !j.Run.CancelAt.IsZero() {
		return
	}
	j.Run.CancelAt, j.Run.CancelBy, j.Run.CancelReason = s.now, c.Actor, c.Reason
	s.write(c, rota.AuditJobCancelled, j.ID, c.Reason)
}
