package rota_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/samples"
)

func accessRefusals() map[rota.Verb][]refusal {
	return map[rota.Verb][]refusal{
		rota.VerbPutPrincipal: putPrincipalRefusals(),
		rota.VerbDropPrincipal: {
			breaks("no name", func(c *rota.DropPrincipal) { c.Name = "" }, "name", "is empty"),
			breaks("a reserved name", func(c *rota.DropPrincipal) { c.Name = "admin" }, "name", `"admin" is reserved`),
			breaks("an unknown kind", func(c *rota.DropPrincipal) { c.Kind = "user" }, "kind", `is "user"; allowed are USER, ROLE`),
		},
		rota.VerbGrantPrivileges: grantRefusals(),
		rota.VerbPutToken:        putTokenRefusals(),
		rota.VerbRevokeToken:     {breaks("no id", func(c *rota.RevokeToken) { c.TokenID = "" }, "token_id", "has 0 characters")},
		rota.VerbTouchTokens: {
			breaks("no uses", func(c *rota.TouchTokens) { c.Uses = nil }, "uses", "has 0 entries"),
			breaks("many uses", func(c *rota.TouchTokens) { c.Uses = make([]rota.TokenUse, rota.AccessRecordsMax+1) }, "uses", "has 1001 entries"),
			breaks("no id of a token", func(c *rota.TouchTokens) { c.Uses[0].TokenID = "" }, "uses[0].token_id", "has 0 characters"),
			breaks("no time", func(c *rota.TouchTokens) { c.Uses[0].At = time.Time{} }, "uses[0].at", "is empty"),
			breaks("a time before 1970", func(c *rota.TouchTokens) { c.Uses[0].At = time.Unix(-1, 0) }, "uses[0].at", "the year 1969"),
		},
		rota.VerbRecordAccess: recordAccessRefusals(),
	}
}

func putPrincipalRefusals() []refusal {
	verifier := func(name, text string) refusal {
		return breaks(name, func(c *rota.PutPrincipal) { c.Verifier = &text }, "verifier", "write SCRAM-SHA-256$4096:salt$stored:server")
	}
	all := []refusal{
		breaks("no name", func(c *rota.PutPrincipal) { c.Name = "" }, "name", "is empty"),
		breaks("a name with a space", func(c *rota.PutPrincipal) { c.Name = "a b" }, "name", "allowed are letters"),
		breaks("a name that no URL can have", func(c *rota.PutPrincipal) { c.Name = ".." }, "name", "a URL cannot contain"),
		breaks("no kind", func(c *rota.PutPrincipal) { c.Kind = "" }, "kind", `is ""; allowed are USER, ROLE`),
		breaks("an unknown mode", func(c *rota.PutPrincipal) { c.Mode = "new" }, "mode", `is "new"`),
		breaks("a role with a password", func(c *rota.PutPrincipal) { c.Kind = rota.KindRole }, "verifier", "a role cannot log in"),
		breaks("a role with a certificate", func(c *rota.PutPrincipal) { c.Kind, c.Verifier = rota.KindRole, nil }, "certificate", "a role cannot log in"),
		breaks("a long certificate", func(c *rota.PutPrincipal) { c.Certificate = new(strings.Repeat("x", rota.NameMax+1)) }, "certificate", "has 129 bytes"),
		breaks("a certificate with NUL", func(c *rota.PutPrincipal) { c.Certificate = new("a\x00") }, "certificate", "NUL"),
		verifier("a password", "correct horse battery staple"),
		verifier("another mechanism", strings.Replace(samples.Verifier, "SHA-256", "SHA-1", 1)),
		verifier("no iterations", strings.Replace(samples.Verifier, "4096", "0", 1)),
		verifier("few iterations", strings.Replace(samples.Verifier, "4096", "4095", 1)),
		verifier("many iterations", strings.Replace(samples.Verifier, "4096", "4097", 1)),
		verifier("iterations with a sign", strings.Replace(samples.Verifier, "4096", "+4096", 1)),
		verifier("a short salt", strings.Replace(samples.Verifier, "W22ZaJ0SNY7soEsUEjb6gQ==", "W22ZaJ0SNY7soEsUEjb6", 1)),
		verifier("no salt", "SCRAM-SHA-256$4096:"+samples.Verifier[strings.LastIndex(samples.Verifier, "$"):]),
		verifier("a short key", strings.Replace(samples.Verifier, "WG5d", "", 1)),
		verifier("a third key", samples.Verifier+":AAAA"),
		verifier("a line break", strings.Replace(samples.Verifier, "WG5d", "WG5d\n", 1)),
	}
	for _, name := range []string{"admin", "Admin", "rota", "rota_x", "public", "none", "current_user", "pg_read"} {
		all = append(all, breaks("the name "+name, func(c *rota.PutPrincipal) { c.Name = name }, "name", "is reserved; choose another name"))
	}
	return all
}

func grantRefusals() []refusal {
	return []refusal{
		breaks("to nobody", func(c *rota.GrantPrivileges) { c.To = nil }, "to", "has 0 entries; allowed are 1 to 100"),
		breaks("to many", func(c *rota.GrantPrivileges) { c.To = make([]string, rota.GranteesMax+1) }, "to", "has 101 entries"),
		breaks("to an empty name", func(c *rota.GrantPrivileges) { c.To[1] = "" }, "to[1]", "is empty"),
		breaks("to one twice", func(c *rota.GrantPrivileges) { c.To[1] = c.To[0] }, "to[1]", `"ci" is listed twice`),
		breaks("of nothing", func(c *rota.GrantPrivileges) { c.Privileges = nil }, "privileges", "has 0 entries"),
		breaks("of an unknown privilege", func(c *rota.GrantPrivileges) { c.Privileges[1] = "SELECT" }, "privileges[1]", "is not a privilege; use CREATE JOB, ALTER JOB"),
		breaks("of one twice", func(c *rota.GrantPrivileges) { c.Privileges[1] = c.Privileges[0] }, "privileges[1]", "EXECUTE JOB is listed twice"),
		breaks("of ADMIN on a job", func(c *rota.GrantPrivileges) { c.Privileges[0] = rota.Admin }, "privileges[0]", "ADMIN cannot be granted on one job"),
		breaks("of CREATE JOB on a job", func(c *rota.GrantPrivileges) { c.Privileges[0] = rota.CreateJob }, "privileges[0]", "CREATE JOB cannot be granted on one job"),
		breaks("on a job with a space", func(c *rota.GrantPrivileges) { c.Job = "a b" }, "job", "allowed are letters"),
		breaks("of both", func(c *rota.GrantPrivileges) { c.Role = "ops" }, "role", "is set beside privileges"),
		breaks("of a role on a job", func(c *rota.GrantPrivileges) { c.Role, c.Privileges = "ops", nil }, "job", "a role is not granted on a job"),
		breaks("of a role with a space", func(c *rota.GrantPrivileges) { c.Role, c.Privileges, c.Job = "a b", nil, "" }, "role", "allowed are letters"),
	}
}

func putTokenRefusals() []refusal {
	return []refusal{
		breaks("a short id", func(c *rota.PutToken) { c.TokenID = "1234567" }, "token_id", "has 7 characters; allowed are 8 to 32"),
		breaks("a long id", func(c *rota.PutToken) { c.TokenID = strings.Repeat("x", rota.TokenIDMax+1) }, "token_id", "has 33 characters"),
		breaks("an id with an underscore", func(c *rota.PutToken) { c.TokenID = "1234567_" }, "token_id", "other than letters and digits"),
		breaks("no user", func(c *rota.PutToken) { c.User = "" }, "user", "is empty"),
		breaks("an unknown scope", func(c *rota.PutToken) { c.Scope = "admin" }, "scope", `is "admin"; allowed are read, write, worker`),
		breaks("a session of one job", func(c *rota.PutToken) { c.Scope, c.Type, c.Job = rota.ScopeSession, "", "nightly" }, "job", "a session is that of a user"),
		breaks("a type of another scope", func(c *rota.PutToken) { c.Scope = rota.ScopeWrite }, "type", "only tokens of scope worker"),
		breaks("a job of scope worker", func(c *rota.PutToken) { c.Job = "nightly" }, "job", "claims jobs of all definitions"),
		breaks("a type with a space", func(c *rota.PutToken) { c.Type = "a b" }, "type", "allowed are letters"),
		breaks("a job with a space", func(c *rota.PutToken) { c.Job = "a b" }, "job", "allowed are letters"),
		breaks("the token as hash", func(c *rota.PutToken) { c.Hash = "rota_k7Qm2Wd9_secret" }, "hash", "a hash is 64 hexadecimal digits"),
		breaks("the token as verifier", func(c *rota.PutToken) { c.Verifier = "rota_k7Qm2Wd9_secret" }, "verifier", "is not a SCRAM verifier"),
		breaks("an expiry before 1970", func(c *rota.PutToken) { c.ExpiresAt = time.Unix(-1, 0) }, "expires_at", "the year 1969"),
	}
}

func recordAccessRefusals() []refusal {
	return []refusal{
		breaks("no records", func(c *rota.RecordAccess) { c.Records = nil }, "records", "has 0 entries"),
		breaks("many records", func(c *rota.RecordAccess) { c.Records = make([]rota.AccessRecord, rota.AccessRecordsMax+1) }, "records", "has 1001 entries"),
		breaks("an act of a command", func(c *rota.RecordAccess) { c.Records[0].Act = rota.AuditGranted }, "records[0].act",
			`is "GRANTED"; allowed are LOGIN, LOGIN_FAILED, ACCESS_DENIED, RUN_AS`),
		breaks("a long actor of a record", func(c *rota.RecordAccess) { c.Records[0].Actor = strings.Repeat("x", rota.NameMax+1) }, "records[0].actor", "has 129 bytes"),
		breaks("a subject with NUL", func(c *rota.RecordAccess) { c.Records[0].Subject = "\x00" }, "records[0].subject", "NUL"),
		breaks("a negative count", func(c *rota.RecordAccess) { c.Records[0].Count = -1 }, "records[0].count", "is -1"),
		breaks("a long detail", func(c *rota.RecordAccess) { c.Records[0].Detail = strings.Repeat("x", rota.ReasonMax+1) }, "records[0].detail", "has 1025 bytes"),
	}
}

func TestAccessCommandsAcceptBounds(t *testing.T) {
	grant := sampleOf(rota.VerbGrantPrivileges).(*rota.GrantPrivileges)
	grant.Privileges, grant.Job = rota.Privileges, ""
	for _, c := range []rota.Command{
		&rota.PutPrincipal{Meta: samples.Meta(1), Name: "ops", Kind: rota.KindRole, Verifier: new(""), Certificate: new("")},
		&rota.PutPrincipal{Meta: samples.Meta(1), Name: strings.Repeat("x", rota.NameMax), Kind: rota.KindUser},
		&rota.PutToken{Meta: samples.Meta(1), TokenID: strings.Repeat("x", rota.TokenIDMax), User: rota.AdminUser, Scope: rota.ScopeRead, Hash: strings.Repeat("0", 64)},
		grant,
	} {
		if err := rota.CheckCommand(c); err != nil {
			t.Errorf("%s: %v", c.Verb(), err)
		}
	}
}

func TestMembershipHasNoEffectIfItsRoleIsYoungerOrGone(t *testing.T) {
	m := rota.RoleMembership{Role: "ops", Since: samples.Time}
	role := func(kind rota.PrincipalKind, created time.Duration) *rota.Principal {
		return &rota.Principal{Name: "ops", Kind: kind, CreatedAt: samples.Time.Add(created)}
	}
	for _, test := range []struct {
		name string
		role *rota.Principal
		want bool
	}{
		{"older", role(rota.KindRole, -1), true},
		{"as old", role(rota.KindRole, 0), true},
		{"younger", role(rota.KindRole, 1), false},
		{"a user", role(rota.KindUser, -1), false},
		{"gone", nil, false},
	} {
		if got := m.HasEffect(test.role); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
