package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// resendDefinitionCommands returns the commands about types, templates, schedules, groups,
// limits, reservations and maintenance, each with rows that it changes.
func resendDefinitionCommands() []repeatedCommand {
	nightly := func(y *story) { y.declare("nightly", rota.ScheduleSpec{}) }
	return []repeatedCommand{
		{"put type", func(y *story) rota.Command { return y.typeCommand("mail", typeSpec) }, true},
		{"put type to create", func(y *story) rota.Command {
			c := y.typeCommand("mail", typeSpec)
			c.Mode = rota.PutCreate
			return c
		}, true},
		{"switch type", func(y *story) rota.Command {
			y.declareType("mail", typeSpec)
			return &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true}
		}, true},
		{"put template", func(y *story) rota.Command { return y.templateCommand("letter", templateSpec) }, true},
		{"archive", func(y *story) rota.Command {
			nightly(y)
			return &rota.Archive{Meta: y.ids.meta(), Name: "report"}
		}, true},
		{"unarchive", func(y *story) rota.Command {
			nightly(y)
			y.archive("report")
			return &rota.Unarchive{Meta: y.ids.meta(), Name: "report"}
		}, true},
		{"put throttle", func(y *story) rota.Command {
			y.enqueueLimited(1, 2)
			return &rota.PutThrottle{Meta: y.ids.meta(), Spec: keyLimit("db", 2)}
		}, true},
		{"put webhooks", func(y *story) rota.Command {
			y.putWebhooks(hook("a"))
			return y.webhooksCommand(hook("b"))
		}, true},
		{"put schedule", func(y *story) rota.Command {
			y.declareTemplate("report", rota.TemplateSpec{})
			c := y.declareCommand("nightly", rota.ScheduleSpec{})
			c.Mode = rota.PutCreate
			return c
		}, true},
		{"switch schedule", func(y *story) rota.Command {
			nightly(y)
			return y.switchCommand("nightly", rota.ScheduleDisabled, time.Time{})
		}, true},
		{"delete schedule", func(y *story) rota.Command {
			nightly(y)
			return &rota.DeleteSchedule{Meta: y.ids.meta(), Name: "nightly", Version: new(y.schedule("nightly").Version)}
		}, true},
		{"drop", func(y *story) rota.Command {
			y.define("nightly", rota.ScheduleSpec{})
			y.fireNext("nightly")
			y.claimOne()
			y.fireNext("nightly")
			return y.dropCommand("nightly")
		}, true},
		{"set owner", func(y *story) rota.Command {
			y.user("bob")
			y.define("nightly", rota.ScheduleSpec{})
			return y.setOwnerCommand("nightly", "bob")
		}, true},
		{"put template again as a new definition", func(y *story) rota.Command {
			y.declareTemplate("letter", templateSpec)
			y.advance(time.Second)
			c := y.templateCommand("letter", templateSpec)
			c.Recreate = true
			return c
		}, true},
		{"fire", resendFire, false},
		{"fire of a gap", resendFireGap, false},
		{"trigger", func(y *story) rota.Command {
			y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapSkip, Scopes: tenants})
			y.triggerTwoScopes("nightly")
			return &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
		}, false},
		{"backfill", func(y *story) rota.Command {
			nightly(y)
			y.advance(3 * time.Hour)
			return y.backfillCommand("nightly", startTime, y.now)
		}, false},
		{"enqueue group", func(y *story) rota.Command {
			return y.groupCommand(rota.GroupSequential, rota.FailureStop, rota.NewJob{}, keyed, rota.NewJob{Delay: time.Hour})
		}, false},
		{"cancel group", func(y *story) rota.Command {
			id, _ := y.groupOfThree(rota.GroupParallel, "")
			y.claimOne()
			return &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id}
		}, true},
		{"reserve", func(y *story) rota.Command { return y.reserveCommand() }, false},
		{"direct", func(y *story) rota.Command { return y.directCommand(y.reserve(), rota.NewJob{}) }, false},
		{"release", func(y *story) rota.Command {
			return &rota.Release{Meta: y.ids.meta(), ReservationID: y.reserve().ID}
		}, false},
		{"expire", func(y *story) rota.Command {
			y.declareExtractLoad()
			y.fireExtractLoad()
			y.reserve()
			y.advance(2 * time.Hour)
			return &rota.Expire{Meta: y.ids.meta()}
		}, true},
		{"sweep", func(y *story) rota.Command {
			y.enqueueLimited(1, 3)
			y.throttle(keyLimit("db", 2))
			return &rota.Sweep{Meta: y.ids.meta()}
		}, true},
		{"prune", func(y *story) rota.Command {
			done, _, _, dead := y.endInEachWay()
			return &rota.Prune{Meta: y.ids.meta(), Executions: []rota.ID{done.ID, dead.ID}}
		}, true},
		{"redrive", func(y *story) rota.Command {
			_, _, _, dead := y.endInEachWay()
			return y.redriveCommand(dead.ID)
		}, false},
		{"run again", func(y *story) rota.Command {
			done, _, _, _ := y.endInEachWay()
			c := y.runAgainCommand(done.ID)
			c.Params = []byte(`{"a":1}`)
			return c
		}, false},
		{"remember", func(y *story) rota.Command { return y.rememberCommand("k", "a") }, false},
	}
}

// triggerTwoScopes triggers a schedule of two scopes and completes the job of one.
func (y *story) triggerTwoScopes(name string) {
	y.Helper()
	do[*rota.Triggered](y, &rota.Trigger{Meta: y.ids.meta(), Schedule: name})
	y.complete(y.claimOne())
}

func resendFire(y *story) rota.Command {
	y.declare("extract", rota.ScheduleSpec{})
	y.declare("nightly", rota.ScheduleSpec{Overlap: rota.OverlapCancel, Scopes: tenants, DependsOn: []string{"extract"}})
	y.triggerTwoScopes("nightly")
	y.advance(time.Hour)
	return y.fireCommand("nightly")
}

func resendFireGap(y *story) rota.Command {
	y.declare("nightly", rota.ScheduleSpec{CatchUp: rota.CatchUpAll, Overlap: rota.OverlapSkip})
	y.advance(4*time.Hour + 2*time.Minute)
	return y.fireCommand("nightly")
}

// lateDefinitionStories sends commands again after other commands have changed the same rows.
// The later changes must stay.
func lateDefinitionStories() []namedStory {
	return []namedStory{
		{"a put sent again does not undo a later put", latePut},
		{"a switch sent again does not undo a later switch", lateSwitch},
		{"an archive sent again does not undo an unarchive", lateArchive},
		{"a put of limits sent again does not undo a later put", lateThrottle},
		{"a put of webhooks sent again does not undo a later put", lateWebhooks},
		{"a put sent again does not recreate a deleted schedule", lateDeleted},
		{"a trigger sent again after its jobs were pruned creates no jobs", lateTrigger},
		{"a backfill sent again after its jobs were pruned creates no jobs", lateBackfill},
		{"a trigger sent again is answered with its jobs even if the template is archived", lateTriggerArchived},
		{"a fire sent again after the schedule was deleted reports it as moved", lateFire},
		{"a group sent again is answered with the members that are left", lateGroup},
		{"a cancel of a group sent again after its end is answered as before", lateCancelGroup},
		{"a put of a principal sent again does not undo a later put, and creates none that was dropped", latePrincipal},
		{"a grant sent again does not undo a revocation", lateGrant},
		{"a reserve sent again is answered with the reservation as it is", lateReserve},
	}
}

// resendUnchanged sends a command again and wants it to change nothing.
func (y *story) resendUnchanged(c rota.Command) rota.Result {
	y.Helper()
	y.advance(time.Second)
	before := y.dump()
	r := y.send(c)[0]
	y.wantUnchanged(before)
	if r.Err != nil {
		y.Errorf("%s sent again was refused: %v", c.Verb(), r.Err)
	}
	return r
}

func latePut(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	for _, pair := range [][2]rota.Command{
		{y.typeCommand("mail", typeSpec), y.typeCommand("mail", rota.TypeSpec{})},
		{y.templateCommand("letter", templateSpec), y.templateCommand("letter", rota.TemplateSpec{})},
		{y.declareCommand("nightly", rota.ScheduleSpec{}), y.declareCommand("nightly", rota.ScheduleSpec{Every: time.Minute})},
	} {
		for _, r := range append(y.send(pair[0]), y.send(pair[1])...) {
			if r.Err != nil {
				y.Fatal(r.Err)
			}
		}
		y.resendUnchanged(pair[0])
	}
}

func lateSwitch(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	off := y.switchCommand("nightly", rota.SchedulePaused, time.Time{})
	do[*rota.SchedulePut](y, off)
	y.switchTo("nightly", rota.ScheduleEnabled)
	want(y, "state", y.resendUnchanged(off).Reply.(*rota.SchedulePut).Schedule.State, rota.ScheduleEnabled)
	y.declareType("mail", typeSpec)
	pause := &rota.SwitchType{Meta: y.ids.meta(), Name: "mail", Paused: true}
	do[*rota.TypePut](y, pause)
	y.pause("mail", false)
	y.resendUnchanged(pause)
}

func lateArchive(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	archive := &rota.Archive{Meta: y.ids.meta(), Name: "report"}
	do[*rota.TemplatePut](y, archive)
	unarchive := &rota.Unarchive{Meta: y.ids.meta(), Name: "report"}
	do[*rota.TemplatePut](y, unarchive)
	want(y, "state", y.resendUnchanged(archive).Reply.(*rota.TemplatePut).Template.State, rota.TemplateActive)
	y.archive("report")
	y.resendUnchanged(unarchive)
}

func lateThrottle(y *story) {
	c := &rota.PutThrottle{Meta: y.ids.meta(), Version: &rota.ID{}, Spec: rota.ThrottleSpec{Global: 1}}
	do[*rota.ThrottlePut](y, c)
	y.throttle(rota.ThrottleSpec{Global: 2})
	want(y, "global", y.resendUnchanged(c).Reply.(*rota.ThrottlePut).Throttle.Spec.Global, 2)
}

func lateWebhooks(y *story) {
	c := y.webhooksCommand(hook("a"))
	c.Version = &rota.ID{}
	do[*rota.WebhooksPut](y, c)
	y.putWebhooks(hook("b"))
	want(y, "address", y.resendUnchanged(c).Reply.(*rota.WebhooksPut).Webhooks.Spec[0].URL, hook("b").URL)
}

func lateDeleted(y *story) {
	y.declareTemplate("report", rota.TemplateSpec{})
	c := y.declareCommand("nightly", rota.ScheduleSpec{})
	do[*rota.SchedulePut](y, c)
	off := y.switchCommand("nightly", rota.SchedulePaused, time.Time{})
	do[*rota.SchedulePut](y, off)
	y.deleteSchedule("nightly")
	want(y, "schedule", y.resendUnchanged(c).Reply.(*rota.SchedulePut).Schedule, nil)
	y.wantNoSchedule("nightly")
	y.refused(rota.NotFound, off)
}

func lateTrigger(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	c := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	y.deleteAll(do[*rota.Triggered](y, c).Jobs[0].ID)
	want(y, "jobs", len(y.resendUnchanged(c).Reply.(*rota.Triggered).Jobs), 0)
}

func lateBackfill(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(3 * time.Hour)
	c := y.backfillCommand("nightly", startTime, y.now)
	for _, j := range do[*rota.Backfilled](y, c).Jobs {
		y.deleteAll(j.ID)
	}
	want(y, "jobs", len(y.resendUnchanged(c).Reply.(*rota.Backfilled).Jobs), 0)
}

func lateTriggerArchived(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Hour)
	trigger := &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}
	do[*rota.Triggered](y, trigger)
	fill := y.backfillCommand("nightly", startTime, y.now)
	do[*rota.Backfilled](y, fill)
	y.archive("report")
	want(y, "triggered", len(y.resendUnchanged(trigger).Reply.(*rota.Triggered).Jobs), 1)
	want(y, "backfilled", len(y.resendUnchanged(fill).Reply.(*rota.Backfilled).Jobs), 1)
}

func lateFire(y *story) {
	y.advanceTo(y.declare("nightly", rota.ScheduleSpec{}).NextFire)
	c := y.fireCommand("nightly")
	do[*rota.Fired](y, c)
	y.deleteSchedule("nightly")
	want(y, "moved", y.resendUnchanged(c).Reply.(*rota.Fired).ScheduleChanged, true)
}

func lateGroup(y *story) {
	c := y.groupCommand(rota.GroupParallel, "", keyed, rota.NewJob{}, rota.NewJob{})
	jobs := do[*rota.GroupEnqueued](y, c).Jobs
	y.deleteAll(jobs[1].ID)
	y.fail(y.claimOne())
	again := y.resendUnchanged(c).Reply.(*rota.GroupEnqueued)
	wantIDs(y, "its first attempts", idsOf(again.Jobs), jobs[0], jobs[2])
}

func lateCancelGroup(y *story) {
	id, _ := y.groupOfThree(rota.GroupParallel, "")
	running := y.claimOne()
	c := &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id}
	do[*rota.CancelledGroup](y, c)
	y.complete(running)
	y.resendUnchanged(c)
	other := &rota.CancelGroup{Meta: y.ids.meta(), GroupID: id}
	want(y, "done by another", do[*rota.CancelledGroup](y, other).Cancelled, 0)
}

func lateReserve(y *story) {
	c := y.reserveCommand()
	y.release(do[*rota.Reserved](y, c).Reservation)
	want(y, "status", y.resendUnchanged(c).Reply.(*rota.Reserved).Reservation.Status, rota.ReservationReleased)
	y.reserve()
	y.resendUnchanged(c)
}
