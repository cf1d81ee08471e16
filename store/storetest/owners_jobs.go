package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func ownerOfJobs(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	y.define("nightly", rota.ScheduleSpec{})
	jobs := map[string]*rota.Job{
		"fired":                   y.fireNext("nightly"),
		"enqueued":                y.enqueue(rota.NewJob{Template: "letter"}),
		"triggered":               do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}).Jobs[0],
		"enqueued with its group": y.enqueueGroup(rota.GroupParallel, "", rota.NewJob{Template: "letter"}).Jobs[0],
		"run directly":            do[*rota.Directed](y, y.directCommand(y.reserve(), rota.NewJob{Template: "letter"})).Job,
	}
	y.advance(3 * time.Hour)
	jobs["backfilled"] = do[*rota.Backfilled](y, y.backfillCommand("nightly", y.now.Add(-90*time.Minute), y.now)).Jobs[0]
	for how, j := range jobs {
		want(y, "owner of the job that was "+how, j.Owner, rota.AdminUser)
		want(y, "stored owner of the job that was "+how, y.job(j.ID).Owner, rota.AdminUser)
		want(y, "user that the job runs for that was "+how, j.RunsFor(), rota.AdminUser)
	}
	y.wantNoViolations()
}

// scheduleAs declares a schedule as a user.
func (y *story) scheduleAs(actor, name string, spec rota.ScheduleSpec) {
	y.Helper()
	c := y.declareCommand(name, spec)
	c.Actor = actor
	do[*rota.SchedulePut](y, c)
}

// templateAs declares a template as a user.
func (y *story) templateAs(actor, name string) {
	y.Helper()
	c := y.templateCommand(name, rota.TemplateSpec{})
	c.Actor = actor
	do[*rota.TemplatePut](y, c)
}

func ownerOfTemplate(y *story) {
	y.user("alice")
	y.user("bob")
	y.templateAs("alice", "letter")
	do[*rota.Granted](y, y.grant("letter", rota.ExecuteJob, "bob"))
	y.scheduleAs("bob", "weekly", rota.ScheduleSpec{Template: "letter"})
	jobs := map[string]*rota.Job{
		"fired":     y.fireNext("weekly"),
		"triggered": do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: "weekly"}).Jobs[0],
	}
	y.advance(3 * time.Hour)
	jobs["backfilled"] = do[*rota.Backfilled](y, y.backfillCommand("weekly", y.now.Add(-90*time.Minute), y.now)).Jobs[0]
	for how, j := range jobs {
		want(y, "owner of the job that was "+how, j.Owner, "alice")
	}
	want(y, "owner of the schedule", y.schedule("weekly").Owner, "bob")
	y.wantNoViolations()
}

func ownerOfNewTemplate(y *story) {
	y.user("bob")
	y.define("nightly", rota.ScheduleSpec{})
	y.templateAs("bob", "letter")
	want(y, "owner before", y.fireNext("nightly").Owner, rota.AdminUser)
	y.scheduleAs("bob", "nightly", rota.ScheduleSpec{Template: "letter"})
	want(y, "owner of the schedule", y.schedule("nightly").Owner, rota.AdminUser)
	want(y, "owner after", y.fireNext("nightly").Owner, "bob")
}

func ownerOfAdHoc(y *story) {
	j := y.enqueue(rota.NewJob{})
	want(y, "owner", j.Owner, "")
	want(y, "runs for", j.RunsFor(), "ada")
	want(y, "runs for when claimed", y.claimOne().RunsFor(), "ada")
	c := y.enqueueCommand(rota.NewJob{})
	c.Actor = ""
	want(y, "job of Rota runs for", do[*rota.Enqueued](y, c).Jobs[0].Job.RunsFor(), rota.AdminUser)
}

func ownerOfRetries(y *story) {
	y.declareTemplate("letter", rota.TemplateSpec{})
	first := y.enqueue(rota.NewJob{Template: "letter"})
	y.mustFinish(y.claimOne(), rota.FinishItem{Outcome: rota.OutcomeFailed, RetryAt: y.now})
	y.advance(time.Second)
	y.makeReady()
	retry := y.claimOne()
	want(y, "retry of", retry.RetryOf, first.ID)
	want(y, "owner of the retry", retry.Owner, rota.AdminUser)
	y.failPermanently(retry)
	y.advance(time.Second)
	redriven := do[*rota.Redriven](y, y.redriveCommand(first.ID)).Job
	want(y, "owner of the redrive", redriven.Owner, rota.AdminUser)
	y.complete(y.claimOne())
	y.advance(time.Second)
	want(y, "owner of the repetition", y.runAgain(redriven.ID).Owner, rota.AdminUser)
}

func ownerOfRedrive(y *story) {
	first := y.enqueue(rota.NewJob{})
	id := first.ID
	for _, actor := range []string{"bob", "", rota.AdminUser, "ada"} { // each redrives what the one before has redriven
		y.failPermanently(y.claimOne())
		y.advance(time.Second)
		c := y.redriveCommand(id)
		c.Actor = actor
		j := do[*rota.Redriven](y, c).Job
		want(y, "creator of the redrive by "+actor, j.CreatedBy, actor)
		want(y, "user that the redrive by "+actor+" runs for", j.RunsFor(), first.CreatedBy)
		id = j.ID
	}
	y.complete(y.claimOne())
	y.advance(time.Second)
	again := y.runAgainCommand(id)
	again.Actor = "bob"
	want(y, "user that the repetition runs for", do[*rota.Redriven](y, again).Job.RunsFor(), first.CreatedBy)
	y.wantNoViolations()
}
