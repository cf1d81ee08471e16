package rules

import (
	"github.com/rotajobs/rota"
)

// decideFire creates the jobs that a schedule owes, if it still owes them, and
// advances its calendar in the same step. A second Fire for the same time finds
// the calendar advanced.
func decideFire(u *UnitOfWork, c *rota.Fire) (rota.Reply, *rota.Error) {
	s := Schedules.get(u, c.Schedule)
	if s == nil {
		return &rota.Fired{ScheduleChanged: true}, nil
	}
	wantFire(u, c, s)
	if own, others := ownJobs(u, len(c.Times)*len(s.Spec.EachScope()), c.JobID); len(own) > 0 {
		return &rota.Fired{Jobs: own, Known: others}, nil
	}
	if s.State != rota.ScheduleEnabled || s.Version != c.Version || !s.NextFire.Equal(micros(c.Expect)) {
		return &rota.Fired{ScheduleChanged: true}, nil
	}
	if refusal := mayFire(u, c, s); refusal != nil {
		return nil, refusal
	}
	t := Templates.get(u, s.Spec.Template)
	if reason := unusable(t, s); reason != "" {
		disable(u, c, s, reason)
		releaseDependents(u, s.Name, everyScope)
		return &rota.Fired{Disabled: reason}, nil
	}
	var jobs []rota.ID
	var known int
	u.together(
		func() { jobs, known = createFireJobs(u, c, s, t, c.Times, c.CatchUp, c.JobID) },
		func() {
			advanceCalendar(u, c, s.Name)
			finishFire(u, c, s.Name)
		},
		func() { releaseDependents(u, s.Name, everyScope) },
	)
	return &rota.Fired{Jobs: jobsWithoutTokens(u, jobs), Known: known}, nil
}

// wantFire asks for what it takes to fire a schedule.
func wantFire(u *UnitOfWork, c *rota.Fire, s *rota.Schedule) {
	wantFireJobs(u, s, c.Times, c.JobID)
	DependentsOf.want(u, Dependents{Schedule: s.Name})
	if c.Next.IsZero() && !s.Spec.At.IsZero() {
		PlannedJobs.want(u, Planned{Schedule: s.Name, Limit: plannedMax})
	}
}

// mayFire refuses times that are not due by the store's clock. A Fire without
// times may set the calendar while its next time is in the future, if the clock
// was set back.
func mayFire(u *UnitOfWork, c *rota.Fire, s *rota.Schedule) *rota.Error {
	for _, t := range c.Times {
		if micros(t.At).After(u.Now) {
			return &rota.Error{
				Code: rota.Conflict, Field: "times", Reason: Stamp(t.At) + " is in the future; it is " + Stamp(u.Now),
				Hint: "read the due schedules from the store; its clock decides",
			}
		}
	}
	if s.NextFire.After(u.Now) && !s.MovedAt.After(u.Now) {
		return &rota.Error{
			Code: rota.Conflict, Field: "expect", Reason: Stamp(s.NextFire) + " is in the future; it is " + Stamp(u.Now),
			Hint: "read the due schedules from the store; its clock decides",
		}
	}
	scopes := len(s.Spec.EachScope())
	if count, maxCount := len(c.Times)*scopes, max(rota.FireJobsMax, scopes); count > maxCount {
		return rota.Invalidf("times", "and scopes make %d jobs; at most %d are allowed in one fire", count, maxCount)
	}
	return nil
}

// unusable returns why the template of a schedule cannot be run, empty if it
// can.
func unusable(t *rota.Template, s *rota.Schedule) string {
	switch {
	case t == nil:
		return "template " + s.Spec.Template + " is gone"
	case t.State == rota.TemplateArchived:
		return "template " + t.Name + " is archived"
	case len(rota.MergeParams(t.Spec.Params, s.Spec.Params)) > rota.ParamsMax:
		return "its params are too long together with those of template " + t.Name
	}
	return ""
}

// advanceCalendar sets the next fire of a schedule, and audits the fire times
// that are given up.
func advanceCalendar(u *UnitOfWork, c *rota.Fire, name string) {
	s := Schedules.get(u, name)
	next := *s
	next.NextFire, next.MovedAt = micros(c.Next), u.Now
	if n := len(c.Times); n > 0 {
		next.LastFire = micros(c.Times[n-1].At)
	}
	Schedules.set(u, s.Name, &next)
	if !c.Missed.IsZero() {
		u.auditSideEffect(c, rota.AuditScheduleMissed, ScheduleSubject(s.Name),
			"fire times from "+Stamp(micros(c.Missed))+" on were given up (catch-up "+string(s.Spec.CatchUp)+")")
	}
}

// finishFire ends an AT schedule that has fired for the last time and has
// nothing left to wait for, or whose time was missed.
func finishFire(u *UnitOfWork, c *rota.Fire, name string) {
	s := Schedules.get(u, name)
	switch {
	case s == nil || !spent(s):
	case len(c.Times) == 0:
		disable(u, c, s, "its time passed while nobody fired it")
	default:
		completeSchedule(u, c, s, false)
	}
}

// jobsWithoutTokens returns jobs as they are at the end of the command, without
// lease tokens.
func jobsWithoutTokens(u *UnitOfWork, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, 0, len(ids))
	for _, id := range ids {
		jobs = append(jobs, withoutToken(u.job(id)))
	}
	return jobs
}

// ownJobs returns the jobs that an earlier sending of the command created, and
// how many of its jobs do not exist.
func ownJobs(u *UnitOfWork, count int, id func(int) rota.ID) (own []*rota.Job, others int) {
	u.each(count, func(i int) {
		if j := u.job(id(i)); j != nil {
			own = append(own, withoutToken(j))
		} else {
			others++
		}
	})
	return own, others
}
