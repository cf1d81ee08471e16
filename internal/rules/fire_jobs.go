package rules

import "github.com/rotajobs/rota"

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

// wantOverlap asks for the template of a schedule, and for the jobs that may
// overlap with new ones.
func wantOverlap(u *UnitOfWork, s *rota.Schedule) {
	if s.Spec.Overlap != rota.OverlapAllow {
		for _, scope := range s.Spec.EachScope() {
			LiveJobs.want(u, JobsOf{Schedule: s.Name, Scope: scope})
			LiveJobs.want(u, JobsOf{Schedule: s.Name, Scope: scope, Waiting: true})
		}
	}
	Templates.want(u, s.Spec.Template)
	if t, known := Templates.peek(u, s.Spec.Template); known && t != nil {
		wantScheduledJob(u, s, t)
	}
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

// scheduledJob returns what all jobs of a schedule have in common.
func scheduledJob(u *UnitOfWork, s *rota.Schedule, t *rota.Template, scope rota.Scope) *rota.Job {
	return &rota.Job{
		Type: t.Spec.Type, Name: s.Name, Template: t.Name, Schedule: s.Name, ScopeKind: scope.Kind, ScopeID: scope.ID,
		Params: rota.MergeParams(t.Spec.Params, s.Spec.Params), Status: rota.StatusQueued, Attempt: 1,
		Priority: schedulePriority(s, t), Policy: policyOf(u, t.Spec.Type, s.Spec.Policy.Or(t.Spec.Policy)),
		ConcurrencyKey: t.Spec.ConcurrencyKey, CreatedBy: s.CreatedBy, CreatedAt: u.Now,
	}
}

func schedulePriority(s *rota.Schedule, t *rota.Template) int {
	return or(s.Spec.Priority, or(t.Spec.Priority, rota.DefaultPriority))
}
