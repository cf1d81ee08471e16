package storetest

import (
	"time"

	"github.com/rotajobs/rota"
)

func accessRaces() []race {
	return []race{
		{"two memberships that form a cycle: one is refused", membershipAgainstMembership, oneRefused},
		{"two users with one certificate: one is refused", certificateAgainstCertificate, oneRefused},
		{"two grants to one user: both are kept", grantAgainstGrant, bothGranted},
		{"a membership against the drop of its role: it is refused or has no effect", membershipAgainstDrop, noMembershipHasEffect},
		{"a token against the drop of its user: it is refused or older than the drop", tokenAgainstDrop, func(*story, rota.Result, rota.Result) {}},
		{"a new definition against the drop of its owner: the owner stays or is admin", defineAgainstDrop, ownersExist},
		{"a new owner against the drop of the user: one is refused", setOwnerAgainstDrop, oneRefused},
		{"a revocation against a fire of a template of another owner", revokeAgainstFire, eveCannotExecute},
		{"a revocation against a trigger of a template of another owner", revokeAgainstTrigger, eveCannotExecute},
		{"the end of a membership between roles against a trigger", unnestAgainstTrigger, eveCannotExecute},
		{"a revocation against a new schedule of a template of another owner", revokeAgainstPut, eveCannotExecute},
		{"two tokens of one id: one is refused", tokenAgainstToken, oneRefused},
		{"a revocation of a token against its use: the token is revoked", revokeAgainstTouch, tokenIsRevoked},
	}
}

// membershipAgainstMembership closes a cycle of four roles at two places.
func membershipAgainstMembership(y *story) (a, b rota.Command) {
	y.roles("a", "b", "c", "d")
	do[*rota.Granted](y, y.grantRole("b", "a"))
	do[*rota.Granted](y, y.grantRole("d", "c"))
	return y.grantRole("c", "b"), y.grantRole("a", "d")
}

func certificateAgainstCertificate(y *story) (a, b rota.Command) {
	return y.certificateCommand("alice", "cn"), y.certificateCommand("bob", "cn")
}

func grantAgainstGrant(y *story) (a, b rota.Command) {
	y.user("alice")
	return y.grant("", rota.ExecuteJob, "alice"), y.grant("", rota.AlterJob, "alice")
}

func bothGranted(y *story, _, _ rota.Result) {
	y.Helper()
	want(y, "held", y.held("alice"), "ALTER JOB, EXECUTE JOB")
}

func membershipAgainstDrop(y *story) (a, b rota.Command) {
	y.user("alice")
	y.roles("ops")
	return y.grantRole("ops", "alice"), y.dropPrincipalCommand(rota.KindRole, "ops")
}

func noMembershipHasEffect(y *story, _, _ rota.Result) {
	y.Helper()
	_, err := y.s.Principal(y.ctx, "ops")
	y.wantNotFound("principal", err)
}

func tokenAgainstDrop(y *story) (a, b rota.Command) {
	y.user("ci")
	return y.tokenCommand("token001", "ci"), y.dropPrincipalCommand(rota.KindUser, "ci")
}

func tokenAgainstToken(y *story) (a, b rota.Command) {
	y.user("ci")
	return y.tokenCommand("token001", "ci"), y.tokenCommand("token001", rota.AdminUser)
}

func revokeAgainstTouch(y *story) (a, b rota.Command) {
	do[*rota.TokenPut](y, y.tokenCommand("token001", rota.AdminUser))
	return &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"},
		&rota.TouchTokens{Meta: y.ids.meta(), Uses: []rota.TokenUse{{TokenID: "token001", At: y.now}}}
}

func tokenIsRevoked(y *story, _, _ rota.Result) {
	y.Helper()
	wantTime(y, "revoked", y.token("token001").RevokedAt, y.now)
	wantTime(y, "used", y.token("token001").LastUsedAt, y.now)
}

func defineAgainstDrop(y *story) (a, b rota.Command) {
	y.user("alice")
	c := y.templateCommand("letter", rota.TemplateSpec{})
	c.Actor = "alice"
	return c, y.dropPrincipalCommand(rota.KindUser, "alice")
}

// ownersExist wants the owner of the template to be admin or a user that exists.
func ownersExist(y *story, _, _ rota.Result) {
	y.Helper()
	if owner := y.template("letter").Owner; owner != rota.AdminUser {
		y.principal(owner)
	}
}

func setOwnerAgainstDrop(y *story) (a, b rota.Command) {
	y.user("alice")
	y.define("nightly", rota.ScheduleSpec{})
	return y.setOwnerCommand("nightly", "alice"), y.dropPrincipalCommand(rota.KindUser, "alice")
}

func revokeAgainstFire(y *story) (a, b rota.Command) {
	y.lend(rota.ScheduleSpec{})
	y.advanceTo(y.schedule("own").NextFire)
	return y.revoke(y.grant("pay", rota.ExecuteJob, "eve")), y.fireCommand("own")
}

func revokeAgainstTrigger(y *story) (a, b rota.Command) {
	y.lend(rota.ScheduleSpec{})
	return y.revoke(y.grant("pay", rota.ExecuteJob, "eve")), y.triggerOwn()
}

// unnestAgainstTrigger ends the membership that gives eve her right through three roles.
func unnestAgainstTrigger(y *story) (a, b rota.Command) {
	y.lend(rota.ScheduleSpec{})
	y.revokePay()
	y.roles("a", "b", "c")
	do[*rota.Granted](y, y.grantRole("a", "eve"))
	do[*rota.Granted](y, y.grantRole("b", "a"))
	do[*rota.Granted](y, y.grantRole("c", "b"))
	do[*rota.Granted](y, y.grant("pay", rota.ExecuteJob, "c"))
	return y.revoke(y.grantRole("c", "b")), y.triggerOwn()
}

func revokeAgainstPut(y *story) (a, b rota.Command) {
	y.lend(rota.ScheduleSpec{})
	return y.revoke(y.grant("pay", rota.ExecuteJob, "eve")), y.declareCommand("own", rota.ScheduleSpec{Template: "pay", Every: time.Minute})
}

func eveCannotExecute(y *story, _, _ rota.Result) {
	y.Helper()
	y.wantField(rota.Denied, "schedule", y.triggerOwn())
}
