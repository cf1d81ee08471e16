package httpapi_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/eventring"
	"github.com/rotajobs/rota/httpapi"
)

func TestDirectRunReturnsOutcome(t *testing.T) {
	s := newServer(t, withEngine(t))
	job := s.post("direct", `{"type": "sleep", "params": {"for": "1ms"}, "wait": "10s"}`).is(200).job()
	if job.State != "completed" || job.Run.Status != "COMPLETED" || job.Worker == "" {
		t.Errorf("%+v", job)
	}
	failed := s.post("direct", `{"type": "fail", "params": {"message": "as asked"}}`).is(200).job()
	if failed.State != "failed" || !strings.Contains(string(failed.Run.Error), "as asked") || failed.MaxAttempts != 1 {
		t.Errorf("%+v", failed)
	}
	past := read[api.List[api.Reservation]](s.get("reservations").is(200)).Items
	if len(past) != 2 || past[0].Status != "RELEASED" || past[0].JobID != failed.ID || past[1].JobID != job.ID {
		t.Errorf("%+v", past)
	}
	for body, field := range map[string]string{
		`{"type": "unheard-of"}`: "type", `{"type": "sleep", "params": {"for": 7}}`: "params.for", `{"type": "noop", "wait": "-1s"}`: "wait",
		`{"type": "noop", "wait": 5}`: "wait", `{"type": "noop", "timeout": "-5s"}`: "timeout", `{}`: "type", `{"type": "noop", "priority": 1}`: "priority",
	} {
		if p := s.post("direct", body).problem(422, "invalid"); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	s.declare("elsewhere")
	s.post("direct", `{"type": "elsewhere"}`).problem(422, "invalid")
}

func TestDirectRunRecordsCaller(t *testing.T) {
	s := newServer(t, withEngine(t))
	queued := s.post("jobs", `{"type": "noop"}`).is(201).job()
	job := s.post("direct", `{"type": "noop"}`).is(200).job()
	reserved := read[api.List[api.Reservation]](s.get("reservations").is(200)).Items[0]
	if queued.CreatedBy == "" || job.CreatedBy != queued.CreatedBy || reserved.ReservedBy != queued.CreatedBy {
		t.Errorf("created by %q, reserved by %q; a queued job is created by %q", job.CreatedBy, reserved.ReservedBy, queued.CreatedBy)
	}
}

func TestDirectRunOfTemplate(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.post("templates", `{"name": "pause", "type": "sleep", "default_params": {"for": "1ms"}, "max_retries": 4}`).is(201)
	job := s.post("direct", `{"template": "pause"}`).is(200).job()
	if job.State != "completed" || job.Template != "pause" || job.Type != "sleep" || string(job.Params) != `{"for":"1ms"}` || job.MaxAttempts != 1 {
		t.Errorf("%+v", job)
	}
	if job := s.post("direct", `{"template": "pause", "params": {"for": "2ms"}}`).is(200).job(); string(job.Params) != `{"for":"2ms"}` {
		t.Errorf("%+v", job)
	}
	s.post("direct", `{"template": "pause", "params": {"for": 7}}`).field(422, "invalid", "params.for")
	s.post("direct", `{"template": "nowhere"}`).field(422, "invalid", "template")
	s.post("direct", `{"template": "pause", "type": "noop"}`).field(422, "invalid", "type")
	s.post("templates/pause/archive", nil).is(200)
	s.post("direct", `{"template": "pause"}`).field(409, "conflict", "template")
}

func TestDirectRunWithoutFreeSlotIsBusy(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.apply(&rota.Reserve{Meta: rota.NewMeta(""), Node: "another"})
	p := s.post("direct", `{"type": "noop", "wait": "0s"}`).problem(409, "busy")
	if p.Hint == "" {
		t.Errorf("%+v", p)
	}
}

// TestDirectRunOfRevokedRightDoesNotStart revokes EXECUTE JOB while a direct run waits for its type.
func TestDirectRunOfRevokedRightDoesNotStart(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.post("templates", `{"name": "pause", "type": "noop"}`).is(201)
	s.post("types/noop/pause", nil).is(200)
	headers, _ := s.user("bob", rota.ScopeWrite)
	right := &rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"bob"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "pause"}
	s.applyAll(right)
	got := make(chan answer)
	go func() { got <- s.post("direct", `{"template": "pause", "wait": "60s"}`, headers...) }()
	for len(read[api.List[api.Reservation]](s.get("reservations").is(200)).Items) == 0 { // until it has tried
		waitMillisecond()
	}
	revoke := *right
	revoke.Meta, revoke.Revoke = rota.NewMeta("admin"), true
	s.applyAll(&revoke)
	s.post("types/noop/resume", nil).is(200)
	if a := receive(t, got); a.status != 403 && a.status != 404 && a.status != 422 {
		t.Errorf("%d %s", a.status, a.text)
	}
	if got := s.all("jobs", 10); len(got) != 0 {
		t.Errorf("there are %d jobs", len(got))
	}
}

// TestDirectRunShowsExecutorNoResult runs a template whose history the caller may not see.
func TestDirectRunShowsExecutorNoResult(t *testing.T) {
	s := newServer(t, withEngine(t))
	s.post("templates", `{"name": "broken", "type": "fail", "default_params": {"message": "salary 7"}}`).is(201)
	headers, _ := s.user("bob", rota.ScopeWrite)
	s.applyAll(&rota.GrantPrivileges{Meta: rota.NewMeta("admin"), To: []string{"bob"}, Privileges: []rota.Privilege{rota.ExecuteJob}, Job: "broken"})
	a := s.post("direct", `{"template": "broken"}`, headers...).is(200)
	if a.job().State != "failed" || strings.Contains(a.text, "salary") {
		t.Error(a.text)
	}
}

func TestDirectRunRepeatedWithKeyRunsOnce(t *testing.T) {
	s := newServer(t, withEngine(t))
	first := s.post("direct", `{"type": "noop"}`, "Idempotency-Key", "once").is(200)
	second := s.post("direct", `{"type": "noop"}`, "Idempotency-Key", "once").is(200)
	if first.text != second.text {
		t.Errorf("%s\n%s", first.text, second.text)
	}
	if got := s.all("jobs", 10); len(got) != 1 {
		t.Errorf("there are %d jobs", len(got))
	}
	newServer(t).post("direct", `{"type": "noop"}`).problem(503, "unavailable")
}

// withoutEvents is a store as another process sees it: it delivers no events of the first process.
type withoutEvents struct{ rota.Store }

// Watch delivers no events.
func (withoutEvents) Watch(func([]rota.Event)) func() { return func() {} }

// TestDirectRunRepeatedAtOtherServerReturnsResult repeats the request while the job runs, at a server
// that receives no event of it.
func TestDirectRunRepeatedAtOtherServerReturnsResult(t *testing.T) {
	var runner *engine.Engine
	s := newServer(t, withEngine(t), func(c *httpapi.Config) { runner = c.Engine })
	handler, err := httpapi.New(httpapi.Config{Store: s.store, Events: eventring.New(withoutEvents{s.store}, 0), Engine: runner, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	other := *s
	other.http = httptest.NewServer(handler)
	t.Cleanup(other.http.Close)
	const body = `{"type": "sleep", "params": {"for": "300ms"}}`
	first := make(chan answer)
	go func() { first <- s.post("direct", body, "Idempotency-Key", "k") }()
	for len(s.all("jobs", 10)) == 0 { // until it runs; no signal is available here
		waitMillisecond()
	}
	second := other.post("direct", body, "Idempotency-Key", "k").is(200)
	if one := (<-first).is(200); one.text != second.text || second.job().State != "completed" {
		t.Errorf("%s\n%s", one.text, second.text)
	}
}
