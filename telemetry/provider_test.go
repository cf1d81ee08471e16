package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/rotajobs/rota"
)

func TestProviderSendsSpans(t *testing.T) {
	r := newReceiver(t)
	p := open(t, r, func(c *Config) {
		c.Headers = map[string]string{"api-key": "k1"}
		c.Version, c.Instance, c.Environment = "1.2.3", "node-1", "staging"
	})
	run := p.Middleware()(func(context.Context, *rota.Job) error { return nil })
	for range 3 {
		if err := run(t.Context(), mail()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(deadlineContext(t)); err != nil {
		t.Fatal(err)
	}
	got := r.named("run mail")
	if len(got) != 3 || r.headers.Get("api-key") != "k1" || r.headers.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%dspans arrived, with %v", len(got), r.headers)
	}
	for key, want := range map[string]string{
		"service.name": "rota", "service.version": "1.2.3", "service.instance.id": "node-1", "deployment.environment.name": "staging",
	} {
		if got[0].resource[key] != want {
			t.Errorf("%s is %q, want %q", key, got[0].resource[key], want)
		}
	}
	if err := run(t.Context(), mail()); err != nil { // after Close
		t.Error(err)
	}
}

// The fraction applies to traces that start here. Traces of callers follow the decision of
// the caller.
func TestProviderSendsSampledTracesOnly(t *testing.T) {
	for _, test := range []struct {
		sample float64
		trace  string
		want   int
	}{{0, "", 1}, {0, parent, 1}, {0, parent[:53] + "00", 0}, {1e-12, "", 0}, {1e-12, parent, 1}} {
		r := newReceiver(t)
		p := open(t, r, func(c *Config) { c.Sample = test.sample })
		job := mail()
		job.Trace = test.trace
		_ = p.Middleware()(func(context.Context, *rota.Job) error { return nil })(t.Context(), job)
		if err := p.Close(deadlineContext(t)); err != nil {
			t.Fatal(err)
		}
		if n := len(r.all()); n != test.want {
			t.Errorf("%g of %q: %dspans arrived, want %d", test.sample, test.trace, n, test.want)
		}
	}
}

func TestOpenRefusesInvalidConfig(t *testing.T) {
	for _, test := range []struct {
		config Config
		field  string
		reason string
	}{
		{Config{}, "otlp_endpoint", "is not an HTTP URL"},
		{Config{Endpoint: "localhost:4318"}, "otlp_endpoint", "is not an HTTP URL"},
		{Config{Endpoint: "grpc://host:4317"}, "otlp_endpoint", "is not an HTTP URL"},
		{Config{Endpoint: "http://"}, "otlp_endpoint", "is not an HTTP URL"},
		{Config{Endpoint: "http://u:hunter2@host"}, "otlp_endpoint", "a user or a password"},
		{Config{Endpoint: "http://u:hun ter2@host"}, "otlp_endpoint", "is not an HTTP URL"},
		{Config{Endpoint: "http://host?key=hunter2"}, "otlp_endpoint", "a query or a fragment"},
		{Config{Endpoint: "http://host", Sample: -1}, "trace_sample", "is not a fraction"},
		{Config{Endpoint: "http://host", Sample: 1.01}, "trace_sample", "is not a fraction"},
		{Config{Endpoint: "http://host", Sample: math.NaN()}, "trace_sample", "is not a fraction"},
	} {
		_, err := Open(t.Context(), test.config)
		var e *rota.Error
		if !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != test.field || !strings.Contains(e.Reason, test.reason) || e.Hint == "" {
			t.Errorf("%+v: %v", test.config, err)
		}
		if err != nil && strings.Contains(err.Error(), "hun") {
			t.Errorf("the error shows a secret: %v", err)
		}
	}
}

func TestEndpointAddsPath(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:4318":           "http://127.0.0.1:4318/v1/traces",
		"http://127.0.0.1:4318/":          "http://127.0.0.1:4318/v1/traces",
		"https://x.test/otlp":             "https://x.test/otlp/v1/traces",
		"https://x.test/otlp/v1/traces":   "https://x.test/otlp/v1/traces",
		"https://x.test/api/v2/otlp/a%2F": "https://x.test/api/v2/otlp/a%2F/v1/traces",
	} {
		if got, err := endpoint(given); got != want || err != nil {
			t.Errorf("%s is %s, want %s; %v", given, got, want, err)
		}
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

// The receiver refuses many batches. The log must have one line, and standard error none.
func TestRefusingReceiverIsLoggedOnce(t *testing.T) {
	printed := capturePrinted(t)
	r := newReceiver(t)
	r.answer = func(w http.ResponseWriter) { http.Error(w, "no such tenant, token=hunter2", http.StatusUnauthorized) }
	log := &lines{}
	p := open(t, r, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	run := p.Middleware()(func(context.Context, *rota.Job) error { return nil })
	for range 2_000 { // some batches of 512
		if err := run(t.Context(), mail()); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(deadlineContext(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
	if r.requests < 3 || log.count("traces cannot be sent") != 1 || log.count("401") == 0 || log.count("otlp_endpoint") != 1 {
		t.Errorf("after %d requests the log is\n%s", r.requests, log.text.String())
	}
	if printed.count("\n") != 0 {
		t.Errorf("standard error has\n%s", printed.text.String())
	}
}

// The receiver reports a partial success in its answer, which the library would print.
func TestPartialSuccessIsLoggedNotPrinted(t *testing.T) {
	printed := capturePrinted(t)
	r := newReceiver(t)
	r.answer = func(w http.ResponseWriter) {
		text, _ := proto.Marshal(&collector.ExportTraceServiceResponse{
			PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "too old"},
		})
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(text)
	}
	log := &lines{}
	p := open(t, r, func(c *Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	_ = p.Middleware()(func(context.Context, *rota.Job) error { return nil })(t.Context(), mail())
	if err := p.Close(deadlineContext(t)); err != nil {
		t.Errorf("Close: %v", err)
	}
	if log.count("too old") != 1 || printed.count("\n") != 0 {
		t.Errorf("the log is\n%sand standard error\n%s", log.text.String(), printed.text.String())
	}
}

func TestLogReportsRecoveryOfReceiver(t *testing.T) {
	log := &lines{}
	failing := &failingExporter{fail: true}
	e := &exporter{next: failing, logger: slog.New(slog.NewTextHandler(log, nil))}
	for range 5 {
		if err := e.ExportSpans(t.Context(), nil); err != nil {
			t.Error("the error is returned to the library, which prints it")
		}
	}
	e.lost = 7
	failing.fail = false
	for range 5 {
		_ = e.ExportSpans(t.Context(), nil)
	}
	if log.count("cannot be sent") != 1 || log.count("sent again") != 1 || log.count("lost=7") != 1 {
		t.Errorf("the log is\n%s", log.text.String())
	}
}

// The receiver hangs, more spans are created than the queue holds, and Close has a short
// timeout.
func TestRunDoesNotWaitForHangingReceiver(t *testing.T) {
	r := newReceiver(t)
	release := make(chan struct{})
	r.answer = func(http.ResponseWriter) { <-release }
	t.Cleanup(func() { close(release) })
	p := open(t, r)
	run := p.Middleware()(func(context.Context, *rota.Job) error { return nil })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 * queueMax {
			_ = run(context.Background(), mail())
		}
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("runs wait for the receiver")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Close(ctx); rota.CodeOf(err) != rota.Unavailable {
		t.Errorf("Close: %v", err)
	}
}

// capturePrinted captures what the library prints to standard error.
func capturePrinted(t *testing.T) *lines {
	t.Helper()
	caught := &lines{}
	old := otel.GetErrorHandler()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { _, _ = fmt.Fprintln(caught, err) }))
	t.Cleanup(func() { otel.SetErrorHandler(old) })
	return caught
}

// failingExporter is an exporter that fails on demand.
type failingExporter struct{ fail bool }

func (b *failingExporter) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	if b.fail {
		return errors.New("connection refused")
	}
	return nil
}

func (b *failingExporter) Shutdown(context.Context) error { return nil }
