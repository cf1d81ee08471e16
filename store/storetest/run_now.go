package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRunNow(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a delayed job becomes ready, at the end of its priority", runNowDelayed},
		{"a waiting retry becomes ready, also by the id of the first attempt", runNowRetry},
		{"a run now of a ready job changes nothing that matters", runNowReady},
		{"a run now respects the limit of a key", runNowKey},
		{"a job that waits for more than its time is refused", runNowWaits},
		{"a job that runs or has ended is refused", runNowLeft},
		{"a run now sent again after the next attempt failed does not end that delay", runNowAgainAfterRetry},
		{"a run now is audited for the job that it changed", runNowAudit},
		{"a run now that changes nothing is not audited, and sent again answers the same", runNowNothing},
		{"a run now with an old version is a conflict", runNowVersion},
	})
}

func runsNow(c *rota.Edit) { c.RunNow = true }

func runNowDelayed(y *story) {
	first := y.enqueue(rota.NewJob{Delay: time.Hour, Priority: new(3)})
	other := y.enqueue(rota.NewJob{Priority: new(3)})
	y.advance(time.Second)
	c := y.editCommand(first.ID, runsNow)
	got := do[*rota.Edited](y, c).Job
	want(y, "ready", got.Ready(), true)
	want(y, "position", got.Position, other.Position+100)
	want(y, "version", got.Version, c.ID)
	wantTime(y, "run at", got.RunAt, y.now)
	wantTime(y, "queued at", got.QueuedAt, y.now)
	wantTime(y, "due", y.due().Ready, time.Time{})
	wantIDs(y, "claimed", idsOf(y.claim(2)), other, first)
	y.wantNoViolations()
}

func runNowRetry(y *story) {
	for _, named := range []string{"the retry", "the first attempt"} {
		first := y.running(rota.NewJob{MaxRetries: new(1)})
		id := y.fail(first).RetryID
		c := y.editCommand(id, runsNow)
		if named == "the first attempt" {
			c.JobID = first.ID
		}
		got := do[*rota.Edited](y, c).Job
		want(y, "job, named by "+named, got.ID, id)
		want(y, "ready", got.Ready(), true)
		running := y.claimOne()
		want(y, "claimed", running.ID, id)
		want(y, "attempt", running.Attempt, 2)
		want(y, "died", y.fail(running).Sequel, rota.SequelDead)
	}
	y.wantNoViolations()
}

func runNowReady(y *story) {
	first, second := y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	got := y.edit(first.ID, runsNow)
	want(y, "position", got.Position, first.Position)
	wantTime(y, "queued at", got.QueuedAt, first.QueuedAt)
	wantTime(y, "run at", got.RunAt, time.Time{})
	wantIDs(y, "the queue", y.queue(), first, second)
}

func runNowKey(y *story) {
	y.enqueueLimited(1, 1)
	delayed := jobOfKey(0)
	delayed.Delay = time.Hour
	j := y.enqueue(delayed)
	want(y, "hold", y.edit(j.ID, runsNow).Hold, rota.HoldKey)
	want(y, "hold of one that its key holds", y.edit(j.ID, runsNow).Hold, rota.HoldKey)
	y.complete(y.claimOne())
	want(y, "claimed", y.claimOne().ID, j.ID)
	y.wantNoViolations()
}

func runNowWaits(y *story) {
	refused := func(j *rota.Job, what string) {
		y.Helper()
		refusal := y.wantField(rota.Conflict, "job_id", y.editCommand(j.ID, runsNow))
		want(y, "names "+what, strings.Contains(refusal.Reason, what), true)
	}
	id, members := y.groupOfThree(rota.GroupSequential, "")
	refused(members[1], "group "+id.String())
	y.edit(members[1].ID, toDelay(time.Hour))
	refused(members[1], "group "+id.String())
	y.cancelGroup(id)

	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	dead := y.fireNext("nightly")
	y.failPermanently(y.claimOne())
	y.fireNext("nightly")
	refused(y.redrive(dead.ID), "an earlier execution of schedule nightly")

	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	refused(load, "schedule extract")
}

func runNowLeft(y *story) {
	running := y.running(rota.NewJob{})
	done := y.running(rota.NewJob{})
	y.complete(done)
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	cancelled := y.enqueue(rota.NewJob{Delay: time.Hour})
	y.cancel(cancelled.ID)
	for _, j := range []*rota.Job{running, done, dead, cancelled} {
		y.wantField(rota.Conflict, "job_id", y.editCommand(j.ID, runsNow))
	}
	y.wantField(rota.NotFound, "job_id", y.editCommand(y.ids.next(), runsNow))
}

func runNowAgainAfterRetry(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(2)})
	y.fail(first)
	c := y.editCommand(first.ID, runsNow)
	do[*rota.Edited](y, c)
	third := y.job(y.fail(y.claimOne()).RetryID)
	before := y.dump()
	want(y, "hold", do[*rota.Edited](y, c).Job.Hold, rota.HoldDelay)
	y.wantUnchanged(before)
	y.wantHold(third, rota.HoldDelay)
}

func runNowAudit(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(1)})
	id := y.fail(first).RetryID
	written := y.writtenAudit()
	c := y.editCommand(first.ID, runsNow)
	c.Actor = "bob"
	do[*rota.Edited](y, c)
	y.wantAuditSince(written, rota.AuditEntry{
		ID: rota.AuditID(c.ID, c.Verb(), first.ID), At: y.now, Actor: "bob", Act: rota.AuditJobModified, JobID: id, Detail: "run-now",
	})
}

func runNowNothing(y *story) {
	y.enqueueLimited(1, 1)
	held := y.enqueue(jobOfKey(0))
	ready := y.enqueue(rota.NewJob{})
	written := y.writtenAudit()
	var sent []*rota.Edit
	for _, j := range []*rota.Job{held, ready} {
		c := y.editCommand(j.ID, runsNow)
		got := do[*rota.Edited](y, c).Job
		want(y, "hold", got.Hold, j.Hold)
		want(y, "position", got.Position, j.Position)
		want(y, "version", got.Version, c.ID)
		sent = append(sent, c)
	}
	want(y, "hold of the first", held.Hold, rota.HoldKey)
	y.wantAuditSince(written)
	running := idsOf(y.claim(2))
	before := y.dump()
	for _, c := range sent {
		want(y, "job of a second sending", do[*rota.Edited](y, c).Job.ID, c.JobID)
	}
	y.wantUnchanged(before)
	want(y, "running", len(running), 2)
	y.wantField(rota.Conflict, "job_id", y.editCommand(ready.ID, runsNow))
}

func runNowVersion(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Hour})
	c := y.editCommand(j.ID, runsNow)
	c.Version = new(y.ids.next())
	y.wantField(rota.Conflict, "version", c)
}
