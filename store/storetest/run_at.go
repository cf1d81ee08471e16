package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testRunAt tells what an edit of the start time of a job does.
func testRunAt(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a delayed job gets another time", runAtLater},
		{"a time in the past makes a delayed job ready, at the end of its priority", runAtPast},
		{"a delay is measured from the time of the batch", runAtDelay},
		{"a ready job with a time in the future is delayed again", runAtReady},
		{"a ready job with a time in the past keeps its place", runAtReadyPast},
		{"a waiting retry gets another time and keeps its attempt", runAtRetry},
		{"a delayed job frees its place at the limit of its key", runAtKey},
		{"a job held by its key is delayed and comes back to the key", runAtHeldByKey},
		{"a job that also waits for its group waits for both", runAtGroup},
		{"a job that also waits for a dependency waits for both", runAtDependency},
		{"a delayed job of a schedule is still live for the overlap policy", runAtOverlap},
		{"a job that left the queue keeps its time", runAtLeft},
		{"the key of a delayed job is held as before", runAtUnique},
		{"a redrive can be delayed", runAtRedrive},
		{"merged params keep the keys that are not named", mergeParams},
		{"merged params have the length limit of all params", mergeParamsLong},
	})
}

func toRunAt(t time.Time) func(*rota.Edit) { return func(c *rota.Edit) { c.RunAt = t } }

func toDelay(d time.Duration) func(*rota.Edit) { return func(c *rota.Edit) { c.Delay = &d } }

func runAtLater(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Minute})
	later := y.now.Add(2*time.Hour + 999*time.Nanosecond)
	c := y.editCommand(j.ID, toRunAt(later))
	got := do[*rota.Edited](y, c).Job
	wantTime(y, "run at", got.RunAt, y.now.Add(2*time.Hour))
	want(y, "version", got.Version, c.ID)
	wantTime(y, "due", y.due().Ready, got.RunAt)
	y.advance(time.Hour)
	want(y, "readied before its time", y.makeReady().Count, 0)
	y.advance(time.Hour)
	want(y, "readied", y.makeReady().Count, 1)
	y.wantNoViolations()
}

func runAtPast(y *story) {
	delayed := y.enqueue(rota.NewJob{Delay: time.Hour})
	other := y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	got := y.edit(delayed.ID, toRunAt(y.now.Add(-time.Minute)))
	want(y, "ready", got.Ready(), true)
	want(y, "position", got.Position, other.Position+100)
	wantTime(y, "run at", got.RunAt, y.now)
	wantTime(y, "queued at", got.QueuedAt, y.now)
	wantIDs(y, "the queue", y.queue(), other, delayed)
	wantTime(y, "due", y.due().Ready, time.Time{})
	y.wantNoViolations()
}

func runAtDelay(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Hour})
	y.advance(time.Minute)
	wantTime(y, "run at", y.edit(j.ID, toDelay(time.Second)).RunAt, y.now.Add(time.Second))
	want(y, "ready without a delay", y.edit(j.ID, toDelay(0)).Ready(), true)
}

func runAtReady(y *story) {
	first, second := y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{})
	at := y.now.Add(time.Minute)
	got := y.edit(first.ID, toRunAt(at))
	want(y, "state", got.State(), rota.StateScheduled)
	wantTime(y, "run at", got.RunAt, at)
	wantTime(y, "queued at", got.QueuedAt, time.Time{})
	wantIDs(y, "the queue", y.queue(), second)
	y.wantNoViolations()
	y.advance(time.Minute)
	want(y, "readied", y.makeReady().Count, 1)
	wantTime(y, "queued at", y.job(first.ID).QueuedAt, y.now)
	wantIDs(y, "the queue", y.queue(), second, first)
	y.complete(y.claimOne())
	y.complete(y.claimOne())
	y.wantNoViolations()
}

func runAtReadyPast(y *story) {
	first, second := y.enqueue(rota.NewJob{}), y.enqueue(rota.NewJob{})
	y.advance(time.Second)
	got := y.edit(first.ID, toRunAt(y.now))
	want(y, "position", got.Position, first.Position)
	wantTime(y, "queued at", got.QueuedAt, first.QueuedAt)
	wantTime(y, "run at", got.RunAt, time.Time{})
	wantIDs(y, "the queue", y.queue(), first, second)
}

func runAtRetry(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(2), Backoff: new(time.Minute)})
	retry := y.job(y.fail(first).RetryID)
	y.advance(time.Second)
	got := y.edit(retry.ID, toRunAt(y.now.Add(time.Hour)))
	want(y, "attempt", got.Attempt, 2)
	want(y, "retry of", got.RetryOf, first.ID)
	wantTime(y, "run at", got.RunAt, y.now.Add(time.Hour))
	y.edit(retry.ID, toRunAt(y.now))
	next := y.job(y.fail(y.claimOne()).RetryID)
	want(y, "attempt", next.Attempt, 3)
	wantTime(y, "run at of the next retry", next.RunAt, y.now.Add(2*time.Minute))
	y.wantNoViolations()
}

func runAtKey(y *story) {
	jobs := y.enqueueLimited(1, 2)
	got := y.edit(jobs[0].ID, toDelay(time.Minute))
	want(y, "hold", got.Hold, rota.HoldDelay)
	y.wantHold(jobs[1], 0)
	y.advance(time.Minute)
	y.makeReady()
	y.wantHold(jobs[0], rota.HoldKey)
	y.wantNoViolations()
}

func runAtHeldByKey(y *story) {
	jobs := y.enqueueLimited(1, 2)
	want(y, "hold", y.edit(jobs[1].ID, toDelay(time.Minute)).Hold, rota.HoldDelay)
	want(y, "hold after the delay", y.edit(jobs[1].ID, toDelay(0)).Hold, rota.HoldKey)
	y.complete(y.claimOne())
	want(y, "claimed", y.claimOne().ID, jobs[1].ID)
	y.wantNoViolations()
}

func runAtGroup(y *story) {
	_, jobs := y.groupOfThree(rota.GroupSequential, "")
	want(y, "hold", y.edit(jobs[1].ID, toDelay(time.Hour)).Hold, rota.HoldGroup|rota.HoldDelay)
	y.complete(y.claimOne())
	y.wantHold(jobs[1], rota.HoldDelay)
	want(y, "hold of the third with a time in the past", y.edit(jobs[2].ID, toRunAt(y.now)).Hold, rota.HoldGroup)
	y.wantNoViolations()
	y.advance(time.Hour)
	y.makeReady()
	want(y, "claimed", y.claimOne().ID, jobs[1].ID)
}

func runAtDependency(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	want(y, "hold", y.edit(load.ID, toDelay(30*time.Minute)).Hold, rota.HoldDependency|rota.HoldDelay)
	y.complete(y.claimOne())
	y.wantHold(load, rota.HoldDelay)
	y.wantNoViolations()
	y.edit(load.ID, toDelay(0))
	want(y, "claimed", y.claimOne().ID, load.ID)
}

func runAtOverlap(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	first := y.fireNext("nightly")
	y.edit(first.ID, toDelay(2*time.Hour))
	second := y.fireNext("nightly")
	want(y, "state of the next", second.State(), rota.StateSkipped)
	y.wantNoViolations()
}

func runAtLeft(y *story) {
	running := y.running(rota.NewJob{})
	done := y.running(rota.NewJob{})
	y.complete(done)
	cancelled := y.enqueue(rota.NewJob{Delay: time.Hour})
	y.cancel(cancelled.ID)
	for _, j := range []*rota.Job{running, done, cancelled} {
		y.wantField(rota.Conflict, "job_id", y.editCommand(j.ID, toDelay(time.Hour)))
	}
}

func runAtUnique(y *story) {
	j := y.enqueue(keyed)
	y.edit(j.ID, toDelay(time.Hour))
	y.wantKeyHeldBy(j)
	y.edit(j.ID, toDelay(0))
	y.wantKeyHeldBy(j)
}

func runAtRedrive(y *story) {
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	j := y.redrive(dead.ID)
	want(y, "state", y.edit(j.ID, toDelay(time.Hour)).State(), rota.StateScheduled)
	y.wantNoViolations()
}

func toMerged(doc string) func(*rota.Edit) {
	return func(c *rota.Edit) { c.MergeParams = []byte(doc) }
}

func mergeParams(y *story) {
	j := y.enqueue(rota.NewJob{Params: []byte(`{"a":1,"b":{"c":2}}`)})
	want(y, "params", string(y.edit(j.ID, toMerged(`{"b":{"d":3},"e":4}`)).Params), `{"a":1,"b":{"d":3},"e":4}`)
	want(y, "claimed params", string(y.claimOne().Params), `{"a":1,"b":{"d":3},"e":4}`)
}

func mergeParamsLong(y *story) {
	half := strings.Repeat("x", rota.ParamsMax/2)
	j := y.enqueue(rota.NewJob{Params: []byte(`{"a":"` + half + `"}`)})
	y.wantField(rota.Invalid, "merge_params", y.editCommand(j.ID, toMerged(`{"b":"`+half+`"}`)))
	y.edit(j.ID, toMerged(`{"a":"`+half+`"}`))
}
