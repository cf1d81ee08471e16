package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testReady(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a due job is placed at the end of its priority", dueAtEnd},
		{"due jobs are ordered by run time, not by creation", dueInTimeOrder},
		{"jobs due at one time are ordered by id", dueInIDOrder},
		{"a limit leaves later jobs and reports more", dueInPages},
		{"jobs that are not due or are cancelled are not changed", notDue},
		{"the next due time is that of the earliest held job", nextDue},
		{"a delayed retry becomes ready like any other job", retryReadied},
	})
}

func dueAtEnd(y *story) {
	held := y.enqueue(rota.NewJob{Delay: time.Minute})
	first := y.enqueue(rota.NewJob{})
	y.advance(time.Minute - time.Microsecond)
	want(y, "readied too early", y.makeReady().Count, 0)
	y.advance(time.Microsecond)
	second := y.enqueue(rota.NewJob{})
	want(y, "readied", *y.makeReady(), rota.Readied{Count: 1})
	j := y.job(held.ID)
	want(y, "ready", j.Ready(), true)
	want(y, "position", j.Position, second.Position+100)
	wantTime(y, "queued at", j.QueuedAt, y.now)
	wantTime(y, "run at", j.RunAt, held.RunAt)
	wantIDs(y, "the queue", y.queue(), first, second, held)
}

func dueInTimeOrder(y *story) {
	late := y.enqueue(rota.NewJob{Delay: 3 * time.Second})
	early := y.enqueue(rota.NewJob{Delay: time.Second})
	high := y.enqueue(rota.NewJob{Delay: 4 * time.Second, Priority: new(1)})
	middle := y.enqueue(rota.NewJob{Delay: 2 * time.Second})
	y.advance(time.Minute)
	want(y, "readied", y.makeReady().Count, 4)
	wantIDs(y, "the queue", y.queue(), high, early, middle, late)
	want(y, "position of the early one", y.job(early.ID).Position, 400)
	want(y, "position of the high one", y.job(high.ID).Position, 200)
}

func dueInIDOrder(y *story) {
	small, big := y.ids.next(), y.ids.next()
	second := y.enqueue(rota.NewJob{ID: big, RunAt: y.now.Add(time.Second)})
	first := y.enqueue(rota.NewJob{ID: small, RunAt: y.now.Add(time.Second)})
	y.advance(time.Minute)
	y.makeReady()
	wantIDs(y, "the queue", y.queue(), first, second)
}

func dueInPages(y *story) {
	for i := range 5 {
		y.enqueue(rota.NewJob{Delay: time.Duration(i+1) * time.Second})
	}
	y.advance(4 * time.Second)
	for _, page := range []rota.Readied{{Count: 3, More: true}, {Count: 1}, {}} {
		got := do[*rota.Readied](y, &rota.Ready{Meta: y.ids.meta(), Limit: 3})
		want(y, "readied", *got, page)
	}
}

func notDue(y *story) {
	y.enqueue(rota.NewJob{Delay: time.Hour})
	cancelled := y.enqueue(rota.NewJob{Delay: time.Second})
	y.cancel(cancelled.ID)
	y.advance(time.Minute)
	before := y.dump()
	want(y, "readied", *y.makeReady(), rota.Readied{})
	y.wantUnchanged(before)
}

func nextDue(y *story) {
	due := func() time.Time { return y.due().Ready }
	y.enqueue(rota.NewJob{})
	wantTime(y, "without a held job", due(), time.Time{})
	y.enqueue(rota.NewJob{Delay: time.Hour})
	soon := y.enqueue(rota.NewJob{Delay: time.Minute})
	wantTime(y, "with two", due(), soon.RunAt)
	y.cancel(soon.ID)
	wantTime(y, "with one cancelled", due(), y.now.Add(time.Hour))
	y.advance(time.Hour)
	y.makeReady()
	wantTime(y, "with none left", due(), time.Time{})
}

func retryReadied(y *story) {
	j := y.running(rota.NewJob{Priority: new(3)})
	y.enqueue(rota.NewJob{Priority: new(3)})
	retry := y.job(y.fail(j).RetryID)
	want(y, "hold", retry.Hold, rota.HoldDelay)
	y.advance(time.Minute)
	want(y, "readied", y.makeReady().Count, 1)
	want(y, "position", y.job(retry.ID).Position, 300)
}
