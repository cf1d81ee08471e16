package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
)

// The operations that are not what their method says: read for GET, write for the others.
var (
	workerOperations = []string{"POST /claim", "POST /extend", "POST /finish"}
	ownOperations    = []string{"GET /me", "POST /logout"}
	readOperations   = []string{"POST /sql"}   // a statement that writes is refused by its kind
	writeOperations  = []string{"GET /backup"} // it has all hashes
	anyOperations    = []string{"GET /types/{name}"}
)

// scopesOf returns the scopes of tokens that may use an operation; nil: all.
func scopesOf(operation string) []rota.TokenScope {
	method, _, _ := strings.Cut(operation, " ")
	switch {
	case slices.Contains(ownOperations, operation), slices.Contains(anyOperations, operation):
		return rota.TokenScopes
	case slices.Contains(workerOperations, operation):
		return []rota.TokenScope{rota.ScopeWorker, rota.ScopeWrite, rota.ScopeSession}
	case slices.Contains(readOperations, operation), method == "GET" && !slices.Contains(writeOperations, operation):
		return []rota.TokenScope{rota.ScopeRead, rota.ScopeWrite, rota.ScopeSession}
	}
	return []rota.TokenScope{rota.ScopeWrite, rota.ScopeSession}
}

// TestTokenScopeIsCheckedBeforeTheRequest sends a bad request to every operation with tokens of every scope. A scope that excludes
// the operation is refused with 403, and the others learn that the request is bad. An operation without a scope fails.
func TestTokenScopeIsCheckedBeforeTheRequest(t *testing.T) {
	s := newServer(t)
	tokens := map[rota.TokenScope][]string{}
	for _, scope := range rota.TokenScopes {
		tokens[scope], _ = s.user(rota.AdminUser, scope)
	}
	doc := read[struct {
		Paths map[string]map[string]json.RawMessage
	}](s.get("/openapi.json").is(200))
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		path = strings.TrimPrefix(path, "/api/v1")
		for _, method := range slices.Sorted(maps.Keys(doc.Paths["/api/v1"+path])) {
			operation := strings.ToUpper(method) + " " + path
			if operation == "POST /login" {
				continue
			}
			filled := strings.NewReplacer("{name}", "missing", "{id}", "missing", "{token_id}", "missing").Replace(path)
			for scope, headers := range tokens {
				got := s.send(strings.ToUpper(method), strings.TrimPrefix(filled, "/")+"?unknown=1", `{"unknown":`, headers...)
				excluded := "token " + tokenID(headers) + " has the scope " + string(scope) + ", which does not allow this"
				switch may := slices.Contains(scopesOf(operation), scope); {
				case !may && (got.status != 403 || !strings.Contains(got.text, excluded)):
					t.Errorf("%s with a token of scope %s: %d %s", operation, scope, got.status, got.text)
				case may && got.status != 400:
					t.Errorf("%s with a token of scope %s: %d %s", operation, scope, got.status, got.text)
				}
			}
		}
	}
}

// tokenID is the id of the token in headers.
func tokenID(headers []string) string {
	id, _ := access.TokenID(strings.TrimPrefix(headers[1], "Bearer "))
	return id
}

// TestExcludedTokenLearnsNothing sends requests whose other errors would say what exists. All of them have the same answer.
func TestExcludedTokenLearnsNothing(t *testing.T) {
	var guards *access.Directory
	s := newServer(t, func(c *httpapi.Config) {
		c.Access = access.NewDirectory(c.Store, c.Clock)
		guards = c.Access
	})
	t.Cleanup(guards.Close)
	s.applyAll(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser})
	for _, scope := range []rota.TokenScope{rota.ScopeRead, rota.ScopeWorker} {
		headers, id := s.user(rota.AdminUser, scope)
		want := fmt.Sprintf("token %s has the scope %s, which does not allow this", id, scope)
		refused := func(method, path string, body any) {
			t.Helper()
			if p := s.send(method, path, body, headers...).problem(403, "denied"); p.Detail != want || p.Hint != "use a token with the scope write" {
				t.Errorf("%s %s: %+v", method, path, p)
			}
		}
		refused("POST", "jobs", `{"type": "missing"}`)
		refused("POST", "templates", `{"name": "x", "type": "missing"}`)
		refused("POST", "groups", `{"jobs": [{"type": "missing"}]}`)
		refused("POST", "schedules", `{"name": "x", "template": "missing", "every": "1h"}`)
		refused("PATCH", "schedules/missing", `{"every": "2h"}`)
		refused("DELETE", "schedules/missing", nil)
		refused("POST", "schedules/missing/trigger", `{}`)
		refused("POST", "jobs/cancel", `{"all": true}`)
		refused("POST", "tokens", `{"scope": "nonsense"}`)
		refused("DELETE", "tokens/"+strings.Repeat("x", 40), nil)
		refused("PATCH", "users/bob", `{"password": "short"}`)
		if scope == rota.ScopeRead {
			for _, statement := range []string{"DROP JOB missing", "SELECT nonsense FROM nowhere; DROP JOB missing", "CREATE USER admin", "GRANT EXECUTE JOB TO nobody"} {
				p := s.post("sql", api.SQLRequest{Statement: statement}, headers...).problem(403, "denied")
				if p.SQLState != "42501" || p.Detail != want || p.Hint != "use a token with the scope write" {
					t.Errorf("%s: %+v", statement, p)
				}
			}
			s.post("sql", api.SQLRequest{Statement: "BEGIN; SHOW JOBS; SELECT 1; COMMIT"}, headers...).is(200)
		} else {
			s.post("sql", api.SQLRequest{Statement: "SELECT 1"}, headers...).problem(403, "denied")
		}
	}
	// The denials are in the audit, counted.
	ended, stop := context.WithCancel(t.Context())
	stop()
	guards.Run(ended, func(err error) { t.Error(err) })
	if text := s.get("audit?act=ACCESS_DENIED").is(200).text; !strings.Contains(text, "15 times; token") {
		t.Errorf("the audit has %s", text)
	}
}

// TestPasswordNeedsTheScopeOfTheToken: current_password replaces the token, whose scope is checked before.
func TestPasswordNeedsTheScopeOfTheToken(t *testing.T) {
	s := newServer(t)
	verifier := access.NewVerifier("correct horse").String()
	s.applyAll(&rota.PutPrincipal{Meta: rota.NewMeta("admin"), Name: "bob", Kind: rota.KindUser, Verifier: &verifier})
	change := `{"password": "battery staple", "current_password": "correct horse"}`
	for _, scope := range []rota.TokenScope{rota.ScopeRead, rota.ScopeWorker} {
		headers, _ := s.user("eve-"+string(scope), scope)
		_, token := access.NewToken()
		id, _ := access.TokenID(token)
		s.applyAll(&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: "bob", Scope: scope, Hash: access.HashToken(token)})
		headers[1] = "Bearer " + token
		s.send("PATCH", "users/bob", change, headers...).problem(403, "denied")
		if p, err := s.store.Principal(t.Context(), "bob"); err != nil || p.Spec.Verifier != verifier {
			t.Fatalf("a token of scope %s changed the password: %v", scope, err)
		}
	}
	for _, scope := range []rota.TokenScope{rota.ScopeWrite, rota.ScopeSession} {
		id, token := access.NewToken()
		s.applyAll(&rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: id, User: "bob", Scope: scope, Hash: access.HashToken(token)})
		s.send("PATCH", "users/bob", change, "Authorization", "Bearer "+token).is(200)
		change = `{"password": "correct horse", "current_password": "battery staple"}`
	}
}

// TestBulkCountsWhatTheUserMayOnlySee cancels and retries jobs of which a user may alter one and see the others.
func TestBulkCountsWhatTheUserMayOnlySee(t *testing.T) {
	s := newServer(t)
	s.declare("noop")
	ada, _ := s.user("ada", rota.ScopeWrite)
	s.applyAll(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"ada"}, Privileges: []rota.Privilege{rota.ViewJobHistory}})
	for _, actor := range []string{"admin", "ada", "admin"} {
		s.applyAll(&rota.Enqueue{Meta: rota.NewMeta(actor), Jobs: []rota.NewJob{{Type: "noop", RunAt: time.Now().Add(time.Hour)}}})
	}
	done := read[api.Many](s.post("jobs/cancel", `{"type": "noop"}`, ada...).is(200))
	if done != (api.Many{Matched: 3, Changed: 1, Cancelled: 1, Refused: 2}) {
		t.Errorf("cancel: %+v", done)
	}
	s.post("jobs/cancel", `{"type": "noop"}`).is(200)
	done = read[api.Many](s.post("jobs/retry", `{"type": "noop", "state": "cancelled"}`, ada...).is(200))
	if done != (api.Many{Matched: 3, Changed: 1, Retried: 1, Refused: 2}) {
		t.Errorf("retry: %+v", done)
	}
}
