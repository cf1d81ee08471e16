package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// testRunAgain tells what a redrive of a completed execution does, and one with other params.
func testRunAgain(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a completed execution runs again as a new execution", runAgainCompleted},
		{"a completed execution runs again any number of times", runAgainOften},
		{"an execution that did not complete runs again once, as a retry", runAgainOthers},
		{"an execution that has not ended does not run again", runAgainLive},
		{"an execution of an archived template does not run again", runAgainArchived},
		{"the new execution has no unique key while the key is held", runAgainKeyHeld},
		{"the new execution takes the unique key if it is free", runAgainKeyFree},
		{"a planned execution runs again without its plan time", runAgainPlanned},
		{"params override those of the last attempt", runAgainParams},
		{"a retry takes other params", redriveParams},
		{"merged params have the length limit of all params", runAgainParamsLong},
		{"the params of a webhook delivery do not change", runAgainDelivery},
		{"pruning keeps a repeat as long as what it repeats", runAgainPruned},
	})
}

func (y *story) runAgainCommand(id rota.ID) *rota.Redrive {
	return &rota.Redrive{Meta: y.ids.meta(), JobID: id, Again: true}
}

func (y *story) runAgain(id rota.ID) *rota.Job {
	y.Helper()
	return do[*rota.Redriven](y, y.runAgainCommand(id)).Job
}

func runAgainCompleted(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{Params: []byte(`{"a":1}`), ConcurrencyKey: "db", Policy: rota.PolicyPatch{Timeout: new(time.Minute)}})
	done := y.running(rota.NewJob{Template: "report", Priority: new(3), MaxRetries: new(7), ScopeKind: "t", ScopeID: "a", Delay: 0})
	y.complete(done)
	y.advance(time.Minute)
	written := y.writtenAudit()
	c := y.runAgainCommand(done.ID)
	c.Actor = "bob"
	got := do[*rota.Redriven](y, c).Job
	expected := rota.Job{
		ID: c.NewJobID(), ExecutionID: c.NewJobID(), RedriveOf: done.ID, Attempt: 1, Type: "mail", Name: "report",
		Params: done.Params, Policy: done.Policy, Priority: 3, Position: 100, Status: rota.StatusQueued,
		Template: "report", ScopeKind: "t", ScopeID: "a", ConcurrencyKey: "db", Owner: rota.AdminUser, CreatedBy: "bob", CreatedAt: y.now, QueuedAt: y.now,
	}
	want(y, "difference of the job", difference(jobText(&expected), jobText(y.job(got.ID))), "")
	y.wantAuditSince(written, rota.AuditEntry{
		ID: rota.AuditID(c.ID, c.Verb(), done.ID), At: y.now, Actor: "bob", Act: rota.AuditJobRedriven, JobID: done.ID, Detail: got.ID.String(),
	})
	y.complete(y.claimOne())
	y.wantNoViolations()
}

func runAgainOften(y *story) {
	done := y.running(rota.NewJob{})
	y.complete(done)
	first, second := y.runAgain(done.ID), y.runAgain(done.ID)
	want(y, "two jobs", first.ID != second.ID, true)
	y.complete(y.claimOne())
	y.complete(y.claimOne())
	want(y, "repeats the repeat", y.runAgain(first.ID).RedriveOf, first.ID)
	want(y, "repeats the first", y.runAgain(done.ID).RedriveOf, done.ID)
	y.wantNoViolations()
}

func runAgainOthers(y *story) {
	_, skipped, cancelled, dead := y.endInEachWay()
	for _, j := range []*rota.Job{skipped, cancelled, dead} {
		want(y, "repeats", y.runAgain(j.ID).RedriveOf, j.ID)
		y.refused(rota.Conflict, y.runAgainCommand(j.ID))
		y.refused(rota.Conflict, y.redriveCommand(j.ID))
	}
	y.wantNoViolations()
}

func runAgainLive(y *story) {
	waits := y.running(rota.NewJob{})
	y.fail(waits)
	for _, j := range []*rota.Job{waits, y.running(rota.NewJob{}), y.enqueue(rota.NewJob{})} {
		y.wantField(rota.Conflict, "job_id", y.runAgainCommand(j.ID))
	}
	y.wantField(rota.NotFound, "job_id", y.runAgainCommand(y.ids.next()))
}

func runAgainArchived(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	done := y.running(rota.NewJob{Template: "letter"})
	y.complete(done)
	dead := y.running(rota.NewJob{Template: "letter"})
	y.failPermanently(dead)
	y.archive("letter")
	y.wantField(rota.Conflict, "template", y.runAgainCommand(done.ID))
	y.wantField(rota.Conflict, "template", y.runAgainCommand(dead.ID))
	y.unarchive("letter")
	want(y, "template", y.runAgain(done.ID).Template, "letter")
}

func runAgainKeyHeld(y *story) {
	done := y.running(keyed)
	y.complete(done)
	got := y.runAgain(done.ID)
	want(y, "unique key", got.UniqueKey, "")
	y.wantKeyHeldBy(done)
	y.complete(y.claimOne())
	y.wantKeyHeldBy(done)
	y.wantNoViolations()
}

func runAgainKeyFree(y *story) {
	done := y.running(keyedFor(time.Minute))
	y.complete(done)
	want(y, "unique key while it is held", y.runAgain(done.ID).UniqueKey, "")
	y.advance(time.Minute)
	got := y.runAgain(done.ID)
	want(y, "unique key", got.UniqueKey, "k")
	want(y, "unique for", got.UniqueFor, time.Minute)
	y.wantKeyHeldBy(got)
	y.wantNoViolations()
}

func runAgainPlanned(y *story) {
	y.declare("nightly", rota.ScheduleSpec{Scopes: tenants[:1]})
	fired := y.fireNext("nightly")
	y.complete(y.claimOne())
	got := y.runAgain(fired.ID)
	wantTime(y, "plan time", got.PlanTime, time.Time{})
	want(y, "schedule", got.Schedule, "nightly")
	want(y, "scope", got.ScopeID, "a")
	y.complete(y.claimOne())
	y.wantNoViolations()
}

func runAgainParams(y *story) {
	first := y.running(rota.NewJob{Params: []byte(`{"a":1,"b":2}`), MaxRetries: new(1), Backoff: new(time.Duration(0))})
	second := y.fail(first).RetryID
	y.edit(second, toParams(`{"a":1,"b":3}`))
	y.complete(y.claimOne())
	c := y.runAgainCommand(first.ID)
	c.Params = []byte(`{"a":7,"c":4}`)
	want(y, "params", string(do[*rota.Redriven](y, c).Job.Params), `{"a":7,"b":3,"c":4}`)
	want(y, "params of the last attempt", string(y.job(second).Params), `{"a":1,"b":3}`)
}

func redriveParams(y *story) {
	dead := y.running(rota.NewJob{Params: []byte(`{"to":"ad","n":1}`)})
	y.failPermanently(dead)
	c := y.redriveCommand(dead.ID)
	c.Params = []byte(`{"to":"ada"}`)
	want(y, "params", string(do[*rota.Redriven](y, c).Job.Params), `{"n":1,"to":"ada"}`)
	want(y, "params of the dead letter", string(y.job(dead.ID).Params), `{"to":"ad","n":1}`)
}

func runAgainParamsLong(y *story) {
	half := strings.Repeat("x", rota.ParamsMax/2)
	done := y.running(rota.NewJob{Params: []byte(`{"a":"` + half + `"}`)})
	y.complete(done)
	c := y.runAgainCommand(done.ID)
	c.Params = []byte(`{"b":"` + half + `"}`)
	y.wantField(rota.Invalid, "params", c)
}

func runAgainDelivery(y *story) {
	_, own := y.jobWithDelivery()
	y.cancel(own.ID)
	c := y.redriveCommand(own.ID)
	c.Params = []byte(`{"a":1}`)
	y.wantField(rota.Conflict, "params", c)
	y.redrive(own.ID)
}

func runAgainPruned(y *story) {
	done := y.running(rota.NewJob{})
	y.complete(done)
	first, second := y.runAgain(done.ID), y.runAgain(done.ID)
	y.complete(y.claimOne())
	y.complete(y.claimOne())
	prune := func(ids ...rota.ID) *rota.Pruned {
		return do[*rota.Pruned](y, &rota.Prune{Meta: y.ids.meta(), Executions: ids})
	}
	want(y, "pruned before the first", prune(first.ID).Executions, 0)
	want(y, "pruned", prune(done.ID).Executions, 1)
	y.wantNoViolations()
	want(y, "pruned after the first", prune(first.ID, second.ID).Executions, 2)
}
