package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// changeable finds the job that an Edit or Move may change. Again says that
// this very command has changed it already, whatever others did since.
func (s *step) changeable(c rota.Command, id rota.ID, version *rota.ID) (j *rota.Job, again bool, err *rota.Error) {
	j = s.find(id)
	switch {
	case j == nil:
		return nil, false, rota.Errorf(rota.NotFound, "change", "there is no job %s", id)
	case s.wrote(c, id):
		return j, true, nil
	case j.Status != rota.StatusQueued:
		return nil, false, rota.Errorf(rota.Conflict, "change", "job %s has left the queue", id)
	case version != nil && *version != j.Version:
		return nil, false, rota.Errorf(rota.Conflict, "change", "job %s was changed meanwhile", id)
	}
	return j, false, nil
}

func (s *step) edit(c *rota.Edit) (rota.Reply, *rota.Error) {
	j, again, err := s.changeable(c, c.JobID, c.Version)
	if err != nil {
		return nil, err
	}
	if again {
		return &rota.Edited{Job: shown(j)}, nil
	}
	if c.Priority != nil && *c.Priority != j.Priority {
		j.Position = s.end(*c.Priority)
		j.Priority = *c.Priority
	}
	if c.Params != nil {
		j.Params = slices.Clone(c.Params)
	}
	j.Version = c.ID
	s.write(c, rota.AuditJobModified, j.ID, "edit")
	return &rota.Edited{Job: shown(j)}, nil
}
