package httpapi_test

import (
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// TestReplayAfterDefinitionsChangedReturnsResult repeats requests, as after a lost response, when they
// would no longer be valid.
func TestReplayAfterDefinitionsChangedReturnsResult(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.declare("b")
	job := s.enqueue(`{"type": "a"}`)
	s.post("schedules", `{"name": "s2", "template": "t", "every": "1h"}`).is(201)
	requests := []writeRequest{
		{method: "POST", path: "jobs", body: `{"template": "t"}`, status: 201},
		{method: "POST", path: "jobs", body: `{"type": "a"}`, status: 201},
		{method: "POST", path: "jobs/batch", body: `{"jobs": [{"template": "t"}, {"type": "a"}]}`, status: 201},
		{method: "POST", path: "groups", body: `{"jobs": [{"type": "a"}]}`, status: 201},
		{method: "POST", path: "schedules", body: `{"name": "new", "template": "t", "every": "1h"}`, status: 201},
		{method: "POST", path: "schedules/s/trigger", body: `{"params": {"x": 1}}`, status: 201},
		{method: "PATCH", path: "schedules/s2", body: `{"starts_at": "2130-01-01T00:00:00Z"}`, status: 200},
		{method: "PATCH", path: "jobs/" + job, body: `{"params": {"x": 1}}`, status: 200},
	}
	for i, r := range requests {
		s.send(r.method, r.path, r.body, "Idempotency-Key", string(rune('a'+i))).is(r.status)
	}
	s.send("PATCH", "schedules/s2", `{"at": "2131-01-01T00:00:00Z"}`).is(200) // an at schedule has no starts_at
	s.send("PUT", "types/a", `{"schema": {"type": "object", "required": ["y"]}}`).is(200)
	s.post("templates/t/archive", nil).is(200)
	before := s.dump()
	for i, r := range requests {
		if a := s.send(r.method, r.path, r.body, "Idempotency-Key", string(rune('a'+i))); a.status != r.status {
			t.Errorf("%s %s got %d: %s", r.method, r.path, a.status, a.text)
		}
		if a := s.send(r.method, r.path, r.body); a.status < 400 {
			t.Errorf("%s %s is still valid", r.method, r.path)
		}
	}
	if s.dump() != before {
		t.Error("something changed")
	}
}

func TestRefusedRequestLeavesKeyForCorrectedRequest(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.declareMail()
	for _, wrong := range []string{`{"type": "nobody"}`, `{"type": "mail", "params": {"to": 7}}`, `{"type": "mail", "params": {}}`, `{"type": "a", "priority": 1000001}`} {
		s.post("jobs", wrong, "Idempotency-Key", "k").problem(422, "invalid")
	}
	first := s.post("jobs", `{"type": "mail", "params": {"to": "ada"}}`, "Idempotency-Key", "k").is(201)
	second := s.post("jobs", `{"type": "mail", "params": {"to": "ada"}}`, "Idempotency-Key", "k").is(201)
	if first.text != second.text {
		t.Errorf("%s\n%s", first.text, second.text)
	}
	s.post("jobs", `{"type": "a"}`, "Idempotency-Key", "k").problem(409, "conflict")
	s.send("DELETE", "schedules/none", nil, "Idempotency-Key", "d").problem(404, "not_found")
	s.send("PATCH", "schedules/s", `{"cron": "x"}`, "Idempotency-Key", "d").problem(422, "invalid")
	s.send("PATCH", "schedules/s", `{"cron": "0 4 * * *"}`, "Idempotency-Key", "d").is(200)
}

// TestDeleteRepeatedWithKeyReturnsSameStatus covers a schedule that never existed and one that was
// deleted and created again.
func TestDeleteRepeatedWithKeyReturnsSameStatus(t *testing.T) {
	s := newServerWithDefinitions(t)
	for range 3 {
		s.send("DELETE", "schedules/none", nil, "Idempotency-Key", "none").problem(404, "not_found")
	}
	for range 3 {
		s.send("DELETE", "schedules/s", nil, "Idempotency-Key", "some").is(204)
	}
	s.send("DELETE", "schedules/s", nil).problem(404, "not_found")
	s.post("schedules", `{"name": "s", "template": "t", "cron": "0 3 * * *"}`).is(201)
	s.send("DELETE", "schedules/s", nil, "Idempotency-Key", "some").is(204)
	s.get("schedules/s").is(200)
}

// TestBulkReplayIgnoresNewJobs repeats a bulk cancel and a bulk retry after new jobs were created.
func TestBulkReplayIgnoresNewJobs(t *testing.T) {
	s := newServerWithDefinitions(t)
	s.enqueue(`{"type": "a"}`)
	cancel := func() api.Many {
		return read[api.Many](s.post("jobs/cancel", `{"all": true}`, "Idempotency-Key", "c").is(200))
	}
	retry := func() api.Many {
		return read[api.Many](s.post("dead/retry", `{"all": true}`, "Idempotency-Key", "r").is(200))
	}
	if got := cancel(); got.Cancelled != 1 {
		t.Errorf("%+v", got)
	}
	waitMillisecond()
	s.enqueue(`{"type": "a", "max_retries": 0}`)
	if got := cancel(); got != (api.Many{}) {
		t.Errorf("%+v", got)
	}
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	if got := retry(); got.Retried != 1 {
		t.Errorf("%+v", got)
	}
	waitMillisecond()
	s.enqueue(`{"type": "a", "max_retries": 0, "priority": 9}`)
	s.drive([]string{"a"}, rota.FinishItem{Outcome: rota.OutcomeFailed})
	if got := retry(); got != (api.Many{}) {
		t.Errorf("%+v", got)
	}
}

// waitMillisecond waits for the next millisecond, the resolution of ids.
func waitMillisecond() {
	for now := rota.NewID().Time(); !rota.NewID().Time().After(now); {
	}
}
