package rules

import (
	"github.com/rotajobs/rota"
)

// decideTrigger runs a schedule now. It ignores the calendar, the state and the
// dependencies of the schedule, but applies its overlap policy.
func decideTrigger(u *UnitOfWork, c *rota.Trigger) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Schedule))
	s, t, refusal := firable(u, c.Schedule)
	if s == nil {
		return nil, refusal
	}
	scopes := s.Spec.EachScope()
	if own, _ := ownJobs(u, len(scopes), c.JobID); len(own) > 0 || u.auditedSubject(c, ScheduleSubject(s.Name)) {
		return &rota.Triggered{Jobs: own}, nil
	}
	switch {
	case isOther(c.Version, s.Version):
		return nil, changedSince(ScheduleSubject(s.Name))
	case refusal != nil:
		return nil, refusal
	}
	params := rota.MergeParams(t.Spec.Params, s.Spec.Params, c.Params)
	if len(params) > rota.ParamsMax {
		return nil, rota.Invalidf("params", "have %d bytes together with those of schedule %s; at most %d are allowed", len(params), s.Name, rota.ParamsMax)
	}
	wantScheduledJob(u, s, t)
	next := *s
	next.TriggeredAt = u.Now
	Schedules.set(u, s.Name, &next)
	var created []rota.ID
	u.each(len(scopes), func(i int) {
		j := scheduledJob(u, s, t, scopes[i])
		j.ID, j.ExecutionID, j.CountsAt, j.CreatedBy = c.JobID(i), c.JobID(i), u.Now, c.Actor
		j.Params, j.Priority = params, or(c.Priority, j.Priority)
		createScheduledJob(u, c, s, j, false)
		created = append(created, j.ID)
	})
	u.auditFired(c, s.Name, created)
	return &rota.Triggered{Jobs: jobsWithoutTokens(u, created)}, nil
}

// firable returns a schedule and its template, and why it cannot be fired by
// hand.
func firable(u *UnitOfWork, name string) (*rota.Schedule, *rota.Template, *rota.Error) {
	s := Schedules.get(u, name)
	if s == nil {
		refusal := noName("schedule", name)
		refusal.Field = "schedule"
		return nil, nil, refusal
	}
	wantOverlap(u, s)
	t := Templates.get(u, s.Spec.Template)
	if reason := unusable(t, s); reason != "" {
		return s, nil, &rota.Error{
			Code: rota.Conflict, Field: "schedule", Reason: "schedule " + name + " cannot run: " + reason, Hint: "fix or unarchive the template, or give the schedule another one",
		}
	}
	if refusal := mayExecute(u, "schedule", name, s.Owner, t); refusal != nil {
		return s, nil, refusal
	}
	return s, t, nil
}

// decideBackfill runs a schedule for past times. Jobs that were planned for
// them already stay as they are.
func decideBackfill(u *UnitOfWork, c *rota.Backfill) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Schedule))
	s, t, refusal := firable(u, c.Schedule)
	if s == nil {
		return nil, refusal
	}
	wantFireJobs(u, s, c.Times, c.JobID)
	count := len(c.Times) * len(s.Spec.EachScope())
	if own, others := ownJobs(u, count, c.JobID); len(own) > 0 || u.auditedSubject(c, ScheduleSubject(s.Name)) {
		return &rota.Backfilled{Jobs: own, Known: others}, nil
	}
	switch last := c.Times[len(c.Times)-1].At; {
	case isOther(c.Version, s.Version):
		return nil, changedSince(ScheduleSubject(s.Name))
	case refusal != nil:
		return nil, refusal
	case count > rota.JobsMax:
		return nil, rota.Invalidf("times", "and scopes make %d jobs; at most %d are allowed: choose a shorter range", count, rota.JobsMax)
	case micros(last).After(u.Now):
		return nil, rota.Invalidf("times", "%s is in the future; it is %s", Stamp(last), Stamp(u.Now))
	}
	created, known := createFireJobs(u, c, s, t, c.Times, true, c.JobID)
	u.auditFired(c, s.Name, created)
	return &rota.Backfilled{Jobs: jobsWithoutTokens(u, created), Known: known}, nil
}
