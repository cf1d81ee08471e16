package rules

import (
	"math"
	"slices"

	"github.com/rotajobs/rota"
)

func needDrop(n *Need, c *rota.Drop) {
	n.wroteOf(c, scheduleSubject(c.Name))
	s := n.schedule(c.Name)
	if s == nil {
		return
	}
	n.dropped(c.Name)
	needRest(n, c.Name, math.MaxInt64, rota.SweepMax)
	if c.Recreate {
		return
	}
	n.template(s.Spec.Template)
	n.using(Using{Template: s.Spec.Template, Disabled: true, Limit: 2})
	needBlocked(n, c.Name, everyScope)
	needDependents(n, c.Name, everyScope)
}

// decideDrop writes down that a definition is dropped, which takes effect at once,
// and carries it out for the first of its jobs. Of those beyond, what is queued may
// still be claimed before a Sweep comes to it, since a claim looks at no schedule;
// it is then asked to stop, and never tried again.
func decideDrop(w *UnitOfWork, c *rota.Drop) (rota.Reply, *rota.Error) {
	s := w.schedules.get(c.Name)
	switch {
	case s == nil || w.wroteOf(c, scheduleSubject(c.Name)):
		return &rota.Dropped{Gone: true}, nil
	case c.Version != nil && *c.Version != s.Version:
		return nil, changedSince("schedule " + c.Name)
	}
	d := noteDropped(w, c)
	if !c.Recreate {
		removeSchedule(w, c, s)
	}
	reply := &rota.Dropped{}
	reply.Stopping, reply.Cancelled = endRest(w, c, d, math.MaxInt64, rota.SweepMax, rota.SweepMax)
	if !c.Recreate {
		reply.Archived = archiveUnused(w, c, s)
	}
	w.logOf(c, rota.AuditScheduleDeleted, scheduleSubject(s.Name), "")
	return reply, nil
}

// forever is the bound of what was dropped as long as nothing else has the name: all
// that goes by it is of the past then, whatever clock it was made by.
const forever = math.MaxInt64

// noteDropped notes what is dropped for the Sweep, and for who asks meanwhile. Of
// two drops the later one counts; what the earlier one hid stays hidden.
func noteDropped(w *UnitOfWork, c *rota.Drop) *Dropped {
	next := &Dropped{Schedule: c.Name}
	if d := w.dropped.get(c.Name); d != nil {
		*next = *d
	}
	next.By = c.Actor
	if c.Recreate { // another takes its place at once
		next.Before = max(next.Before, w.Now.UnixMicro())
	} else {
		next.Before = forever
	}
	if !c.KeepHistory {
		next.Hidden = next.Before
	}
	w.dropped.set(w, c.Name, next)
	w.intend(IntentDrop, c.Name)
	return next
}

// boundDropped ends the past of a name with the declaration of another definition:
// what is made from now on is that one's.
func boundDropped(w *UnitOfWork, schedule string) {
	d := w.dropped.get(schedule)
	if d == nil || d.Before != forever {
		return
	}
	next := *d
	next.Before = w.Now.UnixMicro()
	if d.Hidden == forever {
		next.Hidden = next.Before
	}
	next.Before = max(next.Before, next.Hidden) // a clock may have been set back since an earlier drop
	w.dropped.set(w, schedule, &next)
}

// dropped says that a job belongs to a definition that was dropped: nothing of it
// is tried again.
func dropped(w *UnitOfWork, j *rota.Job) bool {
	d := w.dropped.get(j.Schedule)
	return d != nil && j.CreatedAt.UnixMicro() < d.Before
}

// hidden says that a job has ended and is not shown any more.
func hidden(w *UnitOfWork, j *rota.Job) bool {
	d := w.dropped.get(j.Schedule)
	return d != nil && j.Sequel != "" && j.CreatedAt.UnixMicro() < d.Hidden
}

// needRest asks for what is to be ended of a schedule, and for what its end
// touches.
func needRest(n *Need, schedule string, before int64, limit int) {
	n.rest(DroppedJobs{Schedule: schedule, Before: before, Kind: DroppedRunning, Limit: limit})
	queued := DroppedJobs{Schedule: schedule, Before: before, Kind: DroppedQueued, Limit: limit}
	n.rest(queued)
	for _, j := range n.unit.restOf(queued) {
		needEnd(n, j, false)
	}
}

// endRest asks what runs of a schedule to stop, and then cancels what is queued,
// at most so many together. The last comes first: whoever waits behind another
// then goes before it gets that one's turn.
func endRest(w *UnitOfWork, c rota.Command, d *Dropped, before int64, most, asked int) (stopping, cancelled int) {
	reason := "job " + d.Schedule + " was dropped"
	runs := w.restOf(DroppedJobs{Schedule: d.Schedule, Before: before, Kind: DroppedRunning, Limit: asked})
	for _, j := range runs[:min(len(runs), most)] {
		stopRun(w, j.ID, d.By, reason)
		w.logFor(c, d.By, rota.AuditJobCancelled, j.ID, reason)
		stopping++
	}
	queued := w.restOf(DroppedJobs{Schedule: d.Schedule, Before: before, Kind: DroppedQueued, Limit: asked})
	for _, j := range queued[:min(len(queued), most-stopping)] {
		cancelJob(w, c, j.ID, true)
		w.logFor(c, d.By, rota.AuditJobCancelled, j.ID, reason)
		cancelled++
	}
	return stopping, cancelled
}

// restOf are the jobs asked for as they stand in this world, in their order.
func (w *UnitOfWork) restOf(q DroppedJobs) (jobs []*rota.Job) {
	ids := slices.Concat(w.rest.get(q), w.born[q.Schedule])
	slices.SortFunc(ids, rota.ID.Compare)
	for _, id := range slices.Compact(ids) {
		if j := w.job(id); j != nil && j.CreatedAt.UnixMicro() < q.Before && q.Kind.picks(j) {
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

// logFor writes about a job on behalf of somebody else than who sent the command.
func (w *UnitOfWork) logFor(c rota.Command, actor, act string, job rota.ID, detail string) {
	w.write(rota.AuditEntry{
		ID: rota.AuditID(c.Head().ID, c.Verb(), job), At: w.Now, Actor: actor, Act: act, JobID: job, Detail: detail,
	})
}

func needSweepDrop(n *Need, schedule string, limit int) {
	d := n.dropped(schedule)
	if d == nil {
		return
	}
	needRest(n, schedule, d.Before, limit)
	n.rest(restLive(d))
	if d.Hidden == 0 {
		return
	}
	n.rest(restEnded(d, limit))
	for _, j := range n.unit.restOf(restEnded(d, limit)) {
		needPruneOne(n, j.ExecutionID)
	}
}

func restLive(d *Dropped) DroppedJobs {
	return DroppedJobs{Schedule: d.Schedule, Before: d.Before, Kind: DroppedLive, Limit: 1}
}

func restEnded(d *Dropped, limit int) DroppedJobs {
	return DroppedJobs{Schedule: d.Schedule, Before: d.Hidden, Kind: DroppedEnded, Limit: limit}
}

// sweepDrop ends what is left of a definition that was dropped, and removes what
// is hidden of its history. It is done when it finds nothing to do; while something
// still runs, what was dropped is remembered, and the end of that run brings the
// next Sweep.
func sweepDrop(w *UnitOfWork, c *rota.Sweep, schedule string, most, asked int) (touched int, done bool) {
	d := w.dropped.get(schedule)
	if d == nil {
		return 0, true
	}
	ended := w.restOf(restEnded(d, asked))
	stopping, cancelled := endRest(w, c, d, d.Before, most, asked)
	touched = stopping + cancelled
	for _, j := range ended {
		if touched < most && pruneHidden(w, j.ExecutionID) {
			touched++
		}
	}
	if touched > 0 {
		return touched, false
	}
	if len(ended) == 0 && len(w.restOf(restLive(d))) == 0 {
		w.dropped.set(w, schedule, nil)
	}
	return 0, true
}

// pruneHidden removes an execution as Prune does, unless that would keep it.
func pruneHidden(w *UnitOfWork, execution rota.ID) bool {
	first, attempts := w.job(execution), w.attempts.get(Attempts{Execution: execution})
	if first == nil || !prunable(w, first, attempts, noTime) {
		return false
	}
	pruneOne(w, first, attempts)
	return true
}
