package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testEvents shows which events a watcher receives, and that it receives none for things that
// did not happen.
func testEvents(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"an enqueued job publishes job.enqueued", eventEnqueued},
		{"a claimed job publishes job.started", eventStarted},
		{"job.started holds the time since which the job was due", eventDue},
		{"each outcome publishes its event", eventOutcomes},
		{"job.failed comes before the job.enqueued of the retry", eventRetry},
		{"job.dead follows job.failed", eventDead},
		{"job.dead follows the job.failed of a timeout", eventTimeout},
		{"a job cancelled in the queue publishes job.cancelled without a run", eventCancelled},
		{"a run that is asked to stop publishes job.stopping once", eventStopping},
		{"a job skipped by overlap publishes job.enqueued and job.skipped", eventSkipped},
		{"a reaped run publishes job.failed", eventReaped},
		{"a recovered run publishes job.failed", eventRecovered},
		{"a fire publishes schedule.fired with its time", eventFired},
		{"skipped fire times publish schedule.missed", eventMissed},
		{"a schedule that Rota disables publishes schedule.disabled", eventDisabled},
		{"a reservation publishes events when it begins and ends", eventReserved},
		{"a direct run publishes its start, and its end publishes the release", eventDirect},
		{"a long error is cut between two characters", eventLongError},
		{"a refused command publishes no events, the others of the batch do", eventRefused},
		{"heartbeats and notes publish no events", eventNone},
		{"a stopped watch receives no more events, others do", eventStop},
		{"events arrive before the answer, in the order of commits", eventOrder},
	})
	runStories(t, h, changeStories())
	if !h.slice { // resend sends every command there
		testEveryCommandPublishes(t, h)
	}
}

// eventsDuring returns the events that the store publishes while act runs.
func (y *story) eventsDuring(act func()) []rota.Event {
	y.Helper()
	e := watch(y.s)
	defer e.stop()
	act()
	return e.take()
}

// wantEvents wants exactly these events, with the current time, while act runs.
func (y *story) wantEvents(act func(), events ...rota.Event) {
	y.Helper()
	got := y.eventsDuring(act)
	for i := range events {
		events[i].At = y.now
	}
	if diff := difference(eventsText(events), eventsText(got)); diff != "" {
		y.Errorf("the events differ:\n%s", diff)
	}
}

// jobEvent returns an event of a job with the fields that every job event has.
func jobEvent(kind rota.EventKind, j *rota.Job) rota.Event {
	return rota.Event{
		Kind: kind, JobID: j.ID, ExecutionID: j.ExecutionID, Type: j.Type, Name: j.DefinitionName(), Template: j.Template,
		Schedule: j.Schedule, GroupID: j.GroupID, Attempt: j.Attempt, PlanTime: j.PlanTime,
	}
}

// runEvent returns an event of a job that was claimed.
func runEvent(kind rota.EventKind, j *rota.Job) rota.Event {
	e := jobEvent(kind, j)
	e.RunID, e.Runner = j.Run.ID, j.Run.Runner
	switch kind {
	case rota.EventJobStarted:
		e.QueuedAt, e.DueAt = j.QueuedAt, j.QueuedAt
	case rota.EventJobStopping:
	default:
		e.StartedAt = j.StartedAt
	}
	return e
}

// withError returns an event with the error of its run.
func withError(e rota.Event, code, text string) rota.Event {
	e.ErrorCode, e.Error = code, text
	return e
}

func eventEnqueued(y *story) {
	n := rota.NewJob{ID: y.ids.next(), Type: "mail", Name: "digest", PlanTime: startTime}
	y.wantEvents(func() { y.enqueue(n) }, rota.Event{
		Kind: rota.EventJobEnqueued, JobID: n.ID, ExecutionID: n.ID, Type: "mail", Name: "digest", Attempt: 1, PlanTime: startTime,
	})
	var group *rota.GroupEnqueued
	got := y.eventsDuring(func() { group = y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{}, rota.NewJob{Delay: time.Hour}) })
	want(y, "members", eventsText(withoutTimes(got)), eventsText([]rota.Event{
		jobEvent(rota.EventJobEnqueued, group.Jobs[0]), jobEvent(rota.EventJobEnqueued, group.Jobs[1]),
	}))
}

func eventStarted(y *story) {
	y.enqueueMany(2)
	y.advance(time.Minute)
	var jobs []*rota.Job
	got := y.eventsDuring(func() { jobs = y.claim(5) })
	for _, j := range jobs {
		wantTime(y, "queued at", j.QueuedAt, startTime)
	}
	want(y, "events", len(got), 2)
	want(y, "text", eventsText(withoutTimes(got)), eventsText([]rota.Event{runEvent(rota.EventJobStarted, jobs[0]), runEvent(rota.EventJobStarted, jobs[1])}))
}

// eventDue checks the start events of jobs that waited for different reasons. Each becomes
// ready and is claimed a minute after it could have been.
func eventDue(y *story) {
	due := func(what string, at time.Time) {
		y.Helper()
		y.advance(time.Minute)
		y.makeReady()
		got := y.eventsDuring(func() { y.claim(1) })
		y.wantKinds(got, rota.EventJobStarted)
		wantTime(y, what, got[0].DueAt, at)
	}
	y.enqueue(rota.NewJob{})
	due("a job that waited for nothing", y.now)
	y.enqueue(rota.NewJob{RunAt: y.now.Add(-time.Hour)})
	due("a job whose time was past", y.now)
	y.enqueue(rota.NewJob{Delay: time.Second})
	due("a delayed job", y.now.Add(time.Second))
	failed := y.running(rota.NewJob{})
	retry := y.job(y.fail(failed).RetryID)
	want(y, "the retry waits", retry.RunAt.After(y.now), true)
	y.advanceTo(retry.RunAt)
	due("a retry", retry.RunAt)
	y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{Delay: time.Second})
	due("a delayed job that may have waited for its turn", y.now.Add(time.Minute))
	y.enqueue(rota.NewJob{Delay: time.Second, ConcurrencyKey: ptr("k")})
	due("a delayed job that may have waited for its key", y.now.Add(time.Minute))
}

// withoutTimes clears the times at which events happened.
func withoutTimes(events []rota.Event) []rota.Event {
	for i := range events {
		events[i].At = time.Time{}
	}
	return events
}

func eventOutcomes(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	n := rota.NewJob{Type: "mail", Template: "letter", Name: "digest", PlanTime: startTime.Add(time.Hour)}
	j := y.running(n)
	y.advance(time.Minute)
	y.wantEvents(func() { y.complete(j) }, runEvent(rota.EventJobCompleted, j))
	j = y.running(rota.NewJob{})
	y.wantEvents(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeSkipped}) }, runEvent(rota.EventJobSkipped, j))
	j = y.running(rota.NewJob{})
	y.wantEvents(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: "stop"}) },
		withError(runEvent(rota.EventJobCancelled, j), "stop", ""))
}

func eventRetry(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	j := y.running(rota.NewJob{Type: "mail", Template: "letter"})
	var retry rota.ID
	got := y.eventsDuring(func() { retry = y.fail(j).RetryID })
	next := y.job(retry)
	want(y, "attempt", next.Attempt, 2)
	want(y, "text", eventsText(withoutTimes(got)), eventsText([]rota.Event{
		withError(runEvent(rota.EventJobFailed, j), "dns", "no such host"), jobEvent(rota.EventJobEnqueued, next),
	}))
}

func eventDead(y *story) {
	j := y.running(rota.NewJob{})
	y.wantEvents(func() { y.failPermanently(j) }, runEvent(rota.EventJobFailed, j), runEvent(rota.EventJobDead, j))
	last := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.wantEvents(func() { y.fail(last) },
		withError(runEvent(rota.EventJobFailed, last), "dns", "no such host"), withError(runEvent(rota.EventJobDead, last), "dns", "no such host"))
}

func eventTimeout(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.wantEvents(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout}) },
		withError(runEvent(rota.EventJobFailed, j), rota.CodeTimeout, ""), withError(runEvent(rota.EventJobDead, j), rota.CodeTimeout, ""))
}

func eventCancelled(y *story) {
	j := y.enqueue(rota.NewJob{})
	y.wantEvents(func() { y.cancel(j.ID) }, jobEvent(rota.EventJobCancelled, j))
	y.wantEvents(func() { y.cancel(j.ID) })
	group := y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{}, rota.NewJob{})
	y.wantEvents(func() { y.cancelGroup(group.Group.ID) },
		jobEvent(rota.EventJobCancelled, group.Jobs[0]), jobEvent(rota.EventJobCancelled, group.Jobs[1]))
}

func eventStopping(y *story) {
	j := y.running(rota.NewJob{})
	stopping := runEvent(rota.EventJobStopping, j)
	stopping.Detail = "not needed"
	y.wantEvents(func() { y.cancel(j.ID) }, stopping)
	y.wantEvents(func() { y.cancel(j.ID) })
	y.wantEvents(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed}) },
		withError(runEvent(rota.EventJobCancelled, j), rota.CodeCancelled, ""))
}

func eventSkipped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.trigger("nightly")
	y.advanceTo(y.schedule("nightly").NextFire)
	var created *rota.Job
	got := y.eventsDuring(func() { created = y.fire("nightly")[0] })
	skipped := withError(jobEvent(rota.EventJobSkipped, created), created.Run.ErrorCode, created.Run.Error)
	skipped.RunID = created.Run.ID
	want(y, "text", eventsText(withoutTimes(got[:2])), eventsText([]rota.Event{jobEvent(rota.EventJobEnqueued, created), skipped}))
}

func eventReaped(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.advance(time.Hour)
	got := y.eventsDuring(func() { y.reap() })
	y.wantKinds(got, rota.EventJobFailed, rota.EventJobDead)
	want(y, "job", got[0].JobID, j.ID)
	want(y, "code", got[0].ErrorCode, rota.CodeLeaseExpired)
	wantTime(y, "started at", got[0].StartedAt, j.StartedAt)
}

func eventRecovered(y *story) {
	y.running(rota.NewJob{})
	y.advance(time.Second)
	y.wantKinds(y.eventsDuring(func() { y.recover() }), rota.EventJobFailed, rota.EventJobEnqueued)
	y.wantEvents(func() { y.recover() })
	lost, unsettled := y.running(rota.NewJob{}), y.running(rota.NewJob{})
	y.failPermanently(unsettled)
	y.damage(lost.ID, BreakRun)
	y.damage(unsettled.ID, BreakSequel)
	y.wantKinds(y.eventsDuring(func() { y.recover() }), rota.EventJobFailed, rota.EventJobEnqueued, rota.EventJobEnqueued)
}

// wantKinds wants events of these kinds, in this order.
func (y *story) wantKinds(got []rota.Event, kinds ...rota.EventKind) {
	y.Helper()
	kind := func(e rota.Event) string { return string(e.Kind) }
	want(y, "kinds of events", joinNames(got, kind), joinNames(kinds, func(k rota.EventKind) string { return string(k) }))
}

func eventFired(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Scopes: tenants})
	at := y.schedule("nightly").NextFire
	y.advanceTo(at)
	y.advance(time.Second)
	got := y.eventsDuring(func() { y.fire("nightly") })
	y.wantKinds(got, rota.EventJobEnqueued, rota.EventJobEnqueued, rota.EventScheduleFired)
	fired := got[2]
	want(y, "schedule", fired.Schedule, "nightly")
	want(y, "template", fired.Template, "report")
	wantTime(y, "plan time", fired.PlanTime, at)
	wantTime(y, "at", fired.At, y.now)
	y.wantKinds(y.eventsDuring(func() { y.triggerTwoScopes("nightly") })[:2], rota.EventJobEnqueued, rota.EventJobEnqueued)
}

func eventMissed(y *story) {
	y.declare("nightly", rota.ScheduleSpec{CatchUp: rota.CatchUpNone})
	y.advance(5*time.Hour + 10*time.Minute)
	got := y.eventsDuring(func() { y.fire("nightly") })
	missed := got[len(got)-1]
	want(y, "kind", missed.Kind, rota.EventScheduleMissed)
	want(y, "schedule", missed.Schedule, "nightly")
	want(y, "detail", missed.Detail != "", true)
}

func eventDisabled(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	got := y.eventsDuring(func() { y.archive("report") })
	y.wantKinds(got, rota.EventScheduleDisabled, rota.EventTemplateChanged)
	want(y, "schedule", got[0].Schedule, "nightly")
	want(y, "detail", got[0].Detail, y.schedule("nightly").Reason)
	y.unarchive("report")
	y.switchTo("nightly", rota.ScheduleEnabled)
	y.wantKinds(y.eventsDuring(func() { y.switchTo("nightly", rota.ScheduleDisabled) }), rota.EventScheduleChanged)
}

func eventReserved(y *story) {
	var first *rota.Reservation
	kept := func(kind rota.EventKind, r *rota.Reservation) rota.Event {
		return rota.Event{Kind: kind, ReservationID: r.ID, Runner: r.Node}
	}
	got := y.eventsDuring(func() { first = y.reserve() })
	want(y, "text", eventsText(withoutTimes(got)), eventsText([]rota.Event{kept(rota.EventReservationActive, first)}))
	y.advance(rota.DefaultReservation)
	var second *rota.Reservation
	got = y.eventsDuring(func() { second = y.reserve() })
	want(y, "text", eventsText(withoutTimes(got)), eventsText([]rota.Event{
		kept(rota.EventReservationExpired, first), kept(rota.EventReservationActive, second),
	}))
	y.wantEvents(func() { y.release(second) }, kept(rota.EventReservationReleased, second))
	y.wantEvents(func() { y.release(second) })
}

func eventDirect(y *story) {
	r := y.reserve()
	var j *rota.Job
	got := y.eventsDuring(func() { j = y.direct(r, rota.NewJob{}) })
	want(y, "text", eventsText(withoutTimes(got)), eventsText([]rota.Event{jobEvent(rota.EventJobEnqueued, j), runEvent(rota.EventJobStarted, j)}))
	y.wantEvents(func() { y.complete(j) }, runEvent(rota.EventJobCompleted, j),
		rota.Event{Kind: rota.EventReservationReleased, ReservationID: r.ID, JobID: j.ID, Runner: "w1"})
}

func eventLongError(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	long := "x" + strings.Repeat("é", rota.EventErrorMax)
	got := y.eventsDuring(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: long}) })
	want(y, "error", got[0].Error, long[:rota.EventErrorMax-1])
	exact := strings.Repeat("y", rota.EventErrorMax)
	j = y.running(rota.NewJob{MaxRetries: ptr(0)})
	got = y.eventsDuring(func() { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, Error: exact}) })
	want(y, "error that fits", got[0].Error, exact)
}

func eventRefused(y *story) {
	y.wantEvents(func() { y.send(y.cancelCommand(y.ids.next())) })
	good, bad := y.enqueueCommand(rota.NewJob{}), y.enqueueCommand(rota.NewJob{Type: "no spaces"})
	got := y.eventsDuring(func() { y.send(good, bad, y.cancelCommand(y.ids.next()), y.claimCommand(1)) })
	y.wantKinds(got, rota.EventJobEnqueued, rota.EventJobStarted)
	y.wantEvents(func() { y.send(y.allOf(y.enqueueCommand(rota.NewJob{}), y.cancelCommand(y.ids.next()))) })
}

func eventNone(y *story) {
	j := y.running(rota.NewJob{})
	y.enqueueMany(2)
	y.advance(time.Second)
	y.wantEvents(func() {
		y.heartbeat(j)
		y.note(j, rota.NoteItem{Artifacts: []string{"a"}})
		y.claim(1, "none")
	})
}

func eventStop(y *story) {
	first, second := watch(y.s), watch(y.s)
	defer second.stop()
	y.enqueue(rota.NewJob{})
	first.stop()
	first.stop()
	y.enqueue(rota.NewJob{})
	want(y, "events of the stopped watch", len(first.take()), 1)
	want(y, "events of the other watch", len(second.take()), 2)
}

// eventOrder enqueues and claims from several goroutines. Each event must arrive before the
// answer, and no job may start before it was enqueued.
func eventOrder(y *story) {
	e := watch(y.s)
	defer e.stop()
	commands := make([][2]rota.Command, 8)
	for i := range commands {
		commands[i] = [2]rota.Command{y.enqueueCommand(rota.NewJob{}), y.claimCommand(2)}
	}
	concurrently(len(commands), func(i int) {
		created := y.applyOne(commands[i][0]).Reply.(*rota.Enqueued).Jobs[0].Job.ID
		if !e.contains(rota.EventJobEnqueued, created) {
			y.Errorf("job %s was answered before its event", created)
		}
		for _, j := range y.applyOne(commands[i][1]).Reply.(*rota.Claimed).Jobs {
			if !e.contains(rota.EventJobStarted, j.ID) {
				y.Errorf("the claim of job %s was answered before its event", j.ID)
			}
		}
	})
	if err := checkEventHistory(y.ctx, y.s, e.take()); err != nil {
		y.Error(err)
	}
}
