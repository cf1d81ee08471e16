package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTimeout(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a timeout is stored as CANCELLED with its code, and the job is failed", timeoutShown},
		{"a timeout is listed and counted with the failures", timeoutListed},
		{"a timeout after a request to stop is a cancellation", timeoutOfStopped},
		{"a timeout before a request to stop is a failure that is not retried", timeoutThenStopped},
		{"the first cause counts if a remote worker ignores both its deadline and a cancel", timeoutFirstCause},
		{"a timeout that was not settled is counted as a failure", timeoutUnsettled},
		{"the last timeout of an execution leaves a dead letter", timeoutDead},
		{"a redrive that timed out replaces the dead letter", timeoutRedriven},
		{"an execution that timed out is kept as long as a dead letter", timeoutKept},
		{"a member that timed out for good ends its group", timeoutMember},
		{"a dependency that timed out releases no job before its retry completes", timeoutDependency},
		{"a job whose worker ignores its deadline ends as one whose worker reports the timeout", timeoutRemote},
	})
}

// timeOut finishes a run as its worker does at the deadline.
func (y *story) timeOut(j *rota.Job) rota.FinishAnswer {
	y.Helper()
	return y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: rota.CodeTimeout})
}

func timeoutShown(y *story) {
	j := y.running(rota.NewJob{})
	want(y, "outcome in the answer", y.timeOut(j).Outcome, rota.OutcomeCancelled)
	row := y.job(j.ID)
	want(y, "status", row.Status, rota.StatusRunning)
	want(y, "outcome", row.Run.Outcome, rota.OutcomeCancelled)
	want(y, "code", row.Run.ErrorCode, rota.CodeTimeout)
	want(y, "outcome for people", row.Run.ShownOutcome(), rota.OutcomeFailed)
	want(y, "state", row.State(), rota.StateFailed)
	other := y.running(rota.NewJob{})
	y.mustFinish(other, rota.FinishItem{Outcome: rota.OutcomeCancelled, ErrorCode: "other"})
	want(y, "state with another code", y.job(other.ID).State(), rota.StateCancelled)
	y.wantNoViolations()
}

func timeoutListed(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	fired := y.fireNext("nightly")
	y.timeOut(y.claimOne())
	last := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.timeOut(last)
	failed := y.running(rota.NewJob{})
	y.failPermanently(failed)
	cancelled := y.enqueue(rota.NewJob{})
	y.cancel(cancelled.ID)
	for _, one := range []struct {
		q    rota.JobQuery
		jobs []*rota.Job
	}{
		{rota.JobQuery{State: rota.StateFailed}, []*rota.Job{failed, last, fired}},
		{rota.JobQuery{State: rota.StateFailed, Tails: true}, []*rota.Job{failed, last}},
		{rota.JobQuery{State: rota.StateFailed, Schedule: "nightly"}, []*rota.Job{fired}},
		{rota.JobQuery{State: rota.StateFailed, Type: "mail", Status: rota.StatusRunning}, []*rota.Job{failed, last, fired}},
		{rota.JobQuery{State: rota.StateFailed, Dead: true}, []*rota.Job{failed, last}},
		{rota.JobQuery{State: rota.StateCancelled}, []*rota.Job{cancelled}},
		{rota.JobQuery{State: rota.StateCancelled, Tails: true}, []*rota.Job{cancelled}},
		{rota.JobQuery{State: rota.StateCancelled, Schedule: "nightly"}, nil},
		{rota.JobQuery{State: rota.StateCancelled, Status: rota.StatusRunning}, nil},
	} {
		wantIDs(y, string(one.q.State), y.listIDs(one.q), one.jobs...)
		y.wantCounted(one.q)
	}
}

func timeoutOfStopped(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	want(y, "sequel", y.timeOut(j).Sequel, rota.SequelNone)
	want(y, "state", y.job(j.ID).State(), rota.StateCancelled)
	for _, q := range []rota.JobQuery{{State: rota.StateCancelled}, {State: rota.StateFailed}} {
		y.wantCounted(q)
	}
	wantIDs(y, "cancelled", y.listIDs(rota.JobQuery{State: rota.StateCancelled}), j)
	wantIDs(y, "failed", y.listIDs(rota.JobQuery{State: rota.StateFailed}))
}

// wantTimedOut wants a run that timed out and was cancelled afterwards to be a dead letter wherever
// it is shown.
func (y *story) wantTimedOut(j *rota.Job, events []rota.Event) {
	y.Helper()
	row := y.job(j.ID)
	want(y, "state", row.State(), rota.StateFailed)
	want(y, "outcome for people", row.Run.ShownOutcome(), rota.OutcomeFailed)
	want(y, "code", row.Run.ErrorCode, rota.CodeTimeout)
	want(y, "sequel", row.Sequel, rota.SequelDead)
	want(y, "acts", y.actsOf(j), "JOB_FAILED:FAILED JOB_STOPPING JOB_CREATED")
	want(y, "events", joinNames(events, func(e rota.Event) string { return string(e.Kind) + ":" + e.ErrorCode }), "job.failed:timeout job.dead:timeout")
	wantIDs(y, "dead letters", y.listIDs(rota.JobQuery{Dead: true}), j)
	wantIDs(y, "cancelled", y.listIDs(rota.JobQuery{State: rota.StateCancelled}))
	for _, q := range []rota.JobQuery{{State: rota.StateCancelled}, {State: rota.StateFailed}} {
		y.wantCounted(q)
	}
	y.wantNoViolations()
}

// wantStopped wants a run that was cancelled before its deadline to be cancelled wherever it is
// shown.
func (y *story) wantStopped(j *rota.Job, events []rota.Event) {
	y.Helper()
	row := y.job(j.ID)
	want(y, "state", row.State(), rota.StateCancelled)
	want(y, "outcome", row.Run.Outcome, rota.OutcomeCancelled)
	want(y, "code", row.Run.ErrorCode, rota.CodeCancelled)
	want(y, "sequel", row.Sequel, rota.SequelNone)
	want(y, "acts", y.actsOf(j), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
	want(y, "events", joinNames(events, func(e rota.Event) string { return string(e.Kind) + ":" + e.ErrorCode }), "job.cancelled:cancelled")
	y.wantNoViolations()
}

func timeoutThenStopped(y *story) {
	limited := rota.NewJob{Timeout: ptr(time.Minute)}
	j := y.running(limited)
	y.advance(time.Minute)
	y.cancel(j.ID)
	y.advance(time.Second)
	var answer rota.FinishAnswer
	y.wantTimedOut(j, y.eventsDuring(func() { answer = y.timeOut(j) }))
	wantFinish(y, "sent again", y.timeOut(j), answer)
	before := y.running(limited)
	y.advance(time.Minute - time.Microsecond)
	y.cancel(before.ID)
	y.advance(time.Second)
	y.wantStopped(before, y.eventsDuring(func() { answer = y.timeOut(before) }))
	wantFinish(y, "sent again", y.timeOut(before), answer)
}

func timeoutFirstCause(y *story) {
	limited := rota.NewJob{Timeout: ptr(time.Minute)}
	j := y.runningRemotely(limited)
	y.advance(time.Minute + time.Second)
	y.cancel(j.ID)
	y.advance(2 * grace) // the grace of both is over
	y.wantTimedOut(j, y.eventsDuring(func() { y.reapWithin() }))
	want(y, "error", y.job(j.ID).Run.Error, "timed out after 1m0s; worker w1 did not stop within 10s")
	before := y.runningRemotely(limited)
	y.advance(time.Minute - time.Second)
	y.cancel(before.ID)
	y.advance(2 * grace)
	y.wantStopped(before, y.eventsDuring(func() { y.reapWithin() }))
}

func timeoutUnsettled(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.timeOut(j)
	y.damage(j.ID, BreakClose)
	wantIDs(y, "failed", y.listIDs(rota.JobQuery{State: rota.StateFailed}), j)
	wantIDs(y, "cancelled", y.listIDs(rota.JobQuery{State: rota.StateCancelled}))
	for _, q := range []rota.JobQuery{{State: rota.StateCancelled}, {State: rota.StateFailed}, {}} {
		y.wantCounted(q)
	}
}

func timeoutDead(y *story) {
	first := y.running(rota.NewJob{MaxRetries: ptr(1), Backoff: new(time.Duration(0))})
	want(y, "sequel", y.timeOut(first).Sequel, rota.SequelRetry)
	wantIDs(y, "dead letters while the retry waits", y.listIDs(rota.JobQuery{Dead: true}))
	second := y.claimOne()
	want(y, "sequel", y.timeOut(second).Sequel, rota.SequelDead)
	wantIDs(y, "dead letters", y.listIDs(rota.JobQuery{Dead: true}), second)
	want(y, "dead letters counted", y.stats().Dead, 1)
	y.wantState(rota.StateFailed, first, second)
	y.wantNoViolations()
}

func timeoutRedriven(y *story) {
	dead := y.running(rota.NewJob{MaxRetries: ptr(1), Backoff: new(time.Duration(0))})
	y.failPermanently(dead)
	for range 2 { // the redrive of a failure, then that of a timeout
		again := y.redrive(dead.ID)
		want(y, "dead letters during the redrive", y.stats().Dead, 0)
		y.timeOut(y.claimOne())
		last := y.claimOne()
		y.timeOut(last)
		wantIDs(y, "dead letters", y.listIDs(rota.JobQuery{Dead: true}), last)
		want(y, "dead letters counted", y.stats().Dead, 1)
		y.refused(rota.Conflict, y.redriveCommand(dead.ID))
		y.wantNoViolations()
		dead = again
	}
	once := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.timeOut(once)
	y.redrive(once.ID)
	again := y.claimOne()
	y.timeOut(again)
	want(y, "dead letters counted", y.stats().Dead, 2)
	y.refused(rota.Conflict, y.redriveCommand(once.ID))
}

func timeoutKept(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.timeOut(j)
	y.advance(48 * time.Hour)
	day := rota.Keep{Age: 24 * time.Hour}
	wantIDs(y, "by the age of cancelled ones", y.prunable(rota.Retention{Cancelled: day}, 0))
	wantIDs(y, "by the age of dead letters", y.prunable(rota.Retention{Dead: day}, 0), j)
	newest := y.running(rota.NewJob{})
	y.failPermanently(newest)
	wantIDs(y, "by the count of dead letters", y.prunable(rota.Retention{Dead: rota.Keep{Count: 1}}, 0), j)
}

func timeoutMember(y *story) {
	for on, tally := range map[rota.OnFailure]rota.GroupTally{
		rota.FailureStop: {Dead: 1, Cancelled: 2}, rota.FailureSkip: {Dead: 1, Skipped: 2},
	} {
		members := []rota.NewJob{{MaxRetries: ptr(1), Backoff: new(time.Duration(0))}, {}, {}}
		id := y.enqueueGroup(rota.GroupSequential, on, members...).Group.ID
		y.timeOut(y.claimOne())
		y.wantTally(id, rota.GroupRunning, rota.GroupTally{Running: 1, Queued: 2})
		y.timeOut(y.claimOne())
		y.wantTally(id, rota.GroupPartial, tally)
	}
	alone := y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{MaxRetries: ptr(0)}, rota.NewJob{MaxRetries: ptr(0)}).Group.ID
	for _, j := range y.claim(2) {
		y.timeOut(j)
	}
	y.wantTally(alone, rota.GroupPartial, rota.GroupTally{Dead: 2})
}

func timeoutDependency(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.timeOut(y.claimOne())
	y.wantHold(load, rota.HoldDependency)
	y.advance(time.Minute)
	y.makeReady()
	y.complete(y.claimOne())
	y.wantHold(load, 0)
}

func timeoutRemote(y *story) {
	n := rota.NewJob{Timeout: ptr(time.Minute), MaxRetries: ptr(0)}
	reports := y.running(n)
	y.timeOut(reports)
	ignores := y.runningRemotely(n)
	y.advance(time.Minute + grace + time.Microsecond)
	events := y.eventsDuring(func() { want(y, "settled", len(y.reapWithin().Jobs), 1) })
	want(y, "events", joinNames(events, func(e rota.Event) string { return string(e.Kind) }),
		joinNames([]string{"job.failed", "job.dead"}, func(kind string) string { return kind }))
	y.wantState(rota.StateFailed, reports, ignores)
	wantIDs(y, "dead letters", y.listIDs(rota.JobQuery{Dead: true}), ignores, reports)
	run, reported := y.job(ignores.ID).Run, y.job(reports.ID).Run
	want(y, "outcome", run.Outcome, reported.Outcome)
	want(y, "code", run.ErrorCode, reported.ErrorCode)
}
