package model

import (
	"slices"

	"github.com/rotajobs/rota"
)

// trigger runs a schedule on request. It obeys the overlap policy and ignores calendar, state
// and dependencies.
func (s *step) trigger(c *rota.Trigger) (rota.Reply, *rota.Error) {
	d, err := s.runnable(c.Schedule)
	if d == nil {
		return nil, err
	}
	scopes := d.Spec.EachScope()
	if own, _ := s.ownJobs(c.JobID, len(scopes)); len(own) > 0 || s.auditedSubject(scheduleSubject(c.Schedule)) {
		return &rota.Triggered{Jobs: own}, nil
	}
	if changed := s.checkVersion(c.Version, d.Version, scheduleSubject(c.Schedule)); changed != nil {
		return nil, changed
	}
	if err != nil {
		return nil, err
	}
	reply := &rota.Triggered{}
	for i, scope := range scopes {
		j := s.scheduled(d, c.JobID(i), scope)
		j.Params = slices.Clone(rota.MergeParams(s.template(d.Spec.Template).Spec.Params, d.Spec.Params, c.Params))
		if len(j.Params) > rota.ParamsMax {
			return nil, s.refuse(rota.Invalid, "params", "have %d bytes with those of the schedule", len(j.Params))
		}
		j.Priority, j.CountsAt, j.CreatedBy = or(c.Priority, j.Priority), s.now, c.Actor
		reply.Jobs = append(reply.Jobs, j)
		if !s.applyOverlap(d, j, false) {
			s.enterQueue(j)
		}
	}
	d.TriggeredAt = s.now
	s.auditFired(c.Schedule, "trigger", reply.Jobs)
	return reply, nil
}

// backfill runs a schedule for past times, one after the other unless overlap is allowed.
func (s *step) backfill(c *rota.Backfill) (rota.Reply, *rota.Error) {
	d, err := s.runnable(c.Schedule)
	if d == nil {
		return nil, err
	}
	count := len(c.Times) * len(d.Spec.EachScope())
	if own, others := s.ownJobs(c.JobID, count); len(own) > 0 || s.auditedSubject(scheduleSubject(c.Schedule)) {
		return &rota.Backfilled{Jobs: own, Known: others}, nil
	}
	if changed := s.checkVersion(c.Version, d.Version, scheduleSubject(c.Schedule)); changed != nil {
		return nil, changed
	}
	switch {
	case err != nil:
		return nil, err
	case count > rota.JobsMax:
		return nil, s.refuse(rota.Invalid, "times", "would create %d jobs in all scopes", count)
	case s.anyInFuture(c.Times):
		return nil, s.refuse(rota.Invalid, "times", "are in the future")
	}
	reply := &rota.Backfilled{}
	reply.Jobs, reply.Known = s.fireAll(d, c.Times, c.JobID, true)
	s.auditFired(c.Schedule, "backfill", reply.Jobs)
	return reply, nil
}

// runnable returns a schedule, nil if it does not exist, and the reason why it cannot run.
func (s *step) runnable(name string) (*rota.Schedule, *rota.Error) {
	d := s.schedule(name)
	if d == nil {
		return nil, s.refuse(rota.NotFound, "schedule", "there is no schedule %s", name)
	}
	if reason := s.unusable(d); reason != "" {
		return d, s.refuse(rota.Conflict, "schedule", "%s", reason)
	}
	return d, s.checkExecute("schedule", d.Owner, d.Spec.Template)
}
