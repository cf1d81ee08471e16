package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDryRun(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a dry run answers as usual and writes nothing", dryRunAnswers},
		{"a dry run is refused as usual", dryRunRefused},
		{"a command sent again without dry is applied", dryRunThenApplied},
		{"a dry run publishes no events and creates no deliveries", dryRunNoEvents},
		{"a dry run does not affect the other commands of its batch", dryRunInBatch},
	})
}

func (y *story) dryRunOf(members ...rota.Command) *rota.All {
	c := y.allOf(members...)
	c.Dry = true
	return c
}

func dryRunAnswers(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.claimOne()
	y.advance(time.Second)
	before := y.dump()
	c := y.dryRunOf(y.enqueueCommand(rota.NewJob{UniqueKey: "k"}), y.enqueueCommand(rota.NewJob{UniqueKey: "k"}),
		&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, y.dropCommand("nightly"))
	for range 2 { // sent again, it answers from the rows, which are the same
		replies := do[*rota.AllDone](y, c).Replies
		want(y, "duplicate of the first", replies[1].(*rota.Enqueued).Jobs[0].Duplicate, true)
		want(y, "triggered", len(replies[2].(*rota.Triggered).Jobs), 1)
		want(y, "dropped", *replies[3].(*rota.Dropped), rota.Dropped{Cancelled: 1, Stopping: 1, Archived: true})
		y.wantUnchanged(before)
	}
	y.wantNoViolations()
}

func dryRunRefused(y *story) {
	before := y.dump()
	y.wantField(rota.NotFound, "members[1].name", y.dryRunOf(
		y.typeCommand("mail", rota.TypeSpec{}), &rota.SwitchType{Meta: y.ids.meta(), Name: "missing", Paused: true}))
	y.wantUnchanged(before)
}

func dryRunThenApplied(y *story) {
	c := y.dryRunOf(y.templateCommand("report", rota.TemplateSpec{}))
	want(y, "changed", do[*rota.AllDone](y, c).Replies[0].(*rota.TemplatePut).Changed, true)
	_, err := y.s.Template(y.ctx, "report")
	y.wantNotFound("template", err)
	c.Dry = false
	want(y, "changed", do[*rota.AllDone](y, c).Replies[0].(*rota.TemplatePut).Changed, true)
	want(y, "template", y.template("report").Version, c.Members[0].Head().ID)
}

func dryRunNoEvents(y *story) {
	y.putWebhooks(hook("a"))
	events := y.eventsDuring(func() {
		do[*rota.AllDone](y, y.dryRunOf(y.enqueueCommand(rota.NewJob{})))
	})
	want(y, "events", len(events), 0)
	want(y, "deliveries", len(y.deliveries()), 0)
}

func dryRunInBatch(y *story) {
	one := y.enqueueCommand(rota.NewJob{})
	dry := y.dryRunOf(y.cancelCommand(one.JobID(0)))
	two := y.enqueueCommand(rota.NewJob{})
	for _, r := range y.send(one, dry, two) {
		if r.Err != nil {
			y.Fatal(r.Err)
		}
	}
	want(y, "queued", len(y.queue()), 2)
}
