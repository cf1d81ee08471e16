package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testNormalise(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"positions become 100, 200, 300 in the same order", normaliseRow},
		{"jobs that are already numbered are not changed", normaliseGood},
		{"held jobs are numbered with the others", normaliseHeld},
		{"a page begins after the given job", normaliseAfter},
		{"a page after a job that is not queued in the priority is a conflict", normaliseAfterGone},
		{"an empty priority has nothing to number", normaliseEmpty},
		{"the answer names the next lower priority, down to the last", normaliseBelow},
		{"a priority with delayed jobs only is named and numbered", normaliseDelayed},
		{"a queue longer than a page is numbered page by page", normalisePages},
		{"a page has at most as many jobs as its limit, and keeps the order", normaliseLimit},
	})
}

func (y *story) normalise(priority int, after rota.ID) *rota.Normalised {
	y.Helper()
	return do[*rota.Normalised](y, &rota.Normalise{Meta: y.ids.meta(), Priority: priority, After: after})
}

func normaliseRow(y *story) {
	row, spare := exhaustGap(y, 0)
	other := y.enqueue(rota.NewJob{Priority: new(1)})
	y.move(other, rota.PlaceTop, nil)
	y.move(spare, rota.PlaceTop, nil)
	order := y.queue()[1:]
	got := y.normalise(0, rota.ID{})
	want(y, "last", got.Last, order[len(order)-1])
	want(y, "more", got.More, false)
	want(y, "count", got.Count, len(row)+1)
	if now := y.queue()[1:]; !slices.Equal(now, order) {
		y.Errorf("the order changed from %v to %v", order, now)
	}
	for i, id := range order {
		want(y, "position", y.job(id).Position, int64(i+1)*100)
	}
	want(y, "version", y.job(row[0].ID).Version, row[0].Version)
}

func normaliseGood(y *story) {
	jobs := y.enqueueMany(3)
	before := y.dump()
	want(y, "answer", *y.normalise(0, rota.ID{}), rota.Normalised{Last: jobs[2].ID})
	y.wantUnchanged(before)
	y.cancel(jobs[0].ID)
	want(y, "answer", *y.normalise(0, rota.ID{}), rota.Normalised{Count: 2, Last: jobs[2].ID})
}

func normaliseHeld(y *story) {
	jobs := y.enqueueMany(1)
	held := y.enqueue(rota.NewJob{Delay: time.Hour})
	last := y.enqueue(rota.NewJob{})
	y.cancel(jobs[0].ID)
	want(y, "count", y.normalise(0, rota.ID{}).Count, 2)
	want(y, "position of the held", y.job(held.ID).Position, 100)
	want(y, "position of the last", y.job(last.ID).Position, 200)
}

func normaliseAfter(y *story) {
	jobs := y.enqueueMany(4)
	y.move(jobs[3], rota.PlaceAfter, jobs[1])
	got := y.normalise(0, jobs[1].ID)
	want(y, "answer", *got, rota.Normalised{Count: 2, Last: jobs[2].ID})
	want(y, "first behind it", y.job(jobs[3].ID).Position, 300)
	want(y, "second behind it", y.job(jobs[2].ID).Position, 400)
	want(y, "after the last", *y.normalise(0, jobs[2].ID), rota.Normalised{})
}

func normaliseAfterGone(y *story) {
	j := y.running(rota.NewJob{})
	other := y.enqueue(rota.NewJob{Priority: new(1)})
	for _, after := range []rota.ID{j.ID, other.ID, y.ids.next()} {
		y.refused(rota.Conflict, &rota.Normalise{Meta: y.ids.meta(), Priority: 0, After: after})
	}
}

func normaliseEmpty(y *story) {
	y.enqueue(rota.NewJob{Priority: new(1)})
	want(y, "answer", *y.normalise(0, rota.ID{}), rota.Normalised{})
}

func normaliseBelow(y *story) {
	for _, priority := range []int{7, 0, -3} {
		y.enqueue(rota.NewJob{Priority: new(priority)})
	}
	y.running(rota.NewJob{Priority: new(9)})
	got := []int{}
	for at := new(rota.PriorityMax); at != nil; {
		reply := y.normalise(*at, rota.ID{})
		want(y, "more", reply.More, false)
		if at = reply.Below; at != nil {
			got = append(got, *at)
		}
	}
	want(y, "priorities", fmt.Sprint(got), "[7 0 -3]")
}

func normaliseDelayed(y *story) {
	y.enqueueMany(2)
	late := rota.NewJob{Priority: new(-5), Delay: time.Hour}
	first, second := y.enqueue(late), y.enqueue(late)
	y.cancel(first.ID)
	below := y.normalise(0, rota.ID{}).Below
	if below == nil || *below != -5 {
		y.Fatalf("the priority below 0 is %v; want -5", below)
	}
	want(y, "count", y.normalise(*below, rota.ID{}).Count, 1)
	want(y, "position", y.job(second.ID).Position, 100)
}

func normaliseLimit(y *story) {
	jobs := y.enqueueMany(7)
	y.cancel(jobs[0].ID)
	y.move(jobs[6], rota.PlaceBefore, jobs[2])
	order := y.queue()
	page := func(after rota.ID) *rota.Normalised {
		return do[*rota.Normalised](y, &rota.Normalise{Meta: y.ids.meta(), After: after, Limit: 2})
	}
	first := page(rota.ID{})
	want(y, "first page", *first, rota.Normalised{Count: 2, Last: order[1], More: true})
	late := y.enqueue(rota.NewJob{})
	second := page(first.Last)
	want(y, "more", second.More, true)
	want(y, "last", second.Last, order[3])
	y.move(late, rota.PlaceTop, nil)
	third := page(second.Last)
	want(y, "third page", third.Last, order[5])
	want(y, "more", third.More, false)
	if got := y.queue(); !slices.Equal(got, append([]rota.ID{late.ID}, order...)) {
		y.Errorf("the order changed from %v to %v", order, got)
	}
	y.refused(rota.Invalid, &rota.Normalise{Meta: y.ids.meta(), Limit: rota.OrderMax + 1})
}

func normalisePages(y *story) {
	c := &rota.Enqueue{Meta: y.ids.meta(), Jobs: slices.Repeat([]rota.NewJob{{Type: "mail"}}, rota.JobsMax)}
	first := do[*rota.Enqueued](y, c).Jobs
	tail := y.enqueueMany(2)
	y.cancel(first[0].Job.ID)
	got := y.normalise(0, rota.ID{})
	want(y, "first page", *got, rota.Normalised{Count: rota.OrderMax, Last: tail[0].ID, More: true})
	want(y, "position of the first", y.job(first[1].Job.ID).Position, 100)
	want(y, "position of the last of the page", y.job(tail[0].ID).Position, rota.OrderMax*100)
	got = y.normalise(0, got.Last)
	want(y, "second page", *got, rota.Normalised{Count: 1, Last: tail[1].ID})
	want(y, "position of the last", y.job(tail[1].ID).Position, (rota.OrderMax+1)*100)
	y.move(tail[1], rota.PlaceTop, nil)
	want(y, "more", y.normalise(0, rota.ID{}).More, true)
	head, err := y.s.Queue(y.ctx, rota.ID{}, 1)
	if err != nil || len(head) != 1 {
		y.Fatalf("queue: %d jobs, %v", len(head), err)
	}
	want(y, "the head", head[0].ID, tail[1].ID)
}
