package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

// accessClockSetBack creates references, drops what they name, sets the clock back an hour and creates it again.
func accessClockSetBack(y *story) {
	y.user("alice")
	y.roles("ops")
	y.declare("nightly", rota.ScheduleSpec{})
	y.advance(time.Minute)
	do[*rota.TokenPut](y, y.tokenCommand("token001", "alice"))
	do[*rota.PrincipalPut](y, y.principalCommand(rota.KindUser, "bob"))
	do[*rota.Granted](y, y.grantRole("ops", "bob"))
	y.advance(time.Minute)
	do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "bob"))
	do[*rota.Granted](y, y.grant("report", rota.ExecuteJob, "bob"))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "alice"))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, "ops"))
	do[*rota.Dropped](y, &rota.Drop{Meta: y.ids.meta(), Name: "nightly"})

	y.advance(-time.Hour)
	y.roles("ops")
	alice := y.user("alice")
	y.declareTemplate("nightly", rota.TemplateSpec{})
	y.declare("nightly", rota.ScheduleSpec{Template: "nightly"})
	recreated := y.templateCommand("report", rota.TemplateSpec{})
	recreated.Recreate = true
	do[*rota.TemplatePut](y, recreated)

	t := y.token("token001")
	want(y, "the token is older than the user", t.CreatedAt.Before(alice.CreatedAt), true)
	bob := y.principal("bob").Spec
	want(y, "the membership has an effect", bob.Roles[0].HasEffect(y.principal("ops")), false)
	for _, g := range bob.Grants {
		since := y.schedule("nightly").Since
		if g.Job == "report" {
			since = y.template("report").Since
		}
		want(y, "the grant on "+g.Job+" is older than the definition", g.Since.Before(since), true)
	}
	y.wantNoViolations()
}

// accessClockStaysUsable creates objects, sets the clock back, and creates references to them. A login after the clock was set back
// is newer than the password.
func accessClockStaysUsable(y *story) {
	c := y.principalCommand(rota.KindUser, "alice")
	c.Verifier = &verifierOne
	do[*rota.PrincipalPut](y, c)
	y.roles("ops")
	y.declare("nightly", rota.ScheduleSpec{})
	first := do[*rota.TokenPut](y, y.tokenCommand("token001", "alice")).Token

	y.advance(-time.Hour)
	c = y.principalCommand(rota.KindUser, "alice")
	c.Verifier = &verifierTwo
	alice := do[*rota.PrincipalPut](y, c).Principal
	want(y, "the password is newer than the first login", alice.Spec.PasswordAt.After(first.CreatedAt), true)
	second := do[*rota.TokenPut](y, y.tokenCommand("token002", "alice")).Token
	want(y, "the second login is older than the password", second.CreatedAt.Before(alice.Spec.PasswordAt), false)
	want(y, "the token is older than the user", second.CreatedAt.Before(alice.CreatedAt), false)
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	do[*rota.Granted](y, y.grant("nightly", rota.ExecuteJob, "alice"))
	alice = y.principal("alice")
	want(y, "the membership has an effect", alice.Spec.Roles[0].HasEffect(y.principal("ops")), true)
	want(y, "the grant is older than the schedule", alice.Spec.Grants[0].Since.Before(y.schedule("nightly").Since), false)

	y.advance(2 * time.Hour)
	want(y, "times follow the clock again", y.user("bob").CreatedAt.Equal(y.now), true)
	y.wantNoViolations()
}
