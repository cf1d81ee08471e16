package storetest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testClaim(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"jobs are claimed by priority, then by position", claimInOrder},
		{"a claim creates the run and starts the job in one step", claimCreatesRun},
		{"every lease has its own token, which only its claimer sees", claimTokens},
		{"a job of an unknown type at the head does not block the others", claimPastUnknown},
		{"a claim of several types merges them in order", claimTypes},
		{"a claim takes no more than its limit", claimLimit},
		{"a job is claimed once", claimOnce},
		{"a job that was claimed never returns to the queue", claimOneWay},
		{"a job that was claimed can no longer be edited or moved", claimFreezes},
		{"a claim sent again answers with its leases and takes no more jobs", claimAgain},
		{"a claim sent again leaves out leases that have ended", claimAgainAfterSome},
		{"a claim of an empty queue answers with no jobs", claimNothing},
		{"the answer to a claim has the time of the store", claimTime},
	})
}

func claimInOrder(y *story) {
	low := y.enqueue(rota.NewJob{Priority: new(-5)})
	mid1 := y.enqueue(rota.NewJob{})
	high := y.enqueue(rota.NewJob{Priority: new(9)})
	mid2 := y.enqueue(rota.NewJob{})
	wantIDs(y, "the queue", y.queue(), high, mid1, mid2, low)
	wantIDs(y, "the first claim", idsOf(y.claim(3)), high, mid1, mid2)
	wantIDs(y, "the second claim", idsOf(y.claim(3)), low)
}

func claimCreatesRun(y *story) {
	queued := y.enqueue(rota.NewJob{Params: json.RawMessage(`{"a":1}`)})
	y.advance(time.Second)
	c := y.claimCommand(1)
	j := do[*rota.Claimed](y, c).Jobs[0]
	want(y, "status", j.Status, rota.StatusRunning)
	want(y, "state", j.State(), rota.StateRunning)
	want(y, "params", string(j.Params), `{"a":1}`)
	wantTime(y, "started at", j.StartedAt, y.now)
	wantTime(y, "finished at", j.FinishedAt, time.Time{})
	want(y, "position", j.Position, queued.Position)
	r := j.Run
	want(y, "run id", r.ID, rota.RunID(c.ID, j.ID))
	want(y, "runner", r.Runner, "w1")
	want(y, "incarnation", r.Incarnation, incarnationOne)
	want(y, "token", r.Token, c.TokenFor(j.ID))
	want(y, "outcome", r.Outcome, "")
	wantTime(y, "run started at", r.StartedAt, y.now)
	wantTime(y, "heartbeat at", r.HeartbeatAt, y.now)
	wantTime(y, "stale after", r.StaleAfter, y.now.Add(lease))
	row := y.job(j.ID)
	r.Token = rota.Token{}
	want(y, "difference between answer and row", difference(jobText(j), jobText(row)), "")
}

func claimTokens(y *story) {
	y.enqueueMany(3)
	seen := map[rota.Token]bool{{}: true}
	for _, j := range append(y.claim(2), y.claim(1)...) {
		if seen[j.Run.Token] {
			y.Errorf("the token of %s is empty or belongs to another run", j.ID)
		}
		seen[j.Run.Token] = true
		want(y, "token read", y.job(j.ID).Run.Token, rota.Token{})
	}
	jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{})
	if err != nil || len(jobs) != 3 {
		y.Fatalf("%d jobs, %v", len(jobs), err)
	}
	for _, j := range jobs {
		want(y, "token listed", j.Run.Token, rota.Token{})
	}
}

func claimPastUnknown(y *story) {
	stuck := y.enqueue(rota.NewJob{Type: "unknown", Priority: new(10)})
	j := y.enqueue(rota.NewJob{})
	wantIDs(y, "claimed", idsOf(y.claim(5)), j)
	wantIDs(y, "the queue", y.queue(), stuck)
}

func claimTypes(y *story) {
	a1 := y.enqueue(rota.NewJob{Type: "a"})
	b1 := y.enqueue(rota.NewJob{Type: "b"})
	c1 := y.enqueue(rota.NewJob{Type: "c", Priority: new(1)})
	a2 := y.enqueue(rota.NewJob{Type: "a"})
	b2 := y.enqueue(rota.NewJob{Type: "b", Priority: new(1)})
	wantIDs(y, "claimed", idsOf(y.claim(9, "b", "a", "a")), b2, a1, b1, a2)
	wantIDs(y, "the queue", y.queue(), c1)
}

func claimLimit(y *story) {
	jobs := y.enqueueMany(5)
	wantIDs(y, "claimed", idsOf(y.claim(2)), jobs[:2]...)
	wantIDs(y, "the queue", y.queue(), jobs[2:]...)
}

func claimOnce(y *story) {
	jobs := y.enqueueMany(4)
	var all []rota.ID
	for range 6 {
		all = append(all, idsOf(y.claim(1))...)
	}
	wantIDs(y, "claimed", all, jobs...)
}

func claimOneWay(y *story) {
	j := y.running(rota.NewJob{MaxRetries: ptr(0)})
	y.advance(2 * time.Hour)
	y.makeReady()
	y.reap()
	want(y, "claimed after its end", len(y.claim(5)), 0)
	want(y, "status", y.job(j.ID).Status, rota.StatusRunning)
}

func claimFreezes(y *story) {
	j := y.running(rota.NewJob{})
	other := y.enqueue(rota.NewJob{})
	y.refused(rota.Conflict, &rota.Edit{Meta: y.ids.meta(), JobID: j.ID, Params: json.RawMessage(`{"a":1}`)})
	y.refused(rota.Conflict, &rota.Edit{Meta: y.ids.meta(), JobID: j.ID, Priority: ptr(1)})
	y.refused(rota.Conflict, &rota.Move{Meta: y.ids.meta(), JobID: j.ID, Place: rota.PlaceTop})
	y.refused(rota.Conflict, &rota.Move{Meta: y.ids.meta(), JobID: other.ID, Place: rota.PlaceBefore, Anchor: j.ID})
}

func claimAgain(y *story) {
	y.enqueueMany(5)
	c := y.claimCommand(2)
	first := y.send(c)
	y.advance(time.Second)
	y.enqueue(rota.NewJob{Priority: new(5)})
	before := y.dump()
	want(y, "difference of the answer sent again", difference(Answers(first), Answers(y.send(c))), "")
	y.wantUnchanged(before)
}

func claimAgainAfterSome(y *story) {
	y.enqueueMany(4)
	c := y.claimCommand(3)
	jobs := do[*rota.Claimed](y, c).Jobs
	y.complete(jobs[1])
	wantIDs(y, "sent again", idsOf(do[*rota.Claimed](y, c).Jobs), jobs[0], jobs[2])
	want(y, "left in the queue", len(y.queue()), 1)
}

func claimNothing(y *story) {
	before := y.dump()
	want(y, "claimed", len(y.claim(5)), 0)
	y.wantUnchanged(before)
	y.enqueueMany(2)
	types := slices.Repeat([]string{"none"}, 3)
	want(y, "claimed of another type", len(y.claim(5, types...)), 0)
}

func claimTime(y *story) {
	y.enqueueMany(2)
	c := y.claimCommand(1)
	for _, what := range []string{"took one", "sent again"} {
		wantTime(y, "now, "+what, do[*rota.Claimed](y, c).Now, y.now)
		y.advance(time.Second)
	}
	y.reserve()
	wantTime(y, "now, held back", do[*rota.Claimed](y, y.claimCommand(1)).Now, y.now)
}
