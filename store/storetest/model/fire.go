package model

import (
	"time"

	"github.com/rotajobs/rota"
)

// fire creates the jobs that are due, if the schedule is as the sender read it.
func (s *step) fire(c *rota.Fire) (rota.Reply, *rota.Error) {
	d := s.schedule(c.Schedule)
	if d == nil {
		return &rota.Fired{ScheduleChanged: true}, nil
	}
	if own, others := s.ownJobs(c.JobID, len(c.Times)*len(d.Spec.EachScope())); len(own) > 0 {
		return &rota.Fired{Jobs: own, Known: others}, nil
	}
	expect := micros(c.Expect)
	if d.State != rota.ScheduleEnabled || d.Version != c.Version || !d.NextFire.Equal(expect) {
		return &rota.Fired{ScheduleChanged: true}, nil
	}
	switch {
	case s.anyInFuture(c.Times):
		return nil, s.refuse(rota.Conflict, "times", "are in the future")
	case expect.After(s.now) && !d.MovedAt.After(s.now):
		return nil, s.refuse(rota.Conflict, "expect", "is in the future")
	}
	if scopes := len(d.Spec.EachScope()); len(c.Times)*scopes > max(rota.FireJobsMax, scopes) {
		return nil, s.refuse(rota.Invalid, "times", "would create too many jobs")
	}
	reason := s.unusable(d)
	if reason == "" && s.lacksExecute(d.Owner, d.Spec.Template) {
		reason = "its owner " + d.Owner + " has no EXECUTE JOB on template " + d.Spec.Template
	}
	if reason != "" {
		s.disable(d, reason)
		s.recheckDependents(d.Name)
		return &rota.Fired{Disabled: reason}, nil
	}
	reply := &rota.Fired{}
	reply.Jobs, reply.Known = s.fireAll(d, c.Times, c.JobID, c.CatchUp)
	s.advanceCalendar(d, c)
	s.recheckDependents(d.Name)
	return reply, nil
}

// ownJobs returns the jobs of a command that exist, and how many do not.
func (s *step) ownJobs(id func(int) rota.ID, count int) (own []*rota.Job, others int) {
	for i := range count {
		if j := s.find(id(i)); j != nil {
			own = append(own, j)
		}
	}
	return own, count - len(own)
}

// anyInFuture reports whether any of the times is in the future.
func (s *step) anyInFuture(times []rota.FireTime) bool {
	for _, t := range times {
		if micros(t.At).After(s.now) {
			return true
		}
	}
	return false
}

// unusable returns why a schedule cannot use its template. It is empty if it can.
func (s *step) unusable(d *rota.Schedule) string {
	switch t := s.template(d.Spec.Template); {
	case t == nil:
		return "template " + d.Spec.Template + " is gone"
	case t.State == rota.TemplateArchived:
		return "template " + d.Spec.Template + " is archived"
	case len(rota.MergeParams(t.Spec.Params, d.Spec.Params)) > rota.ParamsMax:
		return "its params are too long together with those of template " + t.Name
	}
	return ""
}

// fireAll creates one job for each time and scope that has not been planned before.
func (s *step) fireAll(d *rota.Schedule, times []rota.FireTime, id func(int) rota.ID, catchUp bool) (created []*rota.Job, known int) {
	i := 0
	for _, t := range times {
		for _, scope := range d.Spec.EachScope() {
			j := s.scheduled(d, id(i), scope)
			i++
			j.PlanTime, j.CountsAt, j.CreatedBy = micros(t.At), micros(t.At), d.CreatedBy
			if s.planned(j) != nil {
				known++
				continue
			}
			created = append(created, j)
			if s.applyOverlap(d, j, catchUp) {
				continue
			}
			s.holdForDependencies(d, j, t)
			s.enterQueue(j)
		}
	}
	return created, known
}

// scheduled returns a job of a schedule and its template.
func (s *step) scheduled(d *rota.Schedule, id rota.ID, scope rota.Scope) *rota.Job {
	t := s.template(d.Spec.Template)
	return &rota.Job{
		ID: id, ExecutionID: id, Attempt: 1, Type: t.Spec.Type, Name: d.Name, Schedule: d.Name, Template: t.Name,
		ScopeKind: scope.Kind, ScopeID: scope.ID, Params: rota.MergeParams(t.Spec.Params, d.Spec.Params),
		Priority:       or(d.Spec.Priority, or(t.Spec.Priority, rota.DefaultPriority)),
		Policy:         s.policy(t.Spec.Type, d.Spec.Policy, t.Spec.Policy),
		ConcurrencyKey: t.Spec.ConcurrencyKey, Owner: t.Owner, CreatedAt: s.now,
	}
}

// applyOverlap applies the overlap policy to a job that is fired while earlier jobs of its
// schedule and scope have not ended. It reports whether the job was skipped.
func (s *step) applyOverlap(d *rota.Schedule, j *rota.Job, catchUp bool) (skipped bool) {
	if d.Spec.Overlap != rota.OverlapAllow && !catchUp {
		s.endExpiredWaits(d.Name, scopeOf(j))
	}
	previous := s.liveOf(d.Name, scopeOf(j))
	switch {
	case d.Spec.Overlap == rota.OverlapAllow || len(previous) == 0:
		return false
	case catchUp:
		j.Hold |= rota.HoldOverlap
		return false
	case d.Spec.Overlap == rota.OverlapSkip:
		s.enterQueue(j)
		s.skip(j, rota.CodeOverlap, "skipped: an earlier execution of schedule "+d.Name+" has not ended")
		return true
	}
	for _, p := range previous {
		s.replace(p, "replaced by a later fire of schedule "+d.Name)
	}
	if len(s.liveOf(d.Name, scopeOf(j))) > 0 {
		j.Hold |= rota.HoldOverlap
	}
	return false
}

// endExpiredWaits skips jobs whose wait for dependencies has ended, as Expire does. The wait
// ends when the schedule fires again, and the job must not block that fire.
func (s *step) endExpiredWaits(schedule string, scope rota.Scope) {
	for _, p := range s.liveOf(schedule, scope) {
		if !waitsForDependency(p) || p.WaitUntil.After(s.now) {
			continue
		}
		if missing := s.unmet(p); missing != "" {
			s.skip(p, rota.CodeDependency, "skipped: schedule "+missing+" did not complete in time")
		}
	}
}

// replace cancels a job, or asks it to stop, for a later execution.
func (s *step) replace(j *rota.Job, reason string) {
	switch {
	case j.Status == rota.StatusQueued:
		s.cancelQueued(j)
		s.auditJob(rota.AuditJobCancelled, j, reason)
	case leased(j) && s.askToStop(j, s.actor(), reason):
		s.auditJob(rota.AuditJobStopping, j, reason)
	}
}

// holdForDependencies holds a job whose dependencies have not completed.
func (s *step) holdForDependencies(d *rota.Schedule, j *rota.Job, t rota.FireTime) {
	if len(d.Spec.DependsOn) == 0 {
		return
	}
	j.WaitFrom, j.WaitUntil = micros(t.From), micros(t.Until)
	if j.WaitFrom.IsZero() {
		j.WaitFrom = d.CreatedAt
	}
	if j.WaitUntil.IsZero() {
		j.WaitUntil = micros(s.now.Add(rota.DependencyWait)) // no fire time is after now, so this is the later one
	}
	if s.unmet(j) == "" {
		j.WaitFrom, j.WaitUntil = time.Time{}, time.Time{}
		return
	}
	j.Hold |= rota.HoldDependency
}

// advanceCalendar sets the next fire of a schedule that was fired.
func (s *step) advanceCalendar(d *rota.Schedule, c *rota.Fire) {
	d.NextFire, d.MovedAt = micros(c.Next), s.now
	if n := len(c.Times); n > 0 {
		d.LastFire = micros(c.Times[n-1].At)
	}
	if missed := micros(c.Missed); !missed.IsZero() {
		s.auditEffect(rota.AuditScheduleMissed, scheduleSubject(d.Name), "fire times from "+missed.Format(time.RFC3339Nano)+
			" on were given up (catch-up "+string(d.Spec.CatchUp)+")", nil)
	}
	switch {
	case d.Spec.At.IsZero() || !d.NextFire.IsZero():
	case len(c.Times) == 0 && d.ResumedAt.After(micros(c.Expect)) && !d.ResumedAt.After(s.now):
		s.disable(d, "its time passed while it was paused")
	case len(c.Times) == 0:
		s.disable(d, "its time passed while no scheduler ran")
	default:
		s.completeSchedule(d.Name, false)
	}
}
