package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testMove(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a job moves to the top and to the bottom of its priority", moveEnds},
		{"a job already at the top or bottom keeps its position", moveEndsAlready},
		{"a job moves before or after another, between two positions", moveBetween},
		{"a job moves before the first and after the last", moveOutside},
		{"a job already next to the anchor keeps its position", moveSamePlace},
		{"a job moved next to a job of another priority takes that priority", moveAdopts},
		{"held jobs count when a position between two jobs is chosen", moveBesideHeld},
		{"a move into an exhausted gap renumbers the jobs and keeps the order", moveRenumbers},
		{"a move from another priority into an exhausted gap renumbers the jobs", moveRenumbersAdopting},
		{"a move with an old version is a conflict", moveVersion},
		{"a job or an anchor that does not exist is not found", moveUnknown},
		{"a job or an anchor that left the queue is a conflict", moveLeft},
		{"a move sent again after another one does not undo it", moveAgainAfterOther},
		{"a move is audited and sets the version", moveAudit},
		{"a move that changes nothing is not audited, and sent again answers the same", moveNothing},
	})
}

func moveEnds(y *story) {
	jobs := y.enqueueMany(3)
	y.enqueue(rota.NewJob{Priority: new(-1)})
	want(y, "top", y.move(jobs[2], rota.PlaceTop, nil).Position, 0)
	wantIDs(y, "the queue", y.queue()[:3], jobs[2], jobs[0], jobs[1])
	want(y, "bottom", y.move(jobs[0], rota.PlaceBottom, nil).Position, 300)
	wantIDs(y, "the queue", y.queue()[:3], jobs[2], jobs[1], jobs[0])
	want(y, "top of all", y.move(jobs[1], rota.PlaceTop, nil).Position, -100)
	want(y, "next enqueued", y.enqueue(rota.NewJob{}).Position, 400)
}

func moveEndsAlready(y *story) {
	jobs := y.enqueueMany(2)
	got := y.move(jobs[0], rota.PlaceTop, nil)
	want(y, "position", got.Position, 100)
	want(y, "marked", got.Version.IsZero(), false)
	want(y, "position", y.move(jobs[1], rota.PlaceBottom, nil).Position, 200)
}

func moveBetween(y *story) {
	jobs := y.enqueueMany(4)
	want(y, "before", y.move(jobs[3], rota.PlaceBefore, jobs[1]).Position, 150)
	wantIDs(y, "the queue", y.queue(), jobs[0], jobs[3], jobs[1], jobs[2])
	want(y, "after", y.move(jobs[2], rota.PlaceAfter, jobs[0]).Position, 125)
	wantIDs(y, "the queue", y.queue(), jobs[0], jobs[2], jobs[3], jobs[1])
	want(y, "half of an odd gap", y.move(jobs[1], rota.PlaceBefore, jobs[3]).Position, 137)
}

func moveOutside(y *story) {
	jobs := y.enqueueMany(3)
	want(y, "before the first", y.move(jobs[1], rota.PlaceBefore, jobs[0]).Position, 0)
	want(y, "after the last", y.move(jobs[0], rota.PlaceAfter, jobs[2]).Position, 400)
	wantIDs(y, "the queue", y.queue(), jobs[1], jobs[2], jobs[0])
}

func moveSamePlace(y *story) {
	jobs := y.enqueueMany(3)
	want(y, "before the next", y.move(jobs[0], rota.PlaceBefore, jobs[1]).Position, 100)
	want(y, "after the one before", y.move(jobs[2], rota.PlaceAfter, jobs[1]).Position, 300)
	want(y, "marked", y.job(jobs[2].ID).Version.IsZero(), false)
}

func moveAdopts(y *story) {
	low := y.enqueueMany(2)
	high := y.enqueue(rota.NewJob{Priority: new(8)})
	got := y.move(low[0], rota.PlaceAfter, high)
	want(y, "priority", got.Priority, 8)
	want(y, "position", got.Position, 200)
	got = y.move(high, rota.PlaceBefore, low[1])
	want(y, "priority", got.Priority, 0)
	want(y, "position", got.Position, 100)
	wantIDs(y, "the queue", y.queue(), low[0], high, low[1])
}

func moveBesideHeld(y *story) {
	first := y.enqueue(rota.NewJob{})
	held := y.enqueue(rota.NewJob{Delay: time.Hour})
	last := y.enqueue(rota.NewJob{})
	want(y, "after the first", y.move(last, rota.PlaceAfter, first).Position, 150)
	want(y, "bottom", y.move(first, rota.PlaceBottom, nil).Position, 300)
	want(y, "beside the held", y.move(last, rota.PlaceAfter, held).Position, 250)
	want(y, "the held itself", y.move(held, rota.PlaceAfter, last).Position, 275)
}

// exhaustGap moves jobs between two others until no gap is left. It returns the jobs in their
// order, and another job of the priority.
func exhaustGap(y *story, priority int) (row []*rota.Job, spare *rota.Job) {
	for range 9 {
		row = append(row, y.enqueue(rota.NewJob{Priority: new(priority)}))
	}
	spare = row[8]
	row = row[:8]
	for _, j := range row[2:] {
		y.move(j, rota.PlaceAfter, row[0])
	}
	slices.Reverse(row[1:])
	for i, j := range row {
		row[i] = y.job(j.ID)
	}
	return row, spare
}

func moveRenumbers(y *story) {
	row, spare := exhaustGap(y, 0)
	want(y, "the gap", row[1].Position-row[0].Position, 1)
	held := y.enqueue(rota.NewJob{Delay: time.Hour})
	got := y.move(spare, rota.PlaceBefore, row[1])
	want(y, "position", got.Position, 200)
	order := slices.Insert(slices.Clone(row), 1, spare)
	wantIDs(y, "the queue", y.queue(), order...)
	for i, j := range append(order, held) {
		want(y, "renumbered", y.job(j.ID).Position, int64(i+1)*100)
	}
	want(y, "version of another job", y.job(row[0].ID).Version, row[0].Version)
}

func moveRenumbersAdopting(y *story) {
	row, spare := exhaustGap(y, 3)
	other := y.enqueue(rota.NewJob{Priority: new(1)})
	got := y.move(other, rota.PlaceAfter, row[0])
	want(y, "priority", got.Priority, 3)
	order := append(slices.Insert(slices.Clone(row), 1, other), spare)
	wantIDs(y, "the queue", y.queue(), order...)
	for i, j := range order {
		want(y, "renumbered", y.job(j.ID).Position, int64(i+1)*100)
	}
}

func moveVersion(y *story) {
	jobs := y.enqueueMany(2)
	at := func(v rota.ID) *rota.Move {
		return &rota.Move{Meta: y.ids.meta(), JobID: jobs[0].ID, Version: &v, Place: rota.PlaceBottom}
	}
	y.refused(rota.Conflict, at(y.ids.next()))
	first := do[*rota.Moved](y, at(rota.ID{})).Job
	y.refused(rota.Conflict, at(rota.ID{}))
	do[*rota.Moved](y, at(first.Version))
}

func moveUnknown(y *story) {
	j := y.enqueue(rota.NewJob{})
	y.refused(rota.NotFound, &rota.Move{Meta: y.ids.meta(), JobID: y.ids.next(), Place: rota.PlaceTop})
	y.refused(rota.NotFound, &rota.Move{Meta: y.ids.meta(), JobID: j.ID, Place: rota.PlaceAfter, Anchor: y.ids.next()})
}

func moveLeft(y *story) {
	running := y.running(rota.NewJob{})
	j := y.enqueue(rota.NewJob{})
	y.refused(rota.Conflict, &rota.Move{Meta: y.ids.meta(), JobID: running.ID, Place: rota.PlaceBottom})
	y.refused(rota.Conflict, &rota.Move{Meta: y.ids.meta(), JobID: j.ID, Place: rota.PlaceBefore, Anchor: running.ID})
}

func moveAgainAfterOther(y *story) {
	jobs := y.enqueueMany(3)
	down := &rota.Move{Meta: y.ids.meta(), JobID: jobs[0].ID, Place: rota.PlaceBottom}
	do[*rota.Moved](y, down)
	y.move(jobs[0], rota.PlaceTop, nil)
	before := y.dump()
	want(y, "position", do[*rota.Moved](y, down).Job.Position, y.job(jobs[0].ID).Position)
	y.wantUnchanged(before)
	wantIDs(y, "the queue", y.queue(), jobs...)
}

func moveNothing(y *story) {
	jobs := y.enqueueMany(3)
	written := y.writtenAudit()
	for _, c := range []*rota.Move{
		{JobID: jobs[0].ID, Place: rota.PlaceTop},
		{JobID: jobs[2].ID, Place: rota.PlaceBottom},
		{JobID: jobs[1].ID, Place: rota.PlaceAfter, Anchor: jobs[0].ID},
		{JobID: jobs[0].ID, Place: rota.PlaceBefore, Anchor: jobs[1].ID},
	} {
		c.Meta = y.ids.meta()
		want(y, "version", do[*rota.Moved](y, c).Job.Version, c.ID)
		before := y.dump()
		do[*rota.Moved](y, c)
		y.wantUnchanged(before)
	}
	y.wantAuditSince(written)
	wantIDs(y, "the queue", y.queue(), jobs...)
	last := &rota.Move{Meta: y.ids.meta(), JobID: jobs[0].ID, Place: rota.PlaceTop}
	do[*rota.Moved](y, last)
	y.claim(1)
	want(y, "a second sending after the job started", do[*rota.Moved](y, last).Job.ID, jobs[0].ID)
}

func moveAudit(y *story) {
	jobs := y.enqueueMany(2)
	c := &rota.Move{Meta: y.ids.meta(), JobID: jobs[0].ID, Place: rota.PlaceBottom}
	do[*rota.Moved](y, c)
	want(y, "version", y.job(jobs[0].ID).Version, c.ID)
	want(y, "version of the other job", y.job(jobs[1].ID).Version, rota.ID{})
	y.wantAudit(rota.AuditEntry{ID: rota.AuditID(c.ID, c.Verb(), c.JobID), At: y.now, Actor: "ada", Act: rota.AuditJobModified, JobID: c.JobID, Detail: "move"})
}
