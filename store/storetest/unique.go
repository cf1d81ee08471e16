package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// keyed is the job with the unique key that the stories use.
var keyed = rota.NewJob{Type: "mail", UniqueKey: "k"}

func keyedFor(d time.Duration) rota.NewJob {
	n := keyed
	n.UniqueFor = d
	return n
}

func testUnique(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a second submit with a held key is answered with the first job", keyHeld},
		{"a key belongs to its type", keyOfType},
		{"two jobs of one command with one key are one job", keyTwiceInCommand},
		{"a key is held while its job runs and after it completed", keyHeldThroughCompletion},
		{"a key is held while its execution waits for a retry", keyHeldThroughRetry},
		{"a dead execution no longer holds its unique key", keyOfDead},
		{"an execution that used up its attempts no longer holds its unique key", keyOfExhausted},
		{"a job cancelled in the queue no longer holds its unique key", keyOfCancelled},
		{"a run that a person cancelled no longer holds its unique key", keyOfStopped},
		{"a cancelled retry no longer holds the key of its execution", keyOfCancelledRetry},
		{"a reaped run that was asked to stop no longer holds its unique key", keyOfReapedAndCancelled},
		{"a key with a time is free after completion once its time has passed", keyFreeInTime},
		{"a key with a time is held while its job runs, however long", keyHeldPastTime},
		{"a key whose time passed before completion is free at once", keyFreeAtCompletion},
		{"a released key stays free when the clock is set back", keyStaysFree},
		{"an execution that lost its key does not release it for its successor", keyOfSuccessor},
		{"a skipped run keeps its key like a completed one", keyOfSkipped},
		{"a dead execution releases a key whose time has not passed", keyOfDeadInTime},
		{"a key taken again is held by the new execution", keyTakenAgain},
		{"a key whose job was removed can be taken", keyOfRemovedJob},
	})
}

// wantKeyHeldBy wants the key to be held: a submit must be answered with the holder and create
// no job.
func (y *story) wantKeyHeldBy(by *rota.Job) {
	y.Helper()
	before := y.dump()
	one := y.submit(keyed)
	if !one.Duplicate || one.Job.ID != by.ID {
		y.Fatalf("the key is not held by %s: got %s, duplicate %v", by.ID, one.Job.ID, one.Duplicate)
	}
	y.wantUnchanged(before)
}

func (y *story) wantKeyFree() *rota.Job {
	y.Helper()
	one := y.submit(keyed)
	if one.Duplicate {
		y.Fatalf("the key is still held by %s", one.Job.ID)
	}
	return one.Job
}

func keyHeld(y *story) {
	first := y.enqueue(keyed)
	y.advance(100 * 24 * time.Hour)
	y.wantKeyHeldBy(first)
}

func keyOfType(y *story) {
	y.enqueue(keyed)
	y.enqueue(rota.NewJob{Type: "other", UniqueKey: "k"})
	y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "K"})
}

func keyTwiceInCommand(y *story) {
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{keyed, keyed, {Type: "mail"}}}
	jobs := do[*rota.Enqueued](y, c).Jobs
	want(y, "first is a duplicate", jobs[0].Duplicate, false)
	want(y, "second is a duplicate", jobs[1].Duplicate, true)
	want(y, "second", jobs[1].Job.ID, jobs[0].Job.ID)
	want(y, "position of the third", jobs[2].Job.Position, 200)
	want(y, "jobs created", len(y.queue()), 2)
}

func keyHeldThroughCompletion(y *story) {
	j := y.running(keyed)
	y.wantKeyHeldBy(j)
	y.complete(j)
	y.advance(100 * 24 * time.Hour)
	y.wantKeyHeldBy(j)
}

func keyHeldThroughRetry(y *story) {
	j := y.running(keyed)
	y.fail(j)
	y.wantKeyHeldBy(j)
	y.advance(time.Hour)
	y.makeReady()
	second := y.claimOne()
	y.wantKeyHeldBy(j)
	y.complete(second)
	y.wantKeyHeldBy(j)
}

func keyOfDead(y *story) {
	y.failPermanently(y.running(keyed))
	y.wantKeyFree()
}

func keyOfExhausted(y *story) {
	n := keyed
	n.MaxRetries, n.Backoff = ptr(1), ptr(time.Duration(0))
	first := y.running(n)
	y.fail(first)
	y.wantKeyHeldBy(first)
	want(y, "sequel", y.fail(y.claimOne()).Sequel, rota.SequelDead)
	y.wantKeyFree()
}

func keyOfCancelled(y *story) {
	y.cancel(y.enqueue(keyed).ID)
	y.wantKeyFree()
}

func keyOfStopped(y *story) {
	j := y.running(keyed)
	y.cancel(j.ID)
	y.wantKeyHeldBy(j)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed})
	y.wantKeyFree()
}

func keyOfCancelledRetry(y *story) {
	j := y.running(keyed)
	y.fail(j)
	y.cancel(j.ID)
	y.wantKeyFree()
}

func keyOfReapedAndCancelled(y *story) {
	j := y.running(keyed)
	y.cancel(j.ID)
	y.advance(time.Hour)
	want(y, "outcome", y.reap().Jobs[0].Outcome, rota.OutcomeCancelled)
	y.wantKeyFree()
}

func keyFreeInTime(y *story) {
	j := y.running(keyedFor(time.Minute))
	y.advance(time.Second)
	y.complete(j)
	y.now = j.CreatedAt.Add(time.Minute - time.Microsecond)
	y.wantKeyHeldBy(j)
	y.now = j.CreatedAt.Add(time.Minute)
	y.wantKeyFree()
}

func keyHeldPastTime(y *story) {
	j := y.running(keyedFor(time.Second))
	y.advance(time.Hour)
	y.wantKeyHeldBy(j)
	queued := y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "q", UniqueFor: time.Second})
	y.advance(time.Hour)
	want(y, "held by a queued one", y.submit(rota.NewJob{UniqueKey: "q"}).Job.ID, queued.ID)
}

func keyFreeAtCompletion(y *story) {
	j := y.running(keyedFor(time.Second))
	y.advance(time.Second)
	y.complete(j)
	y.wantKeyFree()
}

func keyStaysFree(y *story) {
	j := y.running(keyedFor(time.Minute))
	y.advance(time.Hour)
	y.complete(j)
	y.now = j.CreatedAt
	y.wantKeyFree()
}

func keyOfSuccessor(y *story) {
	n := keyed
	n.Backoff = ptr(time.Duration(0))
	first := y.running(n)
	y.fail(first)
	second := y.claimOne()
	y.damage(first.ID, BreakJob)
	successor := y.wantKeyFree()
	y.failPermanently(second)
	y.wantKeyHeldBy(successor)
}

func keyOfSkipped(y *story) {
	j := y.running(keyed)
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeSkipped})
	y.wantKeyHeldBy(j)
}

func keyOfDeadInTime(y *story) {
	y.failPermanently(y.running(keyedFor(time.Hour)))
	y.wantKeyFree()
}

func keyTakenAgain(y *story) {
	old := y.running(keyedFor(time.Minute))
	y.complete(old)
	y.advance(time.Hour)
	second := y.wantKeyFree()
	y.wantKeyHeldBy(second)
	y.refused(rota.Conflict, y.cancelCommand(old.ID))
	y.wantKeyHeldBy(second)
}

func keyOfRemovedJob(y *story) {
	j := y.running(keyed)
	y.complete(j)
	y.damage(j.ID, BreakJob)
	second := y.wantKeyFree()
	y.wantKeyHeldBy(second)
}
