package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testEnqueue(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a job without options takes the defaults and is ready", defaultJob},
		{"a job keeps every field of its request", fullJob},
		{"times and durations are kept to the microsecond", microseconds},
		{"a new position is the highest queued position of the priority plus 100", positions},
		{"positions count held jobs and begin at 100 in an empty queue", positionsOfHeld},
		{"a new position follows the highest even if that is below zero", positionsBelowZero},
		{"jobs of one command keep their order", manyJobs},
		{"a command with one invalid job creates no job", oneInvalidJob},
		{"a job with a future run time is held", heldUntilDue},
		{"a job with a past run time is not held", dueAtOnce},
		{"an id of another job is a conflict and creates no job", idTaken},
		{"the id of a retry is a conflict", idOfRetry},
		{"an enqueue sent again is answered with the job as it is now", ownJobAgain},
		{"later changes of the caller's slices do not change the stored job", inputCopied},
	})
}

func defaultJob(y *story) {
	j := y.enqueue(rota.NewJob{Type: "mail"})
	want(y, "execution", j.ExecutionID, j.ID)
	want(y, "status", j.Status, rota.StatusQueued)
	want(y, "ready", j.Ready(), true)
	want(y, "params", string(j.Params), "{}")
	want(y, "position", j.Position, 100)
	want(y, "attempt", j.Attempt, 1)
	want(y, "sequel", j.Sequel, "")
	want(y, "version", j.Version, rota.ID{})
	want(y, "created by", j.CreatedBy, "ada")
	want(y, "run", j.Run, nil)
	want(y, "policy", j.Policy, rota.Policy{MaxAttempts: 4, Backoff: time.Minute, Timeout: time.Hour})
	wantTime(y, "created at", j.CreatedAt, y.now)
	wantTime(y, "queued at", j.QueuedAt, y.now)
	wantTime(y, "run at", j.RunAt, time.Time{})
	wantTime(y, "plan time", j.PlanTime, time.Time{})
	want(y, "difference between answer and row", difference(jobText(j), jobText(y.job(j.ID))), "")
}

func jobText(j *rota.Job) string {
	var b text
	b.job("", j)
	return b.String()
}

func fullJob(y *story) {
	n := rota.NewJob{
		ID: y.ids.next(), Type: "mail", Name: "nightly", Params: json.RawMessage(`{"to":"bob"}`), Priority: new(-7),
		RunAt: y.now.Add(time.Hour), UniqueKey: "k", UniqueFor: time.Minute,
		ScopeKind: "tenant", ScopeID: "42", PlanTime: y.now.Add(-time.Minute),
		MaxRetries: ptr(5), Backoff: ptr(2 * time.Second), BackoffMax: ptr(time.Minute), Jitter: ptr(0.25), Timeout: ptr(time.Duration(0)),
	}
	y.enqueue(n)
	j := y.job(n.ID)
	want(y, "name", j.Name, "nightly")
	want(y, "params", string(j.Params), `{"to":"bob"}`)
	want(y, "priority", j.Priority, -7)
	want(y, "unique key", j.UniqueKey, "k")
	want(y, "unique for", j.UniqueFor, time.Minute)
	want(y, "scope", j.ScopeKind+"/"+j.ScopeID, "tenant/42")
	want(y, "policy", j.Policy, rota.Policy{MaxAttempts: 6, Backoff: 2 * time.Second, BackoffMax: time.Minute, Jitter: 0.25})
	wantTime(y, "run at", j.RunAt, n.RunAt)
	wantTime(y, "plan time", j.PlanTime, n.PlanTime)
	wantTime(y, "queued at", j.QueuedAt, time.Time{})
}

func ptr[T any](v T) *T { return &v }

func microseconds(y *story) {
	y.now = y.now.Add(999 * time.Nanosecond)
	j := y.enqueue(rota.NewJob{RunAt: y.now.Add(time.Hour), PlanTime: y.now})
	wantTime(y, "created at", j.CreatedAt, startTime)
	wantTime(y, "run at", y.job(j.ID).RunAt, startTime.Add(time.Hour))
	wantTime(y, "plan time", y.job(j.ID).PlanTime, startTime)
	fine := 7*time.Microsecond + 999*time.Nanosecond
	j = y.enqueue(rota.NewJob{UniqueKey: "k", UniqueFor: fine, Backoff: &fine, BackoffMax: &fine, Timeout: &fine})
	micro := 7 * time.Microsecond
	for _, got := range []*rota.Job{j, y.job(j.ID)} {
		want(y, "policy", got.Policy, rota.Policy{MaxAttempts: 4, Backoff: micro, BackoffMax: micro, Timeout: micro})
		want(y, "unique for", got.UniqueFor, micro)
	}
}

func positions(y *story) {
	want(y, "first", y.enqueue(rota.NewJob{Priority: new(1)}).Position, 100)
	want(y, "second", y.enqueue(rota.NewJob{Priority: new(1)}).Position, 200)
	want(y, "first of another priority", y.enqueue(rota.NewJob{Priority: new(2)}).Position, 100)
	third := y.enqueue(rota.NewJob{Priority: new(1), Type: "other"})
	want(y, "third, of another type", third.Position, 300)
	y.cancel(third.ID)
	want(y, "after the last was cancelled", y.enqueue(rota.NewJob{Priority: new(1)}).Position, 300)
}

func positionsOfHeld(y *story) {
	y.enqueue(rota.NewJob{Delay: time.Hour})
	want(y, "behind a held job", y.enqueue(rota.NewJob{}).Position, 200)
	y.claimOne()
	want(y, "behind a held job only", y.enqueue(rota.NewJob{}).Position, 200)
	y.advance(time.Hour)
	y.makeReady()
	y.claim(10)
	want(y, "in an empty queue", y.enqueue(rota.NewJob{}).Position, 100)
}

func positionsBelowZero(y *story) {
	jobs := y.enqueueMany(3)
	y.move(jobs[1], rota.PlaceTop, nil)
	y.move(jobs[2], rota.PlaceTop, nil)
	y.cancel(jobs[0].ID)
	y.cancel(jobs[1].ID)
	want(y, "the only one left", y.job(jobs[2].ID).Position, -100)
	want(y, "the next", y.enqueue(rota.NewJob{}).Position, 0)
	want(y, "and the next", y.enqueue(rota.NewJob{}).Position, 100)
}

func manyJobs(y *story) {
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: make([]rota.NewJob, 60)}
	for i := range c.Jobs {
		c.Jobs[i] = rota.NewJob{Type: "mail", Priority: new(i % 2)}
	}
	reply := do[*rota.Enqueued](y, c)
	var high, low []*rota.Job
	for i, one := range reply.Jobs {
		want(y, "id", one.Job.ID, c.JobID(i))
		want(y, "position", one.Job.Position, int64(i/2+1)*100)
		if i%2 == 1 {
			high = append(high, one.Job)
		} else {
			low = append(low, one.Job)
		}
	}
	wantIDs(y, "the queue", y.queue(), append(high, low...)...)
}

func oneInvalidJob(y *story) {
	taken := y.enqueue(rota.NewJob{})
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{
		{Type: "mail", UniqueKey: "k"}, {Type: "other", ID: taken.ID}, {Type: "mail"},
	}}
	err := y.refused(rota.Conflict, c)
	want(y, "field", err.Field, "jobs[1].id")
	if one := y.submit(rota.NewJob{UniqueKey: "k"}); one.Duplicate {
		y.Error("the key of a job that was not created is held")
	}
}

func heldUntilDue(y *story) {
	at := y.enqueue(rota.NewJob{RunAt: y.now.Add(time.Microsecond)})
	in := y.enqueue(rota.NewJob{Delay: time.Minute})
	want(y, "hold", at.Hold, rota.HoldDelay)
	want(y, "hold", in.Hold, rota.HoldDelay)
	wantTime(y, "run at", in.RunAt, y.now.Add(time.Minute))
	wantTime(y, "queued at", at.QueuedAt, time.Time{})
	want(y, "claimed", len(y.claim(10)), 0)
	want(y, "in the queue", len(y.queue()), 0)
}

func dueAtOnce(y *story) {
	for _, at := range []time.Time{y.now, y.now.Add(-time.Hour)} {
		j := y.enqueue(rota.NewJob{RunAt: at})
		want(y, "ready", j.Ready(), true)
		wantTime(y, "run at", j.RunAt, at)
		wantTime(y, "queued at", j.QueuedAt, y.now)
	}
}

func idTaken(y *story) {
	j := y.enqueue(rota.NewJob{Type: "mail", Name: "a"})
	for _, n := range []rota.NewJob{{ID: j.ID, Type: "other", Name: "a"}, {ID: j.ID, Type: "mail", Name: "b"}} {
		err := y.refused(rota.Conflict, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{n}})
		want(y, "field", err.Field, "jobs[0].id")
	}
}

func idOfRetry(y *story) {
	retry := y.fail(y.running(rota.NewJob{})).RetryID
	y.refused(rota.Conflict, &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{ID: retry, Type: "mail"}}})
}

func ownJobAgain(y *story) {
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Type: "mail", UniqueKey: "k", PlanTime: y.now}}}
	first := do[*rota.Enqueued](y, c).Jobs[0].Job
	y.claimOne()
	before := y.dump()
	again := do[*rota.Enqueued](y, c).Jobs[0]
	want(y, "duplicate", again.Duplicate, false)
	want(y, "id", again.Job.ID, first.ID)
	want(y, "status", again.Job.Status, rota.StatusRunning)
	want(y, "token shown", again.Job.Run.Token.IsZero(), true)
	y.wantUnchanged(before)
}

func inputCopied(y *story) {
	params := json.RawMessage(`{"to":"bob"}`)
	j := y.enqueue(rota.NewJob{Params: params})
	params[2] = 'X'
	j.Params[2] = 'Y'
	want(y, "params", string(y.job(j.ID).Params), `{"to":"bob"}`)
}
