package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func scheduleRaces() []race {
	return []race{
		{"the last two dependencies of a job: it is let go", lastDependencies, loadClaimable},
		{"the end of a dependency against the fire of who waits for it", endAgainstWaiter, loadClaimable},
		{"the end of a dependency against the end of the wait", endAgainstExpire, loadEndsOnce},
		{"a tie that is cut against the end of the wait", deleteAgainstExpire, loadEndsOnce},
		{"a fire against a fire: each time once", fireAgainstFire, firedOnce},
		{"a fire against a backfill of the same time: each time once", fireAgainstBackfill, firedOnce},
		{"a plan against the schedule that takes its name", planAgainstPut, plannedOrRefused},
		{"a fire against a pause", fireAgainstSwitch, func(*story, rota.Result, rota.Result) {}},
		{"a fire against a change of the times", fireAgainstPut, func(*story, rota.Result, rota.Result) {}},
		{"a fire against the end of the one before: it is let go", fireAgainstEnd, waitingClaimable},
		{"a trigger against a trigger: one is skipped", triggerAgainstTrigger, oneClaimable},
		{"an archive against an enqueue", archiveAgainstEnqueue, noScheduleEnabled},
		{"an archive against a fire", archiveAgainstFire, noScheduleEnabled},
		{"an archive against a new schedule", archiveAgainstPut, noScheduleEnabled},
		{"two ties that together make a cycle: one is refused", cycleAgainstCycle, oneRefused},
		{"a tie against the delete of what it ties to", dependAgainstDelete, dependencyRemoved},
		{"two scopes of an AT schedule that end at once: it ends", endsAtOnce, onceHasEnded},
		{"two puts of one version: one is refused", putAgainstPut, oneRefused},
	}
}

// lastDependencies has two jobs running that a third waits for.
func lastDependencies(y *story) (a, b rota.Command) {
	y.declare("a", rota.ScheduleSpec{})
	y.declare("b", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{DependsOn: []string{"a", "b"}})
	y.fireNext("a")
	y.fireNext("b")
	y.fireNext("load")
	jobs := y.claim(2)
	return y.finishCommand(jobs[0], rota.OutcomeCompleted, false), y.finishCommand(jobs[1], rota.OutcomeCompleted, false)
}

func loadClaimable(y *story, _, _ rota.Result) {
	y.Helper()
	jobs := y.claim(5)
	want(y, "let go", joinNames(jobs, func(j *rota.Job) string { return j.Schedule }), "load")
}

func endAgainstWaiter(y *story) (a, b rota.Command) {
	y.declareExtractLoad()
	y.fireNext("extract")
	return y.finishCommand(y.claimOne(), rota.OutcomeCompleted, false), y.fireCommand("load")
}

func endAgainstExpire(y *story) (a, b rota.Command) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	j := y.claimOne()
	y.advanceTo(load.WaitUntil)
	return y.finishCommand(j, rota.OutcomeCompleted, false), &rota.Expire{Meta: y.ids.meta()}
}

func deleteAgainstExpire(y *story) (a, b rota.Command) {
	y.declareExtractLoad()
	_, load := y.fireExtractLoad()
	y.advanceTo(load.WaitUntil)
	return &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "extract"}, &rota.Expire{Meta: y.ids.meta()}
}

// loadEndsOnce wants the job that waited to be either skipped or ready.
func loadEndsOnce(y *story, _, expired rota.Result) {
	y.Helper()
	jobs, err := y.s.Jobs(y.ctx, rota.JobQuery{Schedule: "load"})
	must(y, "jobs", jobs, err)
	skipped := len(expired.Reply.(*rota.Expired).Skipped) == 1
	state := map[bool]rota.State{true: rota.StateSkipped, false: rota.StateQueued}[skipped]
	want(y, "state", jobs[0].State(), state)
}

func fireAgainstFire(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.fireCommand("nightly"), y.fireCommand("nightly")
}

func fireAgainstBackfill(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.fireCommand("nightly"), y.backfillCommand("nightly", y.now, y.now)
}

// firedOnce wants the one time to have one job.
func firedOnce(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "jobs", len(y.allJobs()), 1)
}

func planAgainstPut(y *story) (a, b rota.Command) {
	y.declareTemplate("report", rota.TemplateSpec{})
	return y.declareCommand("nightly", rota.ScheduleSpec{}), y.enqueueCommand(rota.NewJob{Name: "nightly", PlanTime: y.now})
}

func plannedOrRefused(y *story, _, planned rota.Result) {
	y.Helper()
	want(y, "jobs", len(y.allJobs()), count(planned.Err == nil))
}

func fireAgainstSwitch(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.fireCommand("nightly"), y.switchCommand("nightly", rota.ScheduleDisabled, time.Time{})
}

func fireAgainstPut(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return y.fireCommand("nightly"), y.declareCommand("nightly", rota.ScheduleSpec{Every: time.Minute})
}

func fireAgainstEnd(y *story) (a, b rota.Command) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel})
	y.fireNext("nightly")
	j := y.claimOne()
	y.advanceTo(y.schedule("nightly").NextFire)
	return y.finishCommand(j, rota.OutcomeCompleted, false), y.fireCommand("nightly")
}

func waitingClaimable(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "claimed", len(y.claim(5)), 1)
}

func triggerAgainstTrigger(y *story) (a, b rota.Command) {
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip})
	return &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
}

func oneClaimable(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "claimed", len(y.claim(5)), 1)
}

func archiveAgainstEnqueue(y *story) (a, b rota.Command) {
	y.declareTemplate("report", rota.TemplateSpec{})
	enqueue := &rota.Enqueue{Meta: y.ids.meta(), Jobs: []rota.NewJob{{Template: "report"}}}
	return &rota.Archive{Meta: y.ids.meta(), Name: "report"}, enqueue
}

func archiveAgainstFire(y *story) (a, b rota.Command) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	return &rota.Archive{Meta: y.ids.meta(), Name: "report"}, y.fireCommand("nightly")
}

func archiveAgainstPut(y *story) (a, b rota.Command) {
	y.declareTemplate("report", rota.TemplateSpec{})
	return &rota.Archive{Meta: y.ids.meta(), Name: "report"}, y.declareCommand("nightly", rota.ScheduleSpec{})
}

// noScheduleEnabled wants no schedule to fire from an archived template.
func noScheduleEnabled(y *story, archived, _ rota.Result) {
	y.Helper()
	want(y, "refused", archived.Err, nil)
	on, err := y.s.Schedules(y.ctx, rota.ScheduleQuery{State: rota.ScheduleEnabled})
	want(y, "schedules left enabled", len(must(y, "schedules", on, err)), 0)
}

func cycleAgainstCycle(y *story) (a, b rota.Command) {
	y.declare("a", rota.ScheduleSpec{})
	y.declare("b", rota.ScheduleSpec{})
	return y.declareCommand("a", rota.ScheduleSpec{DependsOn: []string{"b"}}), y.declareCommand("b", rota.ScheduleSpec{DependsOn: []string{"a"}})
}

func dependAgainstDelete(y *story) (a, b rota.Command) {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("load", rota.ScheduleSpec{})
	tie := y.declareCommand("load", rota.ScheduleSpec{DependsOn: []string{"extract"}})
	return tie, &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "extract"}
}

func dependencyRemoved(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "depends on", len(y.schedule("load").Spec.DependsOn), 0)
}

func endsAtOnce(y *story) (a, b rota.Command) {
	y.declareOnce(rota.ScheduleSpec{Scopes: tenants})
	y.advance(time.Hour)
	y.fire("once")
	jobs := y.claim(2)
	return y.finishCommand(jobs[0], rota.OutcomeCompleted, false), y.finishCommand(jobs[1], rota.OutcomeCompleted, false)
}

func onceHasEnded(y *story, _, _ rota.Result) {
	y.Helper()
	y.wantHasRun()
}

func putAgainstPut(y *story) (a, b rota.Command) {
	version := y.declareTemplate("report", rota.TemplateSpec{}).Version
	put := func(description string) rota.Command {
		c := y.templateCommand("report", rota.TemplateSpec{Description: description})
		c.Version = &version
		return c
	}
	return put("one"), put("two")
}
