package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Credentials of the stories. No password matches the verifiers.
var (
	verifierOne = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	verifierTwo = strings.Replace(verifierOne, "W22Z", "Z22W", 1)
	tokenHash   = strings.Repeat("0123456789abcdef", 4)
)

func testPrincipals(t *testing.T, h Harness) {
	runStories(t, h, []namedStory{
		{"a principal is kept as it was put", principalPut},
		{"a put changes only the credentials that it names", principalPatched},
		{"a put of the same credentials changes nothing", principalUnchanged},
		{"a put to create refuses a principal that exists, and a put to replace one that does not", principalModes},
		{"a put with an old version is a conflict", principalVersion},
		{"the kind of a principal cannot change", principalKind},
		{"a certificate belongs to one user", principalCertificate},
		{"one command passes a certificate on", principalCertificatePassed},
		{"a dropped principal is gone and can be created again", principalDropped},
		{"a principal is dropped and created again in one command", principalReplaced},
		{"principals are listed by name", principalsListed},
		{"principals are audited without secrets", principalAudit},
		{"every change sets the version of all access data and is an event", accessState},
		{"later changes of an answer do not change the stored principal", principalCopies},
	})
}

func (y *story) principalCommand(kind rota.PrincipalKind, name string) *rota.PutPrincipal {
	return &rota.PutPrincipal{Meta: y.ids.meta(), Name: name, Kind: kind}
}

func (y *story) user(name string) *rota.Principal {
	y.Helper()
	return do[*rota.PrincipalPut](y, y.principalCommand(rota.KindUser, name)).Principal
}

func (y *story) roles(names ...string) {
	y.Helper()
	for _, name := range names {
		do[*rota.PrincipalPut](y, y.principalCommand(rota.KindRole, name))
	}
}

func (y *story) dropPrincipalCommand(kind rota.PrincipalKind, name string) *rota.DropPrincipal {
	return &rota.DropPrincipal{Meta: y.ids.meta(), Name: name, Kind: kind}
}

func (y *story) principal(name string) *rota.Principal {
	y.Helper()
	p, err := y.s.Principal(y.ctx, name)
	return must(y, "principal", p, err)
}

func (y *story) accessVersion() rota.ID {
	y.Helper()
	state, err := y.s.AccessState(y.ctx)
	return must(y, "access state", state, err).Version
}

func principalPut(y *story) {
	want(y, "version at first", y.accessVersion(), rota.ID{})
	_, err := y.s.Principal(y.ctx, "alice")
	y.wantNotFound("principal", err)
	c := y.principalCommand(rota.KindUser, "alice")
	c.Mode, c.Verifier, c.Certificate = rota.PutCreate, &verifierOne, new("alice.example")
	put := do[*rota.PrincipalPut](y, c)
	want(y, "changed", put.Changed, true)
	for _, got := range []*rota.Principal{put.Principal, y.principal("alice")} {
		want(y, "kind", got.Kind, rota.KindUser)
		want(y, "spec", string(rota.EncodeSpec(got.Spec)), string(rota.EncodeSpec(rota.PrincipalSpec{Verifier: verifierOne, Certificate: "alice.example", PasswordAt: y.now})))
		want(y, "version", got.Version, c.ID)
		want(y, "by", got.CreatedBy, "ada")
		wantTime(y, "created", got.CreatedAt, y.now)
		wantTime(y, "updated", got.UpdatedAt, y.now)
	}
	want(y, "version of all", y.accessVersion(), c.ID)
	y.wantNoViolations()
}

func principalPatched(y *story) {
	c := y.principalCommand(rota.KindUser, "alice")
	c.Verifier, c.Certificate = &verifierOne, new("cn")
	do[*rota.PrincipalPut](y, c)
	created := y.now
	y.advance(time.Second)
	c = y.principalCommand(rota.KindUser, "alice")
	c.Verifier = &verifierTwo
	p := do[*rota.PrincipalPut](y, c).Principal
	want(y, "verifier", p.Spec.Verifier, verifierTwo)
	want(y, "certificate", p.Spec.Certificate, "cn")
	wantTime(y, "created", p.CreatedAt, created)
	wantTime(y, "updated", p.UpdatedAt, y.now)
	c = y.principalCommand(rota.KindUser, "alice")
	c.Verifier, c.Certificate = new(""), new("")
	p = do[*rota.PrincipalPut](y, c).Principal
	want(y, "removed", p.Spec.Verifier+p.Spec.Certificate, "")
}

func principalUnchanged(y *story) {
	c := y.principalCommand(rota.KindUser, "alice")
	c.Verifier, c.Certificate = &verifierOne, new("cn")
	do[*rota.PrincipalPut](y, c)
	y.roles("ops")
	y.advance(time.Second)
	before := y.dump()
	same := y.principalCommand(rota.KindUser, "alice")
	same.Verifier, same.Certificate = c.Verifier, c.Certificate
	want(y, "changed", do[*rota.PrincipalPut](y, same).Changed, false)
	want(y, "changed by nothing", do[*rota.PrincipalPut](y, y.principalCommand(rota.KindUser, "alice")).Changed, false)
	want(y, "changed role", do[*rota.PrincipalPut](y, y.principalCommand(rota.KindRole, "ops")).Changed, false)
	y.wantUnchanged(before)
}

func principalModes(y *story) {
	replace := y.principalCommand(rota.KindUser, "alice")
	replace.Mode = rota.PutReplace
	y.wantField(rota.NotFound, "name", replace)
	y.user("alice")
	for _, kind := range []rota.PrincipalKind{rota.KindUser, rota.KindRole} {
		c := y.principalCommand(kind, "alice")
		c.Mode = rota.PutCreate
		y.wantField(rota.Conflict, "name", c)
	}
}

func principalVersion(y *story) {
	p := y.user("alice")
	c := y.principalCommand(rota.KindUser, "alice")
	c.Version, c.Certificate = new(y.ids.next()), new("cn")
	y.wantField(rota.Conflict, "version", c)
	c = y.principalCommand(rota.KindUser, "alice")
	c.Version, c.Certificate = &p.Version, new("cn")
	want(y, "changed", do[*rota.PrincipalPut](y, c).Changed, true)
	c = y.principalCommand(rota.KindUser, "bob")
	c.Version = &p.Version
	y.wantField(rota.NotFound, "name", c)
}

func principalKind(y *story) {
	y.user("alice")
	y.wantField(rota.Conflict, "kind", y.principalCommand(rota.KindRole, "alice"))
	y.roles("ops")
	y.wantField(rota.Conflict, "kind", y.principalCommand(rota.KindUser, "ops"))
}

func (y *story) certificateCommand(user, certificate string) *rota.PutPrincipal {
	c := y.principalCommand(rota.KindUser, user)
	c.Certificate = &certificate
	return c
}

func principalCertificate(y *story) {
	do[*rota.PrincipalPut](y, y.certificateCommand("alice", "cn"))
	err := y.wantField(rota.Conflict, "certificate", y.certificateCommand("bob", "cn"))
	want(y, "names the other user", strings.Contains(err.Error(), "alice"), true)
	do[*rota.PrincipalPut](y, y.certificateCommand("bob", "other"))
	do[*rota.PrincipalPut](y, y.certificateCommand("alice", ""))
	do[*rota.PrincipalPut](y, y.certificateCommand("bob", "cn"))
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "bob"))
	do[*rota.PrincipalPut](y, y.certificateCommand("alice", "cn"))
	y.wantNoViolations()
}

func principalCertificatePassed(y *story) {
	do[*rota.PrincipalPut](y, y.certificateCommand("alice", "a"))
	do[*rota.PrincipalPut](y, y.certificateCommand("bob", "b"))
	do[*rota.AllDone](y, y.allOf(y.certificateCommand("alice", ""), y.certificateCommand("bob", "a"), y.certificateCommand("alice", "b")))
	want(y, "alice", y.principal("alice").Spec.Certificate, "b")
	want(y, "bob", y.principal("bob").Spec.Certificate, "a")
	y.wantField(rota.Conflict, "members[1].certificate", y.allOf(y.certificateCommand("carol", "c"), y.certificateCommand("dan", "c")))
	y.wantNoViolations()
}

func principalDropped(y *story) {
	y.user("alice")
	y.wantField(rota.NotFound, "name", y.dropPrincipalCommand(rota.KindRole, "alice"))
	c := y.dropPrincipalCommand(rota.KindUser, "alice")
	want(y, "gone before", do[*rota.PrincipalDropped](y, c).Gone, false)
	want(y, "version of all", y.accessVersion(), c.ID)
	_, err := y.s.Principal(y.ctx, "alice")
	y.wantNotFound("principal", err)
	y.wantField(rota.NotFound, "name", y.dropPrincipalCommand(rota.KindUser, "alice"))
	y.advance(time.Second)
	y.roles("alice")
	wantTime(y, "created", y.principal("alice").CreatedAt, y.now)
	want(y, "gone, sent again", y.resendUnchanged(c).Reply.(*rota.PrincipalDropped).Gone, true)
}

func principalReplaced(y *story) {
	y.user("alice")
	y.advance(time.Second)
	do[*rota.AllDone](y, y.allOf(y.dropPrincipalCommand(rota.KindUser, "alice"), y.principalCommand(rota.KindRole, "alice")))
	want(y, "kind", y.principal("alice").Kind, rota.KindRole)
	wantTime(y, "created", y.principal("alice").CreatedAt, y.now)
	y.wantNoViolations()
}

func principalsListed(y *story) {
	y.roles("b", "d")
	y.user("a")
	y.user("c")
	page := func(q rota.NameQuery) (names string) {
		all, err := y.s.Principals(y.ctx, q)
		for _, p := range must(y, "principals", all, err) {
			names += p.Name
		}
		return names
	}
	want(y, "all", page(rota.NameQuery{}), "abcd")
	want(y, "first", page(rota.NameQuery{Limit: 2}), "ab")
	want(y, "after", page(rota.NameQuery{After: "b"}), "cd")
	_, err := y.s.Principals(y.ctx, rota.NameQuery{Limit: rota.PageMax + 1})
	want(y, "code", rota.CodeOf(err), rota.Invalid)
}

func principalAudit(y *story) {
	c := y.principalCommand(rota.KindUser, "alice")
	c.Verifier = &verifierOne
	do[*rota.PrincipalPut](y, c)
	y.wantChanges("user alice", rota.AuditUserCreated, `{"password":{"old":null,"new":"set"}}`)
	y.advance(time.Second)
	c = y.principalCommand(rota.KindUser, "alice")
	c.Verifier, c.Certificate = &verifierTwo, new("the certificate")
	do[*rota.PrincipalPut](y, c)
	y.wantChanges("user alice", rota.AuditUserModified, `{"certificate":{"old":null,"new":"set"},"password":{"old":"set","new":"changed"}}`)
	y.roles("ops")
	y.wantChanges("role ops", rota.AuditRoleCreated, "")
	do[*rota.Granted](y, y.grantRole("ops", "alice"))
	y.advance(time.Second)
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindUser, "alice"))
	y.wantChanges("user alice", rota.AuditUserDropped,
		`{"certificate":{"old":"set","new":null},"password":{"old":"set","new":null},"roles":{"old":["ops"],"new":null}}`)
	do[*rota.PrincipalDropped](y, y.dropPrincipalCommand(rota.KindRole, "ops"))
	y.wantChanges("role ops", rota.AuditRoleDropped, "")
	entries, err := wholeAudit(y.ctx, y.s)
	for _, e := range must(y, "audit", entries, err) {
		text := e.Subject + e.Detail + string(e.Changes)
		want(y, "a secret in "+e.Act, strings.Contains(text, "SCRAM") || strings.Contains(text, "the certificate"), false)
	}
}

func accessState(y *story) {
	steps := []struct {
		command      rota.Command
		name, detail string
	}{
		{y.principalCommand(rota.KindUser, "alice"), "alice", "created"},
		{y.certificateCommand("alice", "cn"), "alice", "certificate"},
		{y.principalCommand(rota.KindRole, "ops"), "ops", "created"},
		{y.grantRole("ops", "alice"), "alice", "granted"},
		{y.revoke(y.grantRole("ops", "alice")), "alice", "revoked"},
		{y.tokenCommand("alicetoken", "alice"), "alice", "token created"},
		{&rota.RevokeToken{Meta: y.ids.meta(), TokenID: "alicetoken"}, "alice", "token revoked"},
		{y.dropPrincipalCommand(rota.KindRole, "ops"), "ops", "dropped"},
		{y.dropPrincipalCommand(rota.KindUser, "alice"), "alice", "dropped"},
	}
	y.putWebhooks(hook("all")) // no webhook receives the events
	for _, step := range steps {
		y.advance(time.Second)
		events := y.eventsDuring(func() {
			if r := y.send(step.command)[0]; r.Err != nil {
				y.Fatal(r.Err)
			}
		})
		want(y, "version of all", y.accessVersion(), step.command.Head().ID)
		want(y, "events", len(events), 1)
		want(y, "event", events[0], rota.Event{Kind: rota.EventAccessChanged, At: y.now, Name: step.name, Detail: step.detail})
	}
	want(y, "deliveries", len(y.deliveries()), 0)
	want(y, "a kind of events", slices.Contains(rota.EventKinds, rota.EventAccessChanged), true)
}

func principalCopies(y *story) {
	y.roles("ops")
	y.user("alice")
	answered := do[*rota.Granted](y, y.grantRole("ops", "alice")).Principals[0]
	answered.Spec.Roles[0].Role = "changed"
	read := y.principal("alice")
	read.Spec.Roles[0].Role = "changed"
	want(y, "stored", y.principal("alice").Spec.Roles[0].Role, "ops")
}
