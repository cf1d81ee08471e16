package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestReportSendsFailedAttempt(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{Environment: "staging", Release: "rota@1.2.3", ServerName: "node-1"})
	job := failed("dial postgres://app:hunter2@db:5432: connection refused", "")
	s.Report(t.Context(), engine.Report{Job: job})
	s.Report(t.Context(), engine.Report{Job: job, Dead: true}) // as if sent again
	flush(t, s)
	events := r.all("event")
	if len(events) != 2 {
		t.Fatalf("%devents arrived", len(events))
	}
	events[0].check(t, map[string]any{
		"event_id": strings.ReplaceAll(job.Run.ID.String(), "-", ""), "level": "warning", "timestamp": "2026-11-15T12:00:00Z",
		"environment": "staging", "release": "rota@1.2.3", "server_name": "node-1", "platform": "go", "transaction": "newsletter",
		"exception.0.type": "mail", "exception.0.value": "dial postgres://app:[hidden]@db:5432: connection refused",
		"exception.0.mechanism.type": "error", "exception.0.mechanism.handled": true, "exception.0.stacktrace": nil,
		"tags.type": "mail", "tags.template": "letters", "tags.schedule": "daily", "tags.attempt": "2", "tags.error_code": nil,
		"tags.runner": "worker-3", "tags.dead": "false",
		"contexts.job.id": job.ID, "contexts.job.execution_id": job.ExecutionID, "contexts.job.run_id": job.Run.ID,
		"contexts.job.attempt": "2 of 3", "contexts.job.duration": "1.5s", "contexts.job.scope": "tenant/7",
		"contexts.job.started_at": "2026-11-15T11:59:58.5Z", "contexts.job.finished_at": "2026-11-15T12:00:00Z",
		"contexts.job.plan_time": "2026-11-15T11:59:00Z", "contexts.job.params.to": "a@b.test", "contexts.job.params.smtp.apiKey": "[hidden]",
		"contexts.trace.trace_id": "0af7651916cd43dd8448eb211c80319c", "contexts.trace.span_id": "b7ad6b7169203331",
		"fingerprint": []any{"mail", "", "dial postgres://app:[hidden]@db:<n>: connection refused"},
		"contexts.os": nil, "modules": nil,
	})
	events[1].check(t, map[string]any{"event_id": events[0].get("event_id"), "level": "error", "tags.dead": "true"})
	for _, one := range events {
		if strings.Contains(one.raw, "hunter2") {
			t.Errorf("a secret was sent: %s", one.raw)
		}
	}
	if !strings.Contains(r.auths[0], "sentry_key=0123456789abcdef") {
		t.Errorf("the key was not sent: %s", r.auths[0])
	}
}

func TestReportSendsPanicWithStack(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	s.Report(t.Context(), engine.Report{Job: failed(panicked("seven"), "panic"), Dead: true})
	flush(t, s)
	event := r.all("event")[0]
	event.check(t, map[string]any{
		"exception.0.type": "mail", "exception.0.value": "panic: runtime error: index out of range [5] with length 0",
		"exception.0.mechanism.type": "panic", "exception.0.mechanism.handled": false, "tags.error_code": "panic", "environment": "production",
		"fingerprint": []any{"mail", "panic", "panic: runtime error: index out of range [<n>] with length <n>"},
	})
	frames, _ := event.get("exception.0.stacktrace.frames").([]any)
	var calls []string
	for _, frame := range frames {
		f := frame.(map[string]any)
		if f["context_line"] != nil || f["pre_context"] != nil {
			t.Errorf("a file was read: %v", f)
		}
		calls = append(calls, f["function"].(string))
	}
	got := strings.Join(calls, " ")
	if !strings.HasSuffix(got, "panicked (*shop).order each (*shop).order.func1") || slices.Contains(calls, "Stack") {
		t.Errorf("the calls are %s", got)
	}
	at := item{body: frames[len(frames)-1].(map[string]any)}
	at.check(t, map[string]any{"module": "github.com/rotajobs/rota/report", "filename": "github.com/rotajobs/rota/report/harness_test.go"})
	if line, _ := at.get("lineno").(float64); line < 100 || !strings.HasSuffix(at.get("abs_path").(string), "report/harness_test.go") {
		t.Errorf("the position is %v line %v", at.get("abs_path"), at.get("lineno"))
	}
}

func TestReportOfUnusualJobs(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	long := failed(strings.Repeat("é", 20_000)+" the end", "")
	long.Params = json.RawMessage(`"` + strings.Repeat("x", 20_000) + `"`)
	bare := &rota.Job{ID: rota.NewID(), Type: "bare"}
	timeout := failed("", rota.CodeTimeout)
	timeout.Trace = "nonsense"
	python := failed("Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: no 17", "")
	for _, job := range []*rota.Job{long, bare, timeout, python, failed("", rota.CodeLeaseExpired), nil} {
		s.Report(t.Context(), engine.Report{Job: job})
	}
	flush(t, s)
	events := r.all("event")
	if len(events) != 5 {
		t.Fatalf("%devents arrived", len(events))
	}
	if text := events[0].get("exception.0.value").(string); len(text) > errorTextMax || !strings.HasSuffix(text, " the end") || !strings.Contains(text, "…") {
		t.Errorf("a long error has %d bytes", len(text))
	}
	events[0].check(t, map[string]any{"contexts.job.params": "[20002 bytes, too long to send]"})
	events[1].check(t, map[string]any{"exception.0.value": "the attempt failed without an error text", "contexts.job.params": nil, "contexts.trace": nil})
	events[2].check(t, map[string]any{"exception.0.value": "the attempt timed out", "tags.error_code": "timeout", "contexts.trace": nil})
	if text := events[3].get("exception.0.value").(string); !strings.HasPrefix(text, "ValueError: no 17\n\nTraceback") {
		t.Errorf("a traceback is shown as %s", text)
	}
	events[3].check(t, map[string]any{"fingerprint": []any{"mail", "", "ValueError: no <n>"}})
	events[4].check(t, map[string]any{"exception.0.value": "the lease expired: the worker sent no heartbeat"})
}

// Only the harmless parts of a request are reported, because secrets in it cannot be
// recognized.
func TestReportOmitsRequestSecrets(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	call, delivered, malformed := failed("no", ""), failed("no", ""), failed("no", "")
	call.Type, call.Params = "http", json.RawMessage(`{"method": "POST", "url": "https://hooks.example.com:8443/hunter2?code=hunter2", "body": {"pin": "hunter2"},
		"headers": {"x-gate": "hunter2", "accept": "text/plain", "Content-Type": "text/csv"}, "expect": [201]}`)
	delivered.Type, delivered.Params = rota.TypeWebhook, json.RawMessage(`{"url": "https://hooks.example.com/hunter2", "event": "job.dead", "time": "2026-11-15T07:00:00Z"}`)
	malformed.Type, malformed.Params = "http", json.RawMessage(`{"url": ["hunter2"]}`)
	for _, job := range []*rota.Job{call, delivered, malformed} {
		s.Report(t.Context(), engine.Report{Job: job, Dead: true})
	}
	flush(t, s)
	events := r.all("event")
	if len(events) != 3 {
		t.Fatalf("%devents arrived", len(events))
	}
	events[0].check(t, map[string]any{"contexts.job.params": map[string]any{
		"method": "POST", "host": "hooks.example.com:8443", "headers": map[string]any{"Accept": "text/plain", "Content-Type": "text/csv"},
	}})
	events[1].check(t, map[string]any{"contexts.job.params.url": "hooks.example.com", "contexts.job.params.event": "job.dead"})
	events[2].check(t, map[string]any{"contexts.job.params": "[hidden]"})
	for _, one := range events {
		if strings.Contains(one.raw, "hunter2") {
			t.Errorf("a secret was sent: %s", one.raw)
		}
	}
}

func TestNewSentryRefusesInvalidDSN(t *testing.T) {
	for dsn, want := range map[string]string{
		"":                        "does not begin with https://",
		"hunter2":                 "does not begin with https://",
		"ftp://hunter2@host/7":    "does not begin with https://",
		"https://host/7":          "has no key before its host",
		"https://:hunter2@host/7": "has no key before its host",
		"https://hunter2@/7":      "has no host",
		"https://hunter2@host":    "has no project after its host",
		"https://hunter2@host/":   "has no project after its host",
		"https://hunter2@host:x/": "is not a URL",
		"https://hun ter2@host/7": "is not a URL",
		"https://hunter2\n@host/": "is not a URL",
	} {
		_, err := NewSentry(dsn, Config{})
		var e *rota.Error
		if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != "sentry_dsn" || !strings.Contains(e.Reason, want) || e.Hint == "" {
			t.Errorf("%q: %v, want %q", dsn, err, want)
		}
		if strings.Contains(fmt.Sprint(err), "hun") {
			t.Errorf("%q: the error shows the key: %v", dsn, err)
		}
	}
	if err := CheckDSN("https://k@o1.ingest.sentry.io/sub/7"); err != nil {
		t.Error(err)
	}
}

func TestSentryHonoursRateLimits(t *testing.T) {
	for name, test := range map[string]struct {
		header   string
		value    string
		status   int
		events   int
		checkIns int
	}{
		"Retry-After of all":            {"Retry-After", "60", http.StatusTooManyRequests, 1, 0},
		"a limit of errors":             {"X-Sentry-Rate-Limits", "60:error:organization", http.StatusTooManyRequests, 1, 1},
		"a limit announced with a 200":  {"X-Sentry-Rate-Limits", "60:error;monitor", http.StatusOK, 1, 0},
		"no limit that concerns events": {"X-Sentry-Rate-Limits", "60:transaction", http.StatusOK, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			r.answer = func(w http.ResponseWriter) {
				w.Header().Set(test.header, test.value)
				w.WriteHeader(test.status)
			}
			s := reporter(t, r, Config{})
			s.Report(t.Context(), engine.Report{Job: failed("a", "")})
			flush(t, s)
			s.Report(t.Context(), engine.Report{Job: failed("b", "")})
			s.Report(t.Context(), engine.Report{Job: failed("c", "")})
			s.CheckIn(t.Context(), engine.CheckIn{Schedule: daily(), Job: failed("", ""), Status: engine.CheckInStarted})
			flush(t, s)
			if events, checkIns := len(r.all("event")), len(r.all("check_in")); events != test.events || checkIns != test.checkIns {
				t.Errorf("%d events and %d check-ins arrived, want %d and %d", events, checkIns, test.events, test.checkIns)
			}
		})
	}
}

// The server does not answer.
func TestReportDoesNotWaitForServer(t *testing.T) {
	r := newReceiver(t)
	release := make(chan struct{})
	r.answer = func(http.ResponseWriter) { <-release }
	t.Cleanup(func() { close(release) })
	s := reporter(t, r, Config{})
	job := failed("a", "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 3 * queueMax {
			s.Report(context.Background(), engine.Report{Job: job})
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("reports wait for the server")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.Close(ctx); rota.CodeOf(err) != rota.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
}

func TestCloseSendsQueuedReports(t *testing.T) {
	r := newReceiver(t)
	s := reporter(t, r, Config{})
	for range 100 {
		s.Report(t.Context(), engine.Report{Job: failed("a", "")})
	}
	if err := s.Close(deadlineContext(t)); err != nil {
		t.Fatal(err)
	}
	if n := len(r.all("event")); n != 100 {
		t.Errorf("%devents arrived", n)
	}
	s.Report(t.Context(), engine.Report{Job: failed("late", "")})
	if err := s.Close(deadlineContext(t)); err != nil || len(r.all("event")) != 100 {
		t.Errorf("after Close: %v, %d events", err, len(r.all("event")))
	}
}

// lines collects log lines.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func TestLostReportsAreLoggedOnce(t *testing.T) {
	r := newReceiver(t)
	status := http.StatusForbidden
	r.answer = func(w http.ResponseWriter) { w.WriteHeader(status) }
	log := &lines{}
	s := reporter(t, r, Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	for range 20 {
		s.Report(t.Context(), engine.Report{Job: failed("a", "")})
	}
	flush(t, s)
	if log.count("does not accept reports") != 1 || log.count("403 Forbidden") != 1 || log.count("sentry_dsn") != 1 || log.count("0123456789abcdef") != 0 {
		t.Errorf("the log is\n%s", log.text.String())
	}
	r.mu.Lock()
	status = http.StatusOK
	r.mu.Unlock()
	for range 3 {
		s.Report(t.Context(), engine.Report{Job: failed("a", "")})
	}
	flush(t, s)
	if log.count("accepts reports again") != 1 {
		t.Errorf("the log is\n%s", log.text.String())
	}

	r.Close() // connection refused
	gone := reporter(t, r, Config{Logger: slog.New(slog.NewTextHandler(log, nil))})
	for range 20 {
		gone.Report(t.Context(), engine.Report{Job: failed("a", "")})
	}
	flush(t, gone)
	if log.count("does not accept reports") != 2 || log.count("refused") != 1 {
		t.Errorf("the log is\n%s", log.text.String())
	}
}
