package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testEachKey(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a prefix limits each of its keys by itself, across types", eachKeyLimited},
		{"the limit of the key itself applies before that of a prefix, and the longest prefix before others", eachKeyPrecedence},
		{"a job without a key is not limited by the prefix of all keys", eachKeyNone},
		{"each key of a type has its own count, and so has each type of a key", eachKeyOfTypeLimited},
		{"a type without a limit is not held back when another type of its key is", eachKeyOfTypeOther},
		{"a limit of the key or of a prefix applies before that of each key of a type", eachKeyOfTypePrecedence},
		{"the end of a job releases the next of its key and its type", eachKeyOfTypeFreesNext},
		{"a limit of each key that is added later applies at the next claim", eachKeyLater},
		{"a limit of each key of a type that is added later applies at the next claim", eachKeyOfTypeLater},
		{"a sweep balances all keys after a limit of each key has changed", eachKeyChanged},
		{"a sweep balances all keys after a limit of each key of a type has changed", eachKeyOfTypeChanged},
		{"a key that loses its own limit gets that of its prefix", eachKeyFallback},
		{"a limit of each key that changes again while a sweep is under way is applied to all keys", eachKeyChangedAgain},
		{"a sweep visits at most SweepKeysMax keys and continues after the last", eachKeyPages},
		{"a delayed job and a retry wait for the limit of their prefix", eachKeyDelayed},
		{"a direct run obeys the limits of each key", eachKeyDirect},
		{"jobs of one key in front of others do not keep these from a claim", eachKeyInFront},
	})
}

// eachKey returns limits of each key with a prefix.
func eachKey(pattern string, limit int) rota.ThrottleSpec {
	return rota.ThrottleSpec{EachKey: []rota.EachKeyLimit{{Pattern: pattern, Concurrency: limit}}}
}

// eachKeyOfType returns limits of each key of a type.
func eachKeyOfType(typ string, limit int) rota.ThrottleSpec {
	return rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: typ, Concurrency: limit}}}
}

// ofKey enqueues count jobs of a type and a concurrency key.
func (y *story) ofKey(typ, key string, count int) (jobs []*rota.Job) {
	y.Helper()
	for range count {
		jobs = append(jobs, y.enqueue(rota.NewJob{Type: typ, ConcurrencyKey: &key}))
	}
	return jobs
}

// claimAny claims jobs of the types mail, other and third.
func (y *story) claimAny(limit int) []*rota.Job {
	y.Helper()
	return y.claim(limit, "mail", "other", "third")
}

func eachKeyLimited(y *story) {
	y.throttle(eachKey("tenant:*", 1))
	one, two, pass := y.ofKey("mail", "tenant:1", 2), y.ofKey("mail", "tenant:2", 2), y.ofKey("mail", "disk", 2)
	other := y.ofKey("other", "tenant:1", 1)
	y.wantHold(one[1], rota.HoldKey)
	y.wantHold(two[1], rota.HoldKey)
	wantIDs(y, "the queue", y.queue(), one[0], two[0], pass[0], pass[1], other[0])
	started := y.claimAny(9)
	wantIDs(y, "claimed", idsOf(started), one[0], two[0], pass[0], pass[1])
	y.wantHold(other[0], rota.HoldKey)
	y.wantNoViolations()
	y.complete(started[0])
	wantIDs(y, "claimed then", idsOf(y.claimAny(9)), one[1])
	y.wantNoViolations()
}

func eachKeyPrecedence(y *story) {
	y.throttle(rota.ThrottleSpec{
		Keys: []rota.KeyLimit{{Key: "tenant:big", Concurrency: 3}},
		EachKey: []rota.EachKeyLimit{
			{Pattern: "*", Concurrency: 4}, {Pattern: "tenant:*", Concurrency: 1}, {Pattern: "tenant:b*", Concurrency: 2},
		},
	})
	for key, limit := range map[string]int{"tenant:big": 3, "tenant:bar": 2, "tenant:a": 1, "tenant:": 1, "tenant": 4, "x": 4} {
		jobs := y.ofKey("mail", key, 6)
		wantIDs(y, "claimed of "+key, idsOf(y.claimAny(9)), jobs[:limit]...)
	}
	y.wantNoViolations()
}

func eachKeyNone(y *story) {
	y.throttle(rota.ThrottleSpec{
		EachKey:       []rota.EachKeyLimit{{Pattern: "*", Concurrency: 1}},
		EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}},
	})
	jobs := y.enqueueMany(3)
	wantIDs(y, "claimed", idsOf(y.claimAny(9)), jobs...)
	y.direct(y.reserve(), rota.NewJob{})
	y.wantNoViolations()
}

func eachKeyOfTypeLimited(y *story) {
	y.throttle(rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 2}, {Type: "other", Concurrency: 1}}})
	mails, others, far := y.ofKey("mail", "db", 3), y.ofKey("other", "db", 2), y.ofKey("mail", "disk", 3)
	wantIDs(y, "the queue", y.queue(), mails[0], mails[1], others[0], far[0], far[1])
	wantIDs(y, "claimed", idsOf(y.claimAny(9)), mails[0], mails[1], others[0], far[0], far[1])
	for _, j := range []*rota.Job{mails[2], others[1], far[2]} {
		y.wantHold(j, rota.HoldKey)
	}
	y.wantNoViolations()
}

func eachKeyOfTypeOther(y *story) {
	y.throttle(eachKeyOfType("mail", 1))
	mails, others := y.ofKey("mail", "db", 2), y.ofKey("other", "db", 3)
	wantIDs(y, "claimed", idsOf(y.claimAny(9)), append(mails[:1:1], others...)...)
	late := y.ofKey("other", "db", 1)
	wantIDs(y, "claimed at the limit of the other type", idsOf(y.claimAny(9)), late...)
	y.wantHold(mails[1], rota.HoldKey)
	y.wantNoViolations()
}

func eachKeyOfTypePrecedence(y *story) {
	y.throttle(rota.ThrottleSpec{
		Keys:          []rota.KeyLimit{{Key: "db", Concurrency: 2}},
		EachKey:       []rota.EachKeyLimit{{Pattern: "t:*", Concurrency: 3}},
		EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}},
	})
	for key, limit := range map[string]int{"db": 2, "t:1": 3} { // the limit counts both types, and that of the type does not apply
		mails := y.ofKey("mail", key, 4)
		y.ofKey("other", key, 1)
		wantIDs(y, "claimed of "+key, idsOf(y.claimAny(9)), mails[:limit]...)
	}
	mails, other := y.ofKey("mail", "disk", 3), y.ofKey("other", "disk", 1)
	wantIDs(y, "claimed of disk", idsOf(y.claimAny(9)), mails[0], other[0])
	y.wantNoViolations()
}

func eachKeyOfTypeFreesNext(y *story) {
	y.throttle(rota.ThrottleSpec{EachKeyOfType: []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}, {Type: "other", Concurrency: 1}}})
	mails, others := y.ofKey("mail", "db", 4), y.ofKey("other", "db", 2)
	first := y.claimAny(9)
	wantIDs(y, "claimed", idsOf(first), mails[0], others[0])
	y.complete(first[0])
	wantIDs(y, "the queue", y.queue(), mails[1])
	y.cancel(mails[1].ID)
	wantIDs(y, "the queue", y.queue(), mails[2])
	y.edit(mails[3].ID, toPriority(5))
	wantIDs(y, "the queue", y.queue(), mails[3])
	y.move(others[1], rota.PlaceTop, nil)
	y.wantHold(others[1], rota.HoldKey)
	y.complete(first[1])
	wantIDs(y, "the queue", y.queue(), mails[3], others[1])
	y.wantNoViolations()
}

func eachKeyLater(y *story) {
	one, two := y.ofKey("mail", "t:1", 3), y.ofKey("mail", "t:2", 2)
	y.throttle(eachKey("t:*", 1))
	y.wantNoViolations()
	got := do[*rota.Claimed](y, y.claimCommand(9))
	wantIDs(y, "claimed", idsOf(got.Jobs), one[0], two[0])
	want(y, "more", got.More, true)
	y.wantHold(one[2], rota.HoldKey)
	y.sweepAll(0)
	y.complete(got.Jobs[0])
	wantIDs(y, "the queue", y.queue(), one[1])
}

func eachKeyOfTypeLater(y *story) {
	mails, others := y.ofKey("mail", "db", 3), y.ofKey("other", "db", 2)
	y.throttle(eachKeyOfType("mail", 1))
	wantIDs(y, "claimed", idsOf(y.claimAny(9)), mails[0], others[0], others[1])
	y.wantHold(mails[1], rota.HoldKey)
	y.sweepAll(0)
	want(y, "claimed at the limit", len(y.claimAny(9)), 0)
}

func eachKeyChanged(y *story) {
	one, two, three := y.ofKey("mail", "t:1", 3), y.ofKey("mail", "t:2", 3), y.ofKey("mail", "u", 3)
	for _, step := range []struct {
		spec  rota.ThrottleSpec
		ready [3]int
	}{
		{eachKey("t:*", 1), [3]int{1, 1, 3}},
		{eachKey("t:*", 2), [3]int{2, 2, 3}},
		{eachKey("*", 1), [3]int{1, 1, 1}},
		{rota.ThrottleSpec{EachKey: []rota.EachKeyLimit{{Pattern: "*", Concurrency: 2}, {Pattern: "t:2*", Concurrency: 1}}}, [3]int{2, 1, 2}},
		{rota.ThrottleSpec{}, [3]int{3, 3, 3}},
	} {
		y.throttle(step.spec)
		want(y, "a sweep is due", y.due().Sweep, true)
		y.sweepAll(2)
		wantReady(y, step.ready, one, two, three)
	}
}

func eachKeyOfTypeChanged(y *story) {
	one, two, three := y.ofKey("mail", "t:1", 3), y.ofKey("mail", "t:2", 3), y.ofKey("other", "t:1", 3)
	for _, step := range []struct {
		spec  rota.ThrottleSpec
		ready [3]int
	}{
		{eachKeyOfType("mail", 1), [3]int{1, 1, 3}},
		{eachKeyOfType("mail", 2), [3]int{2, 2, 3}},
		{eachKeyOfType("other", 1), [3]int{3, 3, 1}},
		{eachKey("t:1*", 2), [3]int{2, 3, 2}},
		{rota.ThrottleSpec{}, [3]int{3, 3, 3}},
	} {
		y.throttle(step.spec)
		want(y, "a sweep is due", y.due().Sweep, true)
		y.sweepAll(2)
		wantReady(y, step.ready, one, two, three)
	}
}

// wantReady wants the first jobs of each list to be ready and the others to be held back.
func wantReady(y *story, ready [3]int, lists ...[]*rota.Job) {
	y.Helper()
	for i, jobs := range lists {
		for n, j := range jobs {
			if n < ready[i] {
				y.wantHold(j, 0)
			} else {
				y.wantHold(j, rota.HoldKey)
			}
		}
	}
}

func eachKeyFallback(y *story) {
	spec := eachKey("t:*", 1)
	spec.Keys = []rota.KeyLimit{{Key: "t:1", Concurrency: 2}}
	y.throttle(spec)
	jobs := y.ofKey("mail", "t:1", 3)
	wantIDs(y, "the queue", y.queue(), jobs[:2]...)
	y.throttle(eachKey("t:*", 1))
	want(y, "a sweep is due", y.due().Sweep, true)
	y.sweepAll(0)
	wantIDs(y, "the queue", y.queue(), jobs[0])
	y.throttle(spec)
	y.sweepAll(0)
	wantIDs(y, "the queue", y.queue(), jobs[:2]...)
}

func eachKeyChangedAgain(y *story) {
	one, two, three := y.ofKey("mail", "a", 3), y.ofKey("mail", "b", 3), y.ofKey("mail", "c", 3)
	y.throttle(eachKey("*", 1))
	want(y, "swept", *y.sweep(2), rota.Swept{Count: 2, More: true})
	y.wantNoViolations()
	y.throttle(eachKey("*", 2))
	y.wantNoViolations()
	y.sweepAll(2)
	wantReady(y, [3]int{2, 2, 2}, one, two, three)
}

func eachKeyPages(y *story) {
	const keys = rota.SweepKeysMax + 1
	var news []rota.NewJob
	for i := range keys {
		news = append(news, rota.NewJob{Type: "mail", ConcurrencyKey: new(fmt.Sprintf("t:%03d", i))}, rota.NewJob{Type: "mail", ConcurrencyKey: new(fmt.Sprintf("t:%03d", i))})
	}
	do[*rota.Enqueued](y, y.enqueueCommand(news...))
	y.throttle(eachKey("t:*", 1))
	for _, page := range []rota.Swept{{Count: rota.SweepKeysMax, More: true}, {Count: 1}} {
		want(y, "swept", *y.sweep(0), page)
		y.wantNoViolations()
	}
	want(y, "ready", len(y.queue()), keys)
}

func eachKeyDelayed(y *story) {
	y.throttle(eachKey("t:*", 1))
	late := y.enqueue(rota.NewJob{Type: "mail", ConcurrencyKey: new("t:1"), Delay: time.Minute})
	first := y.ofKey("mail", "t:1", 1)[0]
	running := y.claimHead(first)
	y.advance(time.Minute)
	y.makeReady()
	y.wantHold(late, rota.HoldKey)
	retry := y.mustFinish(running, rota.FinishItem{Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown}).RetryID
	wantIDs(y, "the queue", y.queue(), late)
	want(y, "hold of the retry", y.job(retry).Hold, rota.HoldKey)
	y.wantNoViolations()
}

func eachKeyDirect(y *story) {
	spec := eachKey("t:*", 1)
	spec.EachKeyOfType = []rota.EachKeyOfTypeLimit{{Type: "mail", Concurrency: 1}}
	y.throttle(spec)
	y.ofKey("other", "t:1", 1)
	y.ofKey("mail", "db", 1)
	y.ofKey("other", "disk", 1)
	want(y, "running", len(y.claimAny(9)), 3)
	r := y.reserve()
	y.refused(rota.Busy, y.directCommand(r, rota.NewJob{ConcurrencyKey: new("t:1")}))
	y.refused(rota.Busy, y.directCommand(r, rota.NewJob{ConcurrencyKey: new("db")}))
	y.complete(y.direct(r, rota.NewJob{Type: "other", ConcurrencyKey: new("db")}))
	y.complete(y.direct(y.reserve(), rota.NewJob{ConcurrencyKey: new("disk")})) // the running job of the other type does not count
	next := y.ofKey("mail", "t:2", 1)[0]
	direct := y.direct(y.reserve(), rota.NewJob{ConcurrencyKey: new("t:2")})
	y.wantHold(next, rota.HoldKey)
	y.complete(direct)
	y.wantHold(next, 0)
	y.wantNoViolations()
}

func eachKeyInFront(y *story) {
	y.throttle(eachKey("*", 1))
	front := y.ofKey("mail", "t:1", 40)
	behind := y.ofKey("mail", "t:2", 2)
	got := do[*rota.Claimed](y, y.claimCommand(2))
	wantIDs(y, "claimed", idsOf(got.Jobs), front[0], behind[0])
	want(y, "more", got.More, false)
}
