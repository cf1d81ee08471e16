package rules

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

// decideDrop records that a schedule is dropped, which takes effect at once,
// and ends the first of its jobs. A Sweep ends the rest. Until then a queued
// job may still be claimed, since a claim does not read schedules; it is then
// asked to stop and never retried.
func decideDrop(u *UnitOfWork, c *rota.Drop) (rota.Reply, *rota.Error) {
	u.wantAuditedSubject(c, ScheduleSubject(c.Name))
	s := Schedules.get(u, c.Name)
	switch {
	case s == nil || u.auditedSubject(c, ScheduleSubject(c.Name)):
		return &rota.Dropped{Gone: true}, nil
	case c.Version != nil && *c.Version != s.Version:
		return nil, changedSince("schedule " + c.Name)
	}
	wantDroppedJobs(u, c.Name, math.MaxInt64, rota.SweepMax)
	wantScheduleChanges(u, s)
	if !c.Recreate {
		TemplateSchedules.want(u, otherUsers(s.Spec.Template))
		BlockedJobs.want(u, blockedBy(c.Name, everyScope))
		Dependents.want(u, DependentsQuery{Schedule: c.Name})
	}
	d := recordDropped(u, c)
	reply := &rota.Dropped{}
	u.together(
		func() {
			if !c.Recreate {
				removeSchedule(u, c, s)
			}
		},
		func() {
			reply.Stopping, reply.Cancelled = endDroppedJobs(u, c, d, math.MaxInt64, rota.SweepMax, rota.SweepMax)
		},
		func() {
			if !c.Recreate {
				reply.Archived = archiveUnused(u, c, s)
			}
		},
	)
	u.auditSubject(c, rota.AuditScheduleDeleted, ScheduleSubject(s.Name), "", scheduleChanges(u, s, nil))
	return reply, nil
}

// unbounded is the bound of a drop as long as no other schedule has the name:
// all jobs of that name belong to the dropped schedule, whatever clock they
// were created by.
const unbounded = math.MaxInt64

// dropOf returns the record of a dropped schedule. It also asks for the
// schedule, whose lock covers both.
func (u *UnitOfWork) dropOf(schedule string) *Dropped {
	if schedule == "" {
		return nil
	}
	Schedules.want(u, schedule)
	return DroppedSchedules.get(u, schedule)
}

// recordDropped records a drop for the Sweep and for readers. Of two drops the
// later one counts; jobs hidden by the earlier one stay hidden.
func recordDropped(u *UnitOfWork, c *rota.Drop) *Dropped {
	next := &Dropped{Schedule: c.Name}
	if d := u.dropOf(c.Name); d != nil {
		*next = *d
	}
	next.By = c.Actor
	if c.Recreate { // a new schedule takes the name at once
		next.Before = max(next.Before, u.Now.UnixMicro())
	} else {
		next.Before = unbounded
	}
	if !c.KeepHistory {
		next.Hidden = next.Before
	}
	DroppedSchedules.set(u, c.Name, next)
	u.addIntent(IntentDrop, c.Name)
	return next
}

// boundDropped ends an unbounded drop when a new schedule takes the name: jobs
// created from now on belong to that schedule.
func boundDropped(u *UnitOfWork, schedule string) {
	d := u.dropOf(schedule)
	if d == nil || d.Before != unbounded {
		return
	}
	next := *d
	next.Before = u.Now.UnixMicro()
	if d.Hidden == unbounded {
		next.Hidden = next.Before
	}
	next.Before = max(next.Before, next.Hidden) // a clock may have been set back since an earlier drop
	DroppedSchedules.set(u, schedule, &next)
}

// dropped reports whether a job belongs to a dropped schedule, so that it is
// not retried.
func dropped(u *UnitOfWork, j *rota.Job) bool {
	d := u.dropOf(j.Schedule)
	return d != nil && j.CreatedAt.UnixMicro() < d.Before
}

// hidden reports whether a job has ended and is no longer shown.
func hidden(u *UnitOfWork, j *rota.Job) bool {
	d := u.dropOf(j.Schedule)
	return d != nil && j.Sequel != "" && j.CreatedAt.UnixMicro() < d.Hidden
}

// wantDroppedJobs asks for what is to be ended of a schedule. The queued jobs are
// read first: a job that another transaction claims between the two reads is in
// both lists. In the other order it would be in neither.
func wantDroppedJobs(u *UnitOfWork, schedule string, before int64, limit int) {
	DroppedJobs.want(u, DroppedJobsQuery{Schedule: schedule, Before: before, Kind: DroppedQueued, Limit: limit})
	DroppedJobs.want(u, DroppedJobsQuery{Schedule: schedule, Before: before, Kind: DroppedRunning, Limit: limit})
}

// endDroppedJobs asks running jobs of a schedule to stop, and then cancels
// queued ones, at most maxCount together. The last queued job comes first, so that
// a job that waits for an earlier execution ends before it could be released.
func endDroppedJobs(u *UnitOfWork, c rota.Command, d *Dropped, before int64, maxCount, limit int) (stopping, cancelled int) {
	reason := "job " + d.Schedule + " was dropped"
	runs := u.droppedJobsOf(DroppedJobsQuery{Schedule: d.Schedule, Before: before, Kind: DroppedRunning, Limit: limit})
	for _, j := range runs[:min(len(runs), maxCount)] {
		stopRun(u, j.ID, d.By, reason)
		u.auditJobAs(c, d.By, rota.AuditJobStopping, u.job(j.ID), reason, nil)
		stopping++
	}
	queued := u.droppedJobsOf(DroppedJobsQuery{Schedule: d.Schedule, Before: before, Kind: DroppedQueued, Limit: limit})
	u.each(min(len(queued), maxCount-stopping), func(i int) {
		cancelJob(u, c, queued[i].ID, true)
		u.auditJobAs(c, d.By, rota.AuditJobCancelled, u.job(queued[i].ID), reason, nil)
		cancelled++
	})
	return stopping, cancelled
}

// droppedJobsOf returns the queried jobs as decided, in their order.
func (u *UnitOfWork) droppedJobsOf(q DroppedJobsQuery) (jobs []*rota.Job) {
	ids := slices.Concat(DroppedJobs.get(u, q), u.createdBySchedule[q.Schedule])
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		if j := u.job(id); j != nil && j.CreatedAt.UnixMicro() < q.Before && q.Kind.picks(j) {
			jobs = append(jobs, j)
		}
	}
	if q.Kind == DroppedQueued {
		slices.Reverse(jobs)
	}
	return jobs[:min(len(jobs), q.Limit)]
}

func (r DroppedKind) picks(j *rota.Job) bool {
	switch r {
	case DroppedRunning:
		return j.Sequel == "" && j.Run != nil && j.Run.Open() && j.Run.CancelAt.IsZero()
	case DroppedQueued:
		return j.Status == rota.StatusQueued
	case DroppedLive:
		return j.Sequel == ""
	}
	return j.Sequel != "" && j.Sequel != rota.SequelRetry
}

func liveDroppedJobs(d *Dropped) DroppedJobsQuery {
	return DroppedJobsQuery{Schedule: d.Schedule, Before: d.Before, Kind: DroppedLive, Limit: 1}
}

func endedDroppedJobs(d *Dropped, limit int) DroppedJobsQuery {
	return DroppedJobsQuery{Schedule: d.Schedule, Before: d.Hidden, Kind: DroppedEnded, Limit: limit}
}

// sweepDrop ends what is left of a dropped schedule and removes its hidden
// history. It is done when it finds nothing to do. While a job still runs, the
// record of the drop stays, and the end of that run causes the next Sweep.
func sweepDrop(u *UnitOfWork, c *rota.Sweep, schedule string, maxCount, limit int) (touched int, done bool) {
	d := u.dropOf(schedule)
	if d == nil {
		return 0, true
	}
	wantDroppedJobs(u, schedule, d.Before, limit)
	DroppedJobs.want(u, liveDroppedJobs(d))
	var ended []*rota.Job
	if d.Hidden != 0 {
		ended = u.droppedJobsOf(endedDroppedJobs(d, limit))
	}
	u.together(
		func() {
			stopping, cancelled := endDroppedJobs(u, c, d, d.Before, maxCount, limit)
			touched = stopping + cancelled
		},
		func() {
			eachChain(u, removableOf(u, ended), maxCount-touched, func(first *rota.Job, attempts []rota.ID) {
				if prunable(u, first, attempts, noTime) {
					touched += pruneOne(u, first, attempts)
				}
			})
		},
	)
	if touched > 0 {
		return touched, false
	}
	if len(ended) == 0 && len(u.droppedJobsOf(liveDroppedJobs(d))) == 0 {
		DroppedSchedules.set(u, schedule, nil)
	}
	return 0, true
}

// removableOf returns the executions of some last attempts, without those that
// redrive another execution which is kept.
func removableOf(u *UnitOfWork, tails []*rota.Job) (executions []rota.ID) {
	ended := map[rota.ID]bool{}
	for _, j := range tails {
		ended[j.ExecutionID] = true
	}
	kept := make([]bool, len(tails))
	u.each(len(tails), func(i int) {
		first := u.job(tails[i].ExecutionID)
		if first == nil { // another transaction pruned it since its last attempt was read
			kept[i] = true
			return
		}
		redriven := u.job(first.RedriveOf)
		kept[i] = redriven != nil && !ended[redriven.ExecutionID]
	})
	for i, j := range tails {
		if !kept[i] {
			executions = append(executions, j.ExecutionID)
		}
	}
	return executions
}
