package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRedrive(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a redrive of a dead execution creates a new job", redriveDead},
		{"cancelled and skipped executions can be redriven", redriveOthers},
		{"a redrive may name any attempt of the execution", redriveAttempt},
		{"executions that completed or have not ended cannot be redriven", redriveRefused},
		{"an execution is redriven once, unless the redrive was cancelled", redriveOnce},
		{"a dead redrive is redriven itself", redriveAgain},
		{"a dead letter that was redriven is no longer listed as one", redriveListed},
		{"a redrive takes its unique key again if the key is free", redriveKey},
		{"a redrive does not belong to the group", redriveGroup},
		{"a redrive waits for an earlier execution of its schedule", redriveOverlap},
		{"a redrive works with an archived template", redriveArchived},
	})
}

func (y *story) redriveCommand(id rota.ID) *rota.Redrive {
	return &rota.Redrive{Meta: y.ids.meta(), JobID: id}
}

func redriveDead(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: []byte(`{"a":1}`), ConcurrencyKey: "db"})
	y.declare("nightly", rota.ScheduleSpec{Scopes: tenants[:1], Priority: new(3)})
	fired := y.fireNext("nightly")
	y.failPermanently(y.claimOne())
	y.advance(time.Minute)
	written := y.writtenAudit()
	c := y.redriveCommand(fired.ID)
	c.Actor = "bob"
	got := do[*rota.Redriven](y, c).Job
	expected := rota.Job{
		ID: c.NewJobID(), ExecutionID: c.NewJobID(), RedriveOf: fired.ID, Attempt: 1, Type: "mail", Name: "nightly",
		Params: fired.Params, Policy: fired.Policy, Priority: 3, Position: 100, Status: rota.StatusQueued,
		Template: "report", Schedule: "nightly", ScopeKind: "t", ScopeID: "a", ConcurrencyKey: "db", CountsAt: fired.CountsAt,
		Owner: rota.AdminUser, CreatedBy: "bob", CreatedAt: y.now, QueuedAt: y.now,
	}
	want(y, "difference of the job", difference(jobText(&expected), jobText(y.job(got.ID))), "")
	y.wantAuditSince(written, rota.AuditEntry{
		ID: rota.AuditID(c.ID, c.Verb(), fired.ID), At: y.now, Actor: "bob", Act: rota.AuditJobRedriven, JobID: fired.ID, Detail: got.ID.String(),
	})
	want(y, "the dead one", y.job(fired.ID).Sequel, rota.SequelDead)
	y.complete(y.claimOne())
	y.wantNoViolations()
}

func redriveOthers(y *story) {
	_, skipped, cancelled, _ := y.endInEachWay()
	stopped := y.running(rota.NewJob{})
	y.cancel(stopped.ID)
	y.fail(stopped)
	for _, j := range []*rota.Job{skipped, cancelled, stopped} {
		want(y, "redrive of", y.redrive(j.ID).RedriveOf, j.ID)
		y.complete(y.claimOne())
	}
}

func redriveAttempt(y *story) {
	first := y.running(rota.NewJob{MaxRetries: new(1), Backoff: new(time.Duration(0))})
	second := y.job(y.fail(first).RetryID)
	y.edit(second.ID, toParams(`{"edited":true}`))
	y.fail(y.claimOne())
	redriven := y.redrive(second.ID)
	want(y, "redrive of", redriven.RedriveOf, first.ID)
	want(y, "attempt", redriven.Attempt, 1)
	want(y, "attempts", redriven.Policy.MaxAttempts, 2)
	want(y, "params of the last attempt", string(redriven.Params), `{"edited":true}`)
	wantTime(y, "run at", redriven.RunAt, time.Time{})
	y.refused(rota.Conflict, y.redriveCommand(first.ID))
}

func redriveRefused(y *story) {
	y.wantField(rota.NotFound, "job_id", y.redriveCommand(y.ids.next()))
	done := y.running(rota.NewJob{})
	y.complete(done)
	waits := y.running(rota.NewJob{})
	y.fail(waits)
	runs := y.running(rota.NewJob{})
	queued := y.enqueue(rota.NewJob{})
	for _, j := range []*rota.Job{done, waits, runs, queued} {
		y.refused(rota.Conflict, y.redriveCommand(j.ID))
	}
}

func redriveOnce(y *story) {
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	first := y.redrive(dead.ID)
	y.refused(rota.Conflict, y.redriveCommand(dead.ID))
	y.cancel(first.ID)
	second := y.redrive(dead.ID)
	running := y.claimOne()
	want(y, "claimed", running.ID, second.ID)
	y.cancel(running.ID)
	y.refused(rota.Conflict, y.redriveCommand(dead.ID))
	y.fail(running)
	y.redrive(dead.ID)
	y.complete(y.claimOne())
	y.refused(rota.Conflict, y.redriveCommand(dead.ID))
}

func redriveAgain(y *story) {
	dead := y.running(rota.NewJob{})
	y.failPermanently(dead)
	first := y.redrive(dead.ID)
	y.failPermanently(y.claimOne())
	y.refused(rota.Conflict, y.redriveCommand(dead.ID))
	want(y, "redrive of", y.redrive(first.ID).RedriveOf, first.ID)
}

func redriveListed(y *story) {
	dead, other := y.running(rota.NewJob{}), y.running(rota.NewJob{})
	y.failPermanently(dead)
	y.failPermanently(other)
	y.complete(y.running(rota.NewJob{}))
	list := func() []rota.ID {
		jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Dead: true})
		return idsOf(must(y, "dead letters", jobs, err))
	}
	wantIDs(y, "dead letters", list(), other, dead)
	y.redrive(dead.ID)
	wantIDs(y, "dead letters", list(), other)
}

func redriveKey(y *story) {
	dead := y.running(keyed)
	y.failPermanently(dead)
	holder := y.wantKeyFree()
	y.refused(rota.Conflict, y.redriveCommand(dead.ID))
	y.cancel(holder.ID)
	redriven := y.redrive(dead.ID)
	want(y, "unique key", redriven.UniqueKey, "k")
	y.wantKeyHeldBy(redriven)
}

func redriveGroup(y *story) {
	id, _ := y.groupOfThree(rota.GroupSequential, rota.FailureSkip)
	running := y.claimOne()
	y.failPermanently(running)
	redriven := y.redrive(running.ID)
	want(y, "group", redriven.GroupID, rota.ID{})
	want(y, "place", redriven.GroupPosition, 0)
	y.complete(y.claimOne())
	y.wantTally(id, rota.GroupPartial, rota.GroupTally{Dead: 1, Skipped: 2})
}

func redriveOverlap(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	dead := y.fireNext("nightly")
	y.failPermanently(y.claimOne())
	y.fireNext("nightly")
	running := y.claimOne()
	redriven := y.redrive(dead.ID)
	y.wantHold(redriven, rota.HoldOverlap)
	y.complete(running)
	y.wantHold(redriven, 0)
}

func redriveArchived(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	dead := y.running(rota.NewJob{Template: "letter"})
	y.failPermanently(dead)
	y.archive("letter")
	want(y, "template", y.redrive(dead.ID).Template, "letter")
}
