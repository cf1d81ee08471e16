package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
)

func TestRequestWithoutTokenIsRefused(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{"jobs", "stats", "types/a", "nothing", "events", "backup", "jobs/" + rota.NewID().String() + "/log"} {
		for _, given := range []string{"", "Bearer", "Bearer wrong", "Basic " + token, token, "Bearer  ", "bearer " + token + "x"} {
			a := s.send("GET", path, nil, "Authorization", given)
			if a.status != 429 {
				a.problem(401, "denied")
				if a.header.Get("WWW-Authenticate") == "" {
					t.Error("WWW-Authenticate is missing")
				}
			}
			if strings.Contains(a.text, token) {
				t.Error("the response contains the token")
			}
		}
	}
	s.send("GET", "stats", nil, "Authorization", "bearer "+token).is(200)
	for _, path := range []string{"/", "/docs", "/openapi.json", "/healthz", "/readyz"} {
		if a := s.send("GET", path, nil, "Authorization", "").is(200); strings.Contains(a.text, token) {
			t.Errorf("%s shows the token", path)
		}
	}
}

func TestRepeatedWrongTokenIsRateLimited(t *testing.T) {
	s := newServer(t)
	var last answer
	for range 11 {
		last = s.send("GET", "stats", nil, "Authorization", "Bearer wrong")
	}
	last.problem(429, "too_many_requests")
	if last.header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
	s.get("stats").is(200)
}

func TestNewWithShortTokenFails(t *testing.T) {
	for _, token := range []string{"", "short"} {
		if _, err := httpapi.New(httpapi.Config{Store: newServer(t).store, Token: token}); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("token %q: %v", token, err)
		}
	}
}

func TestUnknownPathAndMethod(t *testing.T) {
	s := newServer(t)
	s.get("nothing").problem(404, "not_found")
	s.get("/nothing").problem(404, "not_found")
	s.get("jobs/").problem(404, "not_found")
	s.get("sql").problem(405, "method_not_allowed")
	a := s.send("DELETE", "jobs", nil)
	a.problem(405, "method_not_allowed")
	if a.header.Get("Allow") != "GET, POST" {
		t.Errorf("it allows %s", a.header.Get("Allow"))
	}
	s.post("/healthz", nil).problem(405, "method_not_allowed")
}

func TestHealthAndReadiness(t *testing.T) {
	why := errors.New("the engine is starting")
	s := newServer(t, func(c *httpapi.Config) {
		c.Ready = func() error { return why }
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "rota_up 1") })
	})
	if got := s.get("/healthz").is(200).text; got != `{"status":"ok"}`+"\n" {
		t.Error(got)
	}
	if p := s.get("/readyz").problem(503, "unavailable"); !strings.Contains(p.Detail, "starting") {
		t.Errorf("%+v", p)
	}
	why = nil
	s.get("/readyz").is(200)
	if s.get("/metrics").is(200).text != "rota_up 1" {
		t.Error("there are no metrics")
	}
	newServer(t).get("/metrics").problem(404, "not_found")
}

// TestReadinessHidesStoreErrorDetails checks that the log has the whole error, once.
func TestReadinessHidesStoreErrorDetails(t *testing.T) {
	fault := &rota.Error{Code: rota.Unavailable, Act: "sqlite: apply", Reason: "the disk is full", Err: errors.New("/home/ada/rota.db: code 13")}
	s := newServer(t, func(c *httpapi.Config) { c.Ready = func() error { return fault } })
	for range 3 {
		p := s.send("GET", "/readyz", nil, "Authorization", "").problem(503, "unavailable")
		if !strings.Contains(p.Detail, "the store cannot be written: the disk is full") || strings.Contains(p.Detail, "ada") {
			t.Errorf("%+v", p)
		}
	}
	fault.Reason = "/home/ada/rota.db is no file"
	if p := s.send("GET", "/readyz", nil, "Authorization", "").problem(503, "unavailable"); strings.Contains(p.Detail, "ada") {
		t.Errorf("%+v", p)
	}
	if n := strings.Count(s.log.String(), "code 13"); n != 2 {
		t.Errorf("the error is logged %d times:\n%s", n, s.log)
	}
}

func TestHomeAndDocsPages(t *testing.T) {
	s := newServer(t)
	front, docs := s.get("/").is(200), s.get("/docs").is(200)
	for _, want := range []string{"Rota", "1.2.3", "http://127.0.0.1:7420", "admin.token", "/docs", "/openapi.json"} {
		if !strings.Contains(front.text, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
	for _, want := range []string{"/api/v1/jobs/{id}/cancel", "Idempotency-Key", "unique_key", "ada@example.com"} {
		if !strings.Contains(docs.text, want) {
			t.Errorf("the docs do not have %s", want)
		}
	}
	for _, page := range []answer{front, docs} {
		if strings.Contains(page.text, "<script") || strings.Contains(page.text, "src=") || strings.Contains(page.text, "//cdn") || page.header.Get("Content-Security-Policy") == "" {
			t.Error("the page loads something")
		}
	}
}

func TestOpenAPIListsEveryRoute(t *testing.T) {
	s := newServer(t)
	document := read[struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			OperationID string
			Summary     string
			Security    []map[string][]string
			Parameters  []struct{ Name, In, Description string }
			RequestBody *struct {
				Content map[string]struct{ Example any }
			}
			Responses map[string]any
		}
		Components struct {
			Schemas         map[string]any
			SecuritySchemes map[string]struct{ Scheme string }
		}
	}](s.send("GET", "/openapi.json", nil, "Authorization", "").is(200))
	if document.OpenAPI != "3.1.0" || document.Components.SecuritySchemes["token"].Scheme != "bearer" {
		t.Errorf("%+v", document.OpenAPI)
	}
	routes, ids := 0, map[string]bool{}
	for path, methods := range document.Paths {
		for method, op := range methods {
			routes++
			if op.Summary == "" || ids[op.OperationID] || len(op.Security) == 0 || op.Responses["401"] == nil {
				t.Errorf("%s %s is not described: %+v", method, path, op)
			}
			ids[op.OperationID] = true
			for _, p := range op.Parameters {
				if p.Description == "" {
					t.Errorf("%s of %s %s is not described", p.Name, method, path)
				}
			}
			if op.RequestBody != nil && op.RequestBody.Content["application/json"].Example == nil {
				t.Errorf("the body of %s %s has no example", method, path)
			}
		}
	}
	for _, want := range strings.Fields(`POST/jobs GET/jobs POST/jobs/batch GET/jobs/{id} PATCH/jobs/{id} POST/jobs/{id}/cancel POST/jobs/{id}/move POST/jobs/{id}/retry POST/jobs/{id}/run-now POST/jobs/{id}/run-again
		GET/jobs/{id}/explain GET/jobs/{id}/log POST/jobs/cancel POST/jobs/retry GET/queue GET/executions GET/executions/{id} POST/groups GET/groups GET/groups/{id}
		POST/groups/{id}/cancel POST/direct GET/reservations GET/dead POST/dead/retry GET/limits PUT/limits GET/stats GET/audit GET/audit/verify GET/audit/export GET/events GET/backup GET/verify
		GET/types GET/types/{name} PUT/types/{name} POST/types/{name}/pause POST/types/{name}/resume POST/templates GET/templates GET/templates/{name} PATCH/templates/{name}
		POST/templates/{name}/archive POST/templates/{name}/unarchive POST/schedules GET/schedules GET/schedules/{name} PATCH/schedules/{name} DELETE/schedules/{name}
		GET/webhooks PUT/webhooks POST/webhooks/test POST/claim POST/extend POST/finish GET/definitions PUT/definitions POST/sql GET/secrets PUT/secrets/{template}/{key} DELETE/secrets/{template}/{key} POST/secrets/rotate
		GET/users POST/users GET/users/{name} PATCH/users/{name} DELETE/users/{name} GET/roles POST/roles GET/roles/{name} DELETE/roles/{name}
		GET/grants POST/grants DELETE/grants GET/tokens POST/tokens GET/tokens/{token_id} DELETE/tokens/{token_id} GET/me POST/login POST/logout
		POST/schedules/{name}/trigger POST/schedules/{name}/pause POST/schedules/{name}/resume POST/schedules/{name}/backfill GET/schedules/{name}/upcoming`) {
		method, path, _ := strings.Cut(want, "/")
		if _, there := document.Paths["/api/v1/"+path][strings.ToLower(method)]; !there {
			t.Errorf("%s is missing", want)
		}
		routes--
	}
	if routes != 0 {
		t.Errorf("%d routes are not in this list", routes)
	}
}

// failingStore panics or fails in Stats.
type failingStore struct {
	rota.Store
	onStats func()
}

func (b *failingStore) Stats(context.Context) (*rota.Stats, error) {
	b.onStats()
	return nil, errors.New("disk on fire: password hunter2")
}

func TestPanicInHandlerIsAnsweredWith500(t *testing.T) {
	how := func() { panic("oh no, hunter2") }
	s := newServer(t, func(c *httpapi.Config) { c.Store = &failingStore{Store: c.Store, onStats: func() { how() }} })
	if a := s.get("stats"); strings.Contains(a.text, "hunter2") || a.problem(500, "internal").Hint == "" {
		t.Error(a.text)
	}
	if !strings.Contains(s.log.String(), "oh no") || !strings.Contains(s.log.String(), "server_test.go") {
		t.Errorf("the log does not contain the error: %s", s.log)
	}
	how = func() {}
	if a := s.get("stats"); strings.Contains(a.text, "hunter2") {
		t.Error(a.text)
	} else {
		a.problem(500, "internal")
	}
	if !strings.Contains(s.log.String(), "disk on fire") {
		t.Errorf("the log does not contain the error: %s", s.log)
	}
	s.get("types").is(200)
}

func TestConcurrentRequestsAreLimited(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s := newServer(t, func(c *httpapi.Config) {
		c.InFlightMax = 1
		c.Store = &failingStore{Store: c.Store, onStats: func() { entered <- struct{}{}; <-leave }}
	})
	var slow sync.WaitGroup
	slow.Go(func() { s.get("stats") })
	<-entered
	a := s.get("types")
	a.problem(503, "unavailable")
	if a.header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
	s.get("/healthz").is(200)
	close(leave)
	slow.Wait()
	s.get("types").is(200)
}

func TestStreamsHaveTheirOwnLimit(t *testing.T) {
	s := newServer(t, func(c *httpapi.Config) { c.StreamsMax, c.InFlightMax = 1, 1 })
	stream, _ := s.follow("")
	stream.awaitPosition()
	s.get("events").problem(503, "unavailable")
	s.get("types").is(200)
	s.send("HEAD", "types", nil).is(200)
}

func TestRequestRateIsLimited(t *testing.T) {
	now := time.Now()
	s := newServer(t, func(c *httpapi.Config) {
		c.Rate = rota.Rate{Count: 2, Per: time.Second}
		c.Clock = func() time.Time { return now }
	})
	s.get("types").is(200)
	s.get("types").is(200)
	s.get("types").problem(429, "too_many_requests")
	now = now.Add(500 * time.Millisecond)
	s.get("types").is(200)
	s.get("types").is(429)
}

// TestUnauthenticatedRequestsHaveTheirOwnRate checks that requests without a token do not use up the
// rate of valid requests.
func TestUnauthenticatedRequestsHaveTheirOwnRate(t *testing.T) {
	now := time.Now()
	s := newServer(t, func(c *httpapi.Config) {
		c.Rate = rota.Rate{Count: 2, Per: time.Second}
		c.Clock = func() time.Time { return now }
	})
	for i, want := range []int{401, 401, 429, 429} {
		if a := s.send("GET", "types", nil, "Authorization", ""); a.status != want {
			t.Errorf("unauthenticated request %d got %d", i, a.status)
		}
	}
	s.get("types").is(200)
	s.get("types").is(200)
	s.get("types").problem(429, "too_many_requests")
}

func TestVerifyCleanStore(t *testing.T) {
	s := newServer(t)
	if got := read[api.Verification](s.get("verify").is(200)); !got.Clean || got.Violations == nil {
		t.Errorf("%+v", got)
	}
}

// TestBackupCanBeOpened downloads a copy of a store in use, and opens it.
func TestBackupCanBeOpened(t *testing.T) {
	var dir string
	s := newServer(t, func(c *httpapi.Config) { dir = c.ScratchDir })
	s.declare("a")
	id := s.enqueue(`{"type": "a"}`)
	a := s.get("backup").is(200)
	if a.header.Get("Content-Type") != "application/vnd.sqlite3" || a.header.Get("Content-Length") != fmt.Sprint(len(a.text)) {
		t.Errorf("%d bytes, %v", len(a.text), a.header)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(path, []byte(a.text), 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := sqlite.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	jobs, err := copied.Jobs(t.Context(), rota.JobQuery{})
	if err != nil || len(jobs) != 1 || jobs[0].ID.String() != id {
		t.Errorf("it holds %v, %v", jobs, err)
	}
}

func TestBackupEndsWhenClientDisconnects(t *testing.T) {
	started, ended := make(chan struct{}), make(chan error, 1)
	s := newServer(t, func(c *httpapi.Config) {
		c.Backup = func(ctx context.Context, _ string, _ func(int64, int64)) error {
			close(started)
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		}
	})
	ctx, stop := context.WithCancel(context.Background())
	r, _ := http.NewRequestWithContext(ctx, "GET", s.http.URL+"/api/v1/backup", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	go func() {
		if got, err := s.http.Client().Do(r); err == nil {
			_, _ = io.Copy(io.Discard, got.Body)
			got.Body.Close()
		}
	}()
	<-started
	s.get("backup").problem(409, "busy")
	stop()
	select {
	case <-ended:
	case <-time.After(testTimeout):
		t.Fatal("the backup did not end")
	}
	newServer(t, func(c *httpapi.Config) { c.Backup = nil }).get("backup").problem(503, "unavailable")
}
