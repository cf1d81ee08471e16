package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testAnew(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a schedule that is declared anew is as if it had not been there", anewFresh},
		{"declared anew as it stands it is still anew", anewEqual},
		{"declared anew it keeps who depends on it, and takes the dependencies it brings", anewEdges},
		{"declared anew it may be in a state of its own", anewState},
		{"a schedule deleted and declared in one command has its own origin", anewAfterDelete},
		{"a template that only one schedule uses is changed for it", soleAlone},
		{"a template that another schedule uses is not", soleShared},
		{"a template that stays as it is may be shared", soleEqual},
		{"the schedules of the same command count", soleInAll},
		{"class and partition are kept as they were declared", partitionKept},
	})
}

func (y *story) anewCommand(name string, spec rota.ScheduleSpec) *rota.PutSchedule {
	y.Helper()
	c := y.declareCommand(name, spec)
	c.Recreate = true
	return c
}

func anewFresh(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.switchTo("nightly", rota.SchedulePaused)
	y.pass(90 * time.Second)
	written := len(y.wholeAudit())
	c := y.anewCommand("nightly", rota.ScheduleSpec{Description: "new"})
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
	y.auditedSince(written, y.entry(c, rota.AuditScheduleCreated, "schedule nightly", ""))
	y.sound()
	before := y.dump()
	want(y, "changed again", do[*rota.SchedulePut](y, c).Changed, false)
	y.unchanged(before)
}

func anewEqual(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.pass(90 * time.Second)
	want(y, "changed", do[*rota.SchedulePut](y, y.anewCommand("nightly", rota.ScheduleSpec{})).Changed, true)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, y.now.Add(time.Hour))
}

func anewEdges(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("other", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.declare("report", rota.ScheduleSpec{DependsOn: []string{"load"}})
	y.pass(time.Second)
	do[*rota.SchedulePut](y, y.anewCommand("load", rota.ScheduleSpec{DependsOn: []string{"extract", "other"}}))
	want(y, "depends on", strings.Join(y.schedule("load").Spec.DependsOn, " "), "extract other")
	want(y, "depend on it", strings.Join(y.schedule("report").Spec.DependsOn, " "), "load")
	y.wantField(rota.Invalid, "depends_on", y.anewCommand("extract", rota.ScheduleSpec{DependsOn: []string{"report"}}))
	y.sound()
}

func anewState(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	c := y.anewCommand("nightly", rota.ScheduleSpec{})
	c.State = rota.ScheduleDisabled
	do[*rota.SchedulePut](y, c)
	row := y.schedule("nightly")
	want(y, "state", row.State, rota.ScheduleDisabled)
	wantTime(y, "next fire", row.NextFire, time.Time{})
}

func anewAfterDelete(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.pass(time.Minute)
	c := y.declareCommand("nightly", rota.ScheduleSpec{})
	c.Actor, c.Mode = "bob", rota.PutCreate
	do[*rota.AllDone](y, y.allOf(&rota.DeleteSchedule{Meta: y.mint.meta(), Name: "nightly"}, c))
	row := y.schedule("nightly")
	want(y, "created by", row.CreatedBy, "bob")
	wantTime(y, "created at", row.CreatedAt, y.now)
}

func (y *story) soleCommand(template, sole, description string) *rota.PutTemplate {
	c := y.templateCommand(template, rota.TemplateSpec{Description: description})
	c.OnlySchedule = sole
	return c
}

func soleAlone(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	want(y, "changed", do[*rota.TemplatePut](y, y.soleCommand("report", "nightly", "new")).Changed, true)
	want(y, "changed without any", do[*rota.TemplatePut](y, y.soleCommand("other", "nightly", "")).Changed, true)
}

func soleShared(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	y.switchTo("weekly", rota.ScheduleDisabled)
	err := y.wantField(rota.Conflict, "sole", y.soleCommand("report", "nightly", "new"))
	if !strings.Contains(err.Error(), "weekly") {
		y.Errorf("the refusal does not name who uses it: %v", err)
	}
	y.deleteSchedule("weekly")
	do[*rota.TemplatePut](y, y.soleCommand("report", "nightly", "new"))
}

func soleEqual(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("weekly", rota.ScheduleSpec{})
	want(y, "changed", do[*rota.TemplatePut](y, y.soleCommand("report", "nightly", "")).Changed, false)
}

func soleInAll(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.wantField(rota.Conflict, "members[1].sole", y.allOf(
		y.declareCommand("weekly", rota.ScheduleSpec{}), y.soleCommand("report", "nightly", "new")))
	y.declare("weekly", rota.ScheduleSpec{})
	do[*rota.AllDone](y, y.allOf(
		&rota.DeleteSchedule{Meta: y.mint.meta(), Name: "weekly"}, y.soleCommand("report", "nightly", "new")))
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
	y.sound()
}
