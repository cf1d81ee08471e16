package telemetry

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func TestRequestsThatChangeSomethingAreSpans(t *testing.T) {
	p, kept := recorded(sdk.AlwaysSample())
	mux := http.NewServeMux()
	status := http.StatusOK
	mux.HandleFunc("/api/v1/{noun}/{id}", func(w http.ResponseWriter, r *http.Request) {
		if trace.SpanContextFromContext(r.Context()).IsValid() != traced(r) {
			t.Errorf("%s %s: whether it is in a span is not as it should be", r.Method, r.URL)
		}
		if status != http.StatusOK {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(status)
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("what is behind cannot be reached: %v", err)
		}
	})
	mux.HandleFunc("POST /abort", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	ask := func(method, path string) *http.Request {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("traceparent", parent)
		defer func() { _ = recover() }()
		p.Handler(mux).ServeHTTP(httptest.NewRecorder(), r)
		return r
	}
	for _, path := range []string{"/api/v1/jobs/1", "/healthz"} {
		ask("GET", path)
		ask("HEAD", path)
	}
	ask("POST", "/api/v1/claim")
	ask("POST", "/api/v1/extend")
	ask("POST", "/api/v1/finish")
	if n := len(kept.Ended()); n != 0 {
		t.Errorf("%d spans of what only reads", n)
	}
	if r := ask("PATCH", "/api/v1/jobs/1"); r.Pattern != "/api/v1/{noun}/{id}" {
		t.Errorf("those around it see the pattern %q", r.Pattern)
	}
	status = http.StatusServiceUnavailable
	ask("DELETE", "/api/v1/schedules/2")
	ask("POST", "/nowhere")
	ask("POST", "/abort")
	made := kept.Ended()
	if len(made) != 4 {
		t.Fatalf("%d spans", len(made))
	}
	for i, want := range []struct {
		name string
		code string
		sick codes.Code
	}{
		{"PATCH /api/v1/{noun}/{id}", "200", codes.Unset},
		{"DELETE /api/v1/{noun}/{id}", "503", codes.Error},
		{"POST", "404", codes.Unset},
		{"POST /abort", "200", codes.Unset},
	} {
		span := made[i]
		if span.Name() != want.name || factsOf(span.Attributes())["http.response.status_code"] != want.code || span.Status().Code != want.sick ||
			span.SpanKind() != trace.SpanKindServer || span.Parent().SpanID().String() != parent[36:52] {
			t.Errorf("%s %v %v under %v, want %v", span.Name(), span.Attributes(), span.Status(), span.Parent(), want)
		}
	}
}
