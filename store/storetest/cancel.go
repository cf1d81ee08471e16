package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testCancel(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a queued job is cancelled at once", cancelQueued},
		{"a held job is cancelled at once", cancelHeld},
		{"a running job is asked to stop", cancelRunning},
		{"of two cancels of a run the first is recorded", cancelTwice},
		{"a job that has ended cannot be cancelled", cancelEnded},
		{"cancelling a cancelled job changes nothing", cancelCancelled},
		{"cancelling an attempt that was retried cancels the last attempt", cancelChain},
		{"a job that does not exist is not found", cancelUnknown},
		{"a run that is reaped after a cancel is not retried", cancelNoRetry},
		{"a reason of maximum length is kept whole", cancelReason},
	})
}

func cancelQueued(y *story) {
	first := y.enqueue(rota.NewJob{})
	j := y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	c := y.cancelCommand(j.ID)
	got := do[*rota.CancelledJob](y, c)
	want(y, "stopping", got.Stopping, false)
	want(y, "answered", got.Job.Status, rota.StatusCancelled)
	row := y.job(j.ID)
	want(y, "status", row.Status, rota.StatusCancelled)
	want(y, "sequel", row.Sequel, rota.SequelNone)
	want(y, "run", row.Run, nil)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	wantIDs(y, "the queue", y.queue(), first)
	y.wantAudit(rota.AuditEntry{ID: rota.AuditID(c.ID, c.Verb(), j.ID), At: y.now, Actor: "ada", Act: rota.AuditJobCancelled, JobID: j.ID, Detail: "not needed"})
}

// wantAudit wants commands to have written exactly these entries.
func (y *story) wantAudit(entries ...rota.AuditEntry) {
	y.Helper()
	y.wantAuditSince(nil, entries...)
}

func cancelHeld(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Minute})
	y.cancel(j.ID)
	y.advance(time.Hour)
	y.makeReady()
	want(y, "claimed", len(y.claim(5)), 0)
	want(y, "state", y.job(j.ID).State(), rota.StateCancelled)
}

func cancelRunning(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Second)
	got := y.cancel(j.ID)
	want(y, "stopping", got.Stopping, true)
	want(y, "token shown", got.Job.Run.Token, rota.Token{})
	row := y.job(j.ID)
	want(y, "status", row.Status, rota.StatusRunning)
	want(y, "open", row.Run.Open(), true)
	want(y, "by", row.Run.CancelBy, "ada")
	want(y, "reason", row.Run.CancelReason, "not needed")
	wantTime(y, "asked at", row.Run.CancelAt, y.now)
	want(y, "code of a heartbeat", y.heartbeat(j).Code, "")
}

func cancelTwice(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(time.Second)
	before := y.dump()
	second := y.cancelCommand(j.ID)
	second.Actor, second.Reason = "bob", "me too"
	got := do[*rota.CancelledJob](y, second)
	want(y, "stopping", got.Stopping, true)
	want(y, "by", got.Job.Run.CancelBy, "ada")
	y.wantUnchanged(before)
}

func cancelEnded(y *story) {
	done := y.running(rota.NewJob{})
	y.complete(done)
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	for _, j := range []*rota.Job{done, dead} {
		y.refused(rota.Conflict, y.cancelCommand(j.ID))
	}
	ownCancel := y.running(rota.NewJob{})
	y.mustFinish(ownCancel, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	y.refused(rota.Conflict, y.cancelCommand(ownCancel.ID))
}

func cancelCancelled(y *story) {
	queued := y.enqueue(rota.NewJob{Priority: new(-1)})
	y.cancel(queued.ID)
	stopped := y.running(rota.NewJob{})
	y.cancel(stopped.ID)
	y.mustFinish(stopped, rota.FinishItem{Outcome: rota.OutcomeCancelled})
	y.advance(time.Second)
	before := y.dump()
	for _, j := range []*rota.Job{queued, stopped} {
		got := y.cancel(j.ID)
		want(y, "job", got.Job.ID, j.ID)
		want(y, "stopping", got.Stopping, false)
	}
	y.wantUnchanged(before)
}

func cancelChain(y *story) {
	j := y.running(rota.NewJob{Backoff: ptr(time.Duration(0))})
	first := j.ID
	y.fail(j)
	second := y.claimOne()
	y.fail(second)
	third := y.queue()[0]
	got := y.cancel(first)
	want(y, "cancelled", got.Job.ID, third)
	want(y, "status", got.Job.Status, rota.StatusCancelled)
	want(y, "by the second", y.cancel(second.ID).Job.ID, third)
}

func cancelUnknown(y *story) {
	y.enqueue(rota.NewJob{})
	y.refused(rota.NotFound, y.cancelCommand(y.ids.next()))
}

func cancelNoRetry(y *story) {
	j := y.running(rota.NewJob{})
	y.cancel(j.ID)
	y.advance(time.Hour)
	got := y.reap().Jobs[0]
	want(y, "outcome", got.Outcome, rota.OutcomeCancelled)
	want(y, "sequel", got.Sequel, rota.SequelNone)
	want(y, "error code", y.job(j.ID).Run.ErrorCode, rota.CodeLeaseExpired)
	want(y, "cancelled again", y.cancel(j.ID).Stopping, false)
}

func cancelReason(y *story) {
	j := y.running(rota.NewJob{})
	c := y.cancelCommand(j.ID)
	for len(c.Reason) < rota.ReasonMax-2 {
		c.Reason += "é"
	}
	do[*rota.CancelledJob](y, c)
	want(y, "reason", y.job(j.ID).Run.CancelReason, c.Reason)
}
