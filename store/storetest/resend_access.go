package storetest

import (
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// resendAccessCommands returns the commands about users, roles and tokens, each with rows that it changes.
func resendAccessCommands() []repeatedCommand {
	member := func(y *story) *rota.GrantPrivileges {
		y.user("alice")
		y.roles("ops")
		return y.grantRole("ops", "alice")
	}
	return []repeatedCommand{
		{"put principal", func(y *story) rota.Command {
			c := y.certificateCommand("alice", "cn")
			c.Mode, c.Verifier = rota.PutCreate, &verifierOne
			return c
		}, true},
		{"drop principal", func(y *story) rota.Command {
			do[*rota.Granted](y, member(y))
			return y.dropPrincipalCommand(rota.KindUser, "alice")
		}, true},
		{"grant of a role", func(y *story) rota.Command { return member(y) }, true},
		{"grant of privileges", func(y *story) rota.Command {
			member(y)
			return y.grant("", rota.ExecuteJob, "alice", "ops")
		}, true},
		{"revocation", func(y *story) rota.Command {
			do[*rota.Granted](y, member(y))
			return y.revoke(y.grantRole("ops", "alice"))
		}, true},
		{"put token", func(y *story) rota.Command {
			y.user("alice")
			return y.tokenCommand("token001", "alice")
		}, true},
		{"revoke token", func(y *story) rota.Command {
			do[*rota.TokenPut](y, y.tokenCommand("token001", rota.AdminUser))
			return &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"}
		}, true},
		{"touch tokens", func(y *story) rota.Command {
			do[*rota.TokenPut](y, y.tokenCommand("token001", rota.AdminUser))
			return &rota.TouchTokens{Meta: y.ids.meta(), Uses: []rota.TokenUse{{TokenID: "token001", At: y.now}}}
		}, true},
		{"put secret", func(y *story) rota.Command {
			y.declareTemplate("backup", rota.TemplateSpec{})
			return y.secretCommand("backup", "PASSWORD", "one")
		}, true},
		{"delete secret", func(y *story) rota.Command {
			y.declareTemplate("backup", rota.TemplateSpec{})
			do[*rota.SecretPut](y, y.secretCommand("backup", "PASSWORD", "one"))
			return &rota.DeleteSecret{Meta: y.ids.meta(), Template: "backup", Key: "PASSWORD"}
		}, true},
		{"promote secret key", func(y *story) rota.Command {
			y.declareTemplate("backup", rota.TemplateSpec{})
			do[*rota.SecretPut](y, y.secretCommand("backup", "PASSWORD", "one"))
			return y.promoteCommand()
		}, true},
		{"rewrap secrets", func(y *story) rota.Command {
			y.declareTemplate("backup", rota.TemplateSpec{})
			do[*rota.SecretPut](y, y.secretCommand("backup", "PASSWORD", "one"))
			do[*rota.SecretKeyPromoted](y, y.promoteCommand())
			return y.rewrapCommand("again")
		}, true},
		{"record access", func(y *story) rota.Command {
			return &rota.RecordAccess{Meta: y.ids.meta(), Records: []rota.AccessRecord{{Act: rota.AuditLogin, Actor: "ada"}}}
		}, true},
	}
}

func latePrincipal(y *story) {
	c := y.certificateCommand("alice", "one")
	do[*rota.PrincipalPut](y, c)
	do[*rota.PrincipalPut](y, y.certificateCommand("alice", "two"))
	want(y, "certificate", y.resendUnchanged(c).Reply.(*rota.PrincipalPut).Principal.Spec.Certificate, "two")
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "alice"))
	want(y, "principal", y.resendUnchanged(c).Reply.(*rota.PrincipalPut).Principal, nil)
}

func lateGrant(y *story) {
	y.user("alice")
	y.user("bob")
	c := y.grant("", rota.ExecuteJob, "alice", "bob")
	do[*rota.Granted](y, c)
	y.advance(time.Second)
	do[*rota.Granted](y, y.revoke(y.grant("", rota.ExecuteJob, "alice")))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "bob"))
	again := y.resendUnchanged(c).Reply.(*rota.Granted)
	want(y, "principals that are left", len(again.Principals), 1)
	want(y, "held", y.held("alice"), "")
}

// Invalid fields of commands about access.

func invalidPrincipals() []invalidCase {
	set := func(field string, change func(*rota.PutPrincipal)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.certificateCommand("alice", "cn")
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("name", func(c *rota.PutPrincipal) { c.Name = "" }),
		set("name", func(c *rota.PutPrincipal) { c.Name = rota.AdminUser }),
		set("name", func(c *rota.PutPrincipal) { c.Name = longName }),
		set("kind", func(c *rota.PutPrincipal) { c.Kind = "GROUP" }),
		set("mode", func(c *rota.PutPrincipal) { c.Mode = "upsert" }),
		set("certificate", func(c *rota.PutPrincipal) { c.Kind = rota.KindRole }),
		set("certificate", func(c *rota.PutPrincipal) { c.Certificate = new("a\x00") }),
		set("verifier", func(c *rota.PutPrincipal) { c.Verifier = new("secret") }),
		{"name", func(fx *fixture) rota.Command { return fx.dropPrincipalCommand(rota.KindUser, "") }},
		{"kind", func(fx *fixture) rota.Command { return fx.dropPrincipalCommand("", "alice") }},
	}
}

func invalidGrants() []invalidCase {
	set := func(field string, change func(*rota.GrantPrivileges)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.grant("nightly", rota.ExecuteJob, "alice", "bob")
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("to", func(c *rota.GrantPrivileges) { c.To = nil }),
		set("to[1]", func(c *rota.GrantPrivileges) { c.To[1] = "alice" }),
		set("privileges", func(c *rota.GrantPrivileges) { c.Privileges = nil }),
		set("privileges[0]", func(c *rota.GrantPrivileges) { c.Privileges[0] = rota.Admin }),
		set("privileges[0]", func(c *rota.GrantPrivileges) { c.Privileges[0] = "SELECT" }),
		set("role", func(c *rota.GrantPrivileges) { c.Role = "ops" }),
		set("job", func(c *rota.GrantPrivileges) { c.Job = "two words" }),
	}
}

func invalidTokens() []invalidCase {
	set := func(field string, change func(*rota.PutToken)) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			c := fx.tokenCommand("token001", rota.AdminUser)
			change(c)
			return c
		}}
	}
	return []invalidCase{
		set("token_id", func(c *rota.PutToken) { c.TokenID = "short" }),
		set("user", func(c *rota.PutToken) { c.User = "" }),
		set("scope", func(c *rota.PutToken) { c.Scope = "all" }),
		set("type", func(c *rota.PutToken) { c.Type = "mail" }),
		set("job", func(c *rota.PutToken) { c.Job = "two words" }),
		set("hash", func(c *rota.PutToken) { c.Hash = strings.ToUpper(c.Hash) }),
		set("verifier", func(c *rota.PutToken) { c.Verifier = "x" }),
		set("expires_at", func(c *rota.PutToken) { c.ExpiresAt = beyondMaxTime }),
		{"token_id", func(fx *fixture) rota.Command { return &rota.RevokeToken{Meta: fx.ids.meta()} }},
		{"uses", func(fx *fixture) rota.Command { return &rota.TouchTokens{Meta: fx.ids.meta()} }},
	}
}

func invalidAccessRecords() []invalidCase {
	record := func(field string, r rota.AccessRecord) invalidCase {
		return invalidCase{field, func(fx *fixture) rota.Command {
			return &rota.RecordAccess{Meta: fx.ids.meta(), Records: []rota.AccessRecord{{Act: rota.AuditLogin}, r}}
		}}
	}
	return []invalidCase{
		{"records", func(fx *fixture) rota.Command { return &rota.RecordAccess{Meta: fx.ids.meta()} }},
		record("records[1].act", rota.AccessRecord{Act: rota.AuditUserCreated}),
		record("records[1].actor", rota.AccessRecord{Act: rota.AuditLogin, Actor: longName}),
		record("records[1].schedule", rota.AccessRecord{Act: rota.AuditLogin, Schedule: longName}),
		record("records[1].detail", rota.AccessRecord{Act: rota.AuditLogin, Detail: "a\xff"}),
		record("records[1].schedule", rota.AccessRecord{Act: rota.AuditRunAs, Schedule: longName}),
	}
}
