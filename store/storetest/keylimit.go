package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testKeyLimit(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"as many jobs of a limited key are ready as may run, and the others wait", keyLimited},
		{"the end of a job releases the next of its key, in order", keyFreesNext},
		{"all jobs of a limited key run, however enqueues and ends alternate", keyNeverStuck},
		{"a key limit applies across types and not to other keys", keyAcross},
		{"an enqueued job of higher priority takes the place of a ready job", keyOvertakes},
		{"a job whose priority is raised takes the place of a ready job", keyReprioritised},
		{"a job that is moved to the front takes the place of a ready job", keyMoved},
		{"a cancelled job passes its place to the next", keyCancelled},
		{"a cancel of any held job leaves nothing to a sweep", keyHeldCancelled},
		{"a delayed job counts when it is due", keyDelayed},
		{"a retry waits for its key like any other job", keyRetry},
		{"a lowered limit applies at the next claim, and a sweep holds the rest", keyLowered},
		{"a sweep releases jobs after the limit is raised", keyRaised},
		{"a sweep releases all jobs after the limit is removed", keyRemoved},
		{"a limit added later applies at the next claim", keyLater},
		{"a key limit does not apply to other keys or to unique keys", keyFree},
		{"a direct run takes a slot of its key", keyDirect},
		{"renumbering the queue does not change which job of a key is ready", keyNormalised},
		{"a job that cannot start does not block other types of its key", keyPaused},
		{"when many jobs of a key end at once the next one is released", keyManyEnd},
		{"a job that a claim held back is the first to be released", keyHeldByClaim},
		{"one command changes at most the limit plus KeySpare jobs of a key, in an all too", keyInAll},
	})
}

// jobOfKey returns a job of the concurrency key db.
func jobOfKey(priority int) rota.NewJob {
	return rota.NewJob{ConcurrencyKey: new("db"), Priority: &priority}
}

// enqueueLimited limits the key db and enqueues count jobs of it.
func (y *story) enqueueLimited(limit, count int) []*rota.Job {
	y.Helper()
	y.throttle(keyLimit("db", limit))
	var jobs []*rota.Job
	for range count {
		jobs = append(jobs, y.enqueue(jobOfKey(0)))
	}
	return jobs
}

func keyLimited(y *story) {
	jobs := y.enqueueLimited(2, 4)
	wantIDs(y, "the queue", y.queue(), jobs[0], jobs[1])
	y.wantHold(jobs[2], rota.HoldKey)
	wantTime(y, "queued at", y.job(jobs[2].ID).QueuedAt, time.Time{})
	want(y, "state", y.job(jobs[3].ID).State(), rota.StateBlocked)
	wantIDs(y, "claimed", idsOf(y.claim(5)), jobs[0], jobs[1])
	y.wantNoViolations()
}

func keyFreesNext(y *story) {
	jobs := y.enqueueLimited(1, 3)
	first := y.claimOne()
	want(y, "claimed meanwhile", len(y.claim(5)), 0)
	y.advance(time.Second)
	y.complete(first)
	wantIDs(y, "the queue", y.queue(), jobs[1])
	wantTime(y, "queued at", y.job(jobs[1].ID).QueuedAt, y.now)
	want(y, "position", y.job(jobs[1].ID).Position, jobs[1].Position)
}

// keyNeverStuck enqueues before and after ends in turn, so that an end finds jobs that wait,
// that are ready, or none.
func keyNeverStuck(y *story) {
	y.enqueueLimited(1, 1)
	const all = 9
	created, done := 1, 0
	for jobs := y.claim(5); len(jobs) > 0; jobs = y.claim(5) {
		want(y, "claimed at once", len(jobs), 1)
		for range done % 3 {
			if created < all {
				y.enqueue(jobOfKey(done % 2))
				created++
			}
		}
		y.complete(jobs[0])
		if done++; created < all && done%3 != 2 {
			y.enqueue(jobOfKey(0))
			created++
		}
	}
	want(y, "created", created, all)
	want(y, "done", done, all)
}

func keyAcross(y *story) {
	jobs := y.enqueueLimited(1, 1)
	other := y.enqueue(rota.NewJob{Type: "other", ConcurrencyKey: new("db")})
	pass := y.enqueue(rota.NewJob{ConcurrencyKey: new("disk")})
	plain := y.enqueue(rota.NewJob{})
	wantIDs(y, "claimed", idsOf(y.claim(9, "mail", "other")), jobs[0], pass, plain)
	y.wantHold(other, rota.HoldKey)
}

func keyOvertakes(y *story) {
	jobs := y.enqueueLimited(2, 3)
	high := y.enqueue(jobOfKey(5))
	wantIDs(y, "the queue", y.queue(), high, jobs[0])
	y.wantHold(jobs[1], rota.HoldKey)
	wantTime(y, "queued at", y.job(jobs[1].ID).QueuedAt, y.now)
}

// keyHeldByClaim shows that a claim at the limit holds back the jobs that it reads, and not
// those after them.
func keyHeldByClaim(y *story) {
	y.throttle(keyLimit("db", 2))
	y.sweep(0)
	other := func() *rota.Job {
		return y.enqueue(rota.NewJob{Type: "other", ConcurrencyKey: new("db"), Priority: new(1)})
	}
	others, mails := []*rota.Job{other(), other()}, []*rota.Job{y.enqueue(jobOfKey(0)), y.enqueue(jobOfKey(0))}
	started := y.claim(3, "mail", "other")
	wantIDs(y, "claimed", idsOf(started), others...)
	y.wantHold(mails[0], rota.HoldKey)
	wantIDs(y, "the queue", y.queue(), mails[1])
	y.wantNoViolations()
	y.complete(started[0])
	wantIDs(y, "the queue", y.queue(), mails[0])
	y.wantNoViolations()
}

func keyReprioritised(y *story) {
	jobs := y.enqueueLimited(1, 3)
	got := y.edit(jobs[2].ID, toPriority(5))
	want(y, "answered as ready", got.Hold, 0)
	wantIDs(y, "the queue", y.queue(), jobs[2])
	y.wantHold(jobs[0], rota.HoldKey)
	y.edit(jobs[2].ID, toPriority(-5))
	wantIDs(y, "the queue", y.queue(), jobs[0])
	y.complete(y.claimOne())
	wantIDs(y, "the queue", y.queue(), jobs[1])
}

func keyMoved(y *story) {
	jobs := y.enqueueLimited(1, 3)
	y.move(jobs[2], rota.PlaceBefore, jobs[0])
	wantIDs(y, "the queue", y.queue(), jobs[2])
	y.move(jobs[2], rota.PlaceBottom, nil)
	wantIDs(y, "the queue", y.queue(), jobs[0])
	y.claimOne()
	y.move(jobs[2], rota.PlaceTop, nil)
	y.wantHold(jobs[2], rota.HoldKey)
}

func keyCancelled(y *story) {
	jobs := y.enqueueLimited(1, 3)
	y.cancel(jobs[0].ID)
	wantIDs(y, "the queue", y.queue(), jobs[1])
	y.cancel(jobs[2].ID)
	wantIDs(y, "the queue", y.queue(), jobs[1])
	running := y.claimOne()
	late := y.enqueue(jobOfKey(0))
	y.cancel(running.ID)
	y.wantHold(late, rota.HoldKey)
	y.fail(running)
	y.wantHold(late, 0)
}

// keyHeldCancelled cancels a held job at each place in the queue, so that it is also the last of
// those that a command reads.
func keyHeldCancelled(y *story) {
	held := y.enqueueLimited(1, 80)[1:]
	y.sweep(0)
	for place := range 40 {
		y.cancel(held[place].ID)
		held = slices.Delete(held, place, place+1)
		want(y, "a sweep is due", y.due().Sweep, false)
	}
	y.wantNoViolations()
}

func keyDelayed(y *story) {
	y.throttle(keyLimit("db", 1))
	n := jobOfKey(5)
	n.Delay = time.Minute
	late := y.enqueue(n)
	want(y, "hold", late.Hold, rota.HoldDelay)
	first := y.enqueue(jobOfKey(0))
	wantIDs(y, "the queue", y.queue(), first)
	y.advance(time.Minute)
	want(y, "readied", y.makeReady().Count, 1)
	wantIDs(y, "the queue", y.queue(), late)
	y.claimOne()
	y.enqueue(n)
	y.advance(time.Minute)
	y.makeReady()
	want(y, "claimed at the limit", len(y.claim(5)), 0)
}

func keyRetry(y *story) {
	jobs := y.enqueueLimited(1, 2)
	first := y.claimOne()
	retry := y.mustFinish(first, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown}).RetryID
	wantIDs(y, "the queue", y.queue(), jobs[1])
	want(y, "hold of the retry", y.job(retry).Hold, rota.HoldKey)
	y.complete(y.claimOne())
	want(y, "claimed", y.claimOne().ID, retry)
}

func keyLowered(y *story) {
	jobs := y.enqueueLimited(3, 4)
	y.throttle(keyLimit("db", 1))
	want(y, "a sweep is due", y.due().Sweep, true)
	want(y, "ready until it is swept", len(y.queue()), 3)
	got := do[*rota.Claimed](y, y.claimCommand(5))
	wantIDs(y, "claimed", idsOf(got.Jobs), jobs[0])
	want(y, "more", got.More, true)
	y.wantHold(jobs[1], rota.HoldKey)
	y.sweep(0)
	want(y, "a sweep is due", y.due().Sweep, false)
	want(y, "ready", len(y.queue()), 0)
	y.complete(&rota.Job{ID: got.Jobs[0].ID, Run: got.Jobs[0].Run})
	wantIDs(y, "the queue", y.queue(), jobs[1])
}

func keyRaised(y *story) {
	jobs := y.enqueueLimited(1, 4)
	y.throttle(keyLimit("db", 3))
	want(y, "a sweep is due", y.due().Sweep, true)
	want(y, "swept", *y.sweep(0), rota.Swept{Count: 2})
	wantIDs(y, "the queue", y.queue(), jobs[:3]...)
	want(y, "a sweep is due", y.due().Sweep, false)
}

func keyRemoved(y *story) {
	jobs := y.enqueueLimited(1, 5)
	y.claimOne()
	y.throttle(rota.ThrottleSpec{})
	for _, page := range []rota.Swept{{Count: 3, More: true}, {Count: 1}} {
		want(y, "swept", *y.sweep(3), page)
	}
	wantIDs(y, "the queue", y.queue(), jobs[1:]...)
}

func keyLater(y *story) {
	var jobs []*rota.Job
	for range 3 {
		jobs = append(jobs, y.enqueue(jobOfKey(0)))
	}
	other := y.enqueue(rota.NewJob{})
	want(y, "ready", len(y.queue()), 4)
	y.throttle(keyLimit("db", 1))
	got := do[*rota.Claimed](y, y.claimCommand(3))
	wantIDs(y, "claimed", idsOf(got.Jobs), jobs[0])
	want(y, "more", got.More, true)
	wantIDs(y, "claimed behind them", idsOf(y.claim(3)), other)
	y.complete(got.Jobs[0])
	wantIDs(y, "the queue", y.queue(), jobs[1])
}

func keyFree(y *story) {
	y.throttle(keyLimit("db", 1))
	for range 3 {
		want(y, "ready", y.enqueue(rota.NewJob{ConcurrencyKey: new("DB")}).Ready(), true)
		want(y, "ready", y.enqueue(rota.NewJob{UniqueKey: ""}).Ready(), true)
	}
}

func keyDirect(y *story) {
	jobs := y.enqueueLimited(2, 2)
	direct := y.direct(y.reserve(), jobOfKey(0))
	wantIDs(y, "the queue", y.queue(), jobs[0])
	y.wantHold(jobs[1], rota.HoldKey)
	y.complete(direct)
	wantIDs(y, "the queue", y.queue(), jobs...)
}

func keyNormalised(y *story) {
	jobs := y.enqueueLimited(1, 3)
	y.move(jobs[1], rota.PlaceBefore, jobs[0])
	do[*rota.Normalised](y, &rota.Normalise{Meta: y.ids.meta()})
	wantIDs(y, "the queue", y.queue(), jobs[1])
	y.complete(y.claimOne())
	wantIDs(y, "the queue", y.queue(), jobs[0])
}

// keyPaused has a job of a paused type, and one that no worker claims, first in their key.
func keyPaused(y *story) {
	y.throttle(keyLimit("db", 1))
	y.declareType("report", rota.TypeSpec{})
	y.pause("report", true)
	paused := y.enqueue(rota.NewJob{Type: "report", ConcurrencyKey: new("db")})
	foreign := y.enqueue(rota.NewJob{Type: "foreign", ConcurrencyKey: new("db")})
	mail := y.enqueue(jobOfKey(0))
	first := y.claim(5, "mail", "report")
	wantIDs(y, "claimed", idsOf(first), mail)
	y.pause("report", false)
	want(y, "claimed beyond the limit", len(y.claim(5, "mail", "report", "foreign")), 0)
	y.complete(first[0])
	wantIDs(y, "claimed then", idsOf(y.claim(5, "mail", "report", "foreign")), paused)
	y.wantHold(foreign, rota.HoldKey)
	y.wantNoViolations()
}

// keyManyEnd ends more jobs of a key in one command than the command balances.
func keyManyEnd(y *story) {
	y.throttle(keyLimit("db", 1))
	members := make([]rota.NewJob, 40)
	for i := range members {
		members[i] = jobOfKey(0)
	}
	g := y.enqueueGroup(rota.GroupParallel, rota.FailureContinue, members...).Group
	last := y.enqueue(jobOfKey(0))
	y.cancelGroup(g.ID)
	for y.sweep(0).More {
	}
	wantIDs(y, "claimed", idsOf(y.claim(5)), last)
	y.wantNoViolations()
}

func keyInAll(y *story) {
	const all = 60
	for range all {
		y.enqueue(jobOfKey(0))
	}
	y.throttle(keyLimit("db", 2))
	most := 2 + rota.KeySpare
	y.enqueue(jobOfKey(-1))
	want(y, "ready after a command", len(y.queue()), all-most)
	do[*rota.AllDone](y, y.allOf(y.enqueueCommand(jobOfKey(-1))))
	want(y, "ready after an all of one", len(y.queue()), all-2*most)
}
