package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

const hookSecret = "whsec_that_nobody_is_shown"

// hook returns a webhook for a request.
func hook(url string, events ...string) map[string]any {
	return map[string]any{"url": url, "events": events, "secret": hookSecret}
}

func TestSetAndShowWebhooks(t *testing.T) {
	s := newServer(t)
	none := read[api.Webhooks](s.get("webhooks").is(200))
	if none.Webhooks == nil || len(none.Webhooks) != 0 || !none.Version.IsZero() {
		t.Errorf("%+v", none)
	}
	put := s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://a.example/x", "job.dead", "schedule.missed"), hook("https://b.example/")}}).is(200)
	shown := s.get("webhooks").is(200)
	if put.text != shown.text {
		t.Errorf("PUT returned %s, GET %s", put.text, shown.text)
	}
	got := read[api.Webhooks](shown)
	if len(got.Webhooks) != 2 || got.Webhooks[0].URL != "https://a.example/x" || !slices.Equal(got.Webhooks[0].Events, []string{"job.dead", "schedule.missed"}) ||
		len(got.Webhooks[1].Events) != 0 || !got.Webhooks[1].HasSecret || got.Version.IsZero() {
		t.Errorf("%+v", got)
	}

	// The response can be sent back: nothing changes, and the secrets stay.
	if again := s.send("PUT", "webhooks", shown.text).is(200); again.text != shown.text {
		t.Errorf("sent back, it became %s", again.text)
	}
	s.send("PUT", "webhooks", `{"webhooks": [{"url": "https://b.example/", "events": ["job.dead"]}, {"url": "https://c.example/", "secret": "another"}]}`).is(200)
	stored, err := s.store.Webhooks(t.Context())
	if err != nil || len(stored.Spec) != 2 || s.opened("", &stored.Spec[0]) != hookSecret || s.opened("", &stored.Spec[1]) != "another" || stored.UpdatedBy != "admin" {
		t.Errorf("%+v, %v", stored, err)
	}
	s.send("PUT", "webhooks", `{"webhooks": [{"url": "https://b.example/", "secret": "the next"}]}`).is(200)
	if stored, _ = s.store.Webhooks(t.Context()); s.opened("", &stored.Spec[0]) != "the next" {
		t.Errorf("%+v", stored)
	}
	s.send("PUT", "webhooks", `{"webhooks": []}`).is(200)
	if got := read[api.Webhooks](s.get("webhooks").is(200)); len(got.Webhooks) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestWebhookSecretsAreNotShown(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://a.example/")}}).is(200)
	s.post("templates", map[string]any{"name": "t", "type": "a", "webhooks": []any{hook("https://a.example/", "job.dead")}}).is(201)
	s.post("jobs", `{"template": "t"}`).is(201)
	for _, path := range []string{"webhooks", "templates", "templates/t", "audit", "jobs", "jobs?type=rota.webhook", "executions?type=rota.webhook", "queue"} {
		if text := s.get(path).is(200).text; strings.Contains(text, hookSecret) {
			t.Errorf("%s shows it: %s", path, text)
		}
	}
	for _, bad := range []string{`{"url": "x", "secret": "` + hookSecret + `"}`, `{"url": "https://a.example/", "secret": "` + hookSecret + `\u0000"}`, `{"secret": ["` + hookSecret + `"]}`} {
		if text := s.send("PUT", "webhooks", `{"webhooks": [`+bad+`]}`).is(422).text; strings.Contains(text, hookSecret) {
			t.Error(text)
		}
	}
	if strings.Contains(s.log.String(), hookSecret) {
		t.Error(s.log)
	}
}

func TestInvalidWebhooksNameFieldAndChangeNothing(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://a.example/")}}).is(200)
	s.post("templates", map[string]any{"name": "t", "type": "a", "webhooks": []any{hook("https://a.example/")}}).is(201)
	before := s.dump() + s.get("webhooks").text
	long := strings.Repeat("x", 3000)
	bodies := map[string]string{
		`[{"url": "", "secret": "s"}]`:                                                "webhooks[0].url",
		`[{"secret": "s"}]`:                                                           "webhooks[0].url",
		`[{"url": "a.example", "secret": "s"}]`:                                       "webhooks[0].url",
		`[{"url": "ftp://a.example/", "secret": "s"}]`:                                "webhooks[0].url",
		`[{"url": "https://", "secret": "s"}]`:                                        "webhooks[0].url",
		`[{"url": "https://ada:pw@a.example/", "secret": "s"}]`:                       "webhooks[0].url",
		`[{"url": "https://a.example/` + long + `", "secret": "s"}]`:                  "webhooks[0].url",
		`[{"url": 7, "secret": "s"}]`:                                                 "webhooks[0].url",
		`[{"url": "https://new.example/"}]`:                                           "webhooks[0].secret",
		`[{"url": "https://a.example/", "secret": ""}]`:                               "webhooks[0].secret",
		`[{"url": "https://a.example/", "secret": 7}]`:                                "webhooks[0].secret",
		`[{"url": "https://a.example/", "secret": "` + long + `"}]`:                   "webhooks[0].secret",
		`[{"url": "https://a.example/", "events": ["job.enqueued", "job.exploded"]}]`: "webhooks[0].events[1]",
		`[{"url": "https://a.example/", "events": ["job.dead", "job.dead"]}]`:         "webhooks[0].events[1]",
		`[{"url": "https://a.example/", "events": "job.dead"}]`:                       "webhooks[0].events",
		`[{"url": "https://a.example/"}, {"url": "https://a.example/"}]`:              "webhooks[1].url",
		`[{"url": "https://a.example/", "event": ["job.dead"]}]`:                      "webhooks[0].event",
		`[{"url": "https://a.example/", "active": true}]`:                             "webhooks[0].active",
		`{"url": "https://a.example/"}`:                                               "webhooks",
		`["https://a.example/"]`:                                                      "webhooks[0]",
		`[` + strings.Repeat(`{"url": "https://a.example/"},`, 50) + `{}]`:            "webhooks",
	}
	for body, field := range bodies {
		for _, target := range []struct{ method, path string }{{"PUT", "webhooks"}, {"PATCH", "templates/t"}} {
			p := s.send(target.method, target.path, `{"webhooks": `+body+`}`).problem(422, "invalid")
			if len(p.Errors) == 0 || p.Errors[0].Field != field {
				t.Errorf("%s %.80s: %+v, want %s", target.path, body, p, field)
			}
		}
	}
	if p := s.send("PUT", "webhooks", `{}`).problem(422, "invalid"); p.Errors[0].Field != "webhooks" || p.Hint == "" {
		t.Errorf("%+v", p)
	}
	if p := s.send("PUT", "webhooks", `{"webhooks": null}`).problem(422, "invalid"); p.Errors[0].Field != "webhooks" {
		t.Errorf("%+v", p)
	}
	// The webhooks of a template receive events of jobs only.
	p := s.send("PATCH", "templates/t", `{"webhooks": [{"url": "https://a.example/", "events": ["schedule.fired"]}]}`).problem(422, "invalid")
	if p.Errors[0].Field != "webhooks[0].events[0]" || !strings.Contains(p.Hint, "job.completed") {
		t.Errorf("%+v", p)
	}
	if after := s.dump() + s.get("webhooks").text; after != before {
		t.Error("something was changed")
	}
}

func TestSetWebhooksWithStaleVersionConflicts(t *testing.T) {
	s := newServer(t)
	first := read[api.Webhooks](s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://a.example/")}}).is(200))
	body := `{"webhooks": [{"url": "https://a.example/", "events": ["job.dead"]}], "version": "` + first.Version.String() + `"}`
	s.send("PUT", "webhooks", body).is(200)
	if p := s.send("PUT", "webhooks", strings.Replace(body, "job.dead", "job.failed", 1)).problem(409, "conflict"); p.Errors[0].Field != "version" {
		t.Errorf("%+v", p)
	}
	if got := read[api.Webhooks](s.get("webhooks").is(200)); got.Webhooks[0].Events[0] != "job.dead" {
		t.Errorf("%+v", got)
	}

	// A repeated request succeeds even if the webhooks have changed since.
	one := s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://one.example/")}}, "Idempotency-Key", "k").is(200)
	s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://two.example/")}}).is(200)
	if again := s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook("https://one.example/")}}, "Idempotency-Key", "k").is(200); again.text == one.text {
		t.Error("it was applied twice")
	}
	if got := read[api.Webhooks](s.get("webhooks").is(200)); got.Webhooks[0].URL != "https://two.example/" {
		t.Errorf("%+v", got)
	}
}

func TestTemplateWebhooks(t *testing.T) {
	s := newServer(t)
	s.declare("a")
	made := read[api.Template](s.post("templates", map[string]any{"name": "t", "type": "a", "webhooks": []any{hook("https://a.example/", "job.dead")}}).is(201))
	if len(made.Webhooks) != 1 || !made.Webhooks[0].HasSecret || made.Webhooks[0].Events[0] != "job.dead" {
		t.Errorf("%+v", made.Webhooks)
	}
	bare := read[api.Template](s.post("templates", `{"name": "bare", "type": "a"}`).is(201))
	if bare.Webhooks == nil || len(bare.Webhooks) != 0 {
		t.Errorf("%+v", bare.Webhooks)
	}
	secretOf := func() string {
		stored, err := s.store.Template(t.Context(), "t")
		if err != nil || len(stored.Spec.Webhooks) == 0 {
			t.Fatal(stored, err)
		}
		return s.opened("t", &stored.Spec.Webhooks[0])
	}
	// A change of another field keeps the webhooks; a webhook with the same address keeps its
	// secret.
	s.send("PATCH", "templates/t", `{"priority": 3}`).is(200)
	changed := read[api.Template](s.send("PATCH", "templates/t", `{"webhooks": [{"url": "https://a.example/", "events": ["job.failed"], "has_secret": true}]}`).is(200))
	if changed.Webhooks[0].Events[0] != "job.failed" || secretOf() != hookSecret {
		t.Errorf("%+v %s", changed.Webhooks, secretOf())
	}
	s.send("PATCH", "templates/t", `{"webhooks": [{"url": "https://a.example/", "secret": "next"}]}`).is(200)
	if secretOf() != "next" {
		t.Error(secretOf())
	}
	for _, none := range []string{`{"webhooks": []}`, `{"webhooks": null}`} {
		s.send("PATCH", "templates/t", map[string]any{"webhooks": []any{hook("https://a.example/")}}).is(200)
		if got := read[api.Template](s.send("PATCH", "templates/t", none).is(200)); len(got.Webhooks) != 0 {
			t.Errorf("%s leaves %+v", none, got.Webhooks)
		}
	}
}

// inbox receives deliveries, and stores their bodies by event.
type inbox struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]map[string]json.RawMessage
	bad    []error
	status int
}

func newInbox(t *testing.T) *inbox {
	in := &inbox{bodies: map[string]map[string]json.RawMessage{}, status: 200}
	in.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var fields map[string]json.RawMessage
		err := action.Verify(hookSecret, r.Header.Get(action.HeaderSignature), body, time.Now(), 0)
		if err == nil {
			err = json.Unmarshal(body, &fields)
		}
		if id := `{"id":"` + r.Header.Get(action.HeaderDelivery) + `",`; !strings.HasPrefix(string(body), id) {
			err = fmt.Errorf("%s does not begin with %s", body, id)
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.bodies[r.Header.Get(action.HeaderEvent)] = fields
		if err != nil {
			in.bad = append(in.bad, err)
		}
		w.WriteHeader(in.status)
	}))
	t.Cleanup(in.Close)
	return in
}

// faults returns the errors of received deliveries.
func (in *inbox) faults() []error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return slices.Clone(in.bad)
}

// setStatus sets the status of the responses.
func (in *inbox) setStatus(status int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.status = status
}

// await waits for the delivery of an event.
func (in *inbox) await(t *testing.T, event string) map[string]json.RawMessage {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		in.mu.Lock()
		body := in.bodies[event]
		in.mu.Unlock()
		if body != nil {
			return body
		}
	}
	t.Fatalf("%s was not delivered", event)
	return nil
}

func loopback(t *testing.T) *action.Sender {
	t.Helper()
	allow, err := action.ParseAllow("loopback")
	if err != nil {
		t.Fatal(err)
	}
	return action.NewSender(action.SenderConfig{Guard: &action.Guard{Allow: allow}, Version: "1.2.3"})
}

// opened is the secret of a stored webhook, which has to be sealed.
func (s *server) opened(template string, h *rota.Webhook) string {
	s.Helper()
	value, err := s.vault.OpenWebhook(template, h)
	if err != nil || !rota.IsSealed(h.Secret) {
		s.Errorf("%s: %v", h.URL, err)
	}
	return value
}

// withDeliveries runs a delivery engine next to the API.
func withDeliveries(t *testing.T) func(*httpapi.Config) {
	return func(c *httpapi.Config) {
		reg := engine.NewRegistry()
		c.Webhooks = loopback(t)
		action.Deliveries(reg, action.WebhookConfig{Store: c.Store, Sender: c.Webhooks, Compose: httpapi.ComposeWebhook(c.Store), Open: c.Vault.OpenWebhook})
		deliveries := engine.New(rota.New(c.Store), reg, engine.Config{Name: "webhooks", WorkOnly: true, Events: c.Events, Logger: slog.New(slog.DiscardHandler)})
		ctx, stop := context.WithCancel(context.Background())
		over := make(chan error, 1)
		go func() { over <- deliveries.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-over; err != nil {
				t.Error(err)
			}
		})
		select {
		case <-deliveries.Ready():
		case <-time.After(testTimeout):
			t.Fatal("the delivery engine did not become ready")
		}
	}
}

// TestWebhookPayloadMatchesAPI compares the payload with the API field by field.
func TestWebhookPayloadMatchesAPI(t *testing.T) {
	s := newServer(t, withEngine(t), withDeliveries(t))
	in := newInbox(t)
	s.post("templates", `{"name": "t", "type": "noop", "default_params": {"a": "<b>"}}`).is(201)
	s.post("schedules", `{"name": "s", "template": "t", "cron": "0 7 * * *", "timezone": "Europe/Berlin"}`).is(201)
	s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook(in.URL)}}).is(200)
	before := time.Now().Add(-time.Second)
	id := s.post("jobs", `{"template": "t"}`).is(201).job().ID.String()

	body := in.await(t, "job.completed")
	if keys := slices.Sorted(maps.Keys(body)); !slices.Equal(keys, []string{"event", "execution", "id", "job", "job_id", "run", "time"}) {
		t.Errorf("it has %v", keys)
	}
	shown := read[map[string]json.RawMessage](s.get("jobs/" + id).is(200))
	var at time.Time
	if err := json.Unmarshal(body["time"], &at); err != nil || at.Before(before) || at.After(time.Now()) {
		t.Errorf("%s %v", body["time"], err)
	}
	if string(body["event"]) != `"job.completed"` || string(body["job_id"]) != `"`+id+`"` || string(body["run"]) != string(shown["run"]) {
		t.Errorf("%s\n%s", body["run"], shown["run"])
	}
	if got := read[map[string]json.RawMessage](answer{TB: t, text: string(body["job"])}); !maps.EqualFunc(got, shown, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("the job is %s\nnot %s", body["job"], s.get("jobs/"+id).text)
	}
	listed := read[struct{ Items []json.RawMessage }](s.get("executions?template=t").is(200))
	if string(body["execution"]) != string(listed.Items[0]) {
		t.Errorf("the execution is %s\nnot %s", body["execution"], listed.Items[0])
	}

	// A failed attempt that is retried has the state failed, and the payload does not contain its
	// retry.
	s.post("jobs", `{"type": "fail", "params": {"message": "boom"}, "max_retries": 1, "backoff": "1h"}`).is(201)
	failed := in.await(t, "job.failed")
	execution := read[api.Execution](answer{TB: t, text: string(failed["execution"])})
	if execution.State != "failed" || execution.Error != "boom" || execution.AttemptCount != 1 || !execution.NextRetryAt.IsZero() {
		t.Errorf("%+v", execution)
	}

	// Other events contain the entity they are about.
	s.post("schedules/s/trigger", `{}`).is(201)
	s.post("groups", `{"jobs": [{"type": "noop"}]}`).is(201)
	s.post("direct", `{"type": "noop"}`).is(200)
	group := in.await(t, "group.finished")
	if g := read[api.Group](answer{TB: t, text: string(group["group"])}); g.Status != "COMPLETED" || string(group["group_id"]) != `"`+g.ID.String()+`"` || string(group["job"]) != "null" {
		t.Errorf("%s", group["group"])
	}
	reservation := in.await(t, "reservation.active")
	if r := read[api.Reservation](answer{TB: t, text: string(reservation["reservation"])}); r.ID.IsZero() || r.Node == "" {
		t.Errorf("%s", reservation["reservation"])
	}
	s.awaitDeliveries()
	if len(in.faults()) > 0 {
		t.Error(in.faults())
	}
}

// awaitDeliveries waits until no delivery is pending.
func (s *server) awaitDeliveries() {
	s.Helper()
	for deadline := time.Now().Add(testTimeout); ; time.Sleep(time.Millisecond) {
		open := 0
		for _, state := range []string{"queued", "scheduled", "running"} {
			open += len(read[struct{ Items []any }](s.get("jobs?type=rota.webhook&state=" + state).is(200)).Items)
		}
		if open == 0 {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("%d deliveries are pending", open)
		}
	}
}

// TestComposeWebhookOfDeletedEntities checks that a payload has the id or name of an entity that no
// longer exists.
func TestComposeWebhookOfDeletedEntities(t *testing.T) {
	s := newServer(t)
	compose, id := httpapi.ComposeWebhook(s.store), rota.NewID()
	for event, want := range map[rota.EventKind]string{
		rota.EventJobDead:            `{"id":"d-1","event":"job.dead","time":"2026-11-15T07:00:00Z","job_id":"` + id.String() + `","job":null,"run":null,"execution":null}`,
		rota.EventScheduleMissed:     `"schedule_name":"nightly","detail":"3 <times>"}`,
		rota.EventGroupFinished:      `"group_id":"` + id.String() + `"}`,
		rota.EventReservationExpired: `"reservation_id":"` + id.String() + `"}`,
	} {
		d := rota.Delivery{Event: event, Time: time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC)}
		switch event {
		case rota.EventJobDead:
			d.JobID, d.Schedule, d.GroupID = &id, "nightly", &id // as in the events of a job
		case rota.EventScheduleMissed:
			d.Schedule, d.Detail = "nightly", "3 <times>"
		case rota.EventGroupFinished:
			d.GroupID = &id
		case rota.EventReservationExpired:
			d.ReservationID = &id
		}
		body, err := compose(t.Context(), "d-1", d)
		if err != nil || !strings.HasSuffix(string(body), want) || !json.Valid(body) {
			t.Errorf("%s: %s, %v", event, body, err)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if body, err := compose(ended, "d-1", rota.Delivery{Event: rota.EventJobDead, JobID: &id}); err == nil {
		t.Errorf("a failing store yields %s", body)
	}
}

func TestWebhookTestReportsResult(t *testing.T) {
	s := newServer(t, func(c *httpapi.Config) { c.Webhooks = loopback(t) })
	in := newInbox(t)
	test := func(body any) api.WebhookTested {
		t.Helper()
		return read[api.WebhookTested](s.post("webhooks/test", body).is(200))
	}
	if got := test(map[string]any{"url": in.URL, "secret": hookSecret}); !got.Delivered || *got.Status != 200 || got.Error != "" || got.DeliveryID == "" {
		t.Errorf("%+v", got)
	}
	if body := in.await(t, "webhook.test"); len(in.faults()) != 0 || string(body["event"]) != `"webhook.test"` {
		t.Errorf("%v %v", body, in.faults())
	}
	in.setStatus(503)
	s.send("PUT", "webhooks", map[string]any{"webhooks": []any{hook(in.URL)}}).is(200)
	if got := test(map[string]any{"url": in.URL}); got.Delivered || *got.Status != 503 || !strings.Contains(string(got.Error), "503") || len(in.faults()) != 0 {
		t.Errorf("%+v %v", got, in.faults())
	}
	s.declare("a")
	s.post("templates", map[string]any{"name": "t", "type": "a", "webhooks": []any{hook(in.URL + "/t")}}).is(201)
	if got := test(map[string]any{"url": in.URL + "/t", "template": "t"}); *got.Status != 503 || len(in.faults()) != 0 {
		t.Errorf("%+v %v", got, in.faults())
	}
	if got := test(map[string]any{"url": "http://10.0.0.1/", "secret": "s"}); got.Delivered || got.Status != nil || !strings.Contains(string(got.Error), "http_allow") {
		t.Errorf("%+v", got)
	}
	for body, field := range map[string]string{
		`{"secret": "s"}`: "url", `{"url": "x", "secret": "s"}`: "url", `{"url": "https://unknown.example/"}`: "secret",
		`{"url": "https://a.example/", "secret": "s", "template": "nobody"}`: "template", `{"url": "https://a.example/", "event": "job.dead"}`: "event",
	} {
		if p := s.post("webhooks/test", body).problem(422, "invalid"); p.Errors[0].Field != field {
			t.Errorf("%s: %+v", body, p)
		}
	}
	newServer(t).post("webhooks/test", `{"url": "https://a.example/", "secret": "s"}`).problem(503, "unavailable")
}
