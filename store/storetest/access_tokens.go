package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

func testTokens(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a token is kept as it was put", tokenPut},
		{"a token needs a user that exists, and a new id", tokenRefused},
		{"a token expires in the next ten years or never", tokenExpiry},
		{"a token is revoked once", tokenRevoked},
		{"a use sets the last use, never back and never ahead", tokenTouched},
		{"tokens are listed by id and by user", tokensListed},
		{"tokens are audited without secrets", tokenAudit},
		{"a token is removed some time after its end", tokensPruned},
		{"a token stays when its user is dropped", tokenOfDropped},
	})
}

func (y *story) tokenCommand(id, user string) *rota.PutToken {
	return &rota.PutToken{Meta: y.ids.meta(), TokenID: id, User: user, Scope: rota.ScopeRead, Hash: tokenHash}
}

func (y *story) token(id string) *rota.AccessToken {
	y.Helper()
	t, err := y.s.AccessToken(y.ctx, id)
	return must(y, "token", t, err)
}

func tokenPut(y *story) {
	y.user("ci")
	_, err := y.s.AccessToken(y.ctx, "token001")
	y.wantNotFound("token", err)
	expires := y.now.Add(90 * 24 * time.Hour)
	c := &rota.PutToken{
		Meta: y.ids.meta(), TokenID: "token001", User: "ci", Scope: rota.ScopeWorker, Type: "mail", Hash: tokenHash,
		Verifier: verifierOne, ExpiresAt: expires,
	}
	put := do[*rota.TokenPut](y, c)
	want(y, "created", put.Changed, true)
	want(y, "token", *put.Token, rota.AccessToken{
		ID: "token001", User: "ci", Scope: rota.ScopeWorker, Type: "mail", Hash: tokenHash, Verifier: verifierOne,
		CreatedBy: "ada", CreatedAt: y.now, ExpiresAt: expires,
	})
	resent := y.resendUnchanged(c).Reply.(*rota.TokenPut)
	want(y, "stored", *y.token("token001"), *resent.Token)
	want(y, "created again", resent.Changed, false)
	want(y, "version of all", y.accessVersion(), c.ID)
	bound := y.tokenCommand("token002", rota.AdminUser)
	bound.Job = "nightly"
	do[*rota.TokenPut](y, bound)
	want(y, "job", y.token("token002").Job, "nightly")
	y.wantNoViolations()
}

func tokenRefused(y *story) {
	y.roles("ops")
	y.wantField(rota.NotFound, "user", y.tokenCommand("token001", "nobody"))
	y.wantField(rota.NotFound, "user", y.tokenCommand("token001", "ops"))
	y.user("ci")
	do[*rota.TokenPut](y, y.tokenCommand("token001", "ci"))
	y.wantField(rota.Conflict, "token_id", y.tokenCommand("token001", "ci"))
}

func tokenExpiry(y *story) {
	until := func(id string, at time.Time) *rota.PutToken {
		c := y.tokenCommand(id, rota.AdminUser)
		c.ExpiresAt = at
		return c
	}
	y.wantField(rota.Invalid, "expires_at", until("token001", y.now))
	y.wantField(rota.Invalid, "expires_at", until("token001", y.now.Add(rota.TokenMax+time.Microsecond)))
	soon := until("token001", y.now.Add(time.Microsecond))
	do[*rota.TokenPut](y, soon)
	do[*rota.TokenPut](y, until("token002", y.now.Add(rota.TokenMax)))
	want(y, "usable", y.token("token001").UsableAt(y.now), true)
	y.advance(time.Second)
	want(y, "usable later", y.token("token001").UsableAt(y.now), false)
	y.resendUnchanged(soon)
}

func tokenRevoked(y *story) {
	y.wantField(rota.NotFound, "token_id", &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"})
	do[*rota.TokenPut](y, y.tokenCommand("token001", rota.AdminUser))
	y.advance(time.Second)
	c := &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"}
	r := do[*rota.TokenRevoked](y, c)
	want(y, "changed", r.Changed, true)
	want(y, "stored", *y.token("token001"), *r.Token)
	want(y, "by", r.Token.RevokedBy, "ada")
	wantTime(y, "at", r.Token.RevokedAt, y.now)
	want(y, "version of all", y.accessVersion(), c.ID)
	want(y, "usable", y.token("token001").UsableAt(y.now), false)
	for _, again := range []*rota.RevokeToken{c, {Meta: y.ids.meta(), TokenID: "token001"}} {
		want(y, "changed again", y.resendUnchanged(again).Reply.(*rota.TokenRevoked).Changed, false)
	}
}

func tokenTouched(y *story) {
	do[*rota.TokenPut](y, y.tokenCommand("token001", rota.AdminUser))
	version, audit := y.accessVersion(), len(y.audit(rota.AuditQuery{}))
	touch := func(uses ...rota.TokenUse) int {
		return do[*rota.TokensTouched](y, &rota.TouchTokens{Meta: y.ids.meta(), Uses: uses}).Touched
	}
	y.advance(time.Hour)
	at := y.now.Add(-time.Minute)
	want(y, "touched", touch(rota.TokenUse{TokenID: "token001", At: at}, rota.TokenUse{TokenID: "unknown1", At: at}), 1)
	wantTime(y, "last use", y.token("token001").LastUsedAt, at)
	want(y, "touched by an earlier use", touch(rota.TokenUse{TokenID: "token001", At: at.Add(-time.Second)}), 0)
	ahead := rota.TokenUse{TokenID: "token001", At: y.now.Add(time.Hour)}
	want(y, "touched by a use ahead", touch(ahead, ahead), 1)
	wantTime(y, "last use", y.token("token001").LastUsedAt, y.now)
	want(y, "version of all", y.accessVersion(), version)
	want(y, "audit entries", len(y.audit(rota.AuditQuery{})), audit)
	events := y.eventsDuring(func() {
		y.advance(time.Hour)
		touch(rota.TokenUse{TokenID: "token001", At: y.now})
	})
	want(y, "events", len(events), 0)
}

func tokensListed(y *story) {
	y.user("ci")
	for id, user := range map[string]string{"token001": "ci", "token003": "ci", "token002": rota.AdminUser} {
		do[*rota.TokenPut](y, y.tokenCommand(id, user))
	}
	page := func(q rota.TokenQuery) string {
		all, err := y.s.AccessTokens(y.ctx, q)
		var ids []string
		for _, t := range must(y, "tokens", all, err) {
			ids = append(ids, strings.TrimPrefix(t.ID, "token00"))
		}
		return strings.Join(ids, " ")
	}
	want(y, "all", page(rota.TokenQuery{}), "1 2 3")
	want(y, "of ci", page(rota.TokenQuery{User: "ci"}), "1 3")
	want(y, "of ci after", page(rota.TokenQuery{User: "ci", After: "token001"}), "3")
	want(y, "page", page(rota.TokenQuery{After: "token001", Limit: 1}), "2")
	want(y, "of nobody", page(rota.TokenQuery{User: "nobody"}), "")
	_, err := y.s.AccessTokens(y.ctx, rota.TokenQuery{Limit: -1})
	want(y, "code", rota.CodeOf(err), rota.Invalid)
}

func tokenAudit(y *story) {
	c := y.tokenCommand("token001", rota.AdminUser)
	c.Verifier, c.ExpiresAt, c.Job = verifierOne, y.now.Add(time.Hour), "nightly"
	do[*rota.TokenPut](y, c)
	y.wantChanges("token token001", rota.AuditTokenCreated,
		`{"expires_at":{"old":null,"new":"2026-03-01T13:00:00.123456Z"},"job":{"old":null,"new":"nightly"},"scope":{"old":null,"new":"read"},"user":{"old":null,"new":"admin"}}`)
	want(y, "detail", y.audit(rota.AuditQuery{Subject: "token token001"})[0].Detail, "user admin, scope read")
	y.advance(time.Second)
	do[*rota.TokenRevoked](y, &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"})
	y.wantChanges("token token001", rota.AuditTokenRevoked, "")
	want(y, "detail", y.audit(rota.AuditQuery{Subject: "token token001"})[0].Detail, "user admin, scope read")
}

func tokenOfDropped(y *story) {
	y.user("ci")
	do[*rota.TokenPut](y, y.tokenCommand("token001", "ci"))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "ci"))
	want(y, "user", y.token("token001").User, "ci")
	do[*rota.TokenRevoked](y, &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token001"})
	y.wantNoViolations()
}

// tokensPruned: tokens are removed some time after they were revoked or have expired, each with an entry in the audit.
func tokensPruned(y *story) {
	expires := y.now.Add(time.Hour)
	for _, id := range []string{"token001", "token002", "token003", "token004"} {
		c := y.tokenCommand(id, rota.AdminUser)
		if id != "token001" {
			c.ExpiresAt = expires
		}
		do[*rota.TokenPut](y, c)
	}
	revoke := &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token003"}
	do[*rota.TokenRevoked](y, revoke)
	y.advance(2 * time.Hour)
	do[*rota.TokenRevoked](y, &rota.RevokeToken{Meta: y.ids.meta(), TokenID: "token004"})
	left := func() string {
		tokens, err := y.s.AccessTokens(y.ctx, rota.TokenQuery{})
		return joinNames(must(y, "tokens", tokens, err), func(t *rota.AccessToken) string { return t.ID })
	}
	y.advance(rota.TokenKeep - time.Hour)
	version := y.accessVersion()
	y.prune(y.ids.next())
	want(y, "left when the first has expired exactly so long ago", left(), "token001 token002 token004")
	if y.accessVersion() == version {
		y.Error("the version of all tokens stays")
	}
	y.advance(time.Microsecond)
	y.prune(y.ids.next())
	want(y, "left", left(), "token001 token004")
	want(y, "entries", len(y.audit(rota.AuditQuery{Acts: []string{rota.AuditTokenPruned}, Subject: "token token002"})), 1)
	y.wantNotFound("token", errOf(y.s.AccessToken(y.ctx, "token002")))
	version = y.accessVersion()
	y.prune(y.ids.next())
	want(y, "version when there is nothing to remove", y.accessVersion(), version)
	do[*rota.TokenPut](y, y.tokenCommand("token003", rota.AdminUser))
	want(y, "revocation of the earlier token, sent again", y.resendUnchanged(revoke).Reply.(*rota.TokenRevoked).Changed, false)
}

func testAccessRecords(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"security events are audited once, with their counts", accessRecorded},
	})
}

func accessRecorded(y *story) {
	j := y.running(rota.NewJob{})
	c := &rota.RecordAccess{Meta: y.ids.meta(), Records: []rota.AccessRecord{
		{Act: rota.AuditLogin, Actor: "alice", Subject: "user alice", Detail: "by password"},
		{Act: rota.AuditLoginFailed, Actor: "bob", Subject: "user bob", Count: 12, Detail: "wrong password"},
		{Act: rota.AuditAccessDenied, Actor: "carol", Count: 3},
		{Act: rota.AuditRunAs, Actor: "dan", Subject: rota.JobSubject(j.ID), JobID: j.ID, ExecutionID: j.ExecutionID, RunID: j.Run.ID, Schedule: "nightly", Count: 1, Detail: "role ops"},
	}}
	y.advance(time.Second)
	events := y.eventsDuring(func() { want(y, "recorded", do[*rota.AccessRecorded](y, c).Recorded, 4) })
	want(y, "events", len(events), 0)
	want(y, "version of all", y.accessVersion(), rota.ID{})
	for actor, wanted := range map[string]string{
		"alice": "LOGIN OK by password", "bob": "LOGIN_FAILED DENIED 12 times; wrong password", "carol": "ACCESS_DENIED DENIED 3 times", "dan": "RUN_AS OK role ops",
	} {
		entries := y.audit(rota.AuditQuery{Actor: actor})
		want(y, "entries of "+actor, len(entries), 1)
		e := entries[0]
		want(y, "entry of "+actor, e.Act+" "+e.Outcome+" "+e.Detail, wanted)
		wantTime(y, "at", e.At, y.now)
	}
	run := y.audit(rota.AuditQuery{Actor: "dan"})[0]
	want(y, "job", run.JobID, j.ID)
	want(y, "run", run.RunID, j.Run.ID)
	want(y, "schedule", run.Schedule, "nightly")
	want(y, "acts of the execution", len(y.audit(rota.AuditQuery{ExecutionID: j.ExecutionID, Acts: []string{rota.AuditRunAs}})), 1)
	want(y, "denied", len(y.audit(rota.AuditQuery{Outcomes: []string{rota.AuditDenied}})), 2)
	want(y, "recorded again", y.resendUnchanged(c).Reply.(*rota.AccessRecorded).Recorded, 0)
}
