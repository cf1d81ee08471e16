package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testRecreate(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a recreated schedule has no earlier fires", recreateFresh},
		{"a schedule recreated without a change starts again", recreateEqual},
		{"a recreated schedule keeps its dependents and takes its new dependencies", recreateDependencies},
		{"a recreated schedule may have its own state", recreateState},
		{"a schedule deleted and declared in one command has a new creator", recreateAfterDelete},
		{"a template that only one schedule uses can be changed for it", onlyScheduleAlone},
		{"a template that another schedule uses cannot be changed for one", onlyScheduleShared},
		{"an unchanged template may be shared", onlyScheduleEqual},
		{"schedules of the same command count as users of a template", onlyScheduleInAll},
		{"class and partition are kept as they were declared", partitionKept},
	})
}

func (y *story) recreateScheduleCommand(name string, spec rota.ScheduleSpec) *rota.PutSchedule {
	y.Helper()
	c := y.declareCommand(name, spec)
	c.Recreate = true
	return c
}

func recreateFresh(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.switchTo("nightly", rota.SchedulePaused)
	y.advance(90 * time.Second)
	written := y.writtenAudit()
	c := y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Description: "new"})
	c.Actor = "bob"
	got := do[*rota.SchedulePut](y, c)
	want(y, "changed", got.Changed, true)
	row := y.schedule("nightly")
	want(y, "created by", row.CreatedBy, "bob")
	wantTime(y, "created at", row.CreatedAt, y.now)
	wantTime(y, "anchor", row.Anchor, y.now)
	wantTime(y, "next fire", row.NextFire, y.now.Add(time.Hour))
	wantTime(y, "last fire", row.LastFire, time.Time{})
	want(y, "state", row.State, rota.ScheduleEnabled)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleCreated, "schedule nightly", ""))
	y.wantNoViolations()
	before := y.dump()
	want(y, "changed again", do[*rota.SchedulePut](y, c).Changed, false)
	y.wantUnchanged(before)
}

func recreateEqual(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(90 * time.Second)
	want(y, "changed", do[*rota.SchedulePut](y, y.recreateScheduleCommand("nightly", rota.ScheduleSpec{})).Changed, true)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, y.now.Add(time.Hour))
}

func recreateDependencies(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("other", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.declare("report", rota.ScheduleSpec{DependsOn: []string{"load"}})
	y.advance(time.Second)
	do[*rota.SchedulePut](y, y.recreateScheduleCommand("load", rota.ScheduleSpec{DependsOn: []string{"extract", "other"}}))
	want(y, "depends on", strings.Join(y.schedule("load").Spec.DependsOn, " "), "extract other")
	want(y, "depend on it", strings.Join(y.schedule("report").Spec.DependsOn, " "), "load")
	y.wantField(rota.Invalid, "depends_on", y.recreateScheduleCommand("extract", rota.ScheduleSpec{DependsOn: []string{"report"}}))
	y.wantNoViolations()
}

func recreateState(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	c := y.recreateScheduleCommand("nightly", rota.ScheduleSpec{})
	c.State = rota.ScheduleDisabled
	do[*rota.SchedulePut](y, c)
	row := y.schedule("nightly")
	want(y, "state", row.State, rota.ScheduleDisabled)
	wantTime(y, "next fire", row.NextFire, time.Time{})
}

func recreateAfterDelete(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Minute)
	c := y.declareCommand("nightly", rota.ScheduleSpec{})
	c.Actor, c.Mode = "bob", rota.PutCreate
	do[*rota.AllDone](y, y.allOf(&rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly"}, c))
	row := y.schedule("nightly")
	want(y, "created by", row.CreatedBy, "bob")
	wantTime(y, "created at", row.CreatedAt, y.now)
}

func (y *story) onlyScheduleCommand(template, onlySchedule, description string) *rota.PutTemplate {
	c := y.templateCommand(template, rota.TemplateSpec{Description: description})
	c.OnlySchedule = onlySchedule
	return c
}

func onlyScheduleAlone(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	want(y, "changed", do[*rota.TemplatePut](y, y.onlyScheduleCommand("report", "nightly", "new")).Changed, true)
	want(y, "changed without any", do[*rota.TemplatePut](y, y.onlyScheduleCommand("other", "nightly", "")).Changed, true)
}

func onlyScheduleShared(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	y.switchTo("weekly", rota.ScheduleDisabled)
	err := y.wantField(rota.Conflict, "only_schedule", y.onlyScheduleCommand("report", "nightly", "new"))
	if !strings.Contains(err.Error(), "weekly") {
		y.Errorf("the refusal does not name the schedule that uses the template: %v", err)
	}
	y.deleteSchedule("weekly")
	do[*rota.TemplatePut](y, y.onlyScheduleCommand("report", "nightly", "new"))
}

func onlyScheduleEqual(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	want(y, "changed", do[*rota.TemplatePut](y, y.onlyScheduleCommand("report", "nightly", "")).Changed, false)
}

func onlyScheduleInAll(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.wantField(rota.Conflict, "members[1].only_schedule", y.allOf(
		y.declareCommand("weekly", rota.ScheduleSpec{}), y.onlyScheduleCommand("report", "nightly", "new")))
	y.declare("weekly", rota.ScheduleSpec{})
	do[*rota.AllDone](y, y.allOf(
		&rota.DeleteSchedule{Meta: y.ids.meta(), Name: "weekly"}, y.onlyScheduleCommand("report", "nightly", "new")))
}

func partitionKept(y *story) {
	low, high := "018f2c4e-0000-7000-8000-00000000000a", "018f2c4e-0000-7000-8000-00000000000b"
	spread := rota.Partition{Strategy: rota.PartitionSet, Shards: []string{strings.ToUpper(high), low}}
	y.declare("nightly", rota.ScheduleSpec{Class: rota.ClassLeaderOnly, Partition: spread})
	row := y.schedule("nightly")
	want(y, "class", row.Spec.Class, rota.ClassLeaderOnly)
	want(y, "strategy", row.Spec.Partition.Strategy, rota.PartitionSet)
	want(y, "shards", strings.Join(row.Spec.Partition.Shards, " "), low+" "+high)
	c := y.declareCommand("nightly", rota.ScheduleSpec{Class: rota.ClassLeaderOnly, Partition: spread})
	want(y, "changed by the same", do[*rota.SchedulePut](y, c).Changed, false)
	want(y, "scope of its job", y.fireNext("nightly").ScopeID, "")
	y.wantNoViolations()
}
