package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testSwitches(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"enabling without a next fire or with one far in the past is refused", switchWithoutNext},
		{"a paused schedule fires nothing, and catches up when it is enabled", switchPaused},
		{"a disabled schedule has no next fire and gets a new one when enabled", switchDisabled},
		{"a switch to the current state changes nothing", switchSame},
		{"a switch is audited with the state", switchAudit},
		{"a schedule that cannot fire is not enabled", switchRefused},
		{"a deleted schedule is removed and its jobs are kept", deleteLeavesJobs},
		{"an action with an old version is a conflict, and sent again after it was applied it is answered", actionVersions},
		{"a delete of an unknown schedule reports it as gone", deleteGone},
		{"a delete with an old version is a conflict", deleteVersion},
		{"a delete sent again does not remove a schedule declared since", deleteAgain},
		{"a schedule declared again after a delete fires no time twice", deleteAndDeclare},
		{"a deleted schedule is removed from its dependents", deleteDependents},
	})
}

func switchPaused(y *story) {
	first := y.declare("nightly", rota.ScheduleSpec{}).NextFire
	y.advanceTo(first)
	fire := y.fireCommand("nightly")
	y.switchTo("nightly", rota.SchedulePaused)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, first)
	before := y.dump()
	want(y, "a fire reports it as moved", do[*rota.Fired](y, fire).ScheduleChanged, true)
	y.wantUnchanged(before)
	y.advance(3*time.Hour + time.Minute)
	y.switchTo("nightly", rota.ScheduleEnabled)
	wantTime(y, "next fire kept", y.schedule("nightly").NextFire, first)
	wantTime(y, "caught up with", y.fire("nightly")[0].PlanTime, first.Add(3*time.Hour))
}

func switchDisabled(y *story) {
	first := y.declare("nightly", rota.ScheduleSpec{CatchUp: rota.CatchUpAll}).NextFire
	y.switchTo("nightly", rota.ScheduleDisabled)
	row := y.schedule("nightly")
	want(y, "reason", row.Reason, "")
	wantTime(y, "next fire", row.NextFire, time.Time{})
	y.advance(3*time.Hour + time.Minute)
	y.switchTo("nightly", rota.ScheduleEnabled)
	wantTime(y, "next fire", y.schedule("nightly").NextFire, first.Add(3*time.Hour))
	y.switchTo("nightly", rota.SchedulePaused)
	y.switchTo("nightly", rota.ScheduleDisabled)
	wantTime(y, "next fire from paused", y.schedule("nightly").NextFire, time.Time{})
}

func switchSame(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	for _, state := range []rota.ScheduleState{rota.ScheduleEnabled, rota.SchedulePaused, rota.ScheduleDisabled} {
		y.switchTo("nightly", state)
		y.advance(time.Second)
		before := y.dump()
		want(y, "changed", y.switchTo("nightly", state).Changed, false)
		y.wantUnchanged(before)
	}
}

func switchAudit(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Second)
	written := y.writtenAudit()
	c := y.switchCommand("nightly", rota.SchedulePaused, time.Time{})
	got := do[*rota.SchedulePut](y, c)
	want(y, "changed", got.Changed, true)
	want(y, "state", got.Schedule.State, rota.SchedulePaused)
	want(y, "version", got.Schedule.Version, c.ID)
	wantTime(y, "updated at", got.Schedule.UpdatedAt, y.now)
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleModified, "schedule nightly", "PAUSED"))
}

func switchRefused(y *story) {
	y.wantField(rota.NotFound, "name", y.switchCommand("missing", rota.SchedulePaused, time.Time{}))
	y.declare("nightly", rota.ScheduleSpec{})
	y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Minute), Template: "other"})
	y.switchTo("once", rota.ScheduleDisabled)
	y.advance(time.Hour)
	y.wantField(rota.Conflict, "state", y.switchCommand("once", rota.ScheduleEnabled, time.Time{}))
	y.archive("report")
	y.wantField(rota.Conflict, "template", y.switchCommand("nightly", rota.ScheduleEnabled, y.now.Add(time.Hour)))
}

func deleteLeavesJobs(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	runs := y.fireNext("nightly")
	y.claimOne()
	waits := y.fireNext("nightly")
	written := y.writtenAudit()
	c := &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly"}
	want(y, "gone", do[*rota.ScheduleDeleted](y, c).Gone, false)
	y.wantNoSchedule("nightly")
	y.wantAuditSince(written, y.auditEntry(c, rota.AuditScheduleDeleted, "schedule nightly", ""))
	want(y, "schedule of its job", y.job(runs.ID).Schedule, "nightly")
	want(y, "claimed", y.claimOne().ID, waits.ID)
	want(y, "template", y.template("report").State, rota.TemplateActive)
	y.wantNoViolations()
}

func deleteGone(y *story) {
	before := y.dump()
	want(y, "gone", y.deleteSchedule("nightly").Gone, true)
	y.wantUnchanged(before)
}

func deleteVersion(y *story) {
	old := y.declare("nightly", rota.ScheduleSpec{})
	changed := y.declare("nightly", rota.ScheduleSpec{Description: "new"})
	c := &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly", Version: &old.Version}
	y.wantField(rota.Conflict, "version", c)
	c = &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly", Version: &changed.Version}
	want(y, "gone", do[*rota.ScheduleDeleted](y, c).Gone, false)
	y.wantNoSchedule("nightly")
}

func deleteAgain(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	c := &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly"}
	do[*rota.ScheduleDeleted](y, c)
	y.declare("nightly", rota.ScheduleSpec{})
	before := y.dump()
	want(y, "gone", do[*rota.ScheduleDeleted](y, c).Gone, true)
	y.wantUnchanged(before)
}

func deleteAndDeclare(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	first := y.fireNext("nightly")
	y.deleteSchedule("nightly")
	c := y.declareCommand("nightly", rota.ScheduleSpec{})
	c.Anchor, c.Next = startTime, first.PlanTime
	do[*rota.SchedulePut](y, c)
	fired := do[*rota.Fired](y, y.fireCommand("nightly"))
	want(y, "jobs created", len(fired.Jobs), 0)
	want(y, "known", fired.Known, 1)
	y.fireNext("nightly")
}

func deleteDependents(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("other", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract", "other"}})
	y.advance(time.Second)
	c := &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "extract"}
	do[*rota.ScheduleDeleted](y, c)
	row := y.schedule("load")
	want(y, "depends on", joinNames(row.Spec.DependsOn, func(s string) string { return s }), "other")
	want(y, "version", row.Version, c.ID)
	wantTime(y, "updated at", row.UpdatedAt, y.now)
}

func switchWithoutNext(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.switchTo("nightly", rota.ScheduleDisabled)
	none := y.refused(rota.Invalid, y.switchCommand("nightly", rota.ScheduleEnabled, time.Time{}))
	want(y, "field", none.Field, "next")
	old := y.refused(rota.Conflict, y.switchCommand("nightly", rota.ScheduleEnabled, y.now.Add(-time.Hour)))
	want(y, "field", old.Field, "next")
	c, err := rota.Enable(y.ids.meta(), y.schedule("nightly"), y.now)
	do[*rota.SchedulePut](y, must(y, "enable", c, err))
	want(y, "state", y.schedule("nightly").State, rota.ScheduleEnabled)
}
