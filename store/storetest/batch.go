package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testBatch(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"commands are applied in order, and each sees the changes of those before it", batchInOrder},
		{"a position that a command frees is used by the next command", batchPositions},
		{"a reap sees the finish, the heartbeat and the cancel before it", batchReap},
		{"a finish sees the reap before it", batchReapedFirst},
		{"a claim sees the cancel, the edit and the move before it", batchClaim},
		{"a refused command does not affect the commands before and after it", batchRefusedBetween},
		{"refused commands of every kind do not affect the others of the batch", batchManyRefused},
		{"a refused command releases the keys and positions that it took", batchReleases},
		{"an empty batch changes nothing", batchEmpty},
		{"a batch without a time gets the time of the store", batchTimeFromStore},
		{"a batch with an ended context can be sent again", batchContext},
		{"a nil command is refused and the others are applied", batchNil},
	})
}

func batchInOrder(y *story) {
	enqueue := y.enqueueCommand(rota.NewJob{}, rota.NewJob{})
	claim := y.claimCommand(1)
	id := enqueue.JobID(0)
	ref := rota.LeaseRef{JobID: id, RunID: rota.RunID(claim.ID, id), Token: claim.TokenFor(id)}
	fail := &rota.Finish{Meta: y.ids.meta(), Items: []rota.FinishItem{{LeaseRef: ref, Outcome: rota.OutcomeFailed, ErrorCode: rota.CodeShutdown}}}
	second := y.claimCommand(5)
	results := y.send(enqueue, claim, fail, second)
	for i, r := range results {
		if r.Err != nil {
			y.Fatalf("command %d was refused: %v", i, r.Err)
		}
	}
	retry := results[2].Reply.(*rota.Finished).Items[0].RetryID
	got := idsOf(results[3].Reply.(*rota.Claimed).Jobs)
	want(y, "claimed by the second", len(got), 2)
	want(y, "first", got[0], enqueue.JobID(1))
	want(y, "then the retry", got[1], retry)
}

func batchPositions(y *story) {
	jobs := y.enqueueMany(4)
	next := func() *rota.Enqueue { return y.enqueueCommand(rota.NewJob{Priority: new(-1)}) }
	results := y.send(
		y.claimCommand(2), y.enqueueCommand(rota.NewJob{}),
		y.cancelCommand(jobs[2].ID), y.editCommand(jobs[3].ID, toPriority(-1)), next(),
		&rota.Move{Meta: y.ids.meta(), JobID: jobs[3].ID, Place: rota.PlaceBottom}, next(),
	)
	for i, position := range map[int]int64{1: 500, 4: 200, 6: 400} {
		want(y, "position", results[i].Reply.(*rota.Enqueued).Jobs[0].Job.Position, position)
	}
}

func batchReap(y *story) {
	y.enqueueMany(3)
	jobs := y.claim(3)
	y.advance(time.Hour)
	heartbeat := &rota.Extend{Meta: y.ids.meta(), Lease: lease, Items: []rota.ExtendItem{{LeaseRef: leaseOf(jobs[1])}}}
	results := y.send(newFinish(jobs[0], rota.OutcomeCompleted), heartbeat, y.cancelCommand(jobs[2].ID), &rota.Reap{Meta: y.ids.meta()})
	reaped := results[3].Reply.(*rota.Reaped).Jobs
	want(y, "reaped", len(reaped), 1)
	want(y, "the one asked to stop", reaped[0].JobID, jobs[2].ID)
	want(y, "its outcome", reaped[0].Outcome, rota.OutcomeCancelled)
}

func batchReapedFirst(y *story) {
	j := y.running(rota.NewJob{})
	y.advance(time.Hour)
	results := y.send(&rota.Reap{Meta: y.ids.meta()}, newFinish(j, rota.OutcomeFailed), y.cancelCommand(j.ID))
	want(y, "reaped", len(results[0].Reply.(*rota.Reaped).Jobs), 1)
	want(y, "code", results[1].Reply.(*rota.Finished).Items[0].Code, rota.LeaseLost)
	retry := results[0].Reply.(*rota.Reaped).Jobs[0].RetryID
	want(y, "cancelled", results[2].Reply.(*rota.CancelledJob).Job.ID, retry)
}

func batchClaim(y *story) {
	jobs := y.enqueueMany(4)
	top := &rota.Move{Meta: y.ids.meta(), JobID: jobs[3].ID, Place: rota.PlaceTop}
	results := y.send(y.cancelCommand(jobs[0].ID), y.editCommand(jobs[2].ID, toPriority(1)), top, y.claimCommand(2), y.claimCommand(2))
	wantIDs(y, "the first claim", idsOf(results[3].Reply.(*rota.Claimed).Jobs), jobs[2], jobs[3])
	wantIDs(y, "the second claim", idsOf(results[4].Reply.(*rota.Claimed).Jobs), jobs[1])
}

func batchRefusedBetween(y *story) {
	before := y.enqueueCommand(rota.NewJob{})
	after := y.enqueueCommand(rota.NewJob{})
	results := y.send(before, y.cancelCommand(y.ids.next()), after)
	want(y, "first applied", results[0].Err == nil, true)
	want(y, "second refused with", results[1].Err.Code, rota.NotFound)
	want(y, "third applied", results[2].Err == nil, true)
	want(y, "in the queue", len(y.queue()), 2)
	want(y, "position of the third", results[2].Reply.(*rota.Enqueued).Jobs[0].Job.Position, 200)
}

func batchManyRefused(y *story) {
	j := y.running(rota.NewJob{})
	bad := []rota.Command{
		y.enqueueCommand(rota.NewJob{UniqueKey: "k"}, rota.NewJob{Type: "other", ID: j.ID}),
		y.allOf(y.enqueueCommand(rota.NewJob{UniqueKey: "k"}), y.cancelCommand(y.ids.next())),
		y.editCommand(j.ID, toPriority(3)),
		&rota.Move{Meta: y.ids.meta(), JobID: j.ID, Place: rota.PlaceTop},
		&rota.Normalise{Meta: y.ids.meta(), After: j.ID},
		&rota.Claim{Meta: y.ids.meta()},
	}
	var batch []rota.Command
	for _, c := range bad {
		batch = append(batch, y.enqueueCommand(rota.NewJob{}), c)
	}
	results := y.send(append(batch, y.enqueueCommand(rota.NewJob{UniqueKey: "k"}))...)
	for i, r := range results {
		if refused := i%2 == 1; (r.Err != nil) != refused {
			y.Errorf("command %d: %v", i, r.Err)
		}
	}
	want(y, "the key was free", results[len(results)-1].Reply.(*rota.Enqueued).Jobs[0].Duplicate, false)
	want(y, "in the queue", len(y.queue()), len(bad)+1)
	for i, id := range y.queue() {
		want(y, "position", y.job(id).Position, int64(i+1)*100)
	}
}

// batchReleases sends commands that are refused halfway. The positions, keys, slots and starts
// that they took must be free for the next command of the batch.
func batchReleases(y *story) {
	taken := y.enqueueLimited(1, 1)[0]
	y.declare("nightly", rota.ScheduleSpec{})
	r := y.reserve()
	missing := rota.NewJob{Template: "missing"}
	first := rota.NewJob{Type: "mail", UniqueKey: "k", ConcurrencyKey: new("other")}
	bad := []rota.Command{
		&rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{first, first, missing}},
		y.groupCommand(rota.GroupParallel, "", first, missing),
		y.groupCommand(rota.GroupParallel, "", first, rota.NewJob{UniqueKey: "k"}),
		y.allOf(y.enqueueCommand(first), y.cancelCommand(taken.ID), y.cancelCommand(y.ids.next())),
		y.allOf(&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, y.redriveCommand(y.ids.next())),
		y.directCommand(r, rota.NewJob{ID: taken.ID}),
	}
	var batch []rota.Command
	for _, c := range bad {
		batch = append(batch, c, y.enqueueCommand(rota.NewJob{}))
	}
	results := y.send(append(batch, y.enqueueCommand(first))...)
	for i := range bad {
		want(y, "refused", results[2*i].Err != nil, true)
		want(y, "position", results[2*i+1].Reply.(*rota.Enqueued).Jobs[0].Job.Position, int64(i+2)*100)
	}
	last := results[len(results)-1].Reply.(*rota.Enqueued).Jobs[0]
	want(y, "duplicate", last.Duplicate, false)
	want(y, "position", last.Job.Position, int64(len(bad)+2)*100)
	want(y, "the job of the key is ready", y.job(taken.ID).Ready(), true)
}

func batchEmpty(y *story) {
	y.enqueue(rota.NewJob{})
	before := y.dump()
	results, err := y.s.Apply(y.ctx, rota.Batch{Now: y.now})
	if err != nil || len(results) != 0 {
		y.Errorf("%d results, %v", len(results), err)
	}
	y.wantUnchanged(before)
}

func batchTimeFromStore(y *story) {
	y.now = time.Time{}
	from := time.Now().Add(-time.Minute)
	j := y.enqueue(rota.NewJob{})
	if to := time.Now().Add(time.Minute); j.CreatedAt.Before(from) || j.CreatedAt.After(to) {
		y.Errorf("created at %s, but it is %s", j.CreatedAt, to)
	}
	wantTime(y, "whole microseconds", j.CreatedAt, j.CreatedAt.Truncate(time.Microsecond))
}

func batchNil(y *story) {
	none := []rota.Command{nil, (*rota.Enqueue)(nil), (*rota.Claim)(nil), (*rota.Finish)(nil), (*rota.Extend)(nil), (*rota.All)(nil)}
	results, err := y.s.Apply(y.Context(), rota.Batch{Now: y.now, Commands: append(none, y.enqueueCommand(rota.NewJob{}))})
	if err != nil {
		y.Fatal(err)
	}
	for i := range none {
		if results[i].Err == nil || results[i].Err.Code != rota.Invalid {
			y.Errorf("command %d: %v", i, results[i].Err)
		}
	}
	want(y, "in the queue", len(y.queue()), 1)
}

func batchContext(y *story) {
	c := y.enqueueCommand(rota.NewJob{})
	endedCtx, cancel := endedContext()
	defer cancel()
	if _, err := y.s.Apply(endedCtx, rota.Batch{Now: y.now, Commands: []rota.Command{c}}); err == nil {
		y.Log("the batch was applied although the context had ended, which is allowed")
	}
	do[*rota.Enqueued](y, c)
	want(y, "in the queue", len(y.queue()), 1)
}
