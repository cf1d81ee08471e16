package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testOwners(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"what an actor that is no user creates belongs to admin", ownerIsAdmin},
		{"a change keeps the owner and the time of a definition", ownerKept},
		{"a recreated definition begins again", ownerRecreated},
		{"a template recreated without a change begins again", ownerRecreatedEqual},
		{"a template recreated in mode replace has to exist", ownerRecreateMissing},
		{"a template that another schedule uses stays when one of them is recreated", ownerRecreateShared},
		{"a schedule deleted and declared again begins again", ownerDeleted},
		{"a template of a dropped definition has no owner", ownerDropped},
		{"a template of a definition that dropped itself has no owner", ownerCompleted},
		{"the template of another owner stays when a schedule of its name is dropped", ownerDroppedOther},
		{"the template of another owner stays when a schedule of its name drops itself", ownerCompletedOther},
		{"a template of a dropped definition is declared as a new one", ownerTakenOver},
		{"a template of a dropped definition does not keep a new one from being created", ownerCreatedAfterDrop},
		{"a template of a dropped definition is unarchived as a new one", ownerUnarchived},
		{"an archived template keeps its owner", ownerArchived},
		{"a definition never begins before the one that it replaces", ownerClockSetBack},
		{"a job has the owner of its template", ownerOfJobs},
		{"a job of a schedule runs for the owner of its template", ownerOfTemplate},
		{"a schedule that gets another template runs for the owner of that one", ownerOfNewTemplate},
		{"a job without a definition runs for its creator", ownerOfAdHoc},
		{"retries, redrives and repetitions keep the owner", ownerOfRetries},
		{"a redrive by another actor runs for the creator of the job", ownerOfRedrive},
		{"the owner of what does not exist cannot be set", setOwnerMissing},
		{"a user that does not exist cannot be an owner", setOwnerUnknown},
		{"the owner that a definition has already changes nothing", setOwnerSame},
		{"a user owns what it creates, and its jobs run for it", ownerIsUser},
		{"what a role creates belongs to admin", ownerIsRole},
		{"a definition recreated by another user belongs to that user", ownerRecreatedByOther},
		{"a definition created after a drop belongs to its new creator", ownerTakenOverByOther},
		{"an owner can be changed, and jobs keep the owner they were created with", setOwner},
		{"an owner of a template or a schedule alone can be changed", setOwnerAlone},
		{"an owner of a template or a schedule of the same name can be changed alone, if it has the version", setOwnerOfKind},
		{"a change of the owner ends what an earlier owner expected", setOwnerExpected},
		{"a role cannot be an owner", setOwnerRole},
		{"a user that owns a definition cannot be dropped", dropOwner},
		{"one command passes the definitions of a user on and drops the user", dropOwnerInAll},
	})
}

func (y *story) wantOwner(what string, owner string, since time.Time, wantOwner string, wantSince time.Time) {
	y.Helper()
	want(y, "owner of "+what, owner, wantOwner)
	wantTime(y, "beginning of "+what, since, wantSince)
}

func (y *story) wantOwners(name, owner string, since time.Time) {
	y.Helper()
	t, s := y.template(name), y.schedule(name)
	y.wantOwner("template "+name, t.Owner, t.Since, owner, since)
	y.wantOwner("schedule "+name, s.Owner, s.Since, owner, since)
}

func ownerIsAdmin(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.wantOwners("nightly", rota.AdminUser, y.now)
	y.wantNoViolations()
}

func ownerKept(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	begin := y.now
	y.advance(time.Minute)
	y.declareTemplate("nightly", rota.TemplateSpec{Description: "new"})
	y.declare("nightly", rota.ScheduleSpec{Template: "nightly", Description: "new"})
	y.switchTo("nightly", rota.SchedulePaused)
	y.wantOwners("nightly", rota.AdminUser, begin)
}

func (y *story) recreateTemplateCommand(name string, spec rota.TemplateSpec) *rota.PutTemplate {
	c := y.templateCommand(name, spec)
	c.Recreate = true
	return c
}

func ownerRecreated(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.advance(time.Minute)
	do[*rota.TemplatePut](y, y.recreateTemplateCommand("nightly", rota.TemplateSpec{Description: "new"}))
	do[*rota.SchedulePut](y, y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Template: "nightly"}))
	y.wantOwners("nightly", rota.AdminUser, y.now)
	y.wantNoViolations()
}

func ownerRecreatedEqual(y *story) {
	was := y.declareTemplate("letter", rota.TemplateSpec{})
	y.advance(time.Minute)
	written := y.writtenAudit()
	c := y.recreateTemplateCommand("letter", rota.TemplateSpec{})
	c.Actor = "bob"
	got := do[*rota.TemplatePut](y, c)
	want(y, "changed", got.Changed, true)
	want(y, "version", got.Template.Version, c.ID)
	want(y, "creator", got.Template.CreatedBy, was.CreatedBy)
	wantTime(y, "creation", got.Template.CreatedAt, was.CreatedAt)
	y.wantOwner("template letter", got.Template.Owner, got.Template.Since, rota.AdminUser, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateCreated, "template letter", ""))
}

func ownerRecreateMissing(y *story) {
	c := y.recreateTemplateCommand("letter", rota.TemplateSpec{})
	c.Mode = rota.PutReplace
	y.wantField(rota.NotFound, "name", c)
	do[*rota.TemplatePut](y, y.recreateTemplateCommand("letter", rota.TemplateSpec{}))
	wantTime(y, "beginning", y.template("letter").Since, y.now)
}

func ownerRecreateShared(y *story) {
	begin := y.now
	y.define("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{Template: "nightly"})
	y.advance(time.Minute)
	c := y.recreateTemplateCommand("nightly", rota.TemplateSpec{})
	c.OnlySchedule = "nightly"
	want(y, "changed", do[*rota.TemplatePut](y, c).Changed, false)
	wantTime(y, "beginning", y.template("nightly").Since, begin)
	c = y.recreateTemplateCommand("nightly", rota.TemplateSpec{Description: "new"})
	c.OnlySchedule = "nightly"
	y.wantField(rota.Conflict, "only_schedule", c)
}

func ownerDeleted(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	begin := y.now
	y.advance(time.Minute)
	y.deleteSchedule("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	wantTime(y, "beginning of the schedule", y.schedule("nightly").Since, y.now)
	wantTime(y, "beginning of the template", y.template("nightly").Since, begin)
}

func ownerDropped(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	begin := y.now
	y.advance(time.Minute)
	y.drop("nightly")
	t := y.template("nightly")
	want(y, "state", t.State, rota.TemplateArchived)
	y.wantOwner("template nightly", t.Owner, t.Since, "", begin)
	y.wantField(rota.NotFound, "name", &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: rota.AdminUser})
	y.wantNoViolations()
}

func ownerCompleted(y *story) {
	y.define("once", rota.ScheduleSpec{At: y.now.Add(time.Minute), OnCompletion: rota.CompletionDrop})
	y.fireNext("once")
	y.complete(y.claimOne())
	t := y.template("once")
	want(y, "state", t.State, rota.TemplateArchived)
	want(y, "owner", t.Owner, "")
	y.wantNoViolations()
}

func ownerDroppedOther(y *story) {
	y.user("alice")
	y.user("bob")
	y.templateAs("alice", "report")
	begin := y.now
	do[*rota.Granted](y, y.grant("report", rota.ExecuteJob, "bob"))
	y.scheduleAs("bob", "report", rota.ScheduleSpec{Template: "report"})
	y.advance(time.Minute)
	want(y, "archived", y.drop("report").Archived, false)
	t := y.template("report")
	want(y, "state", t.State, rota.TemplateActive)
	y.wantOwner("template report", t.Owner, t.Since, "alice", begin)
	y.wantNoViolations()
}

func ownerCompletedOther(y *story) {
	y.user("alice")
	y.user("bob")
	y.templateAs("alice", "once")
	do[*rota.Granted](y, y.grant("once", rota.ExecuteJob, "bob"))
	y.scheduleAs("bob", "once", rota.ScheduleSpec{Template: "once", At: y.now.Add(time.Minute), OnCompletion: rota.CompletionDrop})
	y.fireNext("once")
	y.complete(y.claimOne())
	y.wantNoSchedule("once")
	t := y.template("once")
	want(y, "state", t.State, rota.TemplateActive)
	want(y, "owner", t.Owner, "alice")
	y.wantNoViolations()
}

func ownerTakenOver(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.drop("nightly")
	y.advance(time.Minute)
	want(y, "changed", do[*rota.TemplatePut](y, y.templateCommand("nightly", rota.TemplateSpec{})).Changed, true)
	t := y.template("nightly")
	want(y, "state", t.State, rota.TemplateArchived)
	y.wantOwner("template nightly", t.Owner, t.Since, rota.AdminUser, y.now)
	begin := y.now
	y.advance(time.Minute)
	y.unarchive("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	wantTime(y, "beginning of the template", y.template("nightly").Since, begin)
	wantTime(y, "beginning of the schedule", y.schedule("nightly").Since, y.now)
	y.wantNoViolations()
}

func ownerCreatedAfterDrop(y *story) {
	y.user("alice")
	y.defineAs("alice", "nightly")
	y.drop("nightly")
	y.advance(time.Minute)
	written := y.writtenAudit()
	c := y.templateCommand("nightly", rota.TemplateSpec{Description: "new"})
	c.Mode = rota.PutCreate
	do[*rota.TemplatePut](y, c)
	t := y.template("nightly")
	want(y, "state", t.State, rota.TemplateActive)
	want(y, "description", t.Spec.Description, "new")
	y.wantOwner("template nightly", t.Owner, t.Since, rota.AdminUser, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateCreated, "template nightly", ""))
	again := y.templateCommand("nightly", rota.TemplateSpec{})
	again.Mode = rota.PutCreate
	y.wantField(rota.Conflict, "name", again)
	y.wantNoViolations()
}

func ownerUnarchived(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.drop("nightly")
	y.advance(time.Minute)
	y.unarchive("nightly")
	t := y.template("nightly")
	y.wantOwner("template nightly", t.Owner, t.Since, rota.AdminUser, y.now)
}

func ownerArchived(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	begin := y.now
	y.advance(time.Minute)
	y.archive("letter")
	t := y.template("letter")
	y.wantOwner("archived template", t.Owner, t.Since, rota.AdminUser, begin)
	y.unarchive("letter")
	t = y.template("letter")
	y.wantOwner("unarchived template", t.Owner, t.Since, rota.AdminUser, begin)
}

func ownerClockSetBack(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	begin := y.now
	y.advance(-time.Hour)
	do[*rota.TemplatePut](y, y.recreateTemplateCommand("nightly", rota.TemplateSpec{}))
	do[*rota.SchedulePut](y, y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Template: "nightly"}))
	y.wantOwners("nightly", rota.AdminUser, begin)
}

func ownerIsUser(y *story) {
	y.user("alice")
	y.defineAs("alice", "nightly")
	y.wantOwners("nightly", "alice", y.now)
	want(y, "owner of a fired job", y.fireNext("nightly").Owner, "alice")
	j := y.enqueue(rota.NewJob{Template: "nightly"})
	want(y, "owner of an enqueued job", j.Owner, "alice")
	want(y, "creator of an enqueued job", j.CreatedBy, "ada")
	want(y, "user that it runs for", j.RunsFor(), "alice")
	y.wantNoViolations()
}

func ownerIsRole(y *story) {
	y.roles("ops")
	y.defineAs("ops", "nightly")
	y.wantOwners("nightly", rota.AdminUser, y.now)
}

func ownerRecreatedByOther(y *story) {
	y.user("alice")
	y.user("bob")
	y.defineAs("alice", "nightly")
	y.advance(time.Second)
	template := y.recreateTemplateCommand("nightly", rota.TemplateSpec{})
	schedule := y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Template: "nightly"})
	template.Actor, schedule.Actor = "bob", "bob"
	do[*rota.AllDone](y, y.allOf(template, schedule))
	y.wantOwners("nightly", "bob", y.now)
}

func ownerTakenOverByOther(y *story) {
	y.user("alice")
	y.user("bob")
	y.defineAs("alice", "nightly")
	y.drop("nightly")
	y.advance(time.Second)
	y.defineAs("bob", "nightly")
	y.wantOwners("nightly", "bob", y.now)
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "alice"))
}
