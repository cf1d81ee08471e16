package model

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// changeable returns the job that an Edit or Move may change; named is the id in the command. Again
// reports that the same command has changed it before, even if other commands changed it since, or that
// it was the last one and changed nothing.
func (s *step) changeable(named, id rota.ID, version *rota.ID) (j *rota.Job, again bool, err *rota.Error) {
	j = s.find(id)
	switch {
	case j == nil:
		return nil, false, s.refuse(rota.NotFound, "job_id", "there is no job %s", named)
	case s.auditedJob(named), j.Version == s.id(), s.find(named).Version == s.id():
		return j, true, nil
	case rota.InternalType(j.Type):
		return nil, false, s.refuse(rota.Conflict, "job_id", "job %s has an internal type", id)
	case j.Status != rota.StatusQueued:
		return nil, false, s.refuse(rota.Conflict, "job_id", "job %s has left the queue", id)
	case version != nil && *version != j.Version:
		return nil, false, s.refuse(rota.Conflict, "version", "job %s was changed meanwhile", id)
	}
	return j, false, nil
}

func (s *step) edit(c *rota.Edit) (rota.Reply, *rota.Error) {
	id := c.JobID
	if named := s.find(id); named != nil {
		id = s.tail(named.ExecutionID).ID
	}
	j, again, err := s.changeable(c.JobID, id, c.Version)
	if err != nil {
		return nil, err
	}
	if again {
		return &rota.Edited{Job: j}, nil
	}
	params := slices.Clone(c.Params)
	if c.MergeParams != nil {
		if params = rota.MergeParams(j.Params, c.MergeParams); len(params) > rota.ParamsMax {
			return nil, s.refuse(rota.Invalid, "merge_params", "the params have %d bytes", len(params))
		}
	}
	if c.RunNow && j.Hold&^(rota.HoldDelay|rota.HoldKey) != 0 {
		return nil, s.refuse(rota.Conflict, "job_id", "job %s waits for %s", j.ID, s.waitsFor(j))
	}
	was, old, hold := jobDocument(j), j.Params, j.Hold
	if c.Priority != nil && *c.Priority != j.Priority {
		j.Position = s.endPosition(*c.Priority)
		j.Priority = *c.Priority
		s.markKeyChanged(j)
	}
	if params != nil {
		j.Params = params
	}
	s.editTime(c, j)
	j.Version = c.ID
	if changes := diff.ByMember(was, jobDocument(j), "params"); changes != nil || j.Hold != hold {
		detail := "edit"
		if c.RunNow {
			detail = "run-now"
		}
		s.auditAttempt(c.Actor, rota.AuditJobModified, c.JobID, j, detail, changes)
	} else {
		j.Params = old
	}
	return &rota.Edited{Job: j}, nil
}

// waitsFor names one thing that a job waits for other than its time and its key.
func (s *step) waitsFor(j *rota.Job) string {
	switch {
	case j.Hold&rota.HoldGroup != 0:
		return "earlier members of group " + j.GroupID.String()
	case j.Hold&rota.HoldDependency != 0:
		return "schedule " + s.unmet(j)
	}
	return "an earlier execution of schedule " + j.Schedule
}

// editTime changes when a job may start.
func (s *step) editTime(c *rota.Edit, j *rota.Job) {
	at := micros(c.RunAt)
	if c.Delay != nil {
		at = micros(s.now.Add(*c.Delay))
	}
	delayed := j.Hold&rota.HoldDelay != 0
	switch {
	case at.After(s.now):
		j.RunAt = at
		if !delayed {
			j.QueuedAt = time.Time{}
			j.Hold = j.Hold&^rota.HoldKey | rota.HoldDelay
			s.markKeyChanged(j)
		}
	case delayed && (c.RunNow || !at.IsZero()):
		j.RunAt = s.now
		j.Position = s.endPositionOf(j)
		s.releaseHold(j, rota.HoldDelay)
	}
}
