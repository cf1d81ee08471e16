package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func dropRaces() []race {
	return []race{
		{"a drop against a drop: one reports the definition as gone", dropAgainstDrop, oneDropped},
		{"a drop against a fire: no job is left to run", dropAgainstFire, nothingToRun},
		{"a drop against a trigger: no job is left to run", dropAgainstTrigger, nothingToRun},
		{"a drop against a claim: the job is cancelled or asked to stop", dropAgainstClaim, cancelledOrStopping},
		{"a drop against a failure: there is no retry", dropAgainstFailure, nothingToRun},
		{"a drop of a dependent against the end of its dependency", dropAgainstEnd, func(*story, rota.Result, rota.Result) {}},
		{"a drop against a redrive of its history: no job is left to run", dropAgainstRedrive, nothingToRun},
		{"the sweep of a drop against the end of its last run: no job is left", sweepAgainstLastEnd, noJobsLeft},
		{"a prune against a prune of the same executions with retries", pruneRetriesAgainstPrune, prunedOnce},
		{"the sweep of a drop against a prune of its history", sweepAgainstPrune, noJobsLeft},
		{"a change of a template for one schedule against a new schedule of the template", onlyScheduleAgainstPut, func(*story, rota.Result, rota.Result) {}},
		{"a recreated schedule against a trigger that expects the earlier one", recreateAgainstExpecting, triggeredOrRefused},
		{"a recreated template against an enqueue that expects the earlier one", recreateAgainstEnqueue, enqueuedOrRefused},
		{"a drop and a new definition against an alter that expects the earlier one", replaceAgainstAlter, replacedUnaltered},
		{"a recreated schedule against its fire", recreateAgainstFire, func(*story, rota.Result, rota.Result) {}},
	}
}

func dropAgainstDrop(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	return y.dropCommand("nightly"), y.dropCommand("nightly")
}

func oneDropped(y *story, a, b rota.Result) {
	y.Helper()
	want(y, "gone for both", a.Reply.(*rota.Dropped).Gone == b.Reply.(*rota.Dropped).Gone, false)
}

func dropAgainstFire(y *story) (a, b rota.Command) {
	y.advanceTo(y.define("nightly", rota.ScheduleSpec{}).NextFire)
	return y.dropCommand("nightly"), y.fireCommand("nightly")
}

func dropAgainstTrigger(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{Scopes: tenants})
	return y.dropCommand("nightly"), &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
}

func nothingToRun(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "ready", len(y.claim(5)), 0)
	y.advance(time.Hour)
	y.makeReady()
	want(y, "ready later", len(y.claim(5)), 0)
}

func dropAgainstClaim(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.advance(time.Second)
	return y.dropCommand("nightly"), y.claimCommand(1)
}

func cancelledOrStopping(y *story, _, claimed rota.Result) {
	y.Helper()
	for _, j := range claimed.Reply.(*rota.Claimed).Jobs {
		want(y, "asked to stop", y.heartbeat(j).Cancel, true)
	}
	want(y, "queued", len(y.queue()), 0)
}

func dropAgainstFailure(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.advance(time.Second)
	return y.dropCommand("nightly"), y.finishCommand(j, rota.OutcomeFailed, false)
}

func dropAgainstEnd(y *story) (a, b rota.Command) {
	y.declareExtractLoad()
	y.fireExtractLoad()
	return y.dropCommand("load"), y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false)
}

func dropAgainstRedrive(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	_, _, dead := y.endRunsInEachWay("nightly")
	return y.dropCommand("nightly"), y.redriveCommand(dead.ID)
}

func sweepAgainstLastEnd(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.advance(time.Second)
	y.drop("nightly")
	return &rota.Sweep{Meta: y.ids.meta()}, y.finishCommand(j, rota.OutcomeCompleted, false)
}

// failTwice lets the first attempt of an execution and its retry fail.
func (y *story) failTwice() (execution rota.ID) {
	y.Helper()
	j := y.claimOne()
	y.mustFinish(j, rota.FinishItem{Outcome: rota.OutcomeFailed, RetryAt: y.now})
	y.advance(time.Second)
	y.makeReady()
	y.failPermanently(y.claimOne())
	return j.ID
}

func pruneRetriesAgainstPrune(y *story) (a, b rota.Command) {
	var executions []rota.ID
	for range 10 {
		y.enqueue(rota.NewJob{})
		executions = append(executions, y.failTwice())
	}
	y.advance(time.Second)
	return &rota.Prune{Meta: y.ids.meta(), Executions: executions}, &rota.Prune{Meta: y.ids.meta(), Executions: executions}
}

func prunedOnce(y *story, a, b rota.Result) {
	y.Helper()
	want(y, "pruned executions", a.Reply.(*rota.Pruned).Executions+b.Reply.(*rota.Pruned).Executions, 10)
	want(y, "jobs", len(y.allJobs()), 0)
}

func sweepAgainstPrune(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	var executions []rota.ID
	for range 10 {
		y.fireNext("nightly")
		executions = append(executions, y.failTwice())
	}
	y.advance(time.Second)
	y.drop("nightly")
	return &rota.Sweep{Meta: y.ids.meta()}, &rota.Prune{Meta: y.ids.meta(), Executions: executions}
}

func noJobsLeft(y *story, _, _ rota.Result) {
	y.Helper()
	y.sweepAll(0)
	want(y, "jobs", len(y.allJobs()), 0)
}

func onlyScheduleAgainstPut(y *story) (a, b rota.Command) {
	y.declare("nightly", rota.ScheduleSpec{})
	return y.onlyScheduleCommand("report", "nightly", "new"), y.declareCommand("weekly", rota.ScheduleSpec{})
}

func recreateAgainstFire(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.recreateScheduleCommand("nightly", rota.ScheduleSpec{}), y.fireCommand("nightly")
}

func recreateAgainstExpecting(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	seen := y.expectSchedule("nightly")
	y.advance(time.Second)
	return y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Template: "nightly"}),
		expecting(&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, seen)
}

func triggeredOrRefused(y *story, _, trigger rota.Result) {
	y.Helper()
	y.wantAppliedOrUnmet(trigger, len(y.queue()))
}

func recreateAgainstEnqueue(y *story) (a, b rota.Command) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	seen := y.expectTemplate("letter")
	y.advance(time.Second)
	return y.recreateTemplateCommand("letter", rota.TemplateSpec{}), expecting(y.enqueueCommand(rota.NewJob{Template: "letter"}), seen)
}

func enqueuedOrRefused(y *story, _, enqueue rota.Result) {
	y.Helper()
	y.wantAppliedOrUnmet(enqueue, len(y.queue()))
}

// wantAppliedOrUnmet wants a command that creates one job to have created it, or to be refused by its expectation.
func (y *story) wantAppliedOrUnmet(r rota.Result, jobs int) {
	y.Helper()
	if r.Err == nil {
		want(y, "jobs", jobs, 1)
		return
	}
	want(y, "jobs", jobs, 0)
	want(y, "field of the refusal", r.Err.Field, "expect")
}

func replaceAgainstAlter(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	seen := y.expectSchedule("nightly")
	y.advance(time.Second)
	alter := y.declareCommand("nightly", rota.ScheduleSpec{Template: "nightly", Description: "altered"})
	again := y.declareCommand("nightly", rota.ScheduleSpec{Template: "nightly", Description: "of another owner"})
	replace := y.allOf(y.dropCommand("nightly"), y.templateCommand("nightly", rota.TemplateSpec{}), &rota.Unarchive{Meta: y.ids.meta(), Name: "nightly"}, again)
	return replace, expecting(alter, seen)
}

// replacedUnaltered wants the new definition, whichever of the two commands came first.
func replacedUnaltered(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "description", y.schedule("nightly").Spec.Description, "of another owner")
}
