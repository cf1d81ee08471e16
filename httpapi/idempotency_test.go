package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// writeRequest is one request that changes something.
type writeRequest struct {
	method, path, body string
	prepare            func(*server) string // prepares the request, and returns the {id} of its path
	status             int
}

// writeRequests returns all writes, in an order in which one server suffices.
func writeRequests() []writeRequest {
	job := func(s *server) string { return s.enqueue(`{"type": "a"}`) }
	dead := func(s *server) string {
		s.enqueue(`{"type": "a", "max_retries": 0, "priority": 999}`)
		return s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed}).ID.String()
	}
	delayed := func(s *server) string { return s.enqueue(`{"type": "a", "delay": "1h"}`) }
	completed := func(s *server) string {
		s.enqueue(`{"type": "a", "priority": 999}`)
		return s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeCompleted}).ID.String()
	}
	none := func(*server) string { return "" }
	return []writeRequest{
		{"PUT", "types/new", `{"max_retries": 2}`, none, 201},
		{"PUT", "types/a", `{"max_retries": 2}`, none, 200},
		{"POST", "types/a/pause", ``, none, 200},
		{"POST", "types/a/resume", ``, none, 200},
		{"POST", "templates", `{"name": "new", "type": "a"}`, none, 201},
		{"PATCH", "templates/t", `{"priority": 3}`, none, 200},
		{"POST", "schedules", `{"name": "new", "template": "t", "every": "1h"}`, none, 201},
		{"PATCH", "schedules/s", `{"priority": 3}`, none, 200},
		{"POST", "schedules/s/trigger", `{"priority": 4}`, none, 201},
		{"POST", "schedules/s/pause", ``, none, 200},
		{"POST", "schedules/s/resume", ``, none, 200},
		{"POST", "schedules/s/backfill", `{"from": "2026-01-01T00:00:00Z", "to": "2026-01-02T12:00:00Z"}`, none, 201},
		{"DELETE", "schedules/s", ``, none, 204},
		{"POST", "templates/t/archive", ``, none, 200},
		{"POST", "templates/t/unarchive", ``, none, 200},
		{"POST", "jobs", `{"type": "a", "params": {"x": 1}}`, none, 201},
		{"POST", "jobs", `{"type": "a", "unique_key": "k"}`, none, 201},
		{"POST", "jobs/batch", `{"jobs": [{"type": "a"}, {"type": "a"}]}`, none, 201},
		{"POST", "jobs/{id}/cancel", `{"reason": "r"}`, job, 200},
		{"POST", "jobs/{id}/move", `{"to": "top"}`, job, 200},
		{"PATCH", "jobs/{id}", `{"priority": 3}`, job, 200},
		{"PATCH", "jobs/{id}", `{"delay": "1h", "merge_params": {"y": 2}}`, job, 200},
		{"POST", "jobs/{id}/run-now", ``, delayed, 200},
		{"POST", "jobs/{id}/retry", ``, dead, 201},
		{"POST", "jobs/{id}/retry", `{"params": {"y": 2}}`, dead, 201},
		{"POST", "jobs/retry", `{"type": "a"}`, dead, 200},
		{"POST", "dead/retry", `{"type": "a"}`, dead, 200},
		{"POST", "jobs/{id}/run-again", `{"params": {"y": 2}}`, completed, 201},
		{"POST", "groups", `{"jobs": [{"type": "a"}]}`, none, 201},
		{"POST", "groups/{id}/cancel", ``, func(s *server) string {
			a := s.post("groups", `{"jobs": [{"type": "a"}]}`).is(201)
			return read[struct{ ID string }](a).ID
		}, 200},
		{"POST", "jobs/cancel", `{"type": "a"}`, job, 200},
		{"PUT", "limits", `{"global": 9}`, none, 200},
		{"POST", "claim", `{"worker": "w", "types": ["a"], "limit": 2}`, job, 200},
		{"PUT", "definitions", `{"templates": {"another": {"type": "a"}}, "limits": {"global": 8}}`, none, 200},
		{"POST", "sql", `{"statement": "CREATE JOB q SCHEDULE EVERY 1 HOUR AS CALL a()"}`, none, 200},
		{"POST", "sql", `{"statement": "CREATE JOB q1 SCHEDULE EVERY 1 HOUR AS CALL a(); CREATE JOB q2 SCHEDULE EVERY 1 HOUR AS CALL a(); EXECUTE JOB q1"}`, none, 200},
		{"POST", "sql", `{"statement": "ALTER JOB q SET PRIORITY = 5"}`, none, 200},
		{"POST", "sql", `{"statement": "EXECUTE JOB q"}`, none, 200},
		{"POST", "sql", `{"statement": "RECREATE JOB q SCHEDULE EVERY 2 HOURS AS CALL a()"}`, none, 200},
		{"POST", "sql", `{"statement": "DROP JOB q1; CREATE JOB q1 SCHEDULE EVERY 3 HOURS AS CALL a()"}`, none, 200},
		{"POST", "sql", `{"statement": "DROP JOB q"}`, none, 200},
		{"POST", "users", `{"name": "bob", "password": "correct horse battery"}`, none, 201},
		{"PATCH", "users/bob", `{"certificate": "bob.example"}`, none, 200},
		{"PATCH", "users/bob", `{"password": "another horse battery", "certificate": null}`, none, 200},
		{"POST", "roles", `{"name": "ops"}`, none, 201},
		{"POST", "grants", `{"privileges": ["execute_job", "Alter Job"], "job": "t", "to": ["bob", "ops"]}`, none, 200},
		{"POST", "grants", `{"role": "ops", "to": ["bob"]}`, none, 200},
		{"DELETE", "grants?privilege=EXECUTE%20JOB,alter_job&job=t&from=bob", ``, none, 200},
		{"DELETE", "grants?role=ops&from=bob", ``, none, 200},
		{"DELETE", "tokens/{id}", ``, func(s *server) string {
			return read[api.TokenCreated](s.post("tokens", `{"user": "bob", "scope": "read"}`).is(201)).ID
		}, 200},
		{"PUT", "secrets/t/API_KEY", `{"value": "swordfish"}`, none, 200},
		{"POST", "secrets/rotate", ``, none, 200},
		{"DELETE", "secrets/t/API_KEY", ``, none, 204},
		{"DELETE", "roles/ops", ``, none, 204},
		{"DELETE", "users/bob", ``, none, 204},
	}
}

// newServerWithDefinitions has one type, template and schedule.
func newServerWithDefinitions(t testing.TB) *server {
	s := newServer(t)
	s.declare("a")
	s.post("templates", `{"name": "t", "type": "a"}`).is(201)
	s.post("schedules", `{"name": "s", "template": "t", "cron": "0 3 * * *"}`).is(201)
	return s
}

// TestEveryWriteRepeatedWithKeyAppliesOnce sends each write twice with one key. The second changes
// nothing and gets the same response, except for counts, which may be lower.
func TestEveryWriteRepeatedWithKeyAppliesOnce(t *testing.T) {
	s := newServerWithDefinitions(t)
	counts := map[string]bool{"jobs/cancel": true, "jobs/retry": true, "dead/retry": true, "templates/t/archive": true, "groups/{id}/cancel": true, "secrets/rotate": true}
	for i, w := range writeRequests() {
		name := w.method + " " + w.path
		path, key := strings.Replace(w.path, "{id}", w.prepare(s), 1), fmt.Sprint("key ", i)
		var body any
		if w.body != "" {
			body = w.body
		}
		before := s.dump()
		first := s.send(w.method, path, body, "Idempotency-Key", key).is(w.status)
		after := s.dump()
		second := s.send(w.method, path, body, "Idempotency-Key", key).is(w.status)
		if !counts[w.path] && first.text != second.text {
			t.Errorf("%s is answered with\n%s\nand then with\n%s", name, first.text, second.text)
		}
		if before == after {
			t.Errorf("%s changes nothing", name)
		}
		if s.dump() != after {
			t.Errorf("%s: the second time something changed", name)
		}
		other := s.send(w.method, path, `{"surely": "another body"}`, "Idempotency-Key", key)
		if other.status != 409 && other.status != 422 {
			t.Errorf("%s, another body under the key: %d %s", name, other.status, other.text)
		}
	}
}

func TestKeyOfAnotherRequestConflicts(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.post("jobs", `{"type": "a"}`, "Idempotency-Key", "k").is(201)
	p := s.post("jobs", `{"type": "a", "priority": 1}`, "Idempotency-Key", "k").problem(409, "conflict")
	if p.Errors[0].Field != "Idempotency-Key" || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	s.post("templates/t/archive", nil, "Idempotency-Key", "k").problem(409, "conflict")
	s.post("jobs", `{"type": "a"}`, "Idempotency-Key", strings.Repeat("k", 513)).problem(400, "invalid")
	if got := s.all("jobs", 10); len(got) != 1 {
		t.Errorf("there are %d jobs", len(got))
	}
	s.get("jobs").is(200)
	if a := s.send("GET", "jobs", nil, "Idempotency-Key", "k"); a.status != 200 {
		t.Errorf("a read uses the key: %s", a.text)
	}
}

func TestRefusedRequestLeavesKeyFree(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.post("jobs", `{"type": "late"}`, "Idempotency-Key", "k").problem(422, "invalid")
	s.declare("late")
	s.post("jobs", `{"type": "late"}`, "Idempotency-Key", "k").is(201)
}

func TestRetryRepeatedWithKeyRetriesOnce(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.enqueue(`{"type": "a", "max_retries": 0}`)
	dead := s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed}).ID.String()
	ids := map[string]bool{}
	for range 3 {
		ids[s.post("jobs/"+dead+"/retry", nil, "Idempotency-Key", "k").is(201).job().ID.String()] = true
	}
	if len(ids) != 1 {
		t.Error(fmt.Sprint(ids))
	}
}
