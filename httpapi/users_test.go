package httpapi_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

func TestUserShowsCredentialsWithoutTheirValues(t *testing.T) {
	s := newServerWithDefinitions(t)
	const password = "correct horse battery"
	made := s.post("users", `{"name": "bob", "password": "`+password+`", "certificate": "bob.example"}`).is(201)
	bob := read[api.User](made)
	if !bob.HasPassword || bob.Certificate != "bob.example" || bob.Admin || made.header.Get("Location") != "/api/v1/users/bob" || made.header.Get("ETag") == "" {
		t.Errorf("%s %v", made.text, made.header)
	}
	stored, err := s.store.Principal(t.Context(), "bob")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := access.ParseVerifier(stored.Spec.Verifier); err != nil || !v.Matches(password) {
		t.Errorf("the verifier does not belong to the password: %v", err)
	}
	for _, path := range []string{"users", "users/bob", "grants", "audit"} {
		if text := s.get(path).is(200).text; strings.Contains(text, password) || strings.Contains(text, "SCRAM") {
			t.Errorf("%s shows a credential: %s", path, text)
		}
	}
	s.send("PATCH", "users/bob", `{"password": null}`).is(200)
	if bob = read[api.User](s.get("users/bob").is(200)); bob.HasPassword || bob.Certificate != "bob.example" {
		t.Errorf("%+v", bob)
	}
	s.send("PATCH", "users/bob", `{"certificate": null}`, "If-Match", made.header.Get("ETag")).is(412)
	s.send("PATCH", "users/bob", `{"certificate": null}`, "If-Match", api.ETag(bob.Version.ID)).is(200)
	s.send("DELETE", "users/bob", nil).is(204)
	s.get("users/bob").problem(404, "not_found")
}

// TestRepeatedPasswordKeepsFirstSalt: a request that is repeated with its key must not store another verifier.
func TestRepeatedPasswordKeepsFirstSalt(t *testing.T) {
	s := newServer(t)
	body := `{"name": "bob", "password": "correct horse battery"}`
	verifier := func() string {
		p, err := s.store.Principal(t.Context(), "bob")
		if err != nil {
			t.Fatal(err)
		}
		return p.Spec.Verifier
	}
	s.post("users", body, "Idempotency-Key", "k").is(201)
	first := verifier()
	s.post("users", body, "Idempotency-Key", "k").is(201)
	if verifier() != first {
		t.Error("the repeated request stored another verifier")
	}
	s.post("users", `{"name": "bob", "password": "another horse battery"}`, "Idempotency-Key", "k").problem(409, "conflict")
}

func TestGrantsListRolesAndWhatUserHasThroughThem(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.post("users", `{"name": "bob"}`).is(201)
	for _, name := range []string{"staff", "ops", "idle"} {
		s.post("roles", fmt.Sprintf(`{"name": %q}`, name)).is(201)
	}
	for _, body := range []string{
		`{"role": "ops", "to": ["bob"]}`, `{"role": "staff", "to": ["ops"]}`,
		`{"privileges": ["view job history"], "to": ["staff"]}`, `{"privileges": ["EXECUTE_JOB"], "job": "t", "to": ["bob", "idle"]}`,
		`{"privileges": ["admin"], "to": ["staff"]}`,
	} {
		if changed := read[api.GrantsChanged](s.post("grants", body).is(200)); !changed.Changed {
			t.Errorf("%s changes nothing", body)
		}
	}
	for _, again := range []struct {
		body, key string
		want      bool
	}{
		{`{"role": "ops", "to": ["bob"]}`, "a", false},
		{`{"role": "ops", "to": ["bob"]}`, "a", false},
		{`{"privileges": ["EXECUTE_JOB"], "job": "t", "to": ["idle"]}`, "b", false},
		{`{"privileges": ["alter_job"], "job": "t", "to": ["idle"]}`, "c", true},
		{`{"privileges": ["alter_job"], "job": "t", "to": ["idle"]}`, "c", true},
	} {
		if changed := read[api.GrantsChanged](s.post("grants", again.body, "Idempotency-Key", again.key).is(200)); changed.Changed != again.want {
			t.Errorf("%s with the key %s: changed is %v", again.body, again.key, changed.Changed)
		}
	}
	s.send("DELETE", "grants?privilege=alter_job&job=t&from=idle", nil).is(200)
	list := func(path string) (rows []string) {
		for _, g := range listAll[api.Grant](s, path, 2) {
			rows = append(rows, strings.TrimSpace(fmt.Sprintf("%s %s%s %s<%s", g.Grantee, g.Role, g.Privilege, g.Job, g.Through)))
		}
		return rows
	}
	for path, want := range map[string]string{
		"grants":          "bob EXECUTE JOB t<;bob ops <;idle EXECUTE JOB t<;ops staff <;staff ADMIN <;staff VIEW JOB HISTORY <",
		"grants?user=bob": "bob EXECUTE JOB t<;bob ops <;ops staff <ops;staff ADMIN <staff;staff VIEW JOB HISTORY <staff",
		"grants?job=t":    "bob EXECUTE JOB t<;idle EXECUTE JOB t<",
	} {
		if got := strings.Join(list(path), ";"); got != want {
			t.Errorf("%s:\n%s\nnot\n%s", path, got, want)
		}
	}
	bob := read[api.User](s.get("users/bob"))
	ops := read[api.Role](s.get("roles/ops"))
	if !bob.Admin || len(bob.Roles) != 1 || len(bob.Grants) != 1 || fmt.Sprint(ops.Members) != "[bob]" || ops.Roles[0].Role != "staff" {
		t.Errorf("%+v %+v", bob, ops)
	}
	s.send("DELETE", "grants?privilege=admin&from=staff", nil).is(200)
	if read[api.User](s.get("users/bob")).Admin {
		t.Error("bob still has ADMIN")
	}
	if read[api.GrantsChanged](s.send("DELETE", "grants?privilege=admin&from=staff", nil).is(200)).Changed {
		t.Error("what nobody has was revoked")
	}
}

// TestGrantsWithoutEffectAreOmitted: a role that was deleted and created again has no members.
func TestGrantsWithoutEffectAreOmitted(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.post("users", `{"name": "bob"}`).is(201)
	s.post("roles", `{"name": "ops"}`).is(201)
	s.post("grants", `{"role": "ops", "to": ["bob"]}`).is(200)
	s.send("DELETE", "roles/ops", nil).is(204)
	s.post("roles", `{"name": "ops"}`).is(201)
	if rows := listAll[api.Grant](s, "grants", 10); len(rows) != 0 {
		t.Errorf("%+v", rows)
	}
	if ops := read[api.Role](s.get("roles/ops")); len(ops.Members) != 0 {
		t.Errorf("%+v", ops)
	}
}

func TestTokenIsShownOnce(t *testing.T) {
	s := newServer(t)
	s.post("users", `{"name": "ci"}`).is(201)
	body := `{"user": "ci", "scope": "WORKER", "type": "mail", "expires": "never"}`
	made := read[api.TokenCreated](s.post("tokens", body, "Idempotency-Key", "k").is(201))
	if made.Token != "rota_"+made.ID+"_"+made.Token[len(made.Token)-32:] || made.Scope != "worker" || !made.ExpiresAt.IsZero() {
		t.Errorf("%+v", made)
	}
	stored, err := s.store.AccessToken(t.Context(), made.ID)
	if err != nil || stored.Hash != access.HashToken(made.Token) || stored.Type != "mail" {
		t.Errorf("%+v %v", stored, err)
	}
	if v, err := access.ParseVerifier(stored.Verifier); err != nil || !v.Matches(made.Token) {
		t.Errorf("the verifier does not belong to the token: %v", err)
	}
	p := s.post("tokens", body, "Idempotency-Key", "k").problem(409, "conflict")
	if !strings.Contains(p.Detail, made.ID) || !strings.Contains(p.Hint, "revoke") {
		t.Errorf("%+v", p)
	}
	if all := s.all("tokens", 1); len(all) != 1 {
		t.Errorf("there are %d tokens", len(all))
	}
	for _, path := range []string{"tokens", "tokens/" + made.ID, "audit"} {
		if text := s.get(path).is(200).text; strings.Contains(text, made.Token[len(made.Token)-32:]) || strings.Contains(text, stored.Hash) {
			t.Errorf("%s shows the secret: %s", path, text)
		}
	}
}

func TestTokenState(t *testing.T) {
	s := newServer(t)
	s.post("users", `{"name": "ci"}`).is(201)
	state := func(id string) string { return read[api.Token](s.get("tokens/" + id).is(200)).State }
	create := func(body string) string { return read[api.TokenCreated](s.post("tokens", body).is(201)).ID }
	nextYear := time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339)
	first, second := create(`{"user": "ci", "scope": "read"}`), create(`{"user": "ci", "scope": "read", "expires": "`+nextYear+`"}`)
	own := create(`{"scope": "write"}`)
	if state(first) != api.TokenActive || state(own) != api.TokenActive {
		t.Errorf("%s %s", state(first), state(own))
	}
	s.send("DELETE", "tokens/"+first, nil).is(200)
	if shown := read[api.Token](s.send("DELETE", "tokens/"+first, nil).is(200)); shown.State != api.TokenRevoked || shown.RevokedBy != rota.AdminUser {
		t.Errorf("%+v", shown)
	}
	s.send("DELETE", "users/ci", nil).is(204)
	s.post("users", `{"name": "ci"}`).is(201)
	if state(second) != api.TokenUserDropped {
		t.Errorf("the token of a deleted user is %s", state(second))
	}
	if all := s.all("tokens?user=ci", 1); len(all) != 2 {
		t.Errorf("ci has %d tokens", len(all))
	}
}

func TestMeOfAdmin(t *testing.T) {
	s := newServer(t)
	me := read[api.Me](s.get("me").is(200))
	if me.User != rota.AdminUser || !me.Admin || me.Token != nil || len(me.Roles) != 0 || len(me.Privileges) != 1 {
		t.Errorf("%+v", me)
	}
}
