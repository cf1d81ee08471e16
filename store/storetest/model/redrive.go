package model

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// redrive creates a new execution for one that has ended.
func (s *step) redrive(c *rota.Redrive) (rota.Reply, *rota.Error) {
	if own := s.find(c.NewJobID()); own != nil {
		return &rota.Redriven{Job: own}, nil
	}
	named := s.find(c.JobID)
	if named == nil || s.hidden(s.tail(named.ExecutionID)) {
		return nil, s.refuse(rota.NotFound, "job_id", "there is no job %s", c.JobID)
	}
	tail := s.tail(named.ExecutionID)
	if s.auditedJob(tail.ID) {
		return nil, s.refuse(rota.NotFound, "job_id", "job %s was created and removed", c.NewJobID())
	}
	if err := s.mayRedrive(c, tail); err != nil {
		return nil, err
	}
	j := s.redriveJob(tail, c.NewJobID())
	if c.Params != nil {
		j.Params = rota.MergeParams(tail.Params, c.Params)
	}
	if completed(tail) && s.holder(tail.Type, tail.UniqueKey) != nil {
		j.UniqueKey, j.UniqueFor = "", 0
	}
	s.enterQueue(j)
	s.holdKey(j)
	params := func(j *rota.Job) []byte { return rota.EncodeSpec(map[string]any{"params": j.Params}) }
	s.auditJobAs(s.actor(), rota.AuditJobRedriven, tail, j.ID.String(), diff.ByMember(params(tail), params(j), "params"))
	return &rota.Redriven{Job: j}, nil
}

func (s *step) mayRedrive(c *rota.Redrive, tail *rota.Job) *rota.Error {
	if err := s.checkVersion(c.Version, tail.Version, "job "+tail.ID.String()); err != nil {
		return err
	}
	template := s.template(tail.Template)
	switch {
	case live(tail):
		return s.refuse(rota.Conflict, "job_id", "job %s has not ended", tail.ID)
	case completed(tail) && !c.Again:
		return s.refuse(rota.Conflict, "job_id", "job %s has completed", tail.ID)
	case c.Params != nil && rota.InternalType(tail.Type):
		return s.refuse(rota.Conflict, "params", "job %s has an internal type", tail.ID)
	case c.Params != nil && len(rota.MergeParams(tail.Params, c.Params)) > rota.ParamsMax:
		return s.refuse(rota.Invalid, "params", "the params are too long")
	case c.Again && template != nil && template.State == rota.TemplateArchived:
		return s.refuse(rota.Conflict, "template", "template %s is archived", template.Name)
	}
	if d := s.schedule(tail.Schedule); d != nil && tail.Template != "" && d.Owner != rota.AdminUser && d.Owner != tail.RunsFor() {
		if template == nil || s.find(tail.ExecutionID).CreatedAt.Before(template.Since) || template.Owner != tail.RunsFor() && template.Owner != d.Owner {
			return s.refuse(rota.Denied, "job_id", "the template of job %s is another one", tail.ID)
		}
		if err := s.checkExecute("job_id", d.Owner, tail.Template); err != nil {
			return err
		}
	}
	if completed(tail) {
		return nil
	}
	holder := s.holder(tail.Type, tail.UniqueKey)
	switch {
	case s.redriven(tail.ExecutionID):
		return s.refuse(rota.Conflict, "job_id", "job %s was already retried", tail.ID)
	case holder != nil && holder.ExecutionID != tail.ExecutionID:
		return s.refuse(rota.Conflict, "job_id", "job %s holds its unique key", holder.ID)
	}
	return nil
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
		Trace: tail.Trace, Owner: tail.Owner, CreatedBy: s.actor(), CreatedAt: s.now,
	}
	if j.RunsFor() != tail.RunsFor() {
		j.Owner = tail.RunsFor()
	}
	d := s.schedule(j.Schedule)
	if d != nil && d.Spec.Overlap != rota.OverlapAllow && len(s.liveOf(d.Name, scopeOf(j))) > 0 {
		j.Hold = rota.HoldOverlap
	}
	return j
}
