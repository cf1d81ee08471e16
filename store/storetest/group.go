package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testGroup(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a group is kept as it was enqueued, with its defaults", groupEnqueued},
		{"a parallel group is claimed at once, in order", groupParallel},
		{"a sequential group runs one member after the other", groupSequential},
		{"a member that is retried keeps its turn", groupRetry},
		{"a cancelled member passes its turn to the next", groupMemberCancelled},
		{"a delayed member waits for both its time and its turn", groupDelay},
		{"a crashed member keeps its turn until it is settled", groupCrash},
		{"the status of a group is derived from its members", groupStatus},
		{"on failure continue: the others continue", groupContinue},
		{"on failure stop: those that have not started are cancelled", groupStop},
		{"on failure skip: those that have not started are skipped", groupSkip},
		{"a failure that is retried stops nothing", groupStopRetry},
		{"after a stop a failure is not retried", groupStopDead},
		{"a member that was cancelled stops nothing", groupStopCancelled},
		{"members hold their unique and concurrency keys", groupKeys},
		{"a refused group creates no members", groupRefused},
		{"groups are listed newest first, and their jobs by group", groupsListed},
	})
}

// groupOfThree enqueues a group of three members.
func (y *story) groupOfThree(mode rota.GroupMode, on rota.OnFailure) (rota.ID, []*rota.Job) {
	y.Helper()
	got := y.enqueueGroup(mode, on, make([]rota.NewJob, 3)...)
	return got.Group.ID, got.Jobs
}

func (y *story) wantTally(id rota.ID, status rota.GroupStatus, tally rota.GroupTally) {
	y.Helper()
	g := y.group(id)
	want(y, "status", g.Status(), status)
	want(y, "tally", g.Tally, tally)
}

func groupEnqueued(y *story) {
	c := y.groupCommand("", "", rota.NewJob{Priority: new(1)}, rota.NewJob{ID: y.ids.next()})
	got := do[*rota.GroupEnqueued](y, c)
	want(y, "answered", got.Group.ID, c.GroupID())
	want(y, "tally in an answer", got.Group.Tally, rota.GroupTally{})
	g := y.group(c.GroupID())
	want(y, "name", g.Name, "batch")
	want(y, "mode", g.Mode, rota.GroupParallel)
	want(y, "on failure", g.OnFailure, rota.FailureContinue)
	want(y, "size", g.Size, 2)
	want(y, "ending", g.Ending, "")
	want(y, "created by", g.CreatedBy, "ada")
	wantTime(y, "created at", g.CreatedAt, y.now)
	for i, j := range got.Jobs {
		row := y.job(j.ID)
		want(y, "id", j.ID, c.JobID(i))
		want(y, "group", row.GroupID, g.ID)
		want(y, "place in it", row.GroupPosition, i+1)
		want(y, "difference between answer and row", difference(jobText(row), jobText(j)), "")
	}
}

func groupParallel(y *story) {
	id, jobs := y.groupOfThree(rota.GroupParallel, "")
	y.wantTally(id, rota.GroupQueued, rota.GroupTally{Queued: 3})
	wantIDs(y, "claimed", idsOf(y.claim(5)), jobs...)
}

func groupSequential(y *story) {
	got := y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{}, rota.NewJob{Priority: new(9)}, rota.NewJob{})
	for i, j := range got.Jobs {
		wantIDs(y, "the queue", y.queue(), j)
		for _, later := range got.Jobs[i+1:] {
			y.wantHold(later, rota.HoldGroup)
		}
		y.advance(time.Second)
		y.complete(y.claimOne())
	}
	wantTime(y, "queued at", y.job(got.Jobs[2].ID).QueuedAt, startTime.Add(2*time.Second))
	want(y, "status", y.group(got.Group.ID).Status(), rota.GroupCompleted)
}

func groupRetry(y *story) {
	_, jobs := y.groupOfThree(rota.GroupSequential, rota.FailureStop)
	y.fail(y.claimOne())
	y.wantHold(jobs[1], rota.HoldGroup)
	y.advance(time.Minute)
	y.makeReady()
	retry := y.claimOne()
	want(y, "place of the retry", retry.GroupPosition, 1)
	y.wantHold(jobs[1], rota.HoldGroup)
	y.complete(retry)
	y.wantHold(jobs[1], 0)
	y.wantHold(jobs[2], rota.HoldGroup)
}

func groupMemberCancelled(y *story) {
	_, jobs := y.groupOfThree(rota.GroupSequential, rota.FailureStop)
	y.cancel(jobs[1].ID)
	y.wantHold(jobs[2], rota.HoldGroup)
	y.cancel(jobs[0].ID)
	y.wantHold(jobs[2], 0)
	y.complete(y.claimOne())
}

func groupDelay(y *story) {
	jobs := y.enqueueGroup(rota.GroupSequential, "", rota.NewJob{}, rota.NewJob{Delay: time.Minute}, rota.NewJob{Delay: time.Second}).Jobs
	y.wantHold(jobs[1], rota.HoldGroup|rota.HoldDelay)
	y.complete(y.claimOne())
	y.wantHold(jobs[1], rota.HoldDelay)
	y.advance(time.Second)
	y.makeReady()
	y.wantHold(jobs[2], rota.HoldGroup)
	y.advance(time.Minute)
	y.makeReady()
	y.complete(y.claimOne())
	y.wantHold(jobs[2], 0)
}

func groupCrash(y *story) {
	_, jobs := y.groupOfThree(rota.GroupSequential, "")
	y.claimOne()
	y.advance(time.Hour)
	y.wantHold(jobs[1], rota.HoldGroup)
	want(y, "reaped", len(y.reap().Jobs), 1)
	y.wantHold(jobs[1], rota.HoldGroup)
	y.advance(time.Hour)
	y.makeReady()
	y.claimOne()
	y.recover()
	y.cancel(jobs[0].ID)
	y.wantHold(jobs[1], 0)
}

func groupStatus(y *story) {
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	jobs := y.claim(2)
	y.wantTally(id, rota.GroupRunning, rota.GroupTally{Queued: 1, Running: 2})
	y.complete(jobs[0])
	y.fail(jobs[1])
	y.wantTally(id, rota.GroupRunning, rota.GroupTally{Queued: 1, Running: 1, Completed: 1})
	y.cancel(jobs[1].ID)
	y.wantTally(id, rota.GroupRunning, rota.GroupTally{Queued: 1, Cancelled: 1, Completed: 1})
	y.failPermanently(y.claimOne())
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Dead: 1, Cancelled: 1, Completed: 1})
	all, _ := y.groupOfThree(rota.GroupParallel, "")
	for _, j := range y.claim(3) {
		y.complete(j)
	}
	y.wantTally(all, rota.GroupCompleted, rota.GroupTally{Completed: 3})
	none, members := y.groupOfThree(rota.GroupParallel, "")
	for _, j := range members {
		y.cancel(j.ID)
	}
	y.wantTally(none, rota.GroupCancelled, rota.GroupTally{Cancelled: 3})
}

func groupContinue(y *story) {
	id, jobs := y.groupOfThree(rota.GroupSequential, rota.FailureContinue)
	y.failPermanently(y.claimOne())
	y.wantHold(jobs[1], 0)
	want(y, "ending", y.group(id).Ending, "")
}

func groupStop(y *story) {
	id, jobs := y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	running := y.claim(2)
	written := y.writtenAudit()
	y.advance(time.Second)
	y.failPermanently(running[0])
	g := y.group(id)
	want(y, "ending", g.Ending, rota.EndingStop)
	want(y, "reason", g.EndingReason, "a member died: job "+jobs[0].ID.String())
	want(y, "by", g.EndingBy, "") // the worker that reports the failure does not end the group: Rota does
	row := y.job(jobs[2].ID)
	want(y, "status", row.Status, rota.StatusCancelled)
	want(y, "sequel", row.Sequel, rota.SequelNone)
	wantTime(y, "finished at", row.FinishedAt, y.now)
	written = append(written, y.audit(rota.AuditQuery{Subject: rota.JobSubject(jobs[2].ID), Acts: []string{rota.AuditJobCancelled}})...)
	want(y, "entries about the cancelled member", y.actsOf(jobs[2]), "JOB_CANCELLED:CANCELLED JOB_CREATED")
	y.wantAuditSince(written)
	want(y, "the other run is asked to stop", y.heartbeat(running[1]).Cancel, false)
	y.complete(running[1])
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Completed: 1, Dead: 1, Cancelled: 1})
	y.wantNoViolations()
}

func groupSkip(y *story) {
	id, jobs := y.groupOfThree(rota.GroupSequential, rota.FailureSkip)
	y.advance(time.Second)
	y.failPermanently(y.claimOne())
	want(y, "ending", y.group(id).Ending, rota.EndingSkip)
	text := "skipped: a member died: job " + jobs[0].ID.String()
	y.wantSkipped(jobs[1], rota.CodeGroup, text)
	y.wantSkipped(jobs[2], rota.CodeGroup, text)
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Dead: 1, Skipped: 2})
	y.wantNoViolations()
}

func groupStopRetry(y *story) {
	id, jobs := y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	y.fail(y.claimOne())
	want(y, "ending", y.group(id).Ending, "")
	y.wantState(rota.StateQueued, jobs[1:]...)
}

func groupStopDead(y *story) {
	id, jobs := y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	running := y.claim(3)
	retry := y.fail(running[2]).RetryID
	y.failPermanently(running[0])
	want(y, "a retry that waited", y.job(retry).State(), rota.StateCancelled)
	want(y, "sequel", y.fail(running[1]).Sequel, rota.SequelDead)
	want(y, "reason", y.group(id).EndingReason, "a member died: job "+jobs[0].ID.String())
}

func groupStopCancelled(y *story) {
	id, jobs := y.groupOfThree(rota.GroupParallel, rota.FailureStop)
	y.cancel(jobs[0].ID)
	j := y.claimOne()
	y.cancel(j.ID)
	y.fail(j)
	y.mustFinish(y.claimOne(), rota.FinishItem{Outcome: rota.OutcomeSkipped})
	want(y, "ending", y.group(id).Ending, "")
}

func groupKeys(y *story) {
	y.throttle(keyLimit("db", 1))
	jobs := y.enqueueGroup(rota.GroupParallel, rota.FailureStop,
		rota.NewJob{ConcurrencyKey: new("db")}, rota.NewJob{ConcurrencyKey: new("db"), UniqueKey: "k"}).Jobs
	y.wantHold(jobs[1], rota.HoldKey)
	want(y, "held", y.submit(keyed).Job.ID, jobs[1].ID)
	y.failPermanently(y.claimOne())
	y.wantState(rota.StateCancelled, jobs[1])
	y.wantKeyFree()
}

func groupRefused(y *story) {
	other := y.enqueue(keyed)
	group := func(n rota.NewJob) *rota.EnqueueGroup {
		return y.groupCommand(rota.GroupSequential, rota.FailureStop, rota.NewJob{UniqueKey: "new"}, n)
	}
	y.wantField(rota.Conflict, "jobs[1].id", group(rota.NewJob{ID: other.ID}))
	y.wantField(rota.Conflict, "jobs[1].unique_key", group(keyed))
	y.wantField(rota.Conflict, "jobs[1].unique_key", group(rota.NewJob{UniqueKey: "new"}))
	y.wantField(rota.NotFound, "jobs[1].template", group(rota.NewJob{Template: "missing"}))
	y.declareTemplate("old", rota.TemplateSpec{})
	y.wantField(rota.Invalid, "jobs[1].type", group(rota.NewJob{Template: "old", Type: "other"}))
	y.archive("old")
	y.wantField(rota.Conflict, "jobs[1].template", group(rota.NewJob{Template: "old"}))
	want(y, "duplicate", y.submit(rota.NewJob{UniqueKey: "new"}).Duplicate, false)
	list, err := y.s.Groups(y.ctx, rota.ID{}, 0)
	want(y, "groups", len(must(y, "groups", list, err)), 0)
}

func groupsListed(y *story) {
	y.enqueue(rota.NewJob{})
	var ids []rota.ID
	for range 3 {
		id, _ := y.groupOfThree(rota.GroupParallel, "")
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	list := func(before rota.ID, limit int) (got []rota.ID) {
		groups, err := y.s.Groups(y.ctx, before, limit)
		for _, g := range must(y, "groups", groups, err) {
			got = append(got, g.ID)
		}
		return got
	}
	want(y, "all", slices.Equal(list(rota.ID{}, 0), ids), true)
	want(y, "the first page", slices.Equal(list(rota.ID{}, 2), ids[:2]), true)
	want(y, "the second page", slices.Equal(list(ids[1], 2), ids[2:]), true)
	jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{GroupID: ids[1]})
	want(y, "members", len(must(y, "jobs", jobs, err)), 3)
	for _, j := range jobs {
		want(y, "group", j.GroupID, ids[1])
	}
	y.wantNotFound("group", errOf(y.s.Group(y.ctx, y.ids.next())))
}
