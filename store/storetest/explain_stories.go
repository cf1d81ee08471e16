package storetest

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

func explainEnded(y *story) {
	done := y.running(rota.NewJob{})
	y.complete(done)
	wantWords(y, y.wantReasons(done, rota.ReasonEnded)[0], "completed", timestamp(y.now))

	dead := y.running(rota.NewJob{MaxRetries: new(0)})
	y.fail(dead)
	wantWords(y, y.wantReasons(dead, rota.ReasonEnded)[0], "dns: no such host", "attempt 1 of 1", "rota dead retry "+dead.ID.String())

	cancelled := y.enqueue(rota.NewJob{})
	y.cancel(cancelled.ID)
	wantWords(y, y.wantReasons(cancelled, rota.ReasonEnded)[0], "cancelled", "rota job retry "+cancelled.ID.String())

	stopped := y.running(rota.NewJob{})
	y.cancel(stopped.ID)
	y.fail(stopped)
	wantWords(y, y.wantReasons(stopped, rota.ReasonEnded)[0], "ada", "not needed", "rota job retry")

	skipped := y.running(rota.NewJob{})
	y.mustFinish(skipped, rota.FinishItem{Outcome: rota.OutcomeSkipped, Error: "nothing to send"})
	wantWords(y, y.wantReasons(skipped, rota.ReasonEnded)[0], "skipped", "nothing to send")
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func explainRunning(y *story) {
	j := y.running(rota.NewJob{})
	wantWords(y, y.wantReasons(j, rota.ReasonRunning)[0], "w1", timestamp(y.now), "rota job cancel "+j.ID.String())
	y.cancel(j.ID)
	wantWords(y, y.wantReasons(j, rota.ReasonRunning)[0], "ada asked it to stop", "not needed")
}

func explainRetried(y *story) {
	j := y.running(rota.NewJob{Backoff: new(time.Hour)})
	retry := y.fail(j)
	reason := y.wantReasons(j, rota.ReasonRetry)[0]
	wantWords(y, reason, "no such host", "attempt 2 of 4", retry.RetryID.String())
	wantTime(y, "until", reason.Until, retry.RetryAt)
	y.now = retry.RetryAt
	y.makeReady()
	y.wantReasons(j, rota.ReasonOrder)
	y.claimOne()
	y.wantReasons(j, rota.ReasonRunning)
}

func explainRedriven(y *story) {
	j := y.running(rota.NewJob{})
	y.failPermanently(j)
	again := y.redrive(j.ID)
	reason := y.wantReasons(j, rota.ReasonEnded)[0]
	wantWords(y, reason, "rota job explain "+again.ID.String())
	want(y, "jobs", slices.Equal(reason.Jobs, []rota.ID{again.ID}), true)
	y.wantReasons(again, rota.ReasonOrder)
}

func explainNotFound(y *story) {
	_, err := y.s.Explain(y.ctx, y.ids.next())
	y.wantNotFound("the explanation of an unknown job", err)
}

func explainPaused(y *story) {
	y.declareType("mail", rota.TypeSpec{})
	y.pause("mail", true)
	j := y.enqueue(rota.NewJob{})
	late := y.enqueue(rota.NewJob{Delay: time.Hour})
	wantWords(y, y.wantReasons(j, rota.ReasonPaused, rota.ReasonOrder)[0], "mail")
	y.wantReasons(late, rota.ReasonPaused, rota.ReasonDelay)
	y.pause("mail", false)
	y.wantReasons(j, rota.ReasonOrder)
}

func explainDelay(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Hour})
	reason := y.wantReasons(j, rota.ReasonDelay)[0]
	wantWords(y, reason, timestamp(y.now.Add(time.Hour)))
	wantTime(y, "until", reason.Until, y.now.Add(time.Hour))
	y.advance(time.Hour)
	y.makeReady()
	y.wantReasons(j, rota.ReasonOrder)
}

// fireBlocked declares extract and load, which depends on extract, and fires both.
func fireBlocked(y *story) (extract, load *rota.Job) {
	y.Helper()
	y.declare("extract", rota.ScheduleSpec{Policy: rota.PolicyPatch{Backoff: new(time.Hour), MaxRetries: new(1)}})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	extract = y.fireNext("extract")
	return extract, y.fireNext("load")
}

func explainDependency(y *story) {
	extract, load := fireBlocked(y)
	wants := func(latest rota.ID, words ...string) {
		y.Helper()
		reason := y.wantReasons(load, rota.ReasonDependency)[0]
		wantWords(y, reason, append(words, "extract", latest.String(), timestamp(load.WaitUntil), "SKIPPED")...)
		wantTime(y, "until", reason.Until, load.WaitUntil)
		want(y, "jobs", slices.Equal(reason.Jobs, []rota.ID{latest}), true)
	}
	wants(extract.ID, "waits in the queue")
	running := y.claimOne()
	wants(extract.ID, "is running")
	retry := y.fail(running)
	wants(retry.RetryID, "attempt 2 of 2", timestamp(retry.RetryAt))
	y.advanceTo(retry.RetryAt)
	y.makeReady()
	y.failPermanently(y.claimOne())
	wants(retry.RetryID, "failed for good", "rota dead retry "+retry.RetryID.String())
	again := y.redrive(retry.RetryID)
	wants(again.ID, "waits in the queue")
	y.cancel(again.ID)
	wants(again.ID, "was cancelled", "rota job retry "+again.ID.String())
	y.redrive(again.ID)
	y.complete(y.claimOne())
	y.wantReasons(load, rota.ReasonOrder)
}

func explainDependencyPaused(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	owed := y.schedule("extract").NextFire
	y.switchTo("extract", rota.SchedulePaused)
	load := y.fireNext("load")
	wantWords(y, y.wantReasons(load, rota.ReasonDependency)[0], timestamp(owed), "paused", "rota schedule resume extract")
	y.switchTo("extract", rota.ScheduleDisabled)
	wantWords(y, y.wantReasons(load, rota.ReasonDependency)[0], "disabled", "has not run", timestamp(load.PlanTime))
	y.deleteSchedule("extract")
	y.wantReasons(load, rota.ReasonOrder)
}

func explainDependencyScope(y *story) {
	y.declare("extract", rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "tenant", ID: "a"}, {Kind: "tenant", ID: "b"}}})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.advanceTo(y.schedule("extract").NextFire)
	extracts := y.fire("extract")
	load := y.fireNext("load")
	wantWords(y, y.wantReasons(load, rota.ReasonDependency)[0], "tenant a", extracts[0].ID.String())
	y.complete(y.claimOne())
	wantWords(y, y.wantReasons(load, rota.ReasonDependency)[0], "tenant b", extracts[1].ID.String())
	y.complete(y.claimOne())
	y.wantReasons(load, rota.ReasonOrder)
}

func explainGroup(y *story) {
	members := y.enqueueGroup(rota.GroupSequential, rota.FailureContinue, rota.NewJob{}, rota.NewJob{}, rota.NewJob{}).Jobs
	y.wantReasons(members[0], rota.ReasonOrder)
	reason := y.wantReasons(members[2], rota.ReasonGroup)[0]
	wantWords(y, reason, "batch", "member 3", "member 1", members[0].ID.String())
	want(y, "jobs", slices.Equal(reason.Jobs, idsOf(members[:2])), true)
	y.complete(y.claimOne())
	y.wantReasons(members[1], rota.ReasonOrder)
	want(y, "jobs", slices.Equal(y.wantReasons(members[2], rota.ReasonGroup)[0].Jobs, idsOf(members[1:2])), true)
}

func explainEnding(y *story) {
	g := y.enqueueGroup(rota.GroupParallel, rota.FailureContinue, make([]rota.NewJob, rota.MembersMax+1)...)
	want(y, "more", y.cancelGroup(g.Group.ID).More, true)
	last := g.Jobs[rota.MembersMax]
	wantWords(y, y.wantReasons(last, rota.ReasonEnding, rota.ReasonOrder)[0], g.Group.ID.String(), "cancelled by ada", "not needed")
	y.sweep(0)
	wantWords(y, y.wantReasons(last, rota.ReasonEnded)[0], "cancelled", g.Group.ID.String())
}

func explainOverlap(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("nightly")
	running := y.claimOne()
	next := y.fireNext("nightly")
	reason := y.wantReasons(next, rota.ReasonOverlap)[0]
	wantWords(y, reason, "nightly", running.ID.String(), "asked to stop")
	want(y, "jobs", slices.Equal(reason.Jobs, []rota.ID{running.ID}), true)
	y.fail(running)
	y.wantReasons(next, rota.ReasonOrder)
}

func explainKey(y *story) {
	y.throttle(keyLimit("db", 2))
	keyed := func() *rota.Job { return y.enqueue(rota.NewJob{ConcurrencyKey: new("db")}) }
	one, two, three := keyed(), keyed(), keyed()
	y.wantReasons(one, rota.ReasonOrder)
	y.wantReasons(two, rota.ReasonOrder)
	wantWords(y, y.wantReasons(three, rota.ReasonKeyLimit)[0], "db", "running: 0, ready before it, of its type: 2")
	running := y.claim(2)
	wantWords(y, y.wantReasons(three, rota.ReasonKeyLimit)[0], "2 jobs with the concurrency key db run, and the limit is 2")
	y.complete(running[0])
	y.wantReasons(three, rota.ReasonOrder)
	y.throttle(keyLimit("db", 1))
	y.wantReasons(three, rota.ReasonKeyLimit, rota.ReasonOrder)
	want(y, "claimed", len(y.claim(1)), 0)
	y.wantReasons(three, rota.ReasonKeyLimit)
	y.throttle(rota.ThrottleSpec{})
	wantWords(y, y.wantReasons(three, rota.ReasonKeyLimit)[0], "no limit any more")
	y.sweep(0)
	y.wantReasons(three, rota.ReasonOrder)
}

func explainLimits(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 3, Types: []rota.TypeLimit{{Type: "mail", Concurrency: 2}}})
	y.enqueueMany(3)
	running := y.claim(2)
	last := y.job(y.queue()[0])
	reasons := y.wantReasons(last, rota.ReasonTypeLimit, rota.ReasonOrder)
	wantWords(y, reasons[0], "2 jobs of type mail run, and the limit is 2")
	y.enqueue(rota.NewJob{Type: "print"})
	y.claim(1, "print")
	reasons = y.wantReasons(last, rota.ReasonGlobalLimit, rota.ReasonTypeLimit, rota.ReasonOrder)
	wantWords(y, reasons[0], "3 jobs of all types run, and the limit is 3")
	y.complete(running[0])
	y.wantReasons(last, rota.ReasonOrder)
}

func explainRate(y *story) {
	y.throttle(rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Rate: rota.Rate{Count: 1, Per: 24 * time.Hour}}}})
	y.enqueueMany(2)
	claimed := do[*rota.Claimed](y, y.claimCommand(2))
	want(y, "claimed", len(claimed.Jobs), 1)
	reason := y.wantReasons(y.job(y.queue()[0]), rota.ReasonRate, rota.ReasonOrder)[0]
	wantWords(y, reason, "1 in 24h", timestamp(claimed.Next))
	wantTime(y, "until", reason.Until, claimed.Next)
}

func explainReservation(y *story) {
	j := y.enqueue(rota.NewJob{})
	r := y.reserve()
	reason := y.wantReasons(j, rota.ReasonReservation, rota.ReasonOrder)[0]
	wantWords(y, reason, "w1", timestamp(r.ExpiresAt))
	wantTime(y, "until", reason.Until, r.ExpiresAt)
	direct := y.direct(r, rota.NewJob{})
	wantWords(y, y.wantReasons(j, rota.ReasonReservation, rota.ReasonOrder)[0], direct.ID.String())
	y.complete(direct)
	y.wantReasons(j, rota.ReasonOrder)
}

func explainOrder(y *story) {
	jobs := y.enqueueMany(3)
	y.enqueue(rota.NewJob{Type: "print", Priority: new(1)})
	y.enqueue(rota.NewJob{Type: "print", Priority: new(-1)})
	y.enqueue(rota.NewJob{Priority: new(1), Delay: time.Hour})
	wantWords(y, y.wantReasons(jobs[0], rota.ReasonOrder)[0], "first of type mail", "1 ready job comes before it")
	wantWords(y, y.wantReasons(jobs[2], rota.ReasonOrder)[0], "3 ready jobs come before it, 2 of type mail", "rota job move "+jobs[2].ID.String()+" --top")
	y.move(jobs[2], rota.PlaceTop, nil)
	wantWords(y, y.wantReasons(jobs[2], rota.ReasonOrder)[0], "first of type mail")
	y.claim(1, "print")
	wantWords(y, y.wantReasons(jobs[2], rota.ReasonOrder)[0], "It is the first in the order")
}

func explainEachKey(y *story) {
	y.throttle(rota.ThrottleSpec{
		Keys:          []rota.KeyLimit{{Key: "db", Concurrency: 1}},
		EachKey:       []rota.EachKeyLimit{{Pattern: "t:*", Concurrency: 1}},
		EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}, {Type: "other", Concurrency: 3}},
	})
	y.ofKey("other", "disk", 2)
	for key, words := range map[string][2]string{
		"db":   {"1 job with the concurrency key db runs, and the limit is 1", "the limit of the key in keys"},
		"t:1":  {"1 job with the concurrency key t:1 runs, and the limit is 1", "the limit of each key t:* in each_key"},
		"disk": {"1 job of type mail with the concurrency key disk runs, and the limit is 1", "the limit of each key of type mail in each_key_of_type"},
	} {
		jobs := y.ofKey("mail", key, 2)
		wantWords(y, y.wantReasons(jobs[1], rota.ReasonKeyLimit)[0], "running: 0, ready before it, of its type: 1")
		y.claimAny(9)
		reason := y.wantReasons(jobs[1], rota.ReasonKeyLimit)[0]
		wantWords(y, reason, words[0], words[1])
	}
}

func explainEverything(y *story) {
	y.declareType("mail", rota.TypeSpec{})
	y.throttle(rota.ThrottleSpec{
		Global: 1, Keys: []rota.KeyLimit{{Key: "db", Concurrency: 1}},
		Types: []rota.TypeLimit{{Type: "mail", Concurrency: 1, Rate: rota.Rate{Count: 1, Per: 24 * time.Hour}}},
	})
	y.running(rota.NewJob{ConcurrencyKey: new("db")})
	y.pause("mail", true)
	y.reserve()
	j := y.enqueue(rota.NewJob{})
	y.wantReasons(j, rota.ReasonPaused, rota.ReasonGlobalLimit, rota.ReasonTypeLimit, rota.ReasonRate, rota.ReasonReservation, rota.ReasonOrder)
	keyed := y.enqueue(rota.NewJob{ConcurrencyKey: new("db")})
	y.wantReasons(keyed, rota.ReasonPaused, rota.ReasonKeyLimit, rota.ReasonGlobalLimit, rota.ReasonTypeLimit, rota.ReasonRate, rota.ReasonReservation)
	g := y.enqueueGroup(rota.GroupSequential, rota.FailureContinue, rota.NewJob{}, rota.NewJob{Delay: time.Hour})
	y.wantReasons(g.Jobs[1], rota.ReasonPaused, rota.ReasonDelay, rota.ReasonGroup)
}
