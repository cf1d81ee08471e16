package rules

import "github.com/rotajobs/rota"

// A fire creates the jobs of due times of a schedule, in this order:
//
//  1. It reads the schedule, and then what its jobs need: the plans of the
//     times, the template, the type, the jobs that may overlap, and the
//     dependents (wantFire).
//  2. It answers without a change if an earlier sending created the jobs, or if
//     the schedule has changed since the times were planned. It refuses times
//     that are not due (mayFire), and disables a schedule whose template cannot
//     be run (unusable), or that may not run it (cannotExecute).
//  3. It creates one job for each time and scope that has none
//     (createFireJobs). The overlap policy skips a job or lets it wait for
//     earlier executions (overlap.go), and it waits for the dependencies that
//     are not met (depend.go).
//  4. It advances the calendar (advanceCalendar), and ends a schedule that has
//     fired for the last time (finishFire).
//  5. It releases the jobs that waited for this schedule and need not wait any
//     more (releaseDependents).

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
	reason := unusable(t, s)
	if reason == "" {
		reason = cannotExecute(u, s.Owner, t)
	}
	if reason != "" {
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
	Dependents.want(u, DependentsQuery{Schedule: s.Name})
	if c.Next.IsZero() && !s.Spec.At.IsZero() {
		PlannedJobs.want(u, PlannedJobsQuery{Schedule: s.Name, Limit: plannedMax})
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

// createFireJobs creates the jobs of a schedule for some times, unless they were
// planned already. It returns the ids of the created jobs and the number of
// jobs that existed.
func createFireJobs(u *UnitOfWork, c rota.Command, s *rota.Schedule, t *rota.Template, times []rota.FireTime, catchUp bool, id func(int) rota.ID) (created []rota.ID, known int) {
	wantScheduledJob(u, s, t)
	scopes := s.Spec.EachScope()
	u.each(len(times)*len(scopes), func(i int) {
		j := plannedJob(u, s, t, scopes[i%len(scopes)], &times[i/len(scopes)])
		j.ID, j.ExecutionID = id(i), id(i)
		if plan, _ := PlanOf(j); !Plans.get(u, plan).IsZero() {
			known++
			return
		}
		createScheduledJob(u, c, s, j, catchUp)
		created = append(created, j.ID)
	})
	return created, known
}

// wantFireJobs asks for what it takes to create the jobs of a schedule for some
// times.
func wantFireJobs(u *UnitOfWork, s *rota.Schedule, times []rota.FireTime, id func(int) rota.ID) {
	scopes := s.Spec.EachScope()
	for i := range len(times) * len(scopes) {
		u.fullJobs.want(id(i))
		scope := scopes[i%len(scopes)]
		plan, _ := PlanOf(&rota.Job{Name: s.Name, ScopeKind: scope.Kind, ScopeID: scope.ID, PlanTime: micros(times[i/len(scopes)].At)})
		Plans.want(u, plan)
	}
	for _, on := range s.Spec.DependsOn {
		Schedules.want(u, on)
	}
	wantOverlap(u, s)
}

// wantScheduledJob asks for what every job of a schedule needs.
func wantScheduledJob(u *UnitOfWork, s *rota.Schedule, t *rota.Template) {
	Types.want(u, t.Spec.Type)
	u.wantTail(schedulePriority(s, t))
	if t.Spec.ConcurrencyKey != "" {
		Throttle.want(u, one)
	}
}

// createScheduledJob puts a job of a schedule into the queue as overlap and dependencies
// allow.
func createScheduledJob(u *UnitOfWork, c rota.Command, s *rota.Schedule, j *rota.Job, catchUp bool) {
	var skipped bool
	var hold rota.Hold
	var missing string
	u.together(
		func() { skipped, hold = applyOverlap(u, c, s, ScopeOf(j), catchUp) },
		func() {
			if !j.PlanTime.IsZero() {
				missing = unmet(u, j)
			}
		},
	)
	if !skipped && missing != "" {
		hold |= rota.HoldDependency
	} else {
		j.WaitFrom, j.WaitUntil = noTime, noTime
	}
	enterQueue(u, j, hold)
	u.insert(j)
	if skipped {
		skipJob(u, c, j.ID, rota.CodeOverlap, "skipped: an earlier execution of schedule "+s.Name+" has not ended", true)
	}
}

// plannedJob returns a job of a schedule for one time and scope, before it
// enters the queue.
func plannedJob(u *UnitOfWork, s *rota.Schedule, t *rota.Template, scope rota.Scope, at *rota.FireTime) *rota.Job {
	j := scheduledJob(u, s, t, scope)
	j.PlanTime, j.CountsAt = micros(at.At), micros(at.At)
	if len(s.Spec.DependsOn) == 0 {
		return j
	}
	if j.WaitFrom = micros(at.From); at.From.IsZero() {
		j.WaitFrom = s.CreatedAt
	}
	if j.WaitUntil = micros(at.Until); at.Until.IsZero() {
		later := j.PlanTime
		if u.Now.After(later) {
			later = u.Now
		}
		j.WaitUntil = later.Add(rota.DependencyWait)
	}
	return j
}

// scheduledJob returns what all jobs of a schedule have in common. The template decides what runs, so the job runs with
// the rights of the template's owner: the owner of a schedule must not lend its rights to the owner of a template.
func scheduledJob(u *UnitOfWork, s *rota.Schedule, t *rota.Template, scope rota.Scope) *rota.Job {
	return &rota.Job{
		Type: t.Spec.Type, Name: s.Name, Template: t.Name, Schedule: s.Name, ScopeKind: scope.Kind, ScopeID: scope.ID,
		Params: rota.MergeParams(t.Spec.Params, s.Spec.Params), Status: rota.StatusQueued, Attempt: 1,
		Priority: schedulePriority(s, t), Policy: policyOf(u, t.Spec.Type, s.Spec.Policy.Or(t.Spec.Policy)),
		ConcurrencyKey: t.Spec.ConcurrencyKey, Owner: t.Owner, CreatedBy: s.CreatedBy, CreatedAt: u.Now,
	}
}

func schedulePriority(s *rota.Schedule, t *rota.Template) int {
	return or(s.Spec.Priority, or(t.Spec.Priority, rota.DefaultPriority))
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
			"fire times from "+Stamp(micros(c.Missed))+" on were given up (catch-up "+string(s.Spec.CatchUp)+")", nil)
	}
}

// finishFire ends an AT schedule that has fired for the last time and has
// nothing left to wait for, or whose time was missed.
func finishFire(u *UnitOfWork, c *rota.Fire, name string) {
	s := Schedules.get(u, name)
	switch {
	case s == nil || !spent(s):
	case len(c.Times) == 0:
		disable(u, c, s, missedReason(u, c, s))
	default:
		completeSchedule(u, c, s, false)
	}
}

// missedReason says why the only time of a schedule was missed. A pause that ended
// after that time is the reason, because a scheduler fires a due time before a
// pause can begin.
func missedReason(u *UnitOfWork, c *rota.Fire, s *rota.Schedule) string {
	if s.ResumedAt.After(micros(c.Expect)) && !s.ResumedAt.After(u.Now) {
		return "its time passed while it was paused"
	}
	return "its time passed while no scheduler ran"
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

// jobsWithoutTokens returns jobs as they are at the end of the command, without
// lease tokens.
func jobsWithoutTokens(u *UnitOfWork, ids []rota.ID) []*rota.Job {
	jobs := make([]*rota.Job, 0, len(ids))
	for _, id := range ids {
		jobs = append(jobs, withoutToken(u.job(id)))
	}
	return jobs
}
