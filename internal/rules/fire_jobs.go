package rules

import "github.com/rotajobs/rota"

// needFireJobs asks for what it takes to make the jobs of a schedule for some
// times, one for each of its scopes.
func needFireJobs(n *Need, s *rota.Schedule, times []rota.FireTime, id func(int) rota.ID) {
	t := n.template(s.Spec.Template)
	scopes := s.Spec.EachScope()
	for i := range len(times) * len(scopes) {
		n.job(id(i))
	}
	if t == nil {
		return
	}
	needScheduledJob(n, s, t)
	for _, scope := range scopes {
		if s.Spec.Overlap != rota.OverlapAllow {
			needOverlap(n, s, scope)
		}
		for i := range times {
			j := plannedJob(n.unit, s, t, scope, &times[i])
			plan, _ := PlanOf(j)
			n.plan(plan)
			needMetBy(n, j, s.Spec.DependsOn)
		}
	}
}

// needScheduledJob asks for what every job of a schedule needs.
func needScheduledJob(n *Need, s *rota.Schedule, t *rota.Template) {
	n.typ(t.Spec.Type)
	n.tail(schedulePriority(s, t))
	n.keyQueue(t.Spec.ConcurrencyKey)
}

// needOverlap asks for what has not ended of a schedule and a scope, and for what
// its end would touch.
func needOverlap(n *Need, s *rota.Schedule, scope rota.Scope) {
	needPrevious(n, s.Name, scope)
	waiting, others := n.unit.liveOf(s.Name, scope)
	for _, j := range append(waiting, others...) {
		if waitExpired(n.unit, j) {
			needMet(n, j)
			needEnd(n, j, false)
		} else if s.Spec.Overlap == rota.OverlapCancel {
			needEnd(n, j, false)
		}
	}
}

// createFireJobs creates the jobs of a schedule for some times, unless they were
// planned already. It returns the ids of the created jobs and the number of
// jobs that existed.
func createFireJobs(u *UnitOfWork, c rota.Command, s *rota.Schedule, t *rota.Template, times []rota.FireTime, catchUp bool, id func(int) rota.ID) (created []rota.ID, known int) {
	i := 0
	for k := range times {
		for _, scope := range s.Spec.EachScope() {
			j := plannedJob(u, s, t, scope, &times[k])
			j.ID, j.ExecutionID = id(i), id(i)
			i++
			plan, _ := PlanOf(j)
			if !u.plans[plan].IsZero() {
				known++
				continue
			}
			createScheduledJob(u, c, s, j, catchUp)
			created = append(created, j.ID)
		}
	}
	return created, known
}

// createScheduledJob puts a job of a schedule into the queue as overlap and dependencies
// allow.
func createScheduledJob(u *UnitOfWork, c rota.Command, s *rota.Schedule, j *rota.Job, catchUp bool) {
	skipped, hold := applyOverlap(u, c, s, scopeOf(j), catchUp)
	if !skipped && !j.PlanTime.IsZero() && unmet(u, j) != "" {
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
