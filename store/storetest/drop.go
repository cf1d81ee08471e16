package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDrop(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a drop cancels queued jobs, asks running jobs to stop, and removes the definition", dropEnds},
		{"a drop and its effects are audited", dropAudit},
		{"a drop of a definition that does not exist reports it as gone", dropGone},
		{"a drop with an old version is a conflict", dropVersion},
		{"a drop sent again does not affect a definition declared since", dropAgain},
		{"a drop does not archive a template that other schedules use", dropSharedTemplate},
		{"a drop does not archive a template of another name", dropOtherTemplate},
		{"a drop releases dependent jobs", dropDependents},
		{"a run that the drop asked to stop is not retried", dropRunning},
		{"a run that the drop has not asked to stop yet is not retried", dropFails},
		{"a drop of more jobs than one command may change is finished by sweeps", dropMany},
		{"one command drops and recreates a definition", dropRecreate},
		{"a recreated definition keeps its dependents", dropRecreateDependents},
		{"jobs created later in the batch of the drop are kept", dropSameBatch},
	})
}

// define declares a definition: a template and a schedule of one name.
func (y *story) define(name string, spec rota.ScheduleSpec) *rota.Schedule {
	y.Helper()
	spec.Template = name
	return y.declare(name, spec)
}

func (y *story) dropCommand(name string) *rota.Drop {
	return &rota.Drop{Meta: y.ids.meta(), Name: name}
}

func (y *story) drop(name string) *rota.Dropped {
	y.Helper()
	return do[*rota.Dropped](y, y.dropCommand(name))
}

// sweepAll sweeps, at most limit rows at a time, until no work is left. It returns the number
// of rows swept.
func (y *story) sweepAll(limit int) (rows int) {
	y.Helper()
	for range 10_000 {
		swept := y.sweep(limit)
		rows += swept.Count
		y.wantNoViolations()
		if !swept.More {
			want(y, "to be swept", y.due().Sweep, false)
			return rows
		}
	}
	y.Fatal("the sweep does not end after 10,000 rounds")
	return 0
}

// countListed returns how many jobs of a schedule are listed, over all pages.
func (y *story) countListed(schedule string) int {
	y.Helper()
	jobs, err := allJobs(y.ctx, y.s, rota.JobQuery{Schedule: schedule, Limit: rota.PageMax})
	return len(must(y, "jobs", jobs, err))
}

func dropEnds(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	other := y.enqueue(rota.NewJob{Priority: new(-5)})
	runs := y.fireNext("nightly")
	y.claimOne()
	waits := y.fireNext("nightly")
	y.advance(time.Second)
	got := y.drop("nightly")
	want(y, "answer", *got, rota.Dropped{Cancelled: 1, Stopping: 1, Archived: true})
	y.wantNoSchedule("nightly")
	want(y, "template", y.template("nightly").State, rota.TemplateArchived)
	row := y.job(runs.ID)
	want(y, "state of the running job", row.State(), rota.StateRunning)
	want(y, "reason of the cancel", row.Run.CancelReason, "job nightly was dropped")
	wantIDs(y, "the queue", y.queue(), other)
	_, err := y.s.Job(y.ctx, waits.ID)
	y.wantNotFound("the queued job", err)
	y.wantNoViolations()
}

func dropAudit(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	runs := y.fireNext("nightly")
	y.claimOne()
	first, second := y.fireNext("nightly"), y.fireNext("nightly")
	written := y.writtenAudit()
	c := y.dropCommand("nightly")
	c.Actor = "ada"
	do[*rota.Dropped](y, c)
	about := func(act string, j *rota.Job) rota.AuditEntry {
		return rota.AuditEntry{
			ID: rota.AuditID(c.ID, c.Verb(), j.ID), At: y.now, Actor: "ada", Act: act, JobID: j.ID,
			Detail: "job nightly was dropped",
		}
	}
	y.wantAuditSince(written, about(rota.AuditJobStopping, runs), about(rota.AuditJobCancelled, second), about(rota.AuditJobCancelled, first),
		y.auditEffect(c, rota.AuditTemplateArchived, "template nightly", ""),
		y.auditEntry(c, rota.AuditScheduleDeleted, "schedule nightly", ""))
}

func dropGone(y *story) {
	before := y.dump()
	want(y, "answer", *y.drop("nightly"), rota.Dropped{Gone: true})
	y.wantUnchanged(before)
}

func dropVersion(y *story) {
	old := y.define("nightly", rota.ScheduleSpec{})
	changed := y.define("nightly", rota.ScheduleSpec{Description: "new"})
	c := y.dropCommand("nightly")
	c.Version = &old.Version
	y.wantField(rota.Conflict, "version", c)
	c = y.dropCommand("nightly")
	c.Version = &changed.Version
	want(y, "gone", do[*rota.Dropped](y, c).Gone, false)
	y.wantNoSchedule("nightly")
}

func dropAgain(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	c := y.dropCommand("nightly")
	do[*rota.Dropped](y, c)
	y.unarchive("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	y.advance(time.Second)
	y.trigger("nightly")
	before := y.dump()
	want(y, "answer", *do[*rota.Dropped](y, c), rota.Dropped{Gone: true})
	y.wantUnchanged(before)
}

func dropSharedTemplate(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{Template: "nightly"})
	y.switchTo("weekly", rota.ScheduleDisabled)
	want(y, "archived", y.drop("nightly").Archived, false)
	want(y, "template", y.template("nightly").State, rota.TemplateActive)
	want(y, "archived with another", y.drop("weekly").Archived, false)
}

func dropOtherTemplate(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	want(y, "archived", y.drop("nightly").Archived, false)
	want(y, "template", y.template("report").State, rota.TemplateActive)
}

func dropDependents(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.wantHold(load, rota.HoldDependency)
	c := y.dropCommand("extract")
	do[*rota.Dropped](y, c)
	y.wantHold(load, 0)
	row := y.schedule("load")
	want(y, "depends on", len(row.Spec.DependsOn), 0)
	want(y, "version", row.Version, c.ID)
}

func dropRunning(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.advance(time.Second)
	y.drop("nightly")
	want(y, "asked to stop", y.heartbeat(j).Cancel, true)
	want(y, "retry", y.fail(j).RetryID, rota.ID{})
	want(y, "to be swept", y.due().Sweep, true)
	want(y, "rows", y.sweepAll(0), 2) // the job, and the entry about its end
}

// dropFails has a run fail that the drop has not asked to stop yet.
func dropFails(y *story) {
	y.define("nightly", rota.ScheduleSpec{Scopes: manyScopes(rota.ScopesMax)})
	do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	running := y.claim(rota.ClaimMax)
	running = append(running, y.claim(rota.ClaimMax)...)
	y.advance(time.Second)
	want(y, "answer", *y.drop("nightly"), rota.Dropped{Stopping: rota.SweepMax, Archived: true})
	last := running[len(running)-1]
	want(y, "asked to stop", y.heartbeat(last).Cancel, false)
	want(y, "retry", y.fail(last).RetryID, rota.ID{})
	want(y, "to be asked to stop and removed", y.sweepAll(0), len(running)-rota.SweepMax-1+2) // the job and its audit entry
	want(y, "asked to stop after the sweep", y.heartbeat(running[len(running)-2]).Cancel, true)
}

func manyScopes(count int) (scopes []rota.Scope) {
	for i := range count {
		scopes = append(scopes, rota.Scope{Kind: "tenant", ID: fmt.Sprint(i)})
	}
	return scopes
}

func dropMany(y *story) {
	y.define("nightly", rota.ScheduleSpec{Scopes: manyScopes(rota.ScopesMax)})
	do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	j := y.claimOne()
	y.advance(time.Second)
	got := y.drop("nightly")
	want(y, "answer", *got, rota.Dropped{Cancelled: rota.SweepMax - 1, Stopping: 1, Archived: true})
	want(y, "listed", y.countListed("nightly"), rota.SweepMax+1)
	want(y, "rows", y.sweepAll(0), rota.SweepMax+2*rota.SweepMax-1)
	want(y, "listed", y.countListed("nightly"), 1)
	y.complete(j)
	want(y, "rows", y.sweepAll(0), 2) // the job and its audit entry
	want(y, "jobs", len(y.allJobs()), 0)
}

// recreateDefinitionCommand drops a definition and declares it again, in one command.
func (y *story) recreateDefinitionCommand(name string, spec rota.ScheduleSpec) *rota.All {
	y.Helper()
	drop := y.dropCommand(name)
	drop.Recreate = true
	spec.Template = name
	declare := y.declareCommand(name, spec)
	declare.Recreate = true
	return y.allOf(drop, y.templateCommand(name, rota.TemplateSpec{Description: "new"}), declare)
}

func dropRecreate(y *story) {
	old := y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.complete(y.claimOne())
	waits := y.fireNext("nightly")
	y.advance(90 * time.Second)
	do[*rota.AllDone](y, y.recreateDefinitionCommand("nightly", rota.ScheduleSpec{}))
	row := y.schedule("nightly")
	wantTime(y, "created at", row.CreatedAt, y.now)
	wantTime(y, "last fire", row.LastFire, time.Time{})
	wantTime(y, "next fire", row.NextFire, y.now.Add(time.Hour))
	want(y, "created before", old.CreatedAt.Before(row.CreatedAt), true)
	want(y, "template", y.template("nightly").State, rota.TemplateActive)
	_, err := y.s.Job(y.ctx, waits.ID)
	y.wantNotFound("the queued job", err)
	created := y.fireNext("nightly")
	wantIDs(y, "listed", y.listIDs(rota.JobQuery{Schedule: "nightly"}), created)
	want(y, "rows", y.sweepAll(0), 3)
	wantIDs(y, "jobs left", y.listIDs(rota.JobQuery{}), created)
	want(y, "claimed", y.claimOne().ID, created.ID)
}

func dropRecreateDependents(y *story) {
	y.define("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	version := y.schedule("load").Version
	_, load := y.fireExtractLoad()
	do[*rota.AllDone](y, y.recreateDefinitionCommand("extract", rota.ScheduleSpec{}))
	row := y.schedule("load")
	want(y, "depends on", joinNames(row.Spec.DependsOn, func(s string) string { return s }), "extract")
	want(y, "version", row.Version, version)
	y.wantHold(load, rota.HoldDependency)
	y.wantNoViolations()
}

func dropSameBatch(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.trigger("nightly")
	y.advance(time.Second)
	trigger := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	for _, r := range y.send(y.recreateDefinitionCommand("nightly", rota.ScheduleSpec{}), trigger) {
		if r.Err != nil {
			y.Fatal(r.Err)
		}
	}
	want(y, "rows", y.sweepAll(0), 1)
	want(y, "claimed", y.claimOne().ID, trigger.JobID(0))
}
