package model

import (
	"math"
	"slices"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/diff"
)

// drop is a dropped name whose jobs are not all removed yet.
type drop struct {
	before time.Time // jobs created before belong to the dropped definition
	hidden time.Time // ended jobs created before are hidden; zero: none
	by     string
}

// drop drops a definition: it cancels queued jobs, asks running jobs to stop, and leaves the
// rest to a Sweep.
func (s *step) drop(c *rota.Drop) (rota.Reply, *rota.Error) {
	d := s.schedule(c.Name)
	switch {
	case d == nil || s.auditedSubject(scheduleSubject(c.Name)):
		return &rota.Dropped{Gone: true}, nil
	case c.Version != nil && *c.Version != d.Version:
		return nil, s.refuse(rota.Conflict, "version", "schedule %s was changed meanwhile", c.Name)
	}
	was := s.scheduleDocument(d) // the end of its last job may disable it
	what := s.dropped[c.Name]
	what.by = c.Actor
	switch {
	case !c.Recreate: // until the name is declared again, all its jobs are dropped
		what.before = forever
	case what.before.Before(s.now):
		what.before = s.now
	}
	if !c.KeepHistory {
		what.hidden = what.before
	}
	s.dropped[c.Name] = what
	s.intents[intent{"drop", c.Name}] = true
	if !c.Recreate {
		s.removeSchedule(d)
	}
	reply := &rota.Dropped{}
	all := func(*rota.Job) bool { return true }
	reply.Stopping, reply.Cancelled = s.endDropped(c.Name, all, rota.SweepMax)
	if !c.Recreate {
		reply.Archived = s.archiveUnused(d)
	}
	s.auditSubject(rota.AuditScheduleDeleted, scheduleSubject(d.Name), "", diff.Documents(was, none))
	return reply, nil
}

// forever is after every time.
var forever = time.UnixMicro(math.MaxInt64)

// boundDropped limits a drop to earlier jobs: a new definition has the name from now on.
func (s *step) boundDropped(name string) {
	what, is := s.dropped[name]
	if !is || !what.before.Equal(forever) {
		return
	}
	what.before = s.now
	if what.hidden.Equal(forever) {
		what.hidden = s.now
	}
	if what.hidden.After(what.before) {
		what.before = what.hidden
	}
	s.dropped[name] = what
}

// endDropped asks running jobs to stop, oldest first, and cancels queued jobs, newest first, at
// most maxCount together.
func (s *step) endDropped(name string, cond func(*rota.Job) bool, maxCount int) (stopping, cancelled int) {
	by, reason := s.dropped[name].by, "job "+name+" was dropped"
	runs := s.sorted(func(j *rota.Job) bool {
		return j.Schedule == name && live(j) && leased(j) && j.Run.CancelAt.IsZero() && cond(j)
	})
	queued := s.sorted(func(j *rota.Job) bool { return j.Schedule == name && j.Status == rota.StatusQueued && cond(j) })
	slices.Reverse(queued)
	runs = runs[:min(len(runs), maxCount)]
	queued = queued[:min(len(queued), maxCount-len(runs))]
	for _, j := range runs {
		s.askToStop(j, by, reason)
		s.auditJobAs(by, rota.AuditJobStopping, j, reason, nil)
	}
	for _, j := range queued {
		s.cancelQueued(j)
		s.auditJobAs(by, rota.AuditJobCancelled, j, reason, nil)
	}
	return len(runs), len(queued)
}

// wasDropped reports whether a job was created before its definition was dropped.
func (s *state) wasDropped(j *rota.Job) bool {
	what, is := s.dropped[j.Schedule]
	return is && j.CreatedAt.Before(what.before)
}

// hidden reports whether a job belongs to the hidden history of a dropped definition.
func (s *state) hidden(j *rota.Job) bool {
	return !live(j) && j.CreatedAt.Before(s.dropped[j.Schedule].hidden)
}

// sweepDrop continues a drop. It considers only jobs that had ended before it began, and at
// most one more of them than it may change.
func (s *step) sweepDrop(name string, maxCount, budget int) (count int, left bool) {
	if _, is := s.dropped[name]; !is {
		return 0, false
	}
	past := s.sorted(func(j *rota.Job) bool {
		return j.Schedule == name && s.hidden(j) && j.Sequel != rota.SequelRetry
	})
	past, _ = page(past, budget+1)
	stopping, cancelled := s.endDropped(name, s.wasDropped, maxCount)
	count = stopping + cancelled
	rows := count
	for _, tail := range past {
		first := s.find(tail.ExecutionID)
		if rows >= maxCount || s.redrivesKept(first, past) {
			continue
		}
		rows += s.rowsOf(first)
		if !s.redrivesExisting(first) {
			jobs, entries := s.removeExecution(first, tail)
			count += jobs + entries
		}
	}
	if count > 0 {
		return count, true
	}
	liveJobs := s.pick(func(j *rota.Job) bool { return j.Schedule == name && live(j) && s.wasDropped(j) })
	if len(past)+len(liveJobs) == 0 {
		delete(s.dropped, name)
	}
	return 0, false
}

// redrivesKept reports whether an execution redrives one that exists and is not among those to be
// removed, given by their last attempts.
func (s *step) redrivesKept(first *rota.Job, past []*rota.Job) bool {
	redriven := s.find(first.RedriveOf)
	return redriven != nil && !slices.ContainsFunc(past, func(j *rota.Job) bool { return j.ExecutionID == redriven.ExecutionID })
}
