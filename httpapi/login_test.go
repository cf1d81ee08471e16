package httpapi_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/api"
)

// as sends a request with a token; empty: without one.
func (s *server) as(token, method, path string, body any) answer {
	s.Helper()
	header := ""
	if token != "" {
		header = "Bearer " + token
	}
	return s.send(method, path, body, "Authorization", header)
}

// TestEveryPathButLoginNeedsToken sends each request of the OpenAPI document without a token.
func TestEveryPathButLoginNeedsToken(t *testing.T) {
	s := newServer(t)
	document := read[struct {
		Paths map[string]map[string]struct{ Security []map[string][]string }
	}](s.as("", "GET", "/openapi.json", nil).is(200))
	checked := 0
	for path, methods := range document.Paths {
		for method, op := range methods {
			address := strings.NewReplacer("{id}", api.ExampleID, "{name}", "x", "{token_id}", "k7m2p9qxw4ht").Replace(path)
			a := s.as("", strings.ToUpper(method), address, nil)
			public := path == "/api/v1/login"
			if (a.status == 401) == public {
				t.Errorf("%s %s without a token: %d %s", method, path, a.status, a.text)
			}
			if needsNone := len(op.Security) == 1 && len(op.Security[0]) == 0; needsNone != public {
				t.Errorf("%s %s: the document says %v", method, path, op.Security)
			}
			checked++
		}
	}
	if checked < 60 {
		t.Errorf("only %d requests were checked", checked)
	}
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/docs"} {
		s.as("", "GET", path, nil).is(200)
	}
	for _, path := range []string{"/api/v1/login/", "/api/v1/Login", "/api/v1//login", "/api/v1/x/../jobs", "/api/v1/login/../jobs"} {
		if a := s.as("", "POST", path, `{"type": "a"}`); a.status != 401 && a.status != 404 && a.status/100 != 3 {
			t.Errorf("POST %s without a token: %d %s", path, a.status, a.text)
		}
	}
	s.as("", "GET", "/api/v1/login", nil).is(401)
}

func TestLoginCreatesTokenThatLogoutRevokes(t *testing.T) {
	s := newServer(t)
	s.post("users", `{"name": "bob", "password": "correct horse battery"}`).is(201)
	body := `{"user": "bob", "password": "correct horse battery"}`
	session := read[api.Login](s.as("", "POST", "login", body).is(200))
	if session.User != "bob" || session.ExpiresAt.Before(time.Now().Add(11*time.Hour)) || session.ExpiresAt.After(time.Now().Add(13*time.Hour)) {
		t.Errorf("%+v", session)
	}
	me := read[api.Me](s.as(session.Token, "GET", "me", nil).is(200))
	if me.User != "bob" || me.Admin || me.Token == nil || me.Token.Scope != "session" {
		t.Errorf("%+v", me)
	}
	again := read[api.Login](s.as("", "POST", "login", `{"token": "`+session.Token+`"}`).is(200))
	if again != session {
		t.Errorf("%+v", again)
	}
	if other := read[api.Login](s.as("", "POST", "login", body).is(200)); other.Token == session.Token {
		t.Error("two logins share a token")
	}
	s.as(session.Token, "POST", "logout", nil).is(204)
	s.as(session.Token, "GET", "me", nil).problem(401, "denied")
	s.as("", "POST", "login", `{"token": "`+session.Token+`"}`).problem(401, "denied")
	s.post("logout", nil).is(204)
	s.get("me").is(200)
}

// TestSessionManagesOwnUser: a user that has logged in over HTTP creates and revokes its tokens and changes its password.
func TestSessionManagesOwnUser(t *testing.T) {
	s := newServer(t)
	s.post("users", `{"name": "bob", "password": "correct horse battery"}`).is(201)
	s.post("users", `{"name": "ann", "password": "correct horse battery"}`).is(201)
	session := read[api.Login](s.as("", "POST", "login", `{"user": "bob", "password": "correct horse battery"}`).is(200)).Token

	made := read[api.TokenCreated](s.as(session, "POST", "tokens", `{"scope": "write"}`).is(201))
	for _, refused := range []string{`{"scope": "worker"}`, `{"scope": "read", "user": "ann"}`} {
		s.as(session, "POST", "tokens", refused).problem(403, "denied")
	}
	s.as(session, "POST", "tokens", `{"scope": "session"}`).field(422, "invalid", "scope")
	if answer := s.as(made.Token, "POST", "tokens", `{"scope": "read"}`).problem(403, "denied"); !strings.Contains(answer.Detail+answer.Hint, "scope write cannot create tokens") {
		t.Error(answer)
	}

	change := func(token, user, body string) answer { return s.as(token, "PATCH", "users/"+user, body) }
	if answer := change(session, "bob", `{"password": "another horse battery"}`).problem(403, "denied"); !strings.Contains(answer.Detail+answer.Hint, "current_password") {
		t.Error(answer)
	}
	change(session, "bob", `{"password": "another horse battery", "current_password": "a wrong password"}`).problem(403, "denied")
	change(session, "ann", `{"password": "another horse battery", "current_password": "correct horse battery"}`).field(422, "invalid", "current_password")
	change(session, "bob", `{"certificate": "cn", "current_password": "correct horse battery"}`).problem(403, "denied")
	s.as("", "POST", "login", `{"user": "bob", "password": "another horse battery"}`).is(401)
	change(session, "bob", `{"password": "another horse battery", "current_password": "correct horse battery"}`).is(200)
	s.as(session, "GET", "me", nil).is(401) // the password that it was for is gone
	session = read[api.Login](s.as("", "POST", "login", `{"user": "bob", "password": "another horse battery"}`).is(200)).Token
	s.as("", "POST", "login", `{"user": "bob", "password": "correct horse battery"}`).is(401)

	s.as(session, "DELETE", "tokens/"+made.ID, nil).is(200)
	s.as(made.Token, "GET", "me", nil).is(401)
}

// TestEveryTokenLogsOut: the scope of a token does not keep it from ending itself.
func TestEveryTokenLogsOut(t *testing.T) {
	s := newServer(t)
	for _, scope := range []string{"read", "write", "worker"} {
		for _, way := range []string{"POST logout", "DELETE tokens/"} {
			made := read[api.TokenCreated](s.post("tokens", `{"scope": "`+scope+`"}`).is(201))
			method, path, _ := strings.Cut(way, " ")
			if path == "tokens/" {
				path += made.ID
			}
			a := s.send(method, path, nil, "Authorization", "Bearer "+made.Token, "Idempotency-Key", scope+way)
			if a.status != 204 && a.status != 200 {
				t.Errorf("%s with a token of scope %s: %d %s", way, scope, a.status, a.text)
			}
			s.as(made.Token, "GET", "me", nil).is(401)
		}
	}
}

func TestLoginOfAdminUsesTokenOfNode(t *testing.T) {
	s := newServer(t)
	session := read[api.Login](s.as("", "POST", "login", `{"user": "admin", "password": "`+token+`"}`).is(200))
	if me := read[api.Me](s.as(session.Token, "GET", "me", nil).is(200)); session.Token == token || !me.Admin || me.Token == nil {
		t.Errorf("%+v %+v", session, me)
	}
	if echoed := read[api.Login](s.as("", "POST", "login", `{"token": "`+token+`"}`).is(200)); echoed.Token != token || echoed.User != "admin" {
		t.Errorf("%+v", echoed)
	}
}

func TestInvalidLoginIsRefused(t *testing.T) {
	s := newServer(t)
	for _, one := range []struct {
		body, field string
	}{
		{`{}`, "user"}, {`{"user": "bob"}`, "password"}, {`{"user": "bob", "password": "x", "token": "y"}`, "token"}, {`{"user": 5, "password": "x"}`, "user"},
	} {
		s.as("", "POST", "login", one.body).field(422, "invalid", one.field)
	}
	known, unknown := `{"user": "bob", "password": "a wrong password"}`, `{"user": "eve", "password": "a wrong password"}`
	s.post("users", `{"name": "bob", "password": "correct horse battery"}`).is(201)
	if a, b := s.as("", "POST", "login", known).is(401), s.as("", "POST", "login", unknown).is(401); a.text != b.text {
		t.Errorf("an unknown user has another answer: %s %s", a.text, b.text)
	}
	s.as("", "POST", "login", `{"token": "rota_k7m2p9qxw4ht_x"}`).problem(401, "denied")
	s.as("", "POST", "login", `{"user": "rota_k7m2p9qxw4ht", "password": "x"}`).problem(401, "denied")
}

// TestFailedLoginsSlowDownOneUserOnly: after many wrong passwords even the right one has to wait, and other users do
// not.
func TestFailedLoginsSlowDownOneUserOnly(t *testing.T) {
	s := newServer(t)
	for _, name := range []string{"ann", "bob"} {
		s.post("users", `{"name": "`+name+`", "password": "correct horse battery"}`).is(201)
	}
	var last answer
	for range 30 {
		if last = s.as("", "POST", "login", `{"user": "bob", "password": "a wrong password"}`); last.status == 429 {
			break
		}
		last.is(401)
	}
	last.problem(429, "too_many_requests")
	if seconds, err := strconv.Atoi(last.header.Get("Retry-After")); err != nil || seconds < 1 {
		t.Errorf("Retry-After is %q", last.header.Get("Retry-After"))
	}
	s.as("", "POST", "login", `{"user": "bob", "password": "correct horse battery"}`).is(429)
	s.as("", "POST", "login", `{"user": "ann", "password": "correct horse battery"}`).is(200)
}

// TestFloodOfWrongTokensLocksNoPasswordUserOut: wrong tokens from an address do not slow down its password users.
func TestFloodOfWrongTokensLocksNoPasswordUserOut(t *testing.T) {
	s := newServer(t)
	s.post("users", `{"name": "carol", "password": "correct horse battery"}`).is(201)
	for n := range 300 {
		s.as("rota_"+fmt.Sprintf("%012d", n)+"_x", "GET", "jobs", nil).is(401)
	}
	s.as("", "POST", "login", `{"user": "carol", "password": "correct horse battery"}`).is(200)
}

func TestMeShowsRightsAndToken(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.post("users", `{"name": "bob"}`).is(201)
	s.post("roles", `{"name": "ops"}`).is(201)
	s.post("grants", `{"role": "ops", "to": ["bob"]}`).is(200)
	s.post("grants", `{"privileges": ["alter job"], "job": "t", "to": ["ops"]}`).is(200)
	s.post("grants", `{"privileges": ["create job"], "to": ["bob"]}`).is(200)
	reader := read[api.TokenCreated](s.post("tokens", `{"user": "bob", "scope": "read"}`).is(201))
	me := read[api.Me](s.as(reader.Token, "GET", "me", nil).is(200))
	if me.User != "bob" || me.Admin || me.Token.ID != reader.ID || len(me.Roles) != 1 || len(me.Privileges) != 2 ||
		me.Privileges[0] != (api.MyPrivilege{Privilege: "CREATE JOB"}) || me.Privileges[1] != (api.MyPrivilege{Privilege: "ALTER JOB", Job: "t", Through: "ops"}) {
		t.Errorf("%+v", me)
	}
	s.as(reader.Token, "POST", "roles", `{"name": "x"}`).problem(403, "denied")
	if users := read[api.List[api.User]](s.as(reader.Token, "GET", "users", nil).is(200)); len(users.Items) != 1 || users.Items[0].Name != "bob" {
		t.Errorf("bob sees %+v", users)
	}
	worker := read[api.TokenCreated](s.post("tokens", `{"user": "bob", "scope": "worker", "type": "a"}`).is(201))
	if me := read[api.Me](s.as(worker.Token, "GET", "me", nil).is(200)); me.User != "bob" || me.Token.Type != "a" || len(me.Privileges) != 0 {
		t.Errorf("%+v", me)
	}
	if shown := read[api.Login](s.as("", "POST", "login", `{"token": "`+worker.Token+`"}`).is(200)); shown.User != "bob" {
		t.Errorf("%+v", shown)
	}
}
