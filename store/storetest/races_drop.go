package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func dropRaces() []race {
	return []race{
		{"a drop against a drop: one finds it gone", dropAgainstDrop, oneDropped},
		{"a drop against a fire: nothing of it is left to run", dropAgainstFire, nothingToRun},
		{"a drop against a trigger: nothing of it is left to run", dropAgainstTrigger, nothingToRun},
		{"a drop against a claim: it is cancelled or asked to stop", dropAgainstClaim, cancelledOrStopping},
		{"a drop against a failure: nothing is tried again", dropAgainstFailure, nothingToRun},
		{"a drop against the end of what another waits for", dropAgainstEnd, func(*story, rota.Result, rota.Result) {}},
		{"a drop against a redrive of its history: nothing of it is left to run", dropAgainstRedrive, nothingToRun},
		{"the sweep of a drop against the end of its last run: all of it goes", sweepAgainstLastEnd, nothingLeftOfIt},
		{"the change of a template of one's own against a schedule that takes it", soleAgainstPut, func(*story, rota.Result, rota.Result) {}},
		{"a schedule declared anew against its fire", anewAgainstFire, func(*story, rota.Result, rota.Result) {}},
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
	y.wait(y.define("nightly", rota.ScheduleSpec{}).NextFire)
	return y.dropCommand("nightly"), y.fireCommand("nightly")
}

func dropAgainstTrigger(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{Scopes: tenants})
	return y.dropCommand("nightly"), &rota.Trigger{Meta: y.mint.meta(), Schedule: "nightly"}
}

func nothingToRun(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "ready", len(y.claim(5)), 0)
	y.pass(time.Hour)
	y.makeReady()
	want(y, "ready later", len(y.claim(5)), 0)
}

func dropAgainstClaim(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.pass(time.Second)
	return y.dropCommand("nightly"), y.claimCommand(1)
}

func cancelledOrStopping(y *story, _, claimed rota.Result) {
	y.Helper()
	for _, j := range claimed.Reply.(*rota.Claimed).Jobs {
		want(y, "asked to stop", y.beat(j).Cancel, true)
	}
	want(y, "queued", len(y.queue()), 0)
}

func dropAgainstFailure(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.pass(time.Second)
	return y.dropCommand("nightly"), y.finishCommand(j, rota.OutcomeFailed, false)
}

func dropAgainstEnd(y *story) (a, b rota.Command) {
	y.chain()
	y.both()
	return y.dropCommand("load"), y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false)
}

func dropAgainstRedrive(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	_, _, dead := y.pastOf("nightly")
	return y.dropCommand("nightly"), y.redriveCommand(dead.ID)
}

func sweepAgainstLastEnd(y *story) (a, b rota.Command) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	j := y.claimOne()
	y.pass(time.Second)
	y.drop("nightly")
	return &rota.Sweep{Meta: y.mint.meta()}, y.finishCommand(j, rota.OutcomeCompleted, false)
}

func nothingLeftOfIt(y *story, _, _ rota.Result) {
	y.Helper()
	y.sweepUp(0)
	want(y, "jobs", len(y.allJobs()), 0)
}

func soleAgainstPut(y *story) (a, b rota.Command) {
	y.declare("nightly", rota.ScheduleSpec{})
	return y.soleCommand("report", "nightly", "new"), y.declareCommand("weekly", rota.ScheduleSpec{})
}

func anewAgainstFire(y *story) (a, b rota.Command) {
	y.wait(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.anewCommand("nightly", rota.ScheduleSpec{}), y.fireCommand("nightly")
}
