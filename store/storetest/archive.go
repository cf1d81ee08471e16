package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testArchive(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"an archived template creates no more jobs", archiveStops},
		{"jobs of an archived template continue and are retried", archiveLeavesJobs},
		{"archiving a template disables its schedules and records the reason", archiveDisables},
		{"an unarchived template creates jobs again and its schedules stay disabled", archiveUndone},
		{"an archived template that is changed stays archived", archiveKept},
		{"of very many schedules of an archived template a sweep disables the rest, and none fires", archiveMany},
		{"a sweep leaves the schedules enabled if the template was unarchived", archiveManyUndone},
	})
}

func archiveStops(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advanceTo(y.schedule("nightly").NextFire)
	late := y.fireCommand("nightly")
	y.advance(time.Second)
	written := y.writtenAudit()
	c := &rota.Archive{Meta: y.ids.meta(), Name: "report"}
	row := do[*rota.TemplatePut](y, c).Template
	want(y, "state", row.State, rota.TemplateArchived)
	want(y, "version", row.Version, c.ID)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateArchived, "template report", ""),
		y.auditEffect(c, rota.AuditScheduleDisabled, "schedule nightly", "template report is archived"))
	y.wantField(rota.Conflict, "jobs[0].template", &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Template: "report"}}})
	y.wantField(rota.Conflict, "schedule", &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"})
	y.wantField(rota.Conflict, "template", y.declareCommand("hourly", rota.ScheduleSpec{}))
	want(y, "a fire reports it as moved", do[*rota.Fired](y, late).ScheduleChanged, true)
	want(y, "jobs created", len(y.allJobs()), 0)
	before := y.dump()
	want(y, "changed by a second", y.archive("report").Changed, false)
	y.wantUnchanged(before)
}

func archiveLeavesJobs(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	first := y.running(rota.NewJob{Template: "letter", Backoff: new(time.Duration(0))})
	second := y.enqueue(rota.NewJob{Template: "letter"})
	y.archive("letter")
	want(y, "sequel", y.fail(first).Sequel, rota.SequelRetry)
	jobs := y.claim(5)
	want(y, "claimed", len(jobs), 2)
	want(y, "first", jobs[0].ID, second.ID)
	want(y, "template of the retry", jobs[1].Template, "letter")
	want(y, "outcome", y.complete(jobs[1]).Outcome, rota.OutcomeCompleted)
}

func archiveDisables(y *story) {
	y.declare("a", rota.ScheduleSpec{})
	paused := y.declare("b", rota.ScheduleSpec{})
	y.switchTo("b", rota.SchedulePaused)
	y.declare("c", rota.ScheduleSpec{})
	y.switchTo("c", rota.ScheduleDisabled)
	y.declare("d", rota.ScheduleSpec{Template: "other"})
	version := y.schedule("b").Version
	written := y.writtenAudit()
	y.advance(time.Second)
	c := &rota.Archive{Meta: y.ids.meta(), Name: "report"}
	want(y, "disabled", do[*rota.TemplatePut](y, c).Disabled, 2)
	const why = "template report is archived"
	row := y.schedule("b")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, why)
	want(y, "version", row.Version, version)
	wantTime(y, "next fire", row.NextFire, time.Time{})
	wantTime(y, "updated at", row.UpdatedAt, paused.UpdatedAt)
	want(y, "reason of the schedule that a person disabled", y.schedule("c").Reason, "")
	want(y, "state of another template's", y.schedule("d").State, rota.ScheduleEnabled)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateArchived, "template report", ""),
		y.auditEffect(c, rota.AuditScheduleDisabled, "schedule a", why), y.auditEffect(c, rota.AuditScheduleDisabled, "schedule b", why))
}

func archiveUndone(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.archive("report")
	y.advance(time.Second)
	written := y.writtenAudit()
	c := &rota.Unarchive{Meta: y.ids.meta(), Name: "report"}
	row := do[*rota.TemplatePut](y, c).Template
	want(y, "state", row.State, rota.TemplateActive)
	want(y, "version", row.Version, c.ID)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditTemplateUnarchived, "template report", ""))
	want(y, "state of its schedule", y.schedule("nightly").State, rota.ScheduleDisabled)
	y.enqueue(rota.NewJob{Template: "report"})
	y.switchTo("nightly", rota.ScheduleEnabled)
	want(y, "reason", y.schedule("nightly").Reason, "")
	y.fireNext("nightly")
	want(y, "changed by a second", y.unarchive("report").Changed, false)
}

func archiveKept(y *story) {
	y.declareTemplate("letter", templateSpec)
	y.archive("letter")
	want(y, "state", y.declareTemplate("letter", rota.TemplateSpec{}).State, rota.TemplateArchived)
}

// declareMany declares count schedules of one template. They are due one hour after startTime.
func (y *story) declareMany(count int) {
	y.Helper()
	y.declareTemplate("report", rota.TemplateSpec{})
	var batch []rota.Command
	for i := range count {
		batch = append(batch, y.declareCommand(fmt.Sprintf("s%04d", i), rota.ScheduleSpec{}))
	}
	for i, r := range y.send(batch...) {
		if r.Err != nil {
			y.Fatalf("schedule %d: %v", i, r.Err)
		}
	}
}

func archiveMany(y *story) {
	y.declareMany(rota.SweepMax + 2)
	last, other := fmt.Sprintf("s%04d", rota.SweepMax), fmt.Sprintf("s%04d", rota.SweepMax+1)
	y.advanceTo(y.schedule(last).NextFire)
	fire := y.fireCommand(last)
	want(y, "disabled at once", y.archive("report").Disabled, rota.SweepMax)
	want(y, "state of the rest", y.schedule(last).State, rota.ScheduleEnabled)
	want(y, "a sweep is due", y.due().Sweep, true)
	const why = "template report is archived"
	want(y, "a fire is answered", do[*rota.Fired](y, fire).Disabled, why)
	want(y, "jobs created", len(y.allJobs()), 0)
	want(y, "state of the fired", y.schedule(last).State, rota.ScheduleDisabled)
	want(y, "swept", *y.sweep(0), rota.Swept{Count: 1})
	row := y.schedule(other)
	want(y, "state of the swept", row.State, rota.ScheduleDisabled)
	want(y, "reason of the swept", row.Reason, why)
	want(y, "a sweep is due", y.due().Sweep, false)
}

func archiveManyUndone(y *story) {
	y.declareMany(rota.SweepMax + 1)
	last := fmt.Sprintf("s%04d", rota.SweepMax)
	y.archive("report")
	y.unarchive("report")
	want(y, "swept", *y.sweep(0), rota.Swept{})
	want(y, "a sweep is due", y.due().Sweep, false)
	y.fireNext(last)
}
