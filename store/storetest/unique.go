package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// keyed is the job whose key the stories are about.
var keyed = rota.NewJob{Type: "mail", UniqueKey: "k"}

func keyedFor(d time.Duration) rota.NewJob {
	n := keyed
	n.UniqueFor = d
	return n
}

func testUnique(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
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
		{"a key with a time is free when that has passed after completion", keyFreeInTime},
		{"a key with a time is held while its job runs, however long", keyHeldPastTime},
		{"a key whose time passed before completion is free at once", keyFreeAtCompletion},
		{"a key that was let go stays free when the clock is set back", keyFreeForGood},
		{"an execution that lost its key does not release it for its successor", keyOfSuccessor},
		{"a skipped run keeps its key like a completed one", keyOfSkipped},
		{"a dead execution releases a key whose time has not passed", keyOfDeadInTime},
		{"a key taken again is held by the new execution", keyTakenAgain},
		{"a key whose job is gone is taken over", keyTakenOver},
	})
}

// held says whether the key is taken: who holds it is answered instead of
// being made.
func (y *story) held(by *rota.Job) {
	y.Helper()
	before := y.dump()
	one := y.submit(keyed)
	if !one.Duplicate || one.Job.ID != by.ID {
		y.Fatalf("the key is not held by %s: got %s, duplicate %v", by.ID, one.Job.ID, one.Duplicate)
	}
	y.unchanged(before)
}

func (y *story) free() *rota.Job {
	y.Helper()
	one := y.submit(keyed)
	if one.Duplicate {
		y.Fatalf("the key is still held by %s", one.Job.ID)
	}
	return one.Job
}

func keyHeld(y *story) {
	first := y.enqueue(keyed)
	y.pass(100 * 24 * time.Hour)
	y.held(first)
}

func keyOfType(y *story) {
	y.enqueue(keyed)
	y.enqueue(rota.NewJob{Type: "other", UniqueKey: "k"})
	y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "K"})
}

func keyTwiceInCommand(y *story) {
	c := &rota.Enqueue{Meta: y.mint.meta(), Jobs: []rota.NewJob{keyed, keyed, {Type: "mail"}}}
	jobs := do[*rota.Enqueued](y, c).Jobs
	want(y, "first is a duplicate", jobs[0].Duplicate, false)
	want(y, "second is a duplicate", jobs[1].Duplicate, true)
	want(y, "second", jobs[1].Job.ID, jobs[0].Job.ID)
	want(y, "position of the third", jobs[2].Job.Position, 200)
	want(y, "jobs made", len(y.queue()), 2)
}

func keyHeldThroughCompletion(y *story) {
	j := y.running(keyed)
	y.held(j)
	y.complete(j)
	y.pass(100 * 24 * time.Hour)
	y.held(j)
}

func keyHeldThroughRetry(y *story) {
	j := y.running(keyed)
	y.fail(j)
	y.held(j)
	y.pass(time.Hour)
	y.makeReady()
	second := y.claimOne()
	y.held(j)
	y.complete(second)
	y.held(j)
}

func keyOfDead(y *story) {
	y.die(y.running(keyed))
	y.free()
}

func keyOfExhausted(y *story) {
	n := keyed
	n.MaxRetries, n.Backoff = ptr(1), ptr(time.Duration(0))
	first := y.running(n)
	y.fail(first)
	y.held(first)
	want(y, "sequel", y.fail(y.claimOne()).Sequel, rota.SequelDead)
	y.free()
}

func keyOfCancelled(y *story) {
	y.cancel(y.enqueue(keyed).ID)
	y.free()
}

func keyOfStopped(y *story) {
	j := y.running(keyed)
	y.cancel(j.ID)
	y.held(j)
	y.mustEnd(j, rota.FinishItem{Outcome: rota.OutcomeFailed})
	y.free()
}

func keyOfCancelledRetry(y *story) {
	j := y.running(keyed)
	y.fail(j)
	y.cancel(j.ID)
	y.free()
}

func keyOfReapedAndCancelled(y *story) {
	j := y.running(keyed)
	y.cancel(j.ID)
	y.pass(time.Hour)
	want(y, "outcome", y.reap().Jobs[0].Outcome, rota.OutcomeCancelled)
	y.free()
}

func keyFreeInTime(y *story) {
	j := y.running(keyedFor(time.Minute))
	y.pass(time.Second)
	y.complete(j)
	y.now = j.CreatedAt.Add(time.Minute - time.Microsecond)
	y.held(j)
	y.now = j.CreatedAt.Add(time.Minute)
	y.free()
}

func keyHeldPastTime(y *story) {
	j := y.running(keyedFor(time.Second))
	y.pass(time.Hour)
	y.held(j)
	queued := y.enqueue(rota.NewJob{Type: "mail", UniqueKey: "q", UniqueFor: time.Second})
	y.pass(time.Hour)
	want(y, "held by a queued one", y.submit(rota.NewJob{UniqueKey: "q"}).Job.ID, queued.ID)
}

func keyFreeAtCompletion(y *story) {
	j := y.running(keyedFor(time.Second))
	y.pass(time.Second)
	y.complete(j)
	y.free()
}

func keyFreeForGood(y *story) {
	j := y.running(keyedFor(time.Minute))
	y.pass(time.Hour)
	y.complete(j)
	y.now = j.CreatedAt
	y.free()
}

func keyOfSuccessor(y *story) {
	n := keyed
	n.Backoff = ptr(time.Duration(0))
	first := y.running(n)
	y.fail(first)
	second := y.claimOne()
	y.damage(first.ID, BreakJob)
	successor := y.free()
	y.die(second)
	y.held(successor)
}

func keyOfSkipped(y *story) {
	j := y.running(keyed)
	y.mustEnd(j, rota.FinishItem{Outcome: rota.OutcomeSkipped})
	y.held(j)
}

func keyOfDeadInTime(y *story) {
	y.die(y.running(keyedFor(time.Hour)))
	y.free()
}

func keyTakenAgain(y *story) {
	old := y.running(keyedFor(time.Minute))
	y.complete(old)
	y.pass(time.Hour)
	second := y.free()
	y.held(second)
	y.refused(rota.Conflict, y.cancelCommand(old.ID))
	y.held(second)
}

func keyTakenOver(y *story) {
	j := y.running(keyed)
	y.complete(j)
	y.damage(j.ID, BreakJob)
	second := y.free()
	y.held(second)
}
