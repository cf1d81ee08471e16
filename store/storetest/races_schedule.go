package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func scheduleRaces() []race {
	return []race{
		{"the last two dependencies complete concurrently: the job is released", lastDependencies, loadClaimable},
		{"the end of a dependency against the fire of its dependent: the job is released", endAgainstWaiter, loadClaimable},
		{"the end of a dependency against the end of the wait: the job is skipped or released", endAgainstExpire, loadEndsOnce},
		{"the delete of a dependency against the end of the wait: the job is skipped or released", deleteAgainstExpire, loadEndsOnce},
		{"a fire against a fire: each time is fired once", fireAgainstFire, firedOnce},
		{"a fire against a backfill of the same time: the time is fired once", fireAgainstBackfill, firedOnce},
		{"a planned enqueue against a new schedule of its name", planAgainstPut, plannedOrRefused},
		{"a fire against a pause", fireAgainstSwitch, func(*story, rota.Result, rota.Result) {}},
		{"a fire against a change of the times", fireAgainstPut, func(*story, rota.Result, rota.Result) {}},
		{"a fire against the end of the earlier execution: the job is released", fireAgainstEnd, waitingClaimable},
		{"a trigger against a trigger: one is skipped", triggerAgainstTrigger, oneClaimable},
		{"an archive against an enqueue: no schedule is enabled", archiveAgainstEnqueue, noScheduleEnabled},
		{"an archive against a fire: no schedule is enabled", archiveAgainstFire, noScheduleEnabled},
		{"an archive against a new schedule: no schedule is enabled", archiveAgainstPut, noScheduleEnabled},
		{"two dependencies that form a cycle: one is refused", cycleAgainstCycle, oneRefused},
		{"a new dependency against the delete of its schedule: no dependency is left", dependAgainstDelete, dependencyRemoved},
		{"two scopes of an AT schedule end concurrently: the schedule ends", endsAtOnce, onceHasEnded},
		{"two puts of one version: one is refused", putAgainstPut, oneRefused},
	}
}

// lastDependencies has two running jobs that a third depends on.
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
	want(y, "claimable", joinNames(jobs, func(j *rota.Job) string { return j.Schedule }), "load")
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

// loadEndsOnce wants the waiting job to be either skipped or ready.
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

// firedOnce wants one job for the time.
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

// noScheduleEnabled wants no schedule of an archived template to stay enabled.
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
