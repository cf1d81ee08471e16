package storetest

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testCompletion(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"an AT schedule is disabled after its run", oncePreserved},
		{"an AT schedule that is dropped on completion is deleted after its run", onceDropped},
		{"an AT schedule ends with its execution, not with a failed attempt", onceRetried},
		{"a dead or cancelled execution ends an AT schedule", onceDead},
		{"an AT schedule with several scopes ends with the last of them", onceScopes},
		{"recovery settles the cancelled run of an AT schedule", onceRecovered},
		{"a trigger does not end an AT schedule", onceTriggered},
		{"a skipped fire ends an AT schedule at once", onceSkipped},
		{"an AT schedule that did not complete is disabled and not dropped", onceFailed},
		{"a changed description does not fire an AT schedule again", onceDescribed},
		{"an AT schedule whose time was missed fires late", onceLate},
		{"an AT schedule whose time was missed is disabled with catch-up none", onceMissed},
		{"an AT schedule whose time passed during a pause says so", onceMissedPaused},
		{"an AT schedule that is paused before its execution ends stays paused", oncePaused},
		{"a schedule dropped on completion archives its own template", onceTemplate},
		{"a schedule dropped on completion does not archive a shared template", onceTemplateShared},
		{"a schedule dropped on completion is removed from its dependents", onceDependents},
		{"an AT schedule that has run and is changed stays disabled and keeps the reason", onceChanged},
		{"an AT schedule that has run fires again at a new time", onceNewTime},
		{"an AT schedule fires once even if the clock is set back", onceClockBack},
	})
}

const hasRun = "it was to run once, and has"

// declareOnce declares a schedule that fires once, an hour from now.
func (y *story) declareOnce(spec rota.ScheduleSpec) *rota.Schedule {
	y.Helper()
	spec.At = y.now.Add(time.Hour)
	return y.declare("once", spec)
}

// wantHasRun wants the schedule to be disabled because it has run.
func (y *story) wantHasRun() {
	y.Helper()
	row := y.schedule("once")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, hasRun)
	wantTime(y, "next fire", row.NextFire, time.Time{})
}

// wantNothingToFire wants the schedule to be enabled without a next fire.
func (y *story) wantNothingToFire() {
	y.Helper()
	row := y.schedule("once")
	want(y, "state", row.State, rota.ScheduleEnabled)
	wantTime(y, "next fire", row.NextFire, time.Time{})
}

func oncePreserved(y *story) {
	s := y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.wantNothingToFire()
	j := y.claimOne()
	y.wantNothingToFire()
	written := y.writtenAudit()
	y.advance(time.Second)
	c := newFinish(j, rota.OutcomeCompleted)
	do[*rota.Finished](y, c)
	y.wantHasRun()
	row := y.schedule("once")
	want(y, "version", row.Version, s.Version)
	wantTime(y, "last fire", row.LastFire, s.NextFire)
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditScheduleDisabled, "schedule once", hasRun))
}

func onceDropped(y *story) {
	y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop})
	y.fireNext("once")
	j := y.claimOne()
	written := y.writtenAudit()
	c := newFinish(j, rota.OutcomeCompleted)
	do[*rota.Finished](y, c)
	y.wantNoSchedule("once")
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditScheduleDeleted, "schedule once", "on completion"))
	want(y, "its job", y.job(j.ID).State(), rota.StateCompleted)
	want(y, "its template", y.template("report").State, rota.TemplateActive)
}

func onceRetried(y *story) {
	y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop, Policy: rota.PolicyPatch{MaxRetries: new(1)}})
	y.fireNext("once")
	y.fail(y.claimOne())
	y.wantNothingToFire()
	y.advance(time.Hour)
	y.makeReady()
	retry := y.claimOne()
	y.wantNothingToFire()
	y.complete(retry)
	y.wantNoSchedule("once")
}

// onceFailed keeps a schedule that was to be dropped on completion: without it, its dependents
// would count the dependency as met.
func onceFailed(y *story) {
	y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop})
	y.declare("after", rota.ScheduleSpec{DependsOn: []string{"once"}})
	y.fireNext("once")
	waiting := y.fire("after")[0]
	y.failPermanently(y.claimOne())
	row := y.schedule("once")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, "it was to run once, and did not complete")
	y.wantHold(waiting, rota.HoldDependency)
}

func onceDead(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.failPermanently(y.claimOne())
	y.wantHasRun()
	y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Hour)})
	y.cancel(y.fireNext("once").ID)
	y.wantHasRun()
}

func onceScopes(y *story) {
	y.declareOnce(rota.ScheduleSpec{Scopes: []rota.Scope{{Kind: "t", ID: "a"}, {Kind: "t", ID: "b"}}})
	y.advance(time.Hour)
	y.fire("once")
	jobs := y.claim(2)
	y.complete(jobs[1])
	y.wantNothingToFire()
	y.complete(jobs[0])
	y.wantHasRun()
}

func onceTriggered(y *story) {
	s := y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop})
	y.trigger("once")
	y.complete(y.claimOne())
	wantTime(y, "next fire", y.schedule("once").NextFire, s.NextFire)
	y.fireNext("once")
	y.trigger("once")
	jobs := y.claim(2)
	y.complete(jobs[1])
	y.wantNothingToFire()
	y.complete(jobs[0])
	y.wantNoSchedule("once")
}

func onceSkipped(y *story) {
	y.declareOnce(rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	y.trigger("once")
	y.wantState(rota.StateSkipped, y.fireNext("once"))
	y.wantHasRun()
}

func onceLate(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.advance(100 * 24 * time.Hour)
	y.wantPlans(y.fire("once"), time.Hour)
	y.wantNothingToFire()
	y.complete(y.claimOne())
	y.wantHasRun()
}

func onceMissed(y *story) {
	y.declareOnce(rota.ScheduleSpec{CatchUp: rota.CatchUpNone, OnCompletion: rota.CompletionDrop})
	y.advance(2 * time.Hour)
	y.wantPlans(y.fire("once"))
	row := y.schedule("once")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, "its time passed while no scheduler ran")
	acts := map[string]bool{}
	for _, e := range y.writtenAudit() {
		acts[e.Act] = true
	}
	want(y, "the audit", joinNames(slices.Sorted(maps.Keys(acts)), func(act string) string { return act }),
		"JOB_CREATED SCHEDULE_DISABLED SCHEDULE_MISSED TEMPLATE_CREATED")
}

// onceMissedPaused also has a pause that ended before the time, which is not the reason.
func onceMissedPaused(y *story) {
	y.declareOnce(rota.ScheduleSpec{CatchUp: rota.CatchUpNone})
	y.switchTo("once", rota.SchedulePaused)
	y.advance(2 * time.Hour)
	y.switchTo("once", rota.ScheduleEnabled)
	y.advance(time.Second)
	y.wantPlans(y.fire("once"))
	row := y.schedule("once")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, "its time passed while it was paused")

	y.declare("earlier", rota.ScheduleSpec{At: y.now.Add(time.Hour), CatchUp: rota.CatchUpNone})
	y.switchTo("earlier", rota.SchedulePaused)
	y.advance(time.Minute)
	y.switchTo("earlier", rota.ScheduleEnabled)
	y.advance(2 * time.Hour)
	y.wantPlans(y.fire("earlier"))
	want(y, "reason after an earlier pause", y.schedule("earlier").Reason, "its time passed while no scheduler ran")
}

func oncePaused(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.switchTo("once", rota.SchedulePaused)
	y.complete(y.claimOne())
	want(y, "state", y.schedule("once").State, rota.SchedulePaused)
	want(y, "reason", y.schedule("once").Reason, "")
	y.advance(time.Second)
	y.wantField(rota.Conflict, "state", y.switchCommand("once", rota.ScheduleEnabled, time.Time{}))
	enable := y.declareCommand("once", rota.ScheduleSpec{At: startTime.Add(time.Hour), Description: "new"})
	enable.State = rota.ScheduleEnabled
	y.wantField(rota.Conflict, "state", enable)
}

func onceTemplate(y *story) {
	y.declareOnce(rota.ScheduleSpec{Template: "once", OnCompletion: rota.CompletionDrop})
	y.fireNext("once")
	j := y.claimOne()
	written := y.writtenAudit()
	c := newFinish(j, rota.OutcomeCompleted)
	do[*rota.Finished](y, c)
	row := y.template("once")
	want(y, "state", row.State, rota.TemplateArchived)
	want(y, "version", row.Version, c.ID)
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditScheduleDeleted, "schedule once", "on completion"),
		y.auditEffect(c, rota.AuditTemplateArchived, "template once", ""))
}

func onceTemplateShared(y *story) {
	y.declareOnce(rota.ScheduleSpec{Template: "once", OnCompletion: rota.CompletionDrop})
	y.declare("other", rota.ScheduleSpec{Template: "once"})
	y.advance(time.Hour)
	y.fire("once")
	y.complete(y.claimOne())
	y.wantNoSchedule("once")
	want(y, "state", y.template("once").State, rota.TemplateActive)
	want(y, "state of the other", y.schedule("other").State, rota.ScheduleEnabled)
}

func onceDependents(y *story) {
	y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop})
	y.declare("then", rota.ScheduleSpec{At: startTime.Add(time.Hour), DependsOn: []string{"once"}})
	y.fireNext("once")
	waits := y.fireNext("then")
	y.wantHold(waits, rota.HoldDependency)
	y.complete(y.claimOne())
	want(y, "depends on", len(y.schedule("then").Spec.DependsOn), 0)
	y.wantHold(waits, 0)
}

func onceChanged(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.complete(y.claimOne())
	y.advance(time.Second)
	row := y.declare("once", rota.ScheduleSpec{At: startTime.Add(time.Hour), Description: "new"})
	want(y, "description", row.Spec.Description, "new")
	y.wantHasRun()
	off := y.declareCommand("once", rota.ScheduleSpec{At: startTime.Add(time.Hour), Description: "newer"})
	off.State = rota.ScheduleDisabled
	want(y, "reason after a person disables it", do[*rota.SchedulePut](y, off).Schedule.Reason, "")
}

func onceNewTime(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.advance(time.Second)
	y.complete(y.claimOne())
	y.wantField(rota.Conflict, "state", y.switchCommand("once", rota.ScheduleEnabled, time.Time{}))
	row := y.declare("once", rota.ScheduleSpec{At: y.now.Add(time.Hour)})
	want(y, "state", row.State, rota.ScheduleEnabled)
	want(y, "reason", row.Reason, "")
	y.fireNext("once")
	y.complete(y.claimOne())
	y.wantHasRun()
}

func onceClockBack(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	y.now = startTime
	y.complete(y.claimOne())
	y.wantHasRun()
	want(y, "all jobs", len(y.allJobs()), 1)
}

func onceDescribed(y *story) {
	s := y.declareOnce(rota.ScheduleSpec{OnCompletion: rota.CompletionDrop})
	y.fireNext("once")
	spec := s.Spec
	spec.Description = "said better"
	c := y.declareCommand("once", spec)
	do[*rota.SchedulePut](y, c)
	wantTime(y, "next fire", y.schedule("once").NextFire, time.Time{})
	y.complete(y.claimOne())
	y.wantNoSchedule("once")
}

// Recovery reads the run, and the jobs that the schedule still waits for. The second read must not
// replace what the first has found.
func onceRecovered(y *story) {
	y.declareOnce(rota.ScheduleSpec{})
	y.fireNext("once")
	j := y.claimOne()
	y.cancel(j.ID)
	y.recoverOne(j, rota.SettledRunFailed)
	y.wantHasRun()
}
