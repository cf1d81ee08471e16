package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testLimits(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"limits are kept as they were put, and a new store has none", limitsDeclared},
		{"a put of limits with an old version is a conflict", limitsVersion},
		{"no more jobs run at once than the global limit", limitGlobal},
		{"no more jobs of a type run at once than its limit, and other types are claimed", limitType},
		{"a job that waits for its retry takes no slot", limitRetry},
		{"a reaped run frees its slot once", limitReaped},
		{"a lowered limit does not stop running jobs and starts no more", limitLowered},
		{"a raised limit takes effect at once", limitRaised},
		{"a rate limits the starts within every interval", rateBounds},
		{"a claim reports when a rate allows the next start", rateNext},
		{"a rate applies to its type only", rateOthers},
		{"a claim sent again is not counted twice", rateAgain},
		{"a changed rate begins with no starts counted", rateChanged},
		{"a rate holds after a small clock step back and is reset after a large one", rateClock},
		{"a direct run counts as a start of its rate", rateDirect},
	})
}

// typeLimit returns limits of the type mail.
func typeLimit(concurrency int, rate rota.Rate) rota.ThrottleSpec {
	return rota.ThrottleSpec{Types: []rota.TypeLimit{{Type: "mail", Concurrency: concurrency, Rate: rate}}}
}

func limitsDeclared(y *story) {
	row, err := y.s.Throttle(y.ctx)
	none := must(y, "limits", row, err)
	want(y, "version of none", none.Version, rota.ID{})
	want(y, "spec of none", none.Spec.Equal(rota.ThrottleSpec{}), true)
	spec := rota.ThrottleSpec{
		Global: 9, Keys: []rota.KeyLimit{{Key: "b", Concurrency: 2}, {Key: "a", Concurrency: 1}},
		Types: []rota.TypeLimit{{Type: "mail", Concurrency: 3, Rate: rota.Rate{Count: 5, Per: time.Minute}}},
	}
	c := &rota.PutThrottle{Meta: y.ids.meta(), Spec: spec}
	got := do[*rota.ThrottlePut](y, c)
	want(y, "changed", got.Changed, true)
	row, err = y.s.Throttle(y.ctx)
	for _, l := range []*rota.Throttle{got.Throttle, must(y, "limits", row, err)} {
		want(y, "spec", string(rota.EncodeSpec(l.Spec)), string(rota.EncodeSpec(spec.Canonical())))
		want(y, "version", l.Version, c.ID)
		want(y, "by", l.UpdatedBy, "ada")
		wantTime(y, "at", l.UpdatedAt, y.now)
	}
	y.wantAuditSince(nil, y.auditEntry(c, rota.AuditThrottleModified, "limits", ""))
	y.advance(time.Second)
	before := y.dump()
	want(y, "changed again", do[*rota.ThrottlePut](y, &rota.PutThrottle{Meta: y.ids.meta(), Spec: spec}).Changed, false)
	y.wantUnchanged(before)
}

func limitsVersion(y *story) {
	put := func(version *rota.ID, global int) *rota.PutThrottle {
		return &rota.PutThrottle{Meta: y.ids.meta(), Version: version, Spec: rota.ThrottleSpec{Global: global}}
	}
	y.wantField(rota.Conflict, "version", put(new(y.ids.next()), 1))
	row := do[*rota.ThrottlePut](y, put(&rota.ID{}, 1)).Throttle
	y.wantField(rota.Conflict, "version", put(&rota.ID{}, 2))
	want(y, "global", do[*rota.ThrottlePut](y, put(&row.Version, 2)).Throttle.Spec.Global, 2)
}

func limitGlobal(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 2})
	y.enqueue(rota.NewJob{Type: "other"})
	jobs := y.enqueueMany(3)
	running := y.claim(5, "mail", "other")
	want(y, "claimed", len(running), 2)
	want(y, "claimed at the limit", len(y.claim(5)), 0)
	y.complete(running[0])
	wantIDs(y, "claimed after an end", idsOf(y.claim(5)), jobs[1])
}

func limitType(y *story) {
	y.throttle(typeLimit(1, rota.Rate{}))
	mails := y.enqueueMany(3)
	other := y.enqueue(rota.NewJob{Type: "other", Priority: new(-1)})
	wantIDs(y, "claimed", idsOf(y.claim(2, "mail", "other")), mails[0], other)
	want(y, "claimed at the limit", len(y.claim(5, "mail", "other")), 0)
	wantIDs(y, "the queue", y.queue(), mails[1], mails[2])
}

func limitRetry(y *story) {
	for _, spec := range []rota.ThrottleSpec{{Global: 1}, typeLimit(1, rota.Rate{}), keyLimit("db", 1)} {
		y.throttle(spec)
		n := rota.NewJob{ConcurrencyKey: new("db")}
		y.enqueue(n)
		next := y.enqueue(n)
		first := y.claimOne()
		want(y, "claimed meanwhile", len(y.claim(5)), 0)
		y.fail(first)
		second := y.claimOne()
		want(y, "claimed while the first waits", second.ID, next.ID)
		y.advance(time.Minute)
		y.makeReady()
		want(y, "claimed meanwhile", len(y.claim(5)), 0)
		y.complete(second)
		retry := y.claimOne()
		want(y, "attempt", retry.Attempt, 2)
		y.complete(retry)
	}
}

func limitReaped(y *story) {
	for _, spec := range []rota.ThrottleSpec{{Global: 1}, typeLimit(1, rota.Rate{}), keyLimit("db", 1)} {
		y.throttle(spec)
		n := rota.NewJob{ConcurrencyKey: new("db"), MaxRetries: new(0)}
		y.enqueue(n)
		next := y.enqueue(n)
		late := y.claimOne()
		y.advance(time.Hour)
		y.reap()
		second := y.claimOne()
		want(y, "claimed", second.ID, next.ID)
		want(y, "code of a finish after the reap", y.finish(late, rota.FinishItem{Outcome: rota.OutcomeCompleted}).Code, rota.LeaseLost)
		third := y.enqueue(n)
		want(y, "claimed after the late finish", len(y.claim(5)), 0)
		y.complete(second)
		want(y, "claimed", y.claimOne().ID, third.ID)
		y.cancel(third.ID)
		y.advance(time.Hour)
		y.reap()
	}
}

func limitLowered(y *story) {
	y.throttle(typeLimit(3, rota.Rate{}))
	y.enqueueMany(5)
	running := y.claim(5)
	y.throttle(typeLimit(1, rota.Rate{}))
	want(y, "running", y.heartbeat(running[2]).Code, "")
	for _, j := range running {
		want(y, "claimed while too many run", len(y.claim(5)), 0)
		y.complete(j)
	}
	want(y, "claimed", len(y.claim(5)), 1)
}

func limitRaised(y *story) {
	y.throttle(rota.ThrottleSpec{Global: 1})
	y.enqueueMany(5)
	want(y, "claimed", len(y.claim(5)), 1)
	y.throttle(rota.ThrottleSpec{Global: 3})
	want(y, "claimed with more", len(y.claim(5)), 2)
	y.throttle(rota.ThrottleSpec{})
	want(y, "claimed without", len(y.claim(5)), 2)
}

// rateBounds claims as often as it can for a while, then checks every interval.
func rateBounds(y *story) {
	rate := rota.Rate{Count: 5, Per: 10 * time.Second}
	y.throttle(typeLimit(0, rate))
	y.send(y.enqueueCommand(make([]rota.NewJob, 100)...))
	var starts []time.Time
	for range 60 {
		for range y.claim(3) {
			starts = append(starts, y.now)
		}
		y.advance(777 * time.Millisecond)
	}
	for i, at := range starts {
		if i >= rate.Count && at.Sub(starts[i-rate.Count]) < rate.Per {
			y.Errorf("%d jobs started within %s, up to %s", rate.Count+1, at.Sub(starts[i-rate.Count]), at)
		}
	}
	if few := 4 * rate.Count; len(starts) < few {
		y.Errorf("%d started in %s, the rate allows about %d", len(starts), y.now.Sub(startTime), few)
	}
}

func rateNext(y *story) {
	rate := rota.Rate{Count: 2, Per: time.Minute}
	y.throttle(typeLimit(0, rate))
	y.enqueueMany(4)
	got := do[*rota.Claimed](y, y.claimCommand(1))
	wantTime(y, "next while the rate is not exhausted", got.Next, time.Time{})
	got = do[*rota.Claimed](y, y.claimCommand(5))
	want(y, "claimed", len(got.Jobs), 1)
	next := got.Next
	if next.Before(y.now.Add(rate.Per)) || next.After(y.now.Add(rate.Per+rate.Per/8)) {
		y.Errorf("next is %s, %s from now; a rate per %s", next, next.Sub(y.now), rate.Per)
	}
	y.now = next.Add(-time.Microsecond)
	early := do[*rota.Claimed](y, y.claimCommand(5))
	want(y, "claimed too early", len(early.Jobs), 0)
	wantTime(y, "next", early.Next, next)
	y.now = next
	want(y, "claimed in time", len(y.claim(5)), 2)
}

func rateOthers(y *story) {
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Hour}))
	y.enqueueMany(2)
	y.enqueue(rota.NewJob{Type: "other", Priority: new(-1)})
	want(y, "claimed", len(y.claim(5, "mail", "other")), 2)
	want(y, "left", len(y.queue()), 1)
	y.declareType("mail", rota.TypeSpec{})
	y.pause("mail", true)
	wantTime(y, "next of a paused type", do[*rota.Claimed](y, y.claimCommand(5)).Next, time.Time{})
}

func rateAgain(y *story) {
	y.throttle(typeLimit(0, rota.Rate{Count: 3, Per: time.Hour}))
	y.enqueueMany(5)
	c := y.claimCommand(1)
	do[*rota.Claimed](y, c)
	again := do[*rota.Claimed](y, c)
	want(y, "its own", len(again.Jobs), 1)
	wantTime(y, "next", again.Next, time.Time{})
	want(y, "claimed by others", len(y.claim(5)), 2)
}

func rateChanged(y *story) {
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Hour}))
	y.enqueueMany(5)
	want(y, "claimed", len(y.claim(5)), 1)
	y.throttle(typeLimit(7, rota.Rate{Count: 1, Per: time.Hour}))
	want(y, "claimed under the same rate", len(y.claim(5)), 0)
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Minute}))
	want(y, "claimed under another", len(y.claim(5)), 1)
	y.throttle(rota.ThrottleSpec{})
	want(y, "claimed without", len(y.claim(5)), 3)
}

func rateClock(y *story) {
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Minute}))
	y.enqueueMany(5)
	y.claimOne()
	y.advance(-30 * time.Second)
	want(y, "claimed after a step back", len(y.claim(5)), 0)
	y.advance(-24 * time.Hour)
	want(y, "claimed after a day back", len(y.claim(5)), 1)
}

func rateDirect(y *story) {
	y.throttle(typeLimit(0, rota.Rate{Count: 1, Per: time.Minute}))
	y.enqueue(rota.NewJob{})
	r := y.reserve()
	y.direct(r, rota.NewJob{})
	claim := y.claimCommand(1)
	claim.Worker = "w2"
	want(y, "claimed", len(do[*rota.Claimed](y, claim).Jobs), 0)
}
