package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Stories of schedules that run the template of another owner: schedule own of eve runs template pay of bob.

func testOwnersExecute(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a schedule whose owner lost EXECUTE JOB on its template is disabled at its next fire", executeFire},
		{"a schedule whose owner lost EXECUTE JOB cannot be triggered or backfilled by anybody", executeTrigger},
		{"an execution of a schedule whose owner lost EXECUTE JOB is not run again", executeRedrive},
		{"an execution is not run again after its template was recreated or given to another owner", executeRedriveOfDropped},
		{"a schedule whose owner lost EXECUTE JOB can be paused, disabled, given another template and deleted, not changed or enabled", executeChange},
		{"a schedule runs again after its owner got EXECUTE JOB back", executeGrantedAgain},
		{"a schedule of a user needs EXECUTE JOB on the template of another one", executeDeclare},
		{"EXECUTE JOB comes from a grant on the template, on all, from ADMIN and from roles at any depth", executeSources},
		{"other privileges and grants on other jobs do not permit to execute", executeOtherGrants},
		{"a grant older than the template has no effect", executeOldGrant},
		{"a membership older than its role has no effect", executeOldMembership},
		{"a grant counts at the end of the longest path of roles", executeManyRoles},
		{"the owner of the template and admin need no grant", executeOwn},
		{"a schedule that gets another owner runs only with EXECUTE JOB of that owner", executeSetOwner},
		{"a template that gets another owner disables the schedules of others without EXECUTE JOB", executeTemplateSetOwner},
		{"commands sent again after the right was lost are answered as before", executeResent},
		{"one command grants and enables, and one that revokes too is refused", executeInAll},
		{"jobs that exist run after the right was lost", executeLeavesJobs},
	})
}

// lend declares the template of bob and the schedule of eve, and permits it with a grant.
func (y *story) lend(spec rota.ScheduleSpec) {
	y.Helper()
	y.user("bob")
	y.user("eve")
	y.templateAs("bob", "pay")
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	spec.Template = "pay"
	y.scheduleAs("eve", "own", spec)
	want(y, "owner of the schedule", y.schedule("own").Owner, "eve")
}

func (y *story) revokePay() {
	y.Helper()
	want(y, "revoked", do[*rota.Granted](y, y.revoke(y.grant("pay", rota.ExecuteJob, "eve"))).Changed, true)
}

const noExecute = "its owner eve has no EXECUTE JOB on template pay"

// wantDenied wants a command to be refused because the owner of schedule own lacks EXECUTE JOB on template pay.
func (y *story) wantDenied(field string, c rota.Command) {
	y.Helper()
	before := y.dump()
	err := y.wantField(rota.Denied, field, c)
	if !isModel(y.s) {
		if !strings.Contains(err.Reason, noExecute) || !strings.Contains(err.Hint, "GRANT EXECUTE JOB ON JOB pay TO eve") {
			y.Errorf("the refusal names neither the reason nor the remedy: %v", err)
		}
	}
	y.wantUnchanged(before)
}

func (y *story) triggerOwn() *rota.Trigger {
	return &rota.Trigger{Meta: y.ids.meta(), Schedule: "own"}
}

func executeFire(y *story) {
	y.lend(rota.ScheduleSpec{})
	want(y, "owner of the job", y.fireNext("own").Owner, "bob")
	y.revokePay()
	y.advanceTo(y.schedule("own").NextFire)
	was, written := y.schedule("own"), y.writtenAudit()
	c := y.fireCommand("own")
	fired := do[*rota.Fired](y, c)
	want(y, "disabled", fired.Disabled, noExecute)
	want(y, "jobs", len(fired.Jobs), 0)
	row := y.schedule("own")
	want(y, "state", row.State, rota.ScheduleDisabled)
	want(y, "reason", row.Reason, noExecute)
	want(y, "version", row.Version, was.Version)
	wantTime(y, "next fire", row.NextFire, time.Time{})
	wantTime(y, "last fire", row.LastFire, was.LastFire)
	y.wantAuditSince(written, y.auditEffect(c, rota.AuditScheduleDisabled, "schedule own", noExecute))
	want(y, "jobs of the schedule", len(y.allJobs()), 1)
	want(y, "a fire sent again", y.resendUnchanged(c).Reply.(*rota.Fired).ScheduleChanged, true)
	y.wantNoViolations()
}

func executeTrigger(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.advance(3 * time.Hour)
	y.trigger("own")
	y.revokePay()
	for _, actor := range []string{"eve", "bob", rota.AdminUser, ""} {
		trigger, backfill := y.triggerOwn(), y.backfillCommand("own", y.now.Add(-90*time.Minute), y.now)
		trigger.Actor, backfill.Actor = actor, actor
		y.wantDenied("schedule", trigger)
		y.wantDenied("schedule", backfill)
	}
	y.switchTo("own", rota.SchedulePaused)
	y.wantDenied("schedule", y.triggerOwn())
	stale := y.triggerOwn()
	stale.Version = new(y.ids.next())
	y.wantField(rota.Conflict, "version", stale)
	y.archive("pay")
	y.wantField(rota.Conflict, "schedule", y.triggerOwn())
}

func executeRedrive(y *story) {
	y.lend(rota.ScheduleSpec{})
	id := do[*rota.Triggered](y, y.triggerOwn()).Jobs[0].ID
	do[*rota.CancelledJob](y, &rota.Cancel{Meta: y.ids.meta(), JobID: id})
	y.revokePay()
	again := func() rota.Command { return &rota.Redrive{Meta: y.ids.meta(), JobID: id, Again: true} }
	y.wantDenied("job_id", again())
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	want(y, "owner of the job", do[*rota.Redriven](y, again()).Job.Owner, "bob")
}

func executeRedriveOfDropped(y *story) {
	y.lend(rota.ScheduleSpec{})
	id := do[*rota.Triggered](y, y.triggerOwn()).Jobs[0].ID
	do[*rota.CancelledJob](y, &rota.Cancel{Meta: y.ids.meta(), JobID: id})
	again := func() rota.Command { return &rota.Redrive{Meta: y.ids.meta(), JobID: id} }
	y.templateAs("eve", "mine")
	c := y.declareCommand("own", rota.ScheduleSpec{Template: "mine"})
	do[*rota.SchedulePut](y, c)
	y.user("carl")
	do[*rota.OwnerSet](y, y.setOwnerCommand("pay", "carl"))
	y.wantField(rota.Denied, "job_id", again())
	do[*rota.OwnerSet](y, y.setOwnerCommand("pay", "bob"))
	y.advance(time.Second)
	put := y.recreateTemplateCommand("pay", rota.TemplateSpec{})
	put.Actor = "bob"
	do[*rota.TemplatePut](y, put)
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	y.wantField(rota.Denied, "job_id", again())
	y.wantNoViolations()
}

func executeChange(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.templateAs("eve", "mine")
	y.revokePay()
	declare := func(actor string, spec rota.ScheduleSpec, state rota.ScheduleState) *rota.PutSchedule {
		spec.Template = "pay"
		c := y.declareCommand("own", spec)
		c.Actor, c.State = actor, state
		return c
	}
	for _, actor := range []string{"eve", "bob", rota.AdminUser} {
		y.wantDenied("template", declare(actor, rota.ScheduleSpec{Every: time.Minute}, ""))
		y.wantDenied("template", declare(actor, rota.ScheduleSpec{Description: "new"}, rota.SchedulePaused))
	}
	want(y, "changed by an equal declaration", do[*rota.SchedulePut](y, declare("eve", rota.ScheduleSpec{}, "")).Changed, false)
	y.switchTo("own", rota.SchedulePaused)
	y.wantDenied("template", y.switchCommand("own", rota.ScheduleEnabled, y.now.Add(time.Hour)))
	y.wantDenied("template", declare("eve", rota.ScheduleSpec{}, rota.ScheduleEnabled))
	y.switchTo("own", rota.ScheduleDisabled)
	y.wantDenied("template", y.switchCommand("own", rota.ScheduleEnabled, y.now.Add(time.Hour)))
	want(y, "declared paused", do[*rota.SchedulePut](y, declare("eve", rota.ScheduleSpec{}, rota.SchedulePaused)).Schedule.State, rota.SchedulePaused)
	want(y, "declared disabled", do[*rota.SchedulePut](y, declare("eve", rota.ScheduleSpec{}, rota.ScheduleDisabled)).Schedule.State, rota.ScheduleDisabled)
	recreate := y.recreateScheduleCommand("own", rota.ScheduleSpec{Template: "pay"})
	recreate.Actor, recreate.State = "eve", rota.ScheduleDisabled
	y.wantDenied("template", recreate)
	y.scheduleAs("eve", "own", rota.ScheduleSpec{Template: "mine"})
	y.switchTo("own", rota.ScheduleEnabled)
	want(y, "owner of a job of the other template", y.fireNext("own").Owner, "eve")
	want(y, "gone", y.deleteSchedule("own").Gone, false)
	y.wantNoViolations()
}

func executeGrantedAgain(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.revokePay()
	y.advanceTo(y.schedule("own").NextFire)
	want(y, "disabled", do[*rota.Fired](y, y.fireCommand("own")).Disabled, noExecute)
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	want(y, "state after the grant", y.schedule("own").State, rota.ScheduleDisabled)
	y.trigger("own")
	row := y.switchTo("own", rota.ScheduleEnabled).Schedule
	want(y, "reason", row.Reason, "")
	want(y, "owner of the job", y.fireNext("own").Owner, "bob")
	y.wantNoViolations()
}

func executeDeclare(y *story) {
	y.user("bob")
	y.user("eve")
	y.templateAs("bob", "pay")
	c := y.declareCommand("own", rota.ScheduleSpec{Template: "pay"})
	c.Actor = "eve"
	y.wantDenied("template", c)
	disabled := y.declareCommand("own", rota.ScheduleSpec{Template: "pay"})
	disabled.Actor, disabled.State = "eve", rota.ScheduleDisabled
	y.wantDenied("template", disabled)
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	do[*rota.SchedulePut](y, c)
	y.templateAs(rota.AdminUser, "other")
	y.wantField(rota.Denied, "template", y.declareCommand("own", rota.ScheduleSpec{Template: "other"}))
}

// executeSources lends with one grant after the other, each revoked before the next.
func executeSources(y *story) {
	y.lend(rota.ScheduleSpec{Overlap: rota.OverlapAllow})
	y.roles("a", "b", "c", "d")
	do[*rota.Granted](y, y.grantRole("a", "eve"))
	do[*rota.Granted](y, y.grantRole("d", "eve"))
	do[*rota.Granted](y, y.grantRole("b", "a"))
	do[*rota.Granted](y, y.grantRole("c", "b"))
	y.revokePay()
	for _, to := range []string{"eve", "a", "b", "c", "d"} {
		for _, grant := range []struct {
			privilege rota.Privilege
			job       string
		}{{rota.ExecuteJob, "pay"}, {rota.ExecuteJob, ""}, {rota.Admin, ""}} {
			y.wantDenied("schedule", y.triggerOwn())
			do[*rota.Granted](y, y.grant(grant.job, grant.privilege, to))
			y.trigger("own")
			y.fireNext("own")
			do[*rota.Granted](y, y.revoke(y.grant(grant.job, grant.privilege, to)))
		}
	}
	y.wantDenied("schedule", y.triggerOwn())
}

func executeOtherGrants(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.user("carl")
	y.roles("a")
	y.revokePay()
	for _, p := range rota.Privileges {
		if p != rota.ExecuteJob && p != rota.Admin {
			do[*rota.Granted](y, y.grant("", p, "eve"))
		}
	}
	do[*rota.Granted](y, y.grant("pay", rota.AlterJob, "eve"))
	do[*rota.Granted](y, y.grant("own", rota.ExecuteJob, "eve"))
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "carl", "bob", "a"))
	y.wantDenied("schedule", y.triggerOwn())
}

func executeOldGrant(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.advance(time.Minute)
	recreate := y.recreateTemplateCommand("pay", rota.TemplateSpec{})
	recreate.Actor = "bob"
	do[*rota.TemplatePut](y, recreate)
	y.wantDenied("schedule", y.triggerOwn())
	y.advanceTo(y.schedule("own").NextFire)
	want(y, "disabled", do[*rota.Fired](y, y.fireCommand("own")).Disabled, noExecute)
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	y.trigger("own")
}

func executeOldMembership(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.roles("a", "b")
	do[*rota.Granted](y, y.grant("", rota.ExecuteJob, "b"))
	do[*rota.Granted](y, y.grantRole("a", "eve"))
	do[*rota.Granted](y, y.grantRole("b", "a"))
	y.revokePay()
	y.trigger("own")
	for _, at := range []struct{ role, member string }{{"b", "a"}, {"a", "eve"}} {
		y.advance(time.Minute)
		do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, at.role))
		y.wantDenied("schedule", y.triggerOwn())
		y.advance(time.Minute)
		y.roles(at.role)
		if at.role == "a" {
			do[*rota.Granted](y, y.grantRole("b", "a"))
		}
		do[*rota.Granted](y, y.grant("", rota.ExecuteJob, "b"))
		y.wantDenied("schedule", y.triggerOwn())
		do[*rota.Granted](y, y.grantRole(at.role, at.member))
		y.trigger("own")
	}
	y.wantNoViolations()
}

// executeManyRoles has the grant at the end of the longest path of roles.
func executeManyRoles(y *story) {
	y.lend(rota.ScheduleSpec{Overlap: rota.OverlapAllow})
	y.revokePay()
	name := func(i int) string { return fmt.Sprintf("r%02d", i) }
	for i := range rota.RoleLevelsMax {
		y.roles(name(i))
		if i > 0 {
			do[*rota.Granted](y, y.grantRole(name(i), name(i-1)))
		}
	}
	do[*rota.Granted](y, y.grantRole(name(0), "eve"))
	y.wantDenied("schedule", y.triggerOwn())
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, name(rota.RoleLevelsMax-1)))
	y.trigger("own")
	want(y, "owner of the job", y.fireNext("own").Owner, "bob")
	do[*rota.Granted](y, y.revoke(y.grantRole(name(7), name(6))))
	y.wantDenied("schedule", y.triggerOwn())
}

func executeOwn(y *story) {
	y.user("bob")
	y.templateAs("bob", "pay")
	y.scheduleAs(rota.AdminUser, "all", rota.ScheduleSpec{Template: "pay"})
	y.scheduleAs("bob", "own", rota.ScheduleSpec{Template: "pay"})
	for _, name := range []string{"all", "own"} {
		want(y, "owner of a job of "+name, y.fireNext(name).Owner, "bob")
		y.switchTo(name, rota.SchedulePaused)
		y.switchTo(name, rota.ScheduleEnabled)
		y.trigger(name)
	}
}

func executeSetOwner(y *story) {
	y.user("bob")
	y.user("eve")
	y.templateAs("bob", "pay")
	y.scheduleAs("bob", "own", rota.ScheduleSpec{Template: "pay"})
	do[*rota.OwnerSet](y, y.setOwnerCommand("own", "eve"))
	y.wantDenied("schedule", y.triggerOwn())
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "eve"))
	want(y, "owner of the job", do[*rota.Triggered](y, y.triggerOwn()).Jobs[0].Owner, "bob")
	y.revokePay()
	y.advanceTo(y.schedule("own").NextFire)
	want(y, "disabled", do[*rota.Fired](y, y.fireCommand("own")).Disabled, noExecute)
	y.defineAs("bob", "nightly")
	do[*rota.OwnerSet](y, y.setOwnerCommand("nightly", "eve"))
	y.trigger("nightly")
	y.wantNoViolations()
}

func executeTemplateSetOwner(y *story) {
	y.user("bob")
	y.user("eve")
	y.templateAs("eve", "pay")
	y.scheduleAs("eve", "own", rota.ScheduleSpec{Template: "pay"})
	y.fireNext("own")
	do[*rota.OwnerSet](y, y.setOwnerCommand("pay", "bob"))
	y.wantDenied("schedule", y.triggerOwn())
	y.advanceTo(y.schedule("own").NextFire)
	want(y, "disabled", do[*rota.Fired](y, y.fireCommand("own")).Disabled, noExecute)
	do[*rota.OwnerSet](y, y.setOwnerCommand("pay", "eve"))
	y.switchTo("own", rota.ScheduleEnabled)
	want(y, "owner of the job", y.fireNext("own").Owner, "eve")
}

func executeResent(y *story) {
	y.lend(rota.ScheduleSpec{Overlap: rota.OverlapAllow})
	put := y.declareCommand("own", rota.ScheduleSpec{Template: "pay", Overlap: rota.OverlapAllow, Description: "new"})
	do[*rota.SchedulePut](y, put)
	y.advanceTo(y.schedule("own").NextFire)
	fire := y.fireCommand("own")
	want(y, "fired", len(do[*rota.Fired](y, fire).Jobs), 1)
	y.advance(3 * time.Hour)
	trigger, backfill := y.triggerOwn(), y.backfillCommand("own", y.now.Add(-90*time.Minute), y.now)
	do[*rota.Triggered](y, trigger)
	want(y, "backfilled", len(do[*rota.Backfilled](y, backfill).Jobs) > 0, true)
	y.switchTo("own", rota.SchedulePaused)
	resume := y.switchCommand("own", rota.ScheduleEnabled, time.Time{})
	do[*rota.SchedulePut](y, resume)
	do[*rota.OwnerSet](y, y.setOwnerCommand("own", rota.AdminUser))
	pass := y.setOwnerCommand("own", "eve")
	do[*rota.OwnerSet](y, pass)
	y.revokePay()
	want(y, "changed by the declaration", y.resendUnchanged(put).Reply.(*rota.SchedulePut).Changed, false)
	want(y, "triggered before", len(y.resendUnchanged(trigger).Reply.(*rota.Triggered).Jobs), 1)
	want(y, "backfilled before", len(y.resendUnchanged(backfill).Reply.(*rota.Backfilled).Jobs) > 0, true)
	want(y, "fired before", len(y.resendUnchanged(fire).Reply.(*rota.Fired).Jobs), 1)
	want(y, "changed by the switch", y.resendUnchanged(resume).Reply.(*rota.SchedulePut).Changed, false)
	want(y, "changed by the owner", y.resendUnchanged(pass).Reply.(*rota.OwnerSet).Changed, false)
	y.wantDenied("schedule", y.triggerOwn())
}

func executeInAll(y *story) {
	y.lend(rota.ScheduleSpec{})
	y.wantDenied("members[1].schedule", y.allOf(y.revoke(y.grant("pay", rota.ExecuteJob, "eve")), y.triggerOwn()))
	y.trigger("own")
	y.revokePay()
	y.switchTo("own", rota.ScheduleDisabled)
	do[*rota.AllDone](y, y.allOf(y.grant("pay", rota.ExecuteJob, "eve"), y.switchCommand("own", rota.ScheduleEnabled, y.now.Add(time.Hour)), y.triggerOwn()))
	y.revokePay()
	do[*rota.AllDone](y, y.allOf(
		y.principalCommand(rota.KindRole, "a"), y.grantRole("a", "eve"), y.principalCommand(rota.KindRole, "b"), y.grantRole("b", "a"),
		y.principalCommand(rota.KindRole, "c"), y.grantRole("c", "b"), y.grant("", rota.ExecuteJob, "c"), y.triggerOwn()))
	y.wantDenied("members[1].schedule", y.allOf(y.dropPrincipalCommand(rota.KindRole, "c"), y.triggerOwn()))
	y.wantNoViolations()
}

func executeLeavesJobs(y *story) {
	y.lend(rota.ScheduleSpec{})
	first := y.fireNext("own")
	y.revokePay()
	j := y.claimOne()
	want(y, "claimed", j.ID, first.ID)
	want(y, "runs for", j.RunsFor(), "bob")
	y.complete(j)
}
