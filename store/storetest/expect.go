package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testExpect(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a command whose expectations hold is applied", expectMet},
		{"a command that expects an earlier definition is refused", expectEarlier},
		{"a command that expects another owner is refused", expectOtherOwner},
		{"a command that expects another version is refused", expectVersion},
		{"a command that expects a definition to be absent is refused if it exists", expectAbsent},
		{"a command that expects a definition is refused if it does not exist", expectPresent},
		{"an expectation that does not hold is reported before other reasons", expectFirst},
		{"a command that has nothing to change is answered although its expectation does not hold", expectNothingToDo},
		{"a refused command leaves the other commands of its batch alone", expectInBatch},
		{"expectations of an all are checked before its members", expectAll},
		{"expectations of a member are checked on what the members before it did", expectMember},
		{"a dry run is refused too if an expectation does not hold", expectDry},
		{"expectations have a kind, a name and a time", expectInvalid},
	})
}

// expectTemplate expects a template as it is now.
func (y *story) expectTemplate(name string) rota.Expectation {
	e := rota.Expectation{Kind: rota.ExpectTemplate, Name: name}
	if t, err := y.s.Template(y.ctx, name); err == nil {
		e.Owner, e.Since = t.Owner, t.Since
	}
	return e
}

// expectSchedule expects a schedule as it is now.
func (y *story) expectSchedule(name string) rota.Expectation {
	e := rota.Expectation{Kind: rota.ExpectSchedule, Name: name}
	if s, err := y.s.Schedule(y.ctx, name); err == nil {
		e.Owner, e.Since = s.Owner, s.Since
	}
	return e
}

// expecting adds expectations to a command.
func expecting(c rota.Command, expect ...rota.Expectation) rota.Command {
	c.Head().Expect = append(c.Head().Expect, expect...)
	return c
}

func (y *story) wantUnmet(c rota.Command, object string) {
	y.Helper()
	err := y.wantField(rota.Conflict, "expect", c)
	if !strings.Contains(err.Reason, object) {
		y.Errorf("the refusal %q does not name %s", err.Reason, object)
	}
}

func expectMet(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	c := expecting(&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"},
		y.expectTemplate("nightly"), y.expectSchedule("nightly"), y.expectSchedule("other"), y.expectTemplate("other"))
	want(y, "jobs", len(do[*rota.Triggered](y, c).Jobs), 1)
	job := expecting(y.enqueueCommand(rota.NewJob{}), y.expectTemplate("other"))
	want(y, "enqueued", len(do[*rota.Enqueued](y, job).Jobs), 1)
}

func expectEarlier(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	template, schedule := y.expectTemplate("nightly"), y.expectSchedule("nightly")
	y.advance(time.Microsecond)
	do[*rota.SchedulePut](y, y.recreateScheduleCommand("nightly", rota.ScheduleSpec{Template: "nightly"}))
	trigger := func() rota.Command { return &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"} }
	y.wantUnmet(expecting(trigger(), schedule), "schedule nightly")
	do[*rota.Triggered](y, expecting(trigger(), template))
	do[*rota.TemplatePut](y, y.recreateTemplateCommand("nightly", rota.TemplateSpec{}))
	y.wantUnmet(expecting(trigger(), template), "template nightly")
	y.wantUnmet(expecting(y.enqueueCommand(rota.NewJob{Template: "nightly"}), template), "template nightly")
}

func expectOtherOwner(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	e := y.expectSchedule("nightly")
	e.Owner = "ada"
	y.wantUnmet(expecting(y.dropCommand("nightly"), e), "schedule nightly")
}

func expectVersion(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	template, schedule := y.expectTemplate("nightly"), y.expectSchedule("nightly")
	template.Version, schedule.Version = y.template("nightly").Version, y.schedule("nightly").Version
	trigger := func() rota.Command { return &rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"} }
	do[*rota.Triggered](y, expecting(trigger(), template, schedule))
	do[*rota.TemplatePut](y, y.templateCommand("nightly", rota.TemplateSpec{Params: []byte(`{"n":2}`)}))
	y.wantUnmet(expecting(trigger(), template), "template nightly")
	do[*rota.SchedulePut](y, y.declareCommand("nightly", rota.ScheduleSpec{Template: "nightly", Params: []byte(`{"n":3}`)}))
	y.wantUnmet(expecting(trigger(), schedule), "schedule nightly")
	schedule.Version = rota.ID{}
	do[*rota.Triggered](y, expecting(trigger(), schedule))
}

func expectAbsent(y *story) {
	absent := y.expectSchedule("nightly")
	y.define("nightly", rota.ScheduleSpec{})
	c := y.declareCommand("nightly", rota.ScheduleSpec{Template: "nightly", Description: "new"})
	y.wantUnmet(expecting(c, absent), "schedule nightly")
}

func expectPresent(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	template, schedule := y.expectTemplate("nightly"), y.expectSchedule("nightly")
	y.drop("nightly")
	y.wantUnmet(expecting(&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, schedule), "schedule nightly")
	y.wantUnmet(expecting(&rota.Unarchive{Meta: y.ids.meta(), Name: "nightly"}, template), "template nightly")
}

func expectFirst(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	c := &rota.SwitchSchedule{Meta: y.ids.meta(), Name: "other", State: rota.SchedulePaused}
	y.wantUnmet(expecting(c, rota.Expectation{Kind: rota.ExpectTemplate, Name: "nightly"}), "template nightly")
}

func expectNothingToDo(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	c := y.switchCommand("nightly", rota.SchedulePaused, time.Time{})
	y.switchTo("nightly", rota.SchedulePaused)
	before := y.dump()
	want(y, "changed", do[*rota.SchedulePut](y, expecting(c, rota.Expectation{Kind: rota.ExpectSchedule, Name: "nightly"})).Changed, false)
	y.wantUnchanged(before)
}

func expectInBatch(y *story) {
	absent := y.expectTemplate("letter")
	y.declareTemplate("letter", rota.TemplateSpec{})
	results := y.send(y.enqueueCommand(rota.NewJob{}), expecting(y.enqueueCommand(rota.NewJob{}), absent), y.enqueueCommand(rota.NewJob{}))
	for i, refused := range []bool{false, true, false} {
		want(y, "refused", results[i].Err != nil, refused)
	}
	want(y, "queued", len(y.queue()), 2)
}

func expectAll(y *story) {
	absent := y.expectTemplate("letter")
	put := y.templateCommand("letter", rota.TemplateSpec{})
	do[*rota.AllDone](y, expecting(y.allOf(put, y.enqueueCommand(rota.NewJob{Template: "letter"})), absent))
	y.wantUnmet(expecting(y.allOf(y.enqueueCommand(rota.NewJob{})), absent), "template letter")
}

func expectMember(y *story) {
	absent := y.expectTemplate("letter")
	put := y.templateCommand("letter", rota.TemplateSpec{})
	second := expecting(y.enqueueCommand(rota.NewJob{}), absent)
	y.wantField(rota.Conflict, "members[1].expect", y.allOf(put, second))
	put.ID = y.ids.next()
	present := rota.Expectation{Kind: rota.ExpectTemplate, Name: "letter", Owner: rota.AdminUser, Since: y.now}
	do[*rota.AllDone](y, y.allOf(put, expecting(y.enqueueCommand(rota.NewJob{}), present)))
}

func expectDry(y *story) {
	absent := y.expectTemplate("letter")
	y.declareTemplate("letter", rota.TemplateSpec{})
	c := y.allOf(y.enqueueCommand(rota.NewJob{}))
	c.Dry = true
	y.wantUnmet(expecting(c, absent), "template letter")
}

func expectInvalid(y *story) {
	for field, e := range map[string]rota.Expectation{
		"expect[0].kind":    {Kind: "job", Name: "nightly"},
		"expect[0].name":    {Kind: rota.ExpectSchedule},
		"expect[0].owner":   {Kind: rota.ExpectSchedule, Name: "nightly", Owner: "ada"},
		"expect[0].version": {Kind: rota.ExpectSchedule, Name: "nightly", Version: y.ids.next()},
		"expect[0].since":   {Kind: rota.ExpectSchedule, Name: "nightly", Owner: "ada", Since: beyondMaxTime},
	} {
		y.wantField(rota.Invalid, field, expecting(y.enqueueCommand(rota.NewJob{}), e))
	}
	many := make([]rota.Expectation, rota.ExpectMax+1)
	for i := range many {
		many[i] = y.expectTemplate("letter")
	}
	y.wantField(rota.Invalid, "expect", expecting(y.enqueueCommand(rota.NewJob{}), many...))
	do[*rota.Enqueued](y, expecting(y.enqueueCommand(rota.NewJob{}), many[1:]...))
}
