package storetest

import (
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testDry(t *testing.T, h Harness) {
	tellAll(t, h, []tale{
		{"a dry all answers as ever and writes nothing", dryAnswers},
		{"a dry all is refused as ever", dryRefused},
		{"a dry all that is sent in earnest is done then", dryThenDone},
		{"a dry all tells nobody", drySilent},
		{"a dry all leaves its neighbours in a batch alone", dryNeighbours},
	})
}

func (y *story) dryOf(members ...rota.Command) *rota.All {
	c := y.allOf(members...)
	c.Dry = true
	return c
}

func dryAnswers(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.fireNext("nightly")
	y.claimOne()
	y.pass(time.Second)
	before := y.dump()
	c := y.dryOf(y.enqueueCommand(rota.NewJob{UniqueKey: "k"}), y.enqueueCommand(rota.NewJob{UniqueKey: "k"}),
		&rota.Trigger{Meta: y.mint.meta(), Schedule: "nightly"}, y.dropCommand("nightly"))
	for range 2 { // sent again it answers by what is there, which is the same
		replies := do[*rota.AllDone](y, c).Replies
		want(y, "duplicate of the first", replies[1].(*rota.Enqueued).Jobs[0].Duplicate, true)
		want(y, "triggered", len(replies[2].(*rota.Triggered).Jobs), 1)
		want(y, "dropped", *replies[3].(*rota.Dropped), rota.Dropped{Cancelled: 1, Stopping: 1, Archived: true})
		y.unchanged(before)
	}
	y.sound()
}

func dryRefused(y *story) {
	before := y.dump()
	y.wantField(rota.NotFound, "members[1].name", y.dryOf(
		y.typeCommand("mail", rota.TypeSpec{}), &rota.SwitchType{Meta: y.mint.meta(), Name: "missing", Paused: true}))
	y.unchanged(before)
}

func dryThenDone(y *story) {
	c := y.dryOf(y.templateCommand("report", rota.TemplateSpec{}))
	want(y, "changed", do[*rota.AllDone](y, c).Replies[0].(*rota.TemplatePut).Changed, true)
	_, err := y.s.Template(y.ctx, "report")
	y.gone("template", err)
	c.Dry = false
	want(y, "changed", do[*rota.AllDone](y, c).Replies[0].(*rota.TemplatePut).Changed, true)
	want(y, "template", y.template("report").Version, c.Members[0].Head().ID)
}

func drySilent(y *story) {
	y.putWebhooks(hook("a"))
	heard := y.hear(func() {
		do[*rota.AllDone](y, y.dryOf(y.enqueueCommand(rota.NewJob{})))
	})
	want(y, "events", len(heard), 0)
	want(y, "deliveries", len(y.deliveries()), 0)
}

func dryNeighbours(y *story) {
	one := y.enqueueCommand(rota.NewJob{})
	dry := y.dryOf(y.cancelCommand(one.JobID(0)))
	two := y.enqueueCommand(rota.NewJob{})
	for _, r := range y.send(one, dry, two) {
		if r.Err != nil {
			y.Fatal(r.Err)
		}
	}
	want(y, "queued", len(y.queue()), 2)
}
