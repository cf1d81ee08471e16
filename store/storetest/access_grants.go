package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testGrants(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a grant adds privileges, and a revocation removes exactly them", grantsChange},
		{"a grant of what is there changes nothing", grantsUnchanged},
		{"a grant older than its definition is renewed", grantsRenewed},
		{"a grant names principals, a role and a job that exist", grantsNotFound},
		{"what is gone can be revoked", grantsGone},
		{"a role cannot become a member of itself", grantsCycle},
		{"a membership without effect makes no cycle", grantsNoCycle},
		{"a membership older than its role is renewed", membershipRenewed},
		{"there are at most 64 levels of roles", grantsLevels},
		{"a principal has at most 1,000 roles", grantsManyRoles},
		{"grants are audited for each principal", grantsAudit},
		{"grants are members of an all and of a dry run", grantsInAll},
		{"a clock that is set back revives no grant, membership or token", accessClockSetBack},
		{"a clock that is set back leaves no grant, membership or token without effect", accessClockStaysUsable},
	})
}

func (y *story) grant(job string, privilege rota.Privilege, to ...string) *rota.GrantPrivileges {
	return &rota.GrantPrivileges{Meta: y.ids.meta(), To: to, Privileges: []rota.Privilege{privilege}, Job: job}
}

func (y *story) grantRole(role string, to ...string) *rota.GrantPrivileges {
	return &rota.GrantPrivileges{Meta: y.ids.meta(), To: to, Role: role}
}

func (y *story) revoke(c *rota.GrantPrivileges) *rota.GrantPrivileges {
	c.Revoke = true
	return c
}

// held returns the roles and grants of a principal as text.
func (y *story) held(name string) string {
	y.Helper()
	var all []string
	p := y.principal(name)
	for _, m := range p.Spec.Roles {
		all = append(all, "role "+m.Role)
	}
	for _, g := range p.Spec.Grants {
		all = append(all, strings.TrimSuffix(fmt.Sprintf("%s on %s", g.Privilege, g.Job), " on "))
	}
	return strings.Join(all, ", ")
}

func grantsChange(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.user("alice")
	y.roles("ops")
	y.advance(time.Second)
	c := &rota.GrantPrivileges{Meta: y.ids.meta(), To: []string{"ops", "alice"}, Job: "nightly", Privileges: []rota.Privilege{rota.ViewJobHistory, rota.ExecuteJob}}
	r := do[*rota.Granted](y, c)
	want(y, "changed", r.Changed, true)
	want(y, "answered in order", r.Principals[0].Name+" "+r.Principals[1].Name, "ops alice")
	g := r.Principals[0].Spec.Grants[0]
	want(y, "by", g.By, "ada")
	wantTime(y, "since", g.Since, y.now)
	want(y, "version", y.principal("alice").Version, c.ID)
	do[*rota.Granted](y, y.grant("", rota.ExecuteJob, "alice"))
	do[*rota.Granted](y, y.grant("report", rota.AlterJob, "alice")) // a template
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	want(y, "held", y.held("alice"), "role ops, EXECUTE JOB, EXECUTE JOB on nightly, VIEW JOB HISTORY on nightly, ALTER JOB on report")
	do[*rota.Granted](y, y.revoke(y.grant("", rota.ExecuteJob, "alice")))
	do[*rota.Granted](y, y.revoke(y.grantRole("ops", "alice")))
	want(y, "left", y.held("alice"), "EXECUTE JOB on nightly, VIEW JOB HISTORY on nightly, ALTER JOB on report")
	do[*rota.Granted](y, y.revoke(y.grant("nightly", rota.ExecuteJob, "alice", "ops")))
	want(y, "left to alice", y.held("alice"), "VIEW JOB HISTORY on nightly, ALTER JOB on report")
	want(y, "left to ops", y.held("ops"), "VIEW JOB HISTORY on nightly")
	y.wantNoViolations()
}

func grantsUnchanged(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.user("alice")
	y.roles("ops")
	do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "alice"))
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	y.advance(time.Second)
	before := y.dump()
	for _, c := range []rota.Command{
		y.grant("nightly", rota.ExecuteJob, "alice"), y.grantRole("ops", "alice"), y.revoke(y.grant("", rota.ExecuteJob, "alice")),
		y.revoke(y.grant("nightly", rota.AlterJob, "alice")), y.revoke(y.grantRole("ops", "ops")),
	} {
		want(y, "changed", do[*rota.Granted](y, c).Changed, false)
	}
	y.wantUnchanged(before)
}

func grantsRenewed(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.user("alice")
	do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "alice"))
	y.advance(time.Second)
	y.deleteSchedule("nightly")
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Second)
	p := do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "alice")).Principals[0]
	want(y, "grants", len(p.Spec.Grants), 1)
	wantTime(y, "since", p.Spec.Grants[0].Since, y.now)
}

func grantsNotFound(y *story) {
	y.user("alice")
	y.user("bob")
	y.roles("ops")
	err := y.refused(rota.NotFound, y.grant("", rota.ExecuteJob, "alice", "nobody"))
	want(y, "field", err.Field, "to[1]")
	want(y, "names it", strings.Contains(err.Error(), "nobody"), true)
	y.wantField(rota.NotFound, "to[0]", y.grant("", rota.ExecuteJob, rota.AdminUser))
	y.wantField(rota.NotFound, "to[0]", y.revoke(y.grant("", rota.ExecuteJob, "nobody")))
	y.wantField(rota.NotFound, "job", y.grant("nightly", rota.ExecuteJob, "alice"))
	y.wantField(rota.NotFound, "role", y.grantRole("missing", "alice"))
	y.wantField(rota.NotFound, "role", y.grantRole("bob", "alice"))
	y.wantField(rota.NotFound, "role", y.revoke(y.grantRole("missing", "alice")))
}

func grantsGone(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.user("alice")
	y.roles("ops")
	do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "alice"))
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	y.deleteSchedule("nightly")
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, "ops"))
	want(y, "still there", y.held("alice"), "role ops, EXECUTE JOB on nightly")
	do[*rota.Granted](y, y.revoke(y.grant("nightly", rota.ExecuteJob, "alice")))
	do[*rota.Granted](y, y.revoke(y.grantRole("ops", "alice")))
	want(y, "left", y.held("alice"), "")
}

func grantsCycle(y *story) {
	y.roles("a", "b", "c")
	y.wantField(rota.Invalid, "role", y.grantRole("a", "a"))
	do[*rota.Granted](y, y.grantRole("a", "b"))
	do[*rota.Granted](y, y.grantRole("b", "c"))
	y.wantField(rota.Invalid, "role", y.grantRole("c", "a"))
	y.wantField(rota.Invalid, "members[1].role", y.allOf(y.revoke(y.grantRole("a", "b")), y.grantRole("b", "b")))
	do[*rota.AllDone](y, y.allOf(y.revoke(y.grantRole("a", "b")), y.grantRole("c", "a")))
	y.wantNoViolations()
}

func grantsNoCycle(y *story) {
	y.roles("a", "b")
	do[*rota.Granted](y, y.grantRole("a", "b"))
	y.advance(time.Second)
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, "a"))
	y.roles("a")
	do[*rota.Granted](y, y.grantRole("b", "a"))
	y.wantNoViolations()
	y.wantField(rota.Invalid, "role", y.grantRole("a", "b")) // would renew the membership
}

func membershipRenewed(y *story) {
	y.roles("ops")
	y.user("alice")
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	y.advance(time.Second)
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, "ops"))
	y.roles("ops")
	p := do[*rota.Granted](y, y.grantRole("ops", "alice")).Principals[0]
	want(y, "roles", len(p.Spec.Roles), 1)
	wantTime(y, "since", p.Spec.Roles[0].Since, y.now)
}

func grantsLevels(y *story) {
	name := func(i int) string { return fmt.Sprintf("r%02d", i) }
	var commands []rota.Command
	for i := range rota.RoleLevelsMax + 1 {
		commands = append(commands, y.principalCommand(rota.KindRole, name(i)))
		if i > 0 && i < rota.RoleLevelsMax {
			commands = append(commands, y.grantRole(name(i), name(i-1)))
		}
	}
	for _, r := range y.send(commands...) {
		if r.Err != nil {
			y.Fatal(r.Err)
		}
	}
	last := rota.RoleLevelsMax
	y.wantField(rota.Invalid, "role", y.grantRole(name(last), name(last-1)))
	y.wantField(rota.Invalid, "role", y.grantRole(name(0), name(last)))
	do[*rota.Granted](y, y.grantRole(name(1), name(last)))
	y.user("alice")
	do[*rota.Granted](y, y.grantRole(name(0), "alice"))
}

func grantsManyRoles(y *story) {
	y.user("alice")
	commands := []rota.Command{}
	for i := range rota.MembershipsMax + 1 {
		commands = append(commands, y.principalCommand(rota.KindRole, fmt.Sprintf("r%04d", i)))
		if i < rota.MembershipsMax {
			commands = append(commands, y.grantRole(fmt.Sprintf("r%04d", i), "alice"))
		}
	}
	done := do[*rota.AllDone](y, y.allOf(commands...))
	want(y, "answers", len(done.Replies), len(commands))
	y.wantField(rota.Conflict, "role", y.grantRole(fmt.Sprintf("r%04d", rota.MembershipsMax), "alice"))
}

func grantsAudit(y *story) {
	y.declare("nightly", rota.ScheduleSpec{})
	y.user("alice")
	y.roles("ops")
	c := &rota.GrantPrivileges{Meta: y.ids.meta(), To: []string{"ops", "alice"}, Job: "nightly", Privileges: []rota.Privilege{rota.AlterJob, rota.ExecuteJob}}
	y.advance(time.Second)
	do[*rota.Granted](y, c)
	for _, subject := range []string{"user alice", "role ops"} {
		y.wantChanges(subject, rota.AuditGranted, `{"privileges":{"old":null,"new":"ALTER JOB, EXECUTE JOB on nightly"}}`)
		want(y, "detail", y.audit(rota.AuditQuery{Subject: subject})[0].Detail, "ALTER JOB, EXECUTE JOB on nightly")
	}
	y.advance(time.Second)
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	y.wantChanges("user alice", rota.AuditGranted, `{"role":{"old":null,"new":"ops"}}`)
	y.advance(time.Second)
	do[*rota.Granted](y, y.revoke(y.grantRole("ops", "alice")))
	y.wantChanges("user alice", rota.AuditRevoked, `{"role":{"old":"ops","new":null}}`)
	want(y, "detail", y.audit(rota.AuditQuery{Subject: "user alice"})[0].Detail, "role ops")
}

func grantsInAll(y *story) {
	all := y.allOf(y.principalCommand(rota.KindUser, "alice"), y.principalCommand(rota.KindRole, "ops"), y.grantRole("ops", "alice"),
		y.dropPrincipalCommand(rota.KindRole, "ops"))
	all.Dry = true
	before := y.dump()
	want(y, "changed", do[*rota.AllDone](y, all).Replies[2].(*rota.Granted).Changed, true)
	y.wantUnchanged(before)
	all.Dry = false
	do[*rota.AllDone](y, all)
	want(y, "held", y.held("alice"), "role ops")
	want(y, "version of all", y.accessVersion(), all.Members[3].Head().ID)
	y.resendUnchanged(all)
}
