package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDepend(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a job waits until its dependency completes", dependWaits},
		{"a job whose dependency has completed is ready at once", dependMet},
		{"a job waits for a dependency that has not fired yet", dependUnfired},
		{"a job with several dependencies waits for the last of them", dependSeveral},
		{"executions of other windows do not count", dependWindow},
		{"the first window begins when the schedule is created", dependFirstWindow},
		{"within a window the newest execution counts", dependNewest},
		{"a job waits for the retry of its dependency", dependRetried},
		{"a dead dependency releases no job until it is redriven and completes", dependRedriven},
		{"a trigger within the window counts", dependTriggered},
		{"a backfill counts for the window of its plan time", dependBackfilled},
		{"a job whose wait ends is skipped, with the reason", dependExpired},
		{"a skipped job does not release its dependents", dependChain},
		{"a job waits for a paused dependency", dependPaused},
		{"a job waits for a disabled dependency until its wait ends", dependDisabled},
		{"a retry does not wait for dependencies again", dependRetryRuns},
		{"a job held by overlap and by a dependency is ready when both are released", dependOverlap},
		{"each catch-up job has its own window", dependCatchUp},
		{"an AT schedule waits for an AT schedule", dependAt},
	})
}

// declareExtractLoad declares two hourly schedules. The second, load, depends on the first,
// extract.
func (y *story) declareExtractLoad() {
	y.Helper()
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}, Priority: new(-1)})
}

// fireExtractLoad fires extract and then load, at the next hour.
func (y *story) fireExtractLoad() (extract, load *rota.Job) {
	y.Helper()
	extract = y.fireNext("extract")
	return extract, y.fireNext("load")
}

func dependWaits(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	want(y, "hold", load.Hold, rota.HoldDependency)
	want(y, "state", load.State(), rota.StateBlocked)
	wantTime(y, "wait from", load.WaitFrom, startTime)
	wantTime(y, "wait until", load.WaitUntil, startTime.Add(2*time.Hour))
	wantTime(y, "queued at", load.QueuedAt, time.Time{})
	wantTime(y, "due", y.due().Expire, startTime.Add(2*time.Hour))
	running := y.claim(5)
	want(y, "claimed", len(running), 1)
	y.advance(time.Minute)
	y.complete(running[0])
	y.wantHold(load, 0)
	wantTime(y, "queued at", y.job(load.ID).QueuedAt, y.now)
	want(y, "claimed", y.claimOne().ID, load.ID)
	wantTime(y, "due", y.due().Expire, time.Time{})
	y.wantNoViolations()
}

func dependMet(y *story) {
	y.declareExtractLoad()
	y.fireNext("extract")
	y.complete(y.claimOne())
	load := y.fireNext("load")
	want(y, "ready", load.Ready(), true)
	wantTime(y, "wait from", load.WaitFrom, time.Time{})
	wantTime(y, "wait until", load.WaitUntil, time.Time{})
}

func dependUnfired(y *story) {
	y.declareExtractLoad()
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	y.fireNext("extract")
	y.wantHold(load, rota.HoldDependency)
	y.complete(y.claimOne())
	y.wantHold(load, 0)
}

func dependSeveral(y *story) {
	y.declare("a", rota.ScheduleSpec{})
	y.declare("b", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"b", "a"}})
	y.fireNext("a")
	y.fireNext("b")
	load := y.fireNext("load")
	jobs := y.claim(2)
	y.complete(jobs[1])
	y.wantHold(load, rota.HoldDependency)
	y.complete(jobs[0])
	y.wantHold(load, 0)
}

func dependWindow(y *story) {
	y.declareExtractLoad()
	_, first := y.fireExtractLoad()
	old := y.claimOne()
	_, second := y.fireExtractLoad()
	y.complete(y.claimOne())
	y.wantHold(second, 0)
	y.wantHold(first, rota.HoldDependency)
	y.complete(old)
	y.wantHold(first, 0)
}

func dependFirstWindow(y *story) {
	y.declare("extract", rota.ScheduleSpec{Every: 10 * time.Hour})
	y.advance(10 * time.Minute)
	y.trigger("extract")
	y.complete(y.claimOne())
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.wantHold(y.fireNext("load"), rota.HoldDependency)
	y.advance(time.Second)
	y.trigger("extract")
	y.complete(y.claimOne())
	want(y, "ready in the next window", y.fireNext("load").Ready(), true)
}

func dependNewest(y *story) {
	y.declareExtractLoad()
	y.advance(30 * time.Minute)
	y.trigger("extract")
	y.complete(y.claimOne())
	_, load := y.fireExtractLoad()
	y.wantHold(load, rota.HoldDependency)
	y.failPermanently(y.claimOne())
	y.wantHold(load, rota.HoldDependency)
}

func dependRetried(y *story) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.fail(y.claimOne())
	y.wantHold(load, rota.HoldDependency)
	y.advance(time.Minute)
	y.makeReady()
	retry := y.claimOne()
	y.wantHold(load, rota.HoldDependency)
	y.complete(retry)
	y.wantHold(load, 0)
}

func dependRedriven(y *story) {
	y.declareExtractLoad()
	extract, load := y.fireExtractLoad()
	y.failPermanently(y.claimOne())
	y.wantHold(load, rota.HoldDependency)
	y.advance(30 * time.Minute)
	redriven := y.redrive(extract.ID)
	wantTime(y, "counts at", redriven.CountsAt, extract.PlanTime)
	y.complete(y.claimOne())
	y.wantHold(load, 0)
}

func dependTriggered(y *story) {
	y.declare("extract", rota.ScheduleSpec{Every: 10 * time.Hour})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	y.advance(30 * time.Minute)
	y.trigger("extract")
	running := y.claimOne()
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	y.complete(running)
	y.wantHold(load, 0)
}

func dependBackfilled(y *story) {
	y.declare("extract", rota.ScheduleSpec{CatchUp: rota.CatchUpNone})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	load := y.fireNext("load")
	y.advance(30 * time.Minute)
	want(y, "fired late", len(y.fire("extract")), 0)
	y.wantHold(load, rota.HoldDependency)
	y.backfill("extract", startTime, y.now)
	y.complete(y.claimOne())
	y.wantHold(load, 0)
}

func dependExpired(y *story) {
	y.declareExtractLoad()
	extract, load := y.fireExtractLoad()
	y.failPermanently(y.claimOne())
	y.now = load.WaitUntil.Add(-time.Microsecond)
	want(y, "skipped too early", len(y.expire().Skipped), 0)
	y.now = load.WaitUntil
	got := y.expire()
	want(y, "skipped", joinNames(got.Skipped, rota.ID.String), load.ID.String())
	want(y, "freed", len(got.Freed), 0)
	y.wantSkipped(load, rota.CodeDependency, "skipped: schedule extract did not complete in time")
	y.redrive(extract.ID)
	y.complete(y.claimOne())
	y.wantState(rota.StateSkipped, load)
	y.wantNoViolations()
}

func dependChain(y *story) {
	y.declareExtractLoad()
	y.declare("publish", rota.ScheduleSpec{DependsOn: []string{"load"}})
	_, load := y.fireExtractLoad()
	publish := y.fireNext("publish")
	y.failPermanently(y.claimOne())
	y.advanceTo(load.WaitUntil)
	want(y, "skipped", len(y.expire().Skipped), 2)
	y.wantSkipped(publish, rota.CodeDependency, "skipped: schedule load did not complete in time")
}

func dependPaused(y *story) {
	y.declareExtractLoad()
	y.switchTo("extract", rota.SchedulePaused)
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	y.advance(30 * time.Minute)
	y.switchTo("extract", rota.ScheduleEnabled)
	y.wantHold(load, rota.HoldDependency)
	y.fire("extract")
	y.complete(y.claimOne())
	y.wantHold(load, 0)
}

func dependDisabled(y *story) {
	y.declareExtractLoad()
	y.switchTo("extract", rota.ScheduleDisabled)
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	y.advanceTo(load.WaitUntil)
	want(y, "skipped", len(y.expire().Skipped), 1)
	y.trigger("extract")
	y.complete(y.claimOne())
	want(y, "met by a trigger", y.fireNext("load").Ready(), true)
}

func dependRetryRuns(y *story) {
	y.declareExtractLoad()
	y.fireExtractLoad()
	y.complete(y.claimOne())
	retry := y.job(y.fail(y.claimOne()).RetryID)
	want(y, "hold", retry.Hold, rota.HoldDelay)
	wantTime(y, "wait from", retry.WaitFrom, time.Time{})
	wantTime(y, "wait until", retry.WaitUntil, time.Time{})
}

func dependOverlap(y *story) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"extract"}, Overlap: rota.OverlapCancel})
	_, first := y.fireExtractLoad()
	y.claimOne()
	_, second := y.fireExtractLoad()
	y.wantState(rota.StateSkipped, first) // its wait ended when the next job was fired
	y.wantHold(second, rota.HoldDependency)
	y.complete(y.claimOne())
	running := y.claimOne()
	want(y, "claimed", running.ID, second.ID)
	_, third := y.fireExtractLoad()
	y.wantHold(third, rota.HoldOverlap|rota.HoldDependency)
	y.complete(running)
	y.wantHold(third, rota.HoldDependency)
	y.complete(y.claimOne())
	y.wantHold(third, 0)
}

func dependCatchUp(y *story) {
	y.declare("extract", rota.ScheduleSpec{CatchUp: rota.CatchUpAll})
	y.declare("load", rota.ScheduleSpec{CatchUp: rota.CatchUpAll, DependsOn: []string{"extract"}})
	y.now = startTime.Add(3*time.Hour + 2*time.Minute)
	y.fire("extract")
	loads := y.fire("load")
	for i, j := range y.claim(3) {
		y.wantHold(loads[i], rota.HoldDependency)
		y.complete(j)
		y.wantHold(loads[i], 0)
	}
	wantTime(y, "wait from", loads[2].WaitFrom, startTime.Add(2*time.Hour))
	wantTime(y, "wait until", loads[2].WaitUntil, startTime.Add(4*time.Hour))
	wantTime(y, "wait of one that was missed", loads[0].WaitUntil, y.now.Add(rota.DependencyWait))
}

func dependAt(y *story) {
	y.declare("extract", rota.ScheduleSpec{At: startTime.Add(time.Hour)})
	y.declare("load", rota.ScheduleSpec{At: startTime.Add(2 * time.Hour), DependsOn: []string{"extract"}})
	y.fireNext("extract")
	running := y.claimOne()
	load := y.fireNext("load")
	y.wantHold(load, rota.HoldDependency)
	wantTime(y, "wait until", load.WaitUntil, y.now.Add(rota.DependencyWait))
	y.complete(running)
	y.wantHold(load, 0)
}
