package telemetry

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver receives OTLP over HTTP.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	spans    []*received
	requests int
	headers  http.Header
	answer   func(w http.ResponseWriter) // nil: 200
}

// received is a span with the resource of its process.
type received struct {
	*spans.Span
	resource map[string]string
	facts    map[string]string
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{t: t}
	r.Server = httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) receive(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost || request.URL.Path != "/v1/traces" || request.Header.Get("Content-Type") != "application/x-protobuf" {
		r.t.Errorf("%s %s %v", request.Method, request.URL, request.Header)
	}
	var in collector.ExportTraceServiceRequest
	if body, err := readBody(request); err != nil || proto.Unmarshal(body, &in) != nil {
		r.t.Errorf("the request cannot be read: %v", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	r.headers = request.Header
	if r.answer != nil {
		r.answer(w)
		return
	}
	for _, of := range in.ResourceSpans {
		for _, by := range of.ScopeSpans {
			for _, span := range by.Spans {
				r.spans = append(r.spans, &received{span, texts(of.Resource.Attributes), texts(span.Attributes)})
			}
		}
	}
}

func readBody(request *http.Request) ([]byte, error) {
	body := io.Reader(request.Body)
	if request.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(request.Body)
		if err != nil {
			return nil, err
		}
		body = unpacked
	}
	return io.ReadAll(body)
}

func texts(attributes []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		text := strings.TrimSpace(a.Value.String())
		_, value, _ := strings.Cut(text, ":")
		all[a.Key] = strings.Trim(value, `"`)
	}
	return all
}

// all returns the received spans, ordered by start.
func (r *receiver) all() []*received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*received(nil), r.spans...)
}

// named returns the spans with a name.
func (r *receiver) named(name string) (found []*received) {
	for _, span := range r.all() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

// open opens a provider that sends to a receiver.
func open(t *testing.T, r *receiver, change ...func(*Config)) *Provider {
	t.Helper()
	config := Config{Endpoint: r.URL}
	for _, c := range change {
		c(&config)
	}
	p, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close(deadlineContext(t)) })
	return p
}

func deadlineContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func (s *received) check(t *testing.T, facts map[string]string) {
	t.Helper()
	for key, want := range facts {
		if got := s.facts[key]; got != want {
			t.Errorf("%s of %q is %q, want %q", key, s.Name, got, want)
		}
	}
}
