package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// changeable returns the job that an Edit or Move may change. Again reports that the same
// command has changed it before, even if other commands changed it since.
func (s *step) changeable(id rota.ID, version *rota.ID) (j *rota.Job, again bool, err *rota.Error) {
	j = s.find(id)
	switch {
	case j == nil:
		return nil, false, s.refuse(rota.NotFound, "job_id", "there is no job %s", id)
	case s.auditedJob(id):
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
	j, again, err := s.changeable(c.JobID, c.Version)
	if err != nil {
		return nil, err
	}
	if again {
		return &rota.Edited{Job: j}, nil
	}
	if c.Priority != nil && *c.Priority != j.Priority {
		j.Position = s.endPosition(*c.Priority)
		j.Priority = *c.Priority
		s.markKeyChanged(j)
	}
	if c.Params != nil {
		j.Params = slices.Clone(c.Params)
	}
	j.Version = c.ID
	s.auditJob(rota.AuditJobModified, j.ID, "edit")
	return &rota.Edited{Job: j}, nil
}
