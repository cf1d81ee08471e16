package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testGroupEnd(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"cancelling a group cancels queued members and asks running members to stop", cancelGroupAll},
		{"a waiting retry is cancelled with its group", cancelGroupRetry},
		{"a member that completes after the cancel of its group is completed", cancelGroupCompletes},
		{"a second cancel of a group changes nothing", cancelGroupTwice},
		{"a cancel of an ended or unknown group is refused", cancelGroupRefused},
		{"a sweep cancels the rest of a large cancelled group", cancelLarge},
		{"a claim takes no member of a large cancelled group", cancelLargeClaim},
		{"a sweep asks the rest of the running members to stop", cancelLargeRunning},
		{"a sweep cancels the rest of a large stopped group", stopLarge},
		{"a sweep skips the rest of a large skipped group", skipLarge},
		{"a sweep takes no more than its limit", sweepPages},
		{"a sweep without work changes nothing", sweepNothing},
		{"a sequential group continues after very many members end at once", sequentialLarge},
		{"a skipped member releases its unique key", groupSkippedKey},
	})
}

func cancelGroupAll(y *story) {
	id, jobs := y.groupOfThree(rota.GroupSequential, "")
	running := y.claimOne()
	y.advance(time.Second)
	written := y.writtenAudit()
	c := &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id, Reason: "not needed"}
	got := do[*rota.CancelledGroup](y, c)
	want(y, "cancelled", got.Cancelled, 2)
	want(y, "stopping", got.Stopping, 1)
	want(y, "more", got.More, false)
	want(y, "tally in an answer", got.Group.Tally, rota.GroupTally{})
	g := y.group(id)
	want(y, "ending", g.Ending, rota.EndingCancel)
	want(y, "reason", g.EndingReason, "not needed")
	want(y, "by", g.EndingBy, "ada")
	y.wantState(rota.StateCancelled, jobs[1:]...)
	run := y.job(running.ID).Run
	want(y, "asked by", run.CancelBy, "ada")
	want(y, "asked why", run.CancelReason, "not needed")
	wantTime(y, "asked at", run.CancelAt, y.now)
	entries := []rota.AuditEntry{y.auditEntry(c, rota.AuditGroupCancelled, "group "+id.String(), "not needed")}
	for i, j := range jobs {
		act := rota.AuditJobCancelled
		if i == 0 { // it runs
			act = rota.AuditJobStopping
		}
		entries = append(entries, rota.AuditEntry{
			ID: rota.AuditID(c.ID, c.Verb(), j.ID), At: y.now, Actor: "ada", Act: act, JobID: j.ID, Detail: "not needed",
		})
	}
	y.wantAuditSince(written, entries...)
	want(y, "status meanwhile", g.Status(), rota.GroupRunning)
	y.advance(time.Second)
	want(y, "outcome", y.fail(running).Outcome, rota.OutcomeCancelled)
	want(y, "acts of the run", y.actsOf(running), "JOB_CANCELLED:CANCELLED JOB_STOPPING JOB_CREATED")
	y.wantTally(id, rota.GroupCancelled, rota.GroupTally{Cancelled: 3})
	want(y, "claimed", len(y.claim(5)), 0)
	y.wantNoViolations()
}

func cancelGroupRetry(y *story) {
	id, _ := y.groupOfThree(rota.GroupSequential, "")
	retry := y.fail(y.claimOne()).RetryID
	want(y, "cancelled", y.cancelGroup(id).Cancelled, 3)
	want(y, "the retry", y.job(retry).State(), rota.StateCancelled)
	want(y, "status", y.group(id).Status(), rota.GroupCancelled)
}

func cancelGroupCompletes(y *story) {
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	running := y.claim(2)
	y.cancelGroup(id)
	want(y, "outcome", y.complete(running[0]).Outcome, rota.OutcomeCompleted)
	want(y, "outcome", y.fail(running[1]).Outcome, rota.OutcomeCancelled)
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Completed: 1, Cancelled: 2})
}

func cancelGroupTwice(y *story) {
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	y.claimOne()
	y.cancelGroup(id)
	y.advance(time.Second)
	before := y.dump()
	c := &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id, Reason: "me too"}
	c.Actor = "bob"
	got := do[*rota.CancelledGroup](y, c)
	want(y, "done", got.Cancelled+got.Stopping, 0)
	want(y, "reason", got.Group.EndingReason, "not needed")
	y.wantUnchanged(before)
}

func cancelGroupRefused(y *story) {
	cancel := func(id rota.ID) *rota.CancelGroup { return &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id} }
	y.wantField(rota.NotFound, "group_id", cancel(y.ids.next()))
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	for _, j := range y.claim(3) {
		y.complete(j)
	}
	y.wantField(rota.Conflict, "group_id", cancel(id))
	stopped, _ := y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	running := y.claim(2)
	y.failPermanently(running[0])
	got := do[*rota.CancelledGroup](y, cancel(stopped))
	want(y, "one that was stopped is cancelled", got.Group.Ending, rota.EndingCancel)
	want(y, "stopping", got.Stopping, 1)
}

// largeGroup enqueues a group with 50 members more than one command ends.
func (y *story) largeGroup(mode rota.GroupMode, on rota.OnFailure) (rota.ID, []*rota.Job) {
	y.Helper()
	got := y.enqueueGroup(mode, on, make([]rota.NewJob, rota.MembersMax+50)...)
	return got.Group.ID, got.Jobs
}

func cancelLarge(y *story) {
	id, jobs := y.largeGroup(rota.GroupParallel, "")
	got := y.cancelGroup(id)
	want(y, "cancelled at once", got.Cancelled, rota.MembersMax)
	want(y, "more", got.More, true)
	want(y, "a sweep is due", y.due().Sweep, true)
	y.wantState(rota.StateCancelled, jobs[:rota.MembersMax]...)
	want(y, "status meanwhile", y.group(id).Status(), rota.GroupRunning)
	want(y, "swept", *y.sweep(0), rota.Swept{Count: 50})
	want(y, "a sweep is due", y.due().Sweep, false)
	y.wantTally(id, rota.GroupCancelled, rota.GroupTally{Cancelled: rota.MembersMax + 50})
	y.wantNoViolations()
}

func cancelLargeClaim(y *story) {
	id, jobs := y.largeGroup(rota.GroupParallel, "")
	other := y.enqueue(rota.NewJob{})
	y.cancelGroup(id)
	y.advance(time.Second)
	got := do[*rota.Claimed](y, y.claimCommand(30))
	want(y, "claimed", len(got.Jobs), 0)
	want(y, "more", got.More, true)
	row := y.job(jobs[rota.MembersMax].ID)
	want(y, "status of a member", row.Status, rota.StatusCancelled)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	got = do[*rota.Claimed](y, y.claimCommand(30))
	wantIDs(y, "claimed behind them", idsOf(got.Jobs), other)
	want(y, "swept", *y.sweep(0), rota.Swept{})
	want(y, "a sweep is due", y.due().Sweep, false)
}

func cancelLargeRunning(y *story) {
	id, _ := y.largeGroup(rota.GroupParallel, "")
	running := y.claim(rota.MembersMax + 50)
	got := y.cancelGroup(id)
	want(y, "asked at once", got.Stopping, rota.MembersMax)
	last := running[len(running)-1]
	want(y, "asked", y.heartbeat(last).Cancel, false)
	y.advance(time.Second)
	sweep := &rota.Sweep{Meta: y.ids.meta()}
	sweep.Actor = ""
	want(y, "swept", do[*rota.Swept](y, sweep).Count, 50)
	run := y.job(last.ID).Run
	want(y, "asked by", run.CancelBy, "ada")
	want(y, "asked why", run.CancelReason, "not needed")
	wantTime(y, "asked at", run.CancelAt, y.now)
}

func stopLarge(y *story) {
	id, jobs := y.largeGroup(rota.GroupSequential, rota.FailureStop)
	y.failPermanently(y.claimOne())
	y.wantState(rota.StateCancelled, jobs[1:rota.MembersMax+1]...)
	y.wantState(rota.StateBlocked, jobs[rota.MembersMax+1:]...)
	want(y, "claimed", len(y.claim(5)), 0)
	want(y, "swept", *y.sweep(0), rota.Swept{Count: 49})
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Dead: 1, Cancelled: rota.MembersMax + 49})
}

func skipLarge(y *story) {
	id, jobs := y.largeGroup(rota.GroupParallel, rota.FailureSkip)
	y.failPermanently(y.claimOne())
	got := do[*rota.Claimed](y, y.claimCommand(1))
	want(y, "claimed", len(got.Jobs), 0)
	want(y, "more", got.More, true)
	y.wantSkipped(jobs[rota.MembersMax+1], rota.CodeGroup, "skipped: a member died: job "+jobs[0].ID.String())
	want(y, "swept", *y.sweep(0), rota.Swept{Count: 48})
	y.wantSkipped(jobs[len(jobs)-1], rota.CodeGroup, "skipped: a member died: job "+jobs[0].ID.String())
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Dead: 1, Skipped: rota.MembersMax + 49})
}

func sweepPages(y *story) {
	one, _ := y.largeGroup(rota.GroupParallel, "")
	two, _ := y.largeGroup(rota.GroupParallel, "")
	y.cancelGroup(one)
	y.cancelGroup(two)
	for _, page := range []rota.Swept{{Count: 40, More: true}, {Count: 40, More: true}} {
		want(y, "swept", *y.sweep(40), page)
	}
	rest := y.sweep(40)
	want(y, "swept", rest.Count, 20)
	y.sweep(40)
	want(y, "a sweep is due", y.due().Sweep, false)
	want(y, "cancelled", y.group(two).Tally.Cancelled, rota.MembersMax+50)
}

func sweepNothing(y *story) {
	y.enqueueMany(2)
	before := y.dump()
	want(y, "swept", *y.sweep(0), rota.Swept{})
	y.wantUnchanged(before)
}

// sequentialLarge cancels all members but the last in one command, so that the turn passes over
// very many.
func sequentialLarge(y *story) {
	_, jobs := y.largeGroup(rota.GroupSequential, "")
	var members []rota.Command
	for _, j := range jobs[:len(jobs)-1] {
		members = append(members, y.cancelCommand(j.ID))
	}
	do[*rota.AllDone](y, y.allOf(members...))
	for y.due().Sweep {
		y.sweep(0)
	}
	want(y, "claimed", y.claimOne().ID, jobs[len(jobs)-1].ID)
}

// groupSkippedKey submits a job with the key of a skipped member.
func groupSkippedKey(y *story) {
	first, second := rota.NewJob{MaxRetries: new(0)}, rota.NewJob{UniqueKey: "k"}
	jobs := y.enqueueGroup(rota.GroupSequential, rota.FailureSkip, first, second).Jobs
	y.failPermanently(y.claimOne())
	y.wantState(rota.StateSkipped, jobs[1])
	again := y.submit(rota.NewJob{UniqueKey: "k"})
	want(y, "duplicate", again.Duplicate, false)
}
