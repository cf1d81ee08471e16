package storetest

import (
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// Principals and tokens are few, so that commands collide: two users, three roles and two tokens. Their names are
// those of definitions too.

// accessCommand generates one command about users, roles and tokens. Grants are more frequent.
func (g *gen) accessCommand() rota.Command {
	return choose(g, "access verb",
		g.putPrincipal, g.putPrincipal, g.putPrincipal, g.dropPrincipal, g.grantPrivileges, g.grantPrivileges, g.grantPrivileges, g.grantPrivileges,
		g.putToken, g.putToken, g.revokeToken, g.touchTokens, g.recordAccess,
		g.putSecret, g.putSecret, g.putSecret, g.deleteSecret, g.rewrapSecrets, g.promoteSecretKey,
	)()
}

func (g *gen) principalName() string { return choose(g, "principal", "u", "v", "a", "b", "c") }

// principalKind returns the kind that the name usually has.
func (g *gen) principalKind(name string) rota.PrincipalKind {
	if (name == "u" || name == "v") != g.rarely(8, "other kind") {
		return rota.KindUser
	}
	return rota.KindRole
}

func (g *gen) putPrincipal() rota.Command {
	c := &rota.PutPrincipal{Meta: g.meta(), Name: g.principalName(), Mode: g.mode(), Version: g.putVersion()}
	c.Kind = g.principalKind(c.Name)
	if c.Kind == rota.KindUser {
		c.Verifier = choose(g, "verifier", nil, new(""), new(verifierOne), new(verifierTwo))
		c.Certificate = choose(g, "certificate", nil, new(""), new("cn"), new("cn"), new("other"))
	}
	return c
}

func (g *gen) dropPrincipal() rota.Command {
	name := g.principalName()
	return &rota.DropPrincipal{Meta: g.meta(), Name: name, Kind: g.principalKind(name)}
}

func (g *gen) grantPrivileges() rota.Command {
	c := &rota.GrantPrivileges{Meta: g.meta(), To: []string{g.principalName()}, Revoke: g.rarely(3, "revoke")}
	if other := g.principalName(); !slices.Contains(c.To, other) && g.rarely(3, "two principals") {
		c.To = append(c.To, other)
	}
	if g.rarely(2, "role") {
		c.Role = choose(g, "role", "a", "b", "c")
		return c
	}
	c.Job = choose(g, "granted on", "", "", "t", "x")
	c.Privileges = choose(g, "privileges", []rota.Privilege{rota.ExecuteJob}, []rota.Privilege{rota.ViewJobHistory, rota.AlterJob})
	if c.Job == "" && g.rarely(3, "on all") {
		c.Privileges = []rota.Privilege{rota.Admin, rota.ExecuteJob}
	}
	return c
}

func (g *gen) tokenID() string { return choose(g, "token", "token001", "token002") }

func (g *gen) putToken() rota.Command {
	c := &rota.PutToken{
		Meta: g.meta(), TokenID: g.tokenID(), User: choose(g, "token user", "u", "v", "a", rota.AdminUser), Job: choose(g, "token job", "", "x"),
		Scope: choose(g, "scope", rota.TokenScopes...), Hash: tokenHash, Verifier: choose(g, "token verifier", "", verifierOne),
		ExpiresAt: choose(g, "expiry", time.Time{}, g.now.Add(time.Hour), g.now.Add(time.Hour+1), g.now, g.now.AddDate(11, 0, 0)),
	}
	switch c.Scope {
	case rota.ScopeWorker:
		c.Type, c.Job = choose(g, "token type", "", "a"), ""
	case rota.ScopeSession:
		c.Job = ""
	}
	return c
}

func (g *gen) revokeToken() rota.Command {
	return &rota.RevokeToken{Meta: g.meta(), TokenID: g.tokenID()}
}

func (g *gen) touchTokens() rota.Command {
	c := &rota.TouchTokens{Meta: g.meta()}
	for range choose(g, "uses", 1, 2, 3) {
		at := g.now.Add(choose(g, "used", 0, -time.Minute, time.Minute, -time.Hour))
		c.Uses = append(c.Uses, rota.TokenUse{TokenID: g.tokenID(), At: at})
	}
	return c
}

func (g *gen) recordAccess() rota.Command {
	c := &rota.RecordAccess{Meta: g.meta()}
	for range choose(g, "records", 1, 2) {
		c.Records = append(c.Records, rota.AccessRecord{
			Act:   choose(g, "act", rota.AuditLogin, rota.AuditLoginFailed, rota.AuditAccessDenied, rota.AuditRunAs),
			Actor: choose(g, "recorded actor", "", "ada"), Subject: choose(g, "recorded subject", "", "user u", "schedule x"),
			Count: choose(g, "count", 0, 1, 12), Detail: choose(g, "recorded detail", "", "by password"), Schedule: choose(g, "recorded schedule", "", "x"),
		})
	}
	return c
}
