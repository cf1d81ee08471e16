package storetest

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

// silentVerbs lists the commands that may change rows and publish no event, with the reason.
var silentVerbs = map[rota.Verb]string{
	rota.VerbExtend:    "a heartbeat changes nothing that people see",
	rota.VerbNote:      "progress is read where it is shown",
	rota.VerbNormalise: "the order stays the same",
	rota.VerbRemember:  "it records the key of a request",

	rota.VerbTouchTokens:   "a use of a token changes no right",
	rota.VerbRecordAccess:  "it records what happened elsewhere in the audit",
	rota.VerbRewrapSecrets: "the values stay; the promotion of the key has published its event",
	rota.VerbSweep:         "it completes another command, which has published its events; jobs that it ends have their own",
}

// testEveryCommandPublishes sends each command to rows that it changes. A command without an event
// must be in silentVerbs, and a verb that no command of the table has fails, too.
func testEveryCommandPublishes(t *testing.T, h Harness) {
	seen := map[rota.Verb]bool{}
	for _, one := range resendCommands() {
		t.Run(one.name+" publishes its events and deliveries, and none when it is sent again", func(t *testing.T) {
			y := newStory(t, h)
			y.putWebhooks(hook("a"))
			c := one.command(y)
			seen[c.Verb()] = true
			var results []rota.Result
			got := y.eventsDuring(func() { results = y.send(c) })
			_, silent := silentVerbs[c.Verb()]
			if !silent && results[0].Err == nil && len(got) == 0 {
				y.Errorf("%s has changed rows and published no event", c.Verb())
			}
			deliveries := len(y.deliveries())
			y.advance(time.Second)
			y.wantEvents(func() { y.send(c) })
			want(y, "deliveries", len(y.deliveries()), deliveries)
		})
	}
	for _, c := range samples.Commands() {
		if _, silent := silentVerbs[c.Verb()]; !silent && !seen[c.Verb()] {
			t.Errorf("no command of the table is a %s; add one to resendCommands, so that its events are checked", c.Verb())
		}
	}
}

// changeStories are the stories of the events of changes that people make.
func changeStories() []namedStory {
	return []namedStory{
		{"an edit or a move publishes job.changed with the names of the fields", eventEdited},
		{"a delayed job publishes job.changed when its delay is over", eventReadied},
		{"a changed definition publishes what changed, and never a value", eventDefinitions},
		{"removed history publishes history.pruned", eventPruned},
		{"a webhook receives changes only if it names them, and the change of webhooks once", eventChangeDelivered},
	}
}

// wantChangeEvents wants these changes while act runs, each as kind, name and detail.
func (y *story) wantChangeEvents(act func(), changes ...string) {
	y.Helper()
	var got []string
	for _, e := range y.eventsDuring(act) {
		if !slices.Contains([]rota.EventKind{rota.EventJobEnqueued, rota.EventJobCancelled}, e.Kind) {
			got = append(got, string(e.Kind)+" "+e.Name+": "+e.Detail)
		}
		want(y, "time of "+string(e.Kind), e.At, y.now)
	}
	if !slices.Equal(got, changes) {
		y.Errorf("the events are\n%q, want\n%q", got, changes)
	}
}

func eventEdited(y *story) {
	jobs := y.enqueueMany(3)
	changed := func(j *rota.Job, detail string) rota.Event {
		e := jobEvent(rota.EventJobChanged, j)
		e.Detail = detail
		return e
	}
	y.wantEvents(func() { y.edit(jobs[0].ID, func(c *rota.Edit) { c.Params = json.RawMessage(`{"secret":"s"}`) }) }, changed(jobs[0], "params"))
	y.wantEvents(func() { y.edit(jobs[0].ID, func(c *rota.Edit) { c.Priority = ptr(7) }) }, changed(jobs[0], "priority"))
	y.wantEvents(func() { y.edit(jobs[0].ID, func(c *rota.Edit) { c.Priority = ptr(7) }) })
	y.wantEvents(func() { y.edit(jobs[1].ID, func(c *rota.Edit) { c.Delay = ptr(time.Hour) }) }, changed(jobs[1], "run_at"))
	y.wantEvents(func() { y.move(jobs[2], rota.PlaceBefore, jobs[0]) }, changed(jobs[2], "position, priority"))
	y.wantKinds(y.eventsDuring(func() {
		c := y.enqueueCommand(rota.NewJob{ID: y.ids.next()})
		y.send(y.allOf(c, y.editCommand(c.Jobs[0].ID, func(e *rota.Edit) { e.Priority = ptr(9) })), y.claimCommand(1))
	}), rota.EventJobEnqueued, rota.EventJobChanged, rota.EventJobStarted)
}

func eventReadied(y *story) {
	j := y.enqueue(rota.NewJob{Delay: time.Minute})
	y.advance(time.Minute)
	due := jobEvent(rota.EventJobChanged, j)
	due.Detail = "due"
	y.wantEvents(func() { y.send(&rota.Ready{Meta: y.ids.meta()}) }, due)
}

func eventDefinitions(y *story) {
	spec := rota.TypeSpec{}
	y.wantChangeEvents(func() { y.declareType("mail", spec) }, "type.changed mail: created")
	spec.Schema = json.RawMessage(`{"type":"object"}`)
	y.wantChangeEvents(func() { y.declareType("mail", spec) }, "type.changed mail: schema")
	y.wantChangeEvents(func() { y.declareType(rota.TypeWebhook, spec) }) // users do not see internal types
	y.wantChangeEvents(func() { y.pause("mail", true) }, "type.changed mail: paused")
	y.wantChangeEvents(func() { y.pause("mail", false) }, "type.changed mail: resumed")
	y.wantChangeEvents(func() { y.pause("mail", false) })
	y.wantChangeEvents(func() { y.declareTemplate("report", rota.TemplateSpec{}) }, "template.changed report: created")
	y.wantChangeEvents(func() { y.declare("nightly", rota.ScheduleSpec{Every: time.Hour}) }, "schedule.changed nightly: created")
	y.wantChangeEvents(func() { y.declare("nightly", rota.ScheduleSpec{Every: 2 * time.Hour}) }, "schedule.changed nightly: every")
	y.wantChangeEvents(func() {
		y.declareTemplate("report", rota.TemplateSpec{Params: json.RawMessage(`{"password":"p"}`)})
	}, "schedule.changed nightly: template.params", "template.changed report: params")
	y.wantChangeEvents(func() { y.switchTo("nightly", rota.SchedulePaused) }, "schedule.changed nightly: state")
	y.wantChangeEvents(func() { y.throttle(keyLimit("db", 2)) }, "limits.changed : keys")
	y.wantChangeEvents(func() { y.putWebhooks(hook("a")) }, "webhooks.changed : webhooks")
	y.wantChangeEvents(func() {
		do[*rota.ScheduleDeleted](y, &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly"})
	}, "schedule.deleted nightly: ")
	y.wantChangeEvents(func() { y.archive("report") }, "template.changed report: archived")
	y.wantChangeEvents(func() { y.unarchive("report") }, "template.changed report: unarchived")
}

func eventPruned(y *story) {
	j := y.running(rota.NewJob{})
	y.complete(j)
	y.advance(time.Second)
	y.wantChangeEvents(func() { y.prune(j.ExecutionID) }, "history.pruned : 1 jobs")
	y.wantChangeEvents(func() { y.prune(j.ExecutionID) })
}

func eventChangeDelivered(y *story) {
	y.putWebhooks(hook("all"))
	y.throttle(keyLimit("db", 2))
	want(y, "deliveries to a webhook that names no events", len(y.deliveries()), 0)
	y.putWebhooks(hook("named", rota.EventLimitsChanged, rota.EventWebhooksChanged, rota.EventTypeChanged))
	y.throttle(keyLimit("db", 3))
	y.declareType("mail", rota.TypeSpec{})
	var got []string
	for _, j := range y.deliveries() {
		d := y.parseDelivery(j)
		got = append(got, string(d.Event)+" "+d.Name+": "+d.Detail)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"limits.changed : keys", "type.changed mail: created", "webhooks.changed : webhooks"}) {
		y.Errorf("the deliveries are %q", got)
	}
}
