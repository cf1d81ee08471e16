package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testOverlap(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"with overlap allow a fire ignores earlier executions", overlapAllowed},
		{"with overlap skip a fire is recorded as skipped", overlapSkipped},
		{"a queued execution counts as not ended", overlapQueued},
		{"an execution that waits for a retry counts as not ended", overlapRetry},
		{"a fire runs after the earlier execution has ended", overlapEnded},
		{"a fire runs after the earlier execution was reaped", overlapReaped},
		{"a fire runs after the earlier execution was recovered", overlapRecovered},
		{"with overlap cancel a fire asks the running execution to stop and follows it", overlapCancelled},
		{"with overlap cancel a fire replaces a queued execution", overlapReplaced},
		{"of several fires only the newest follows the stopping execution", overlapNewest},
		{"catch-up jobs run one after the other", overlapCatchUp},
		{"a cancelled catch-up job passes its turn", overlapCatchUpCancelled},
		{"executions of different scopes do not overlap", overlapScopes},
		{"a trigger is skipped while a catch-up job waits", overlapTriggerBehind},
		{"a retry keeps its turn before waiting jobs", overlapRetryKeepsTurn},
		{"a change to overlap allow releases waiting jobs", overlapAllowedAgain},
		{"waiting jobs of a deleted schedule are still released", overlapDeleted},
	})
}

const skippedText = "skipped: an earlier execution of schedule nightly has not ended"

func overlapAllowed(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.claimOne()
	y.fireNext("nightly")
	y.claimOne()
}

func overlapSkipped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.fireNext("nightly")
	running := y.claimOne()
	y.advanceTo(y.schedule("nightly").NextFire)
	c := y.fireCommand("nightly")
	j := do[*rota.Fired](y, c).Jobs[0]
	y.wantSkipped(j, rota.CodeOverlap, skippedText)
	row := y.job(j.ID)
	want(y, "run id", row.Run.ID, rota.RunID(c.ID, j.ID))
	want(y, "difference of the answer", difference(jobText(row), jobText(j)), "")
	wantTime(y, "queued at", row.QueuedAt, y.now)
	wantTime(y, "plan time", row.PlanTime, y.now)
	want(y, "in the queue", len(y.queue()), 0)
	want(y, "the one that runs", y.heartbeat(running).Cancel, false)
	y.wantNoViolations()
}

func overlapQueued(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	first := y.fireNext("nightly")
	y.wantState(rota.StateSkipped, y.fireNext("nightly"))
	want(y, "claimed", y.claimOne().ID, first.ID)
}

func overlapRetry(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Policy: rota.PolicyPatch{Backoff: new(2 * time.Hour)}})
	y.fireNext("nightly")
	y.fail(y.claimOne())
	y.wantState(rota.StateSkipped, y.fireNext("nightly"))
}

func overlapEnded(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	for _, end := range []func(*rota.Job){
		func(j *rota.Job) { y.complete(j) },
		func(j *rota.Job) { y.failPermanently(j) },
		func(j *rota.Job) { y.cancel(j.ID); y.fail(j) },
		func(j *rota.Job) { y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeSkipped}) },
	} {
		first := y.fireNext("nightly")
		y.wantState(rota.StateQueued, first)
		end(y.claimOne())
	}
	y.cancel(y.fireNext("nightly").ID)
	y.wantState(rota.StateQueued, y.fireNext("nightly"))
}

func overlapReaped(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Policy: rota.PolicyPatch{MaxRetries: new(0)}})
	y.fireNext("nightly")
	y.claimOne()
	y.advance(time.Hour)
	want(y, "reaped", len(y.reap().Jobs), 1)
	y.wantState(rota.StateQueued, y.fire("nightly")...)
	y.claimOne()
}

func overlapRecovered(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Policy: rota.PolicyPatch{MaxRetries: new(0)}})
	y.fireNext("nightly")
	y.claimOne()
	want(y, "recovered", len(y.recover().Jobs), 1)
	y.wantState(rota.StateQueued, y.fireNext("nightly"))
	y.claimOne()
}

func overlapCancelled(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("nightly")
	first := y.claimOne()
	y.advanceTo(y.schedule("nightly").NextFire)
	written := y.writtenAudit()
	c := y.fireCommand("nightly")
	second := do[*rota.Fired](y, c).Jobs[0]
	const why = "replaced by a later fire of schedule nightly"
	run := y.job(first.ID).Run
	want(y, "reason", run.CancelReason, why)
	want(y, "by", run.CancelBy, "ada")
	wantTime(y, "asked at", run.CancelAt, y.now)
	y.wantAuditSince(written, rota.AuditEntry{ID: rota.AuditID(c.ID, c.Verb(), first.ID), At: y.now, Actor: "ada", Act: rota.AuditJobStopping, JobID: first.ID, Detail: why})
	y.wantHold(second, rota.HoldOverlap)
	want(y, "claimed meanwhile", len(y.claim(5)), 0)
	y.advance(time.Minute)
	want(y, "outcome", y.fail(first).Outcome, rota.OutcomeCancelled)
	want(y, "acts", y.actsOf(first), "JOB_CANCELLED:CANCELLED JOB_STOPPING")
	y.wantHold(second, 0)
	wantTime(y, "queued at", y.job(second.ID).QueuedAt, y.now)
	want(y, "claimed", y.claimOne().ID, second.ID)
}

func overlapReplaced(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	first := y.fireNext("nightly")
	second := y.fireNext("nightly")
	y.wantState(rota.StateCancelled, first)
	want(y, "claimed", y.claimOne().ID, second.ID)
}

func overlapNewest(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("nightly")
	running := y.claimOne()
	second := y.fireNext("nightly")
	cancelAt := y.job(running.ID).Run.CancelAt
	third := y.fireNext("nightly")
	wantTime(y, "asked at, after the next fire", y.job(running.ID).Run.CancelAt, cancelAt)
	y.wantState(rota.StateCancelled, second)
	y.wantHold(third, rota.HoldOverlap)
	y.complete(running)
	want(y, "claimed", y.claimOne().ID, third.ID)
}

func overlapCatchUp(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(4*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	want(y, "caught up with", len(jobs), 4)
	ends := []func(*rota.Job){
		func(j *rota.Job) { y.complete(j) }, func(j *rota.Job) { y.failPermanently(j) }, func(j *rota.Job) { y.cancel(j.ID); y.fail(j) },
	}
	for i, end := range ends {
		wantIDs(y, "the queue", y.queue(), jobs[i])
		running := y.claimOne()
		y.wantHold(jobs[3], rota.HoldOverlap)
		end(running)
	}
	want(y, "the last", y.claimOne().ID, jobs[3].ID)
}

func overlapCatchUpCancelled(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(3*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	y.cancel(jobs[1].ID)
	y.wantHold(jobs[2], rota.HoldOverlap)
	y.cancel(jobs[0].ID)
	y.wantHold(jobs[2], 0)
}

func overlapScopes(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Scopes: []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}})
	y.advance(time.Hour)
	y.fire("nightly")
	y.complete(y.claimOne())
	y.advance(time.Hour)
	jobs := y.fire("nightly")
	y.wantState(rota.StateQueued, jobs[0])
	y.wantState(rota.StateSkipped, jobs[1])
}

func overlapTriggerBehind(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(2*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	y.wantState(rota.StateSkipped, y.trigger("nightly"))
	y.complete(y.claimOne())
	y.wantHold(jobs[1], 0)
}

func overlapRetryKeepsTurn(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(2*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	y.fail(y.claimOne())
	y.wantHold(jobs[1], rota.HoldOverlap)
	y.advance(time.Minute)
	y.makeReady()
	y.complete(y.claimOne())
	y.wantHold(jobs[1], 0)
}

func overlapAllowedAgain(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(2*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	y.declare("nightly", rota.ScheduleSpec{})
	y.wantHold(jobs[1], 0)
}

func overlapDeleted(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, CatchUp: rota.CatchUpAll})
	y.now = startTime.Add(3*time.Hour + 2*time.Minute)
	jobs := y.fire("nightly")
	y.deleteSchedule("nightly")
	y.complete(y.claimOne())
	y.wantHold(jobs[1], 0)
	y.complete(y.claimOne())
	y.wantHold(jobs[2], 0)
}
