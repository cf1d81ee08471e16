package storetest

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

func setOwnerMissing(y *story) {
	y.wantField(rota.NotFound, "name", &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: rota.AdminUser})
}

func setOwnerUnknown(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.wantField(rota.NotFound, "owner", &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: "nobody"})
}

func setOwnerSame(y *story) {
	y.define("nightly", rota.ScheduleSpec{})
	y.advance(time.Minute)
	before := y.dump()
	got := do[*rota.OwnerSet](y, &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: rota.AdminUser})
	want(y, "changed", got.Changed, false)
	want(y, "template", got.Template.Name, "nightly")
	want(y, "schedule", got.Schedule.Name, "nightly")
	y.wantUnchanged(before)
}

func (y *story) setOwnerCommand(name, owner string) *rota.SetOwner {
	return &rota.SetOwner{Meta: y.ids.meta(), Name: name, Owner: owner}
}

// defineAs defines a job as a user.
func (y *story) defineAs(actor, name string) {
	y.Helper()
	template := y.templateCommand(name, rota.TemplateSpec{})
	schedule := y.declareCommand(name, rota.ScheduleSpec{Template: name})
	template.Actor, schedule.Actor = actor, actor
	do[*rota.TemplatePut](y, template)
	if y.template(name).State == rota.TemplateArchived {
		y.unarchive(name)
	}
	do[*rota.SchedulePut](y, schedule)
}

func setOwner(y *story) {
	y.user("alice")
	y.user("bob")
	y.defineAs("alice", "nightly")
	begin := y.now
	early := y.fireNext("nightly")
	y.advance(time.Second)
	c := y.setOwnerCommand("nightly", "bob")
	got := do[*rota.OwnerSet](y, c)
	want(y, "changed", got.Changed, true)
	want(y, "answered", got.Template.Owner+" "+got.Schedule.Owner, "bob bob")
	y.wantOwners("nightly", "bob", begin)
	want(y, "version of the template", y.template("nightly").Version, c.ID)
	want(y, "version of the schedule", y.schedule("nightly").Version, c.ID)
	y.wantChanges("template nightly", rota.AuditTemplateModified, `{"owner":{"old":"alice","new":"bob"}}`)
	y.wantChanges("schedule nightly", rota.AuditScheduleModified, `{"owner":{"old":"alice","new":"bob"}}`)
	want(y, "owner of an early job", y.job(early.ID).Owner, "alice")
	want(y, "owner of a late job", y.fireNext("nightly").Owner, "bob")
	y.wantNoViolations()
}

func setOwnerAlone(y *story) {
	y.user("bob")
	y.declareTemplate("letter", rota.TemplateSpec{})
	y.declare("weekly", rota.ScheduleSpec{Template: "letter"})
	got := do[*rota.OwnerSet](y, y.setOwnerCommand("letter", "bob"))
	want(y, "schedule of the template's name", got.Schedule == nil, true)
	want(y, "owner of the template", got.Template.Owner, "bob")
	got = do[*rota.OwnerSet](y, y.setOwnerCommand("weekly", "bob"))
	want(y, "template of the schedule's name", got.Template == nil, true)
	want(y, "owner of the schedule", got.Schedule.Owner, "bob")
}

func setOwnerOfKind(y *story) {
	y.user("alice")
	y.user("bob")
	y.define("nightly", rota.ScheduleSpec{})
	y.wantField(rota.NotFound, "name", &rota.SetOwner{Meta: y.ids.meta(), Name: "weekly", Owner: "bob", Kind: rota.ExpectSchedule})
	y.wantField(rota.Conflict, "version", &rota.SetOwner{
		Meta: y.ids.meta(), Name: "nightly", Owner: "bob", Kind: rota.ExpectTemplate, Version: &y.schedule("nightly").Version,
	})
	template := &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: "bob", Kind: rota.ExpectTemplate, Version: &y.template("nightly").Version}
	got := do[*rota.OwnerSet](y, template)
	want(y, "schedule in the answer", got.Schedule == nil, true)
	want(y, "owners", y.template("nightly").Owner+" "+y.schedule("nightly").Owner, "bob admin")
	y.wantField(rota.Conflict, "version", &rota.SetOwner{
		Meta: y.ids.meta(), Name: "nightly", Owner: "bob", Kind: rota.ExpectSchedule, Version: &y.template("nightly").Version,
	})
	got = do[*rota.OwnerSet](y, &rota.SetOwner{Meta: y.ids.meta(), Name: "nightly", Owner: "alice", Kind: rota.ExpectSchedule})
	want(y, "template in the answer", got.Template == nil, true)
	want(y, "owners", y.template("nightly").Owner+" "+y.schedule("nightly").Owner, "bob alice")
	before := y.dump()
	want(y, "sent again", do[*rota.OwnerSet](y, template).Changed, false)
	y.wantUnchanged(before)
	y.wantNoViolations()
}

func setOwnerExpected(y *story) {
	y.user("bob")
	y.define("nightly", rota.ScheduleSpec{})
	seen := y.expectSchedule("nightly")
	do[*rota.OwnerSet](y, y.setOwnerCommand("nightly", "bob"))
	y.wantUnmet(expecting(&rota.Trigger{Meta: y.ids.meta(), Schedule: "nightly"}, seen), "schedule nightly")
}

func setOwnerRole(y *story) {
	y.roles("ops")
	y.define("nightly", rota.ScheduleSpec{})
	y.wantField(rota.NotFound, "owner", y.setOwnerCommand("nightly", "ops"))
}

func dropOwner(y *story) {
	y.user("alice")
	y.defineAs("alice", "nightly")
	err := y.wantField(rota.Conflict, "name", y.dropPrincipalCommand(rota.KindUser, "alice"))
	if !isModel(y.s) && (!strings.Contains(err.Reason, "nightly") || !strings.Contains(err.Hint, "ALTER JOB nightly OWNER TO")) {
		y.Errorf("the refusal names neither the definition nor the remedy: %v", err)
	}
	do[*rota.OwnerSet](y, y.setOwnerCommand("nightly", rota.AdminUser))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "alice"))
}

func dropOwnerInAll(y *story) {
	y.user("alice")
	y.defineAs("alice", "nightly")
	y.defineAs("alice", "weekly")
	y.wantField(rota.Conflict, "members[1].name",
		y.allOf(y.setOwnerCommand("nightly", rota.AdminUser), y.dropPrincipalCommand(rota.KindUser, "alice")))
	do[*rota.AllDone](y, y.allOf(y.setOwnerCommand("nightly", rota.AdminUser), y.setOwnerCommand("weekly", rota.AdminUser),
		y.dropPrincipalCommand(rota.KindUser, "alice")))
	y.user("bob")
	create := y.templateCommand("letter", rota.TemplateSpec{})
	create.Actor = "bob"
	y.wantField(rota.Conflict, "members[1].name", y.allOf(create, y.dropPrincipalCommand(rota.KindUser, "bob")))
}
