package rules

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Events returns the events that some changes mean to watchers. Events are
// derived from differences, so a command that is sent again and changes nothing
// produces none. The events of one job are in the order of its life; the end of
// a job precedes the jobs created by it.
func Events(c *Changes) []rota.Event {
	n := 0
	c.eachEvent(func(rota.EventKind, *rota.Job, string) { n++ }, func(rota.Event) { n++ })
	if n == 0 {
		return nil
	}
	events := make([]rota.Event, 0, n)
	c.eachEvent(func(kind rota.EventKind, j *rota.Job, detail string) {
		events = append(events, rota.Event{Detail: detail})
		fillJobEvent(&events[len(events)-1], kind, j)
	}, func(e rota.Event) { events = append(events, e) })
	for i := range events {
		events[i].At = c.Now
	}
	return events
}

// jobEventFunc receives an event of a job.
type jobEventFunc func(kind rota.EventKind, j *rota.Job, detail string)

// eachEvent calls job for every event of a job and other for every other event.
func (c *Changes) eachEvent(job jobEventFunc, other func(rota.Event)) {
	edits := c.editsByJob()
	eachChange(c.Jobs, edits, job)
	eachStart(c.Jobs, job)
	eachEnd(c.Jobs, job)
	for _, j := range c.NewJobs {
		job(rota.EventJobEnqueued, j, "")
	}
	eachChange(c.NewJobChanges, edits, job)
	eachStart(c.NewJobChanges, job)
	eachSequel(c.Jobs, job)
	eachSequel(c.NewJobChanges, job)
	c.eachScheduleEvent(other)
	c.eachReservationEvent(other)
	c.eachDefinitionEvent(other)
}

// eachStart reports jobs that were dispatched, or closed without ever being
// dispatched.
func eachStart(jobs []JobChange, job jobEventFunc) {
	for _, j := range jobs {
		switch {
		case j.Fields&JobRun == 0:
		case j.Job.Run.Open():
			job(rota.EventJobStarted, j.Job, "")
		default:
			job(outcomeEvents[j.Job.Run.ShownOutcome()], j.Job, "")
		}
	}
}

// eachEnd reports runs that ended or were asked to stop.
func eachEnd(jobs []JobChange, job jobEventFunc) {
	for _, j := range jobs {
		switch {
		case j.Fields&JobRun != 0:
		case j.Fields&RunOutcome != 0:
			job(outcomeEvents[j.Job.Run.ShownOutcome()], j.Job, "")
		case stopRequested(j):
			job(rota.EventJobStopping, j.Job, "")
		}
	}
}

// stopRequested reports whether a run was asked to stop.
func stopRequested(j JobChange) bool {
	return j.Fields&(JobRun|RunOutcome) == 0 && j.Fields&RunCancel != 0 && j.Job.Run.Open()
}

// AppendStopping appends the jobs whose runs some changes ask to stop.
func AppendStopping(jobs []rota.ID, c *Changes) []rota.ID {
	for _, j := range c.Jobs {
		if stopRequested(j) {
			jobs = append(jobs, j.Job.ID)
		}
	}
	return jobs
}

// eachSequel reports jobs that were cancelled or are dead.
func eachSequel(jobs []JobChange, job jobEventFunc) {
	for _, j := range jobs {
		if j.Fields&JobStatus != 0 && j.Job.Status == rota.StatusCancelled {
			job(rota.EventJobCancelled, j.Job, "")
		}
		if j.Fields&JobSequel != 0 && j.Job.Sequel == rota.SequelDead {
			job(rota.EventJobDead, j.Job, "")
		}
	}
}

var outcomeEvents = map[rota.Outcome]rota.EventKind{
	rota.OutcomeCompleted: rota.EventJobCompleted,
	rota.OutcomeFailed:    rota.EventJobFailed,
	rota.OutcomeSkipped:   rota.EventJobSkipped,
	rota.OutcomeCancelled: rota.EventJobCancelled,
}

// eachScheduleEvent reports fires by the changed rows, since a fire that is
// sent twice changes no row, and missed or disabled schedules by the audit
// entries.
func (c *Changes) eachScheduleEvent(other func(rota.Event)) {
	for _, s := range Schedules.Changes(c) {
		if s.Was == nil || s.Is == nil || s.Is.LastFire.IsZero() || s.Is.LastFire.Equal(s.Was.LastFire) {
			continue
		}
		other(rota.Event{
			Kind: rota.EventScheduleFired, Name: s.Key, Schedule: s.Key, Template: s.Is.Spec.Template,
			PlanTime: s.Is.LastFire, Detail: c.firedJobs(s.Key),
		})
	}
	for i := range c.Audit {
		e := &c.Audit[i]
		kind := rota.EventScheduleMissed
		switch e.Act {
		case rota.AuditScheduleMissed:
		case rota.AuditScheduleDisabled:
			kind = rota.EventScheduleDisabled
		default:
			continue
		}
		name := strings.TrimPrefix(e.Subject, ScheduleSubject(""))
		other(rota.Event{Kind: kind, Name: name, Schedule: name, Detail: e.Detail})
	}
}

// firedJobs returns how many jobs a fire created, as text.
func (c *Changes) firedJobs(schedule string) string {
	n := 0
	for _, j := range c.NewJobs {
		if j.Schedule == schedule && j.RetryOf.IsZero() {
			n++
		}
	}
	if n == 1 {
		return "1 job"
	}
	return strconv.Itoa(n) + " jobs"
}

// eachReservationEvent reports ends first: an expired reservation ends before
// the next one starts.
func (c *Changes) eachReservationEvent(other func(rota.Event)) {
	emit := func(kind rota.EventKind, r *rota.Reservation) {
		other(rota.Event{Kind: kind, ReservationID: r.ID, JobID: r.JobID, Runner: r.Node})
	}
	for _, r := range Reservations.Changes(c) {
		if r.Was != nil && r.Is != nil && r.Was.Status != r.Is.Status {
			emit(reservationEnds[r.Is.Status], r.Is)
		}
	}
	for _, r := range Reservations.Changes(c) {
		if r.Was == nil && r.Is != nil {
			emit(rota.EventReservationActive, r.Is)
		}
	}
}

var reservationEnds = map[rota.ReservationStatus]rota.EventKind{
	rota.ReservationReleased: rota.EventReservationReleased,
	rota.ReservationExpired:  rota.EventReservationExpired,
}

// fillJobEvent fills an event in place, since an event is large to copy.
func fillJobEvent(e *rota.Event, kind rota.EventKind, j *rota.Job) {
	e.Kind, e.JobID, e.ExecutionID, e.Type, e.Name = kind, j.ID, j.ExecutionID, j.Type, j.DefinitionName()
	e.Template, e.Schedule, e.GroupID, e.Attempt, e.PlanTime = j.Template, j.Schedule, j.GroupID, j.Attempt, j.PlanTime
	run := j.Run
	if run == nil || kind == rota.EventJobChanged { // it was changed before it started
		return
	}
	e.RunID, e.Runner = run.ID, run.Runner
	switch {
	case kind == rota.EventJobStarted:
		e.QueuedAt, e.DueAt = j.QueuedAt, dueAt(j)
	case kind == rota.EventJobStopping:
		e.Detail = run.CancelReason
	default:
		e.Error, e.ErrorCode = eventError(run.Error), run.ErrorCode
		if run.Runner != "" { // a run that Rota closed by itself never started
			e.StartedAt = j.StartedAt
		}
	}
}

// dueAt returns when a job could first have started. A delayed job becomes
// ready when Ready is sent, which may be late, so its run_at counts. A job that
// also waited for something else, or may have, could start when it became
// ready.
func dueAt(j *rota.Job) time.Time {
	mayHaveWaited := j.Schedule != "" && (j.RetryOf.IsZero() || !j.WaitUntil.IsZero())
	if j.RunAt.After(j.CreatedAt) && WaitedForTime(j) && !mayHaveWaited {
		return j.RunAt
	}
	return j.QueuedAt
}

// eventError truncates an error text at a character boundary. It clones what it
// keeps, so that the long text can be freed: events are kept longer than their
// source.
func eventError(text string) string {
	if len(text) <= rota.EventErrorMax {
		return text
	}
	end := rota.EventErrorMax
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}
