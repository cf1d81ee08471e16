package node

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
)

// TestRequestsAreCountedByRoute instruments the real API.
func TestRequestsAreCountedByRoute(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	m := newMetricSet()
	const token = "0123456789abcdef"
	api, err := httpapi.New(httpapi.Config{Store: store, Token: token, Metrics: m.handler(quiet)})
	if err != nil {
		t.Fatal(err)
	}
	counted := m.instrument(api)
	ask := func(method, path, token string) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		counted.ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("GET", "/api/v1/jobs/01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60", token)
	ask("GET", "/api/v1/jobs/01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f61", token)
	ask("GET", "/api/v1/stats", token)
	ask("GET", "/api/v1/stats", "wrong")
	ask("GET", "/healthz", "")
	ask("BREW", "/api/v1/coffee/1", token)
	ask("GET", "/nowhere/at/all", "")
	wantLines(t, scrape(t, m),
		`rota_http_requests_total{code="404",method="GET",route="/api/v1/jobs/{id}"} 2`,
		`rota_http_requests_total{code="200",method="GET",route="/api/v1/stats"} 1`,
		`rota_http_requests_total{code="401",method="GET",route="other"} 1`,
		`rota_http_requests_total{code="200",method="GET",route="/healthz"} 1`,
		`rota_http_requests_total{code="404",method="other",route="other"} 1`,
		`rota_http_requests_total{code="404",method="GET",route="other"} 1`,
		`rota_http_request_seconds_count{route="/api/v1/jobs/{id}"} 2`,
		`rota_http_requests_in_flight 0`)
}

// TestStreamsPassThroughInstrumentation follows events, then disconnects.
func TestStreamsPassThroughInstrumentation(t *testing.T) {
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	m := newMetricSet()
	const token = "0123456789abcdef"
	api, err := httpapi.New(httpapi.Config{Store: store, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(m.instrument(api))
	defer server.Close()
	ctx, cancelRequests := context.WithCancel(t.Context())
	defer cancelRequests()
	request, _ := http.NewRequestWithContext(ctx, "GET", server.URL+"/api/v1/events", nil)
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
		t.Errorf("the stream is not flushed: %v", err)
	}
	wantLines(t, scrape(t, m), `rota_http_requests_in_flight 1`)
	cancelRequests()
	for deadline := time.Now().Add(waitMax); !strings.Contains(scrape(t, m), "\nrota_http_requests_in_flight 0\n"); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the request does not end")
		}
	}
	wantLines(t, scrape(t, m), `rota_http_requests_total{code="200",method="GET",route="/api/v1/events"} 1`)
}
