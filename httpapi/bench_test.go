package httpapi_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

const benchBody = `{"type": "mail", "params": {"to": "ada@example.com", "n": 7}, "priority": 5, "delay": "5m"}`

func benchHandler(b *testing.B, store func(rota.Store) rota.Store) http.Handler {
	b.Helper()
	file, err := sqlite.Open(filepath.Join(b.TempDir(), "rota.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	handler, err := httpapi.New(httpapi.Config{Store: store(file), Token: token})
	if err != nil {
		b.Fatal(err)
	}
	serveRequest(handler, "PUT", "/api/v1/types/mail", `{"schema": {"type": "object", "properties": {"to": {"type": "string"}, "n": {"type": "integer"}}}}`)
	return handler
}

func serveRequest(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// BenchmarkCreateJob measures 32 concurrent requests: the cost of handler and store together.
func BenchmarkCreateJob(b *testing.B) {
	h := benchHandler(b, wrap.Coalesce)
	b.SetParallelism(16)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if w := serveRequest(h, "POST", "/api/v1/jobs", benchBody); w.Code != http.StatusCreated {
				b.Fatal(w.Body)
			}
		}
	})
}

// BenchmarkHandlerWithoutCommit measures the handler without the commit.
func BenchmarkHandlerWithoutCommit(b *testing.B) {
	h := benchHandler(b, func(s rota.Store) rota.Store { return &cachedReply{Store: s} })
	b.ReportAllocs()
	for b.Loop() {
		if w := serveRequest(h, "POST", "/api/v1/jobs", benchBody); w.Code != http.StatusCreated {
			b.Fatal(w.Body)
		}
	}
}

// BenchmarkInvalidRequest measures an invalid request.
func BenchmarkInvalidRequest(b *testing.B) {
	h := benchHandler(b, wrap.Coalesce)
	b.ReportAllocs()
	for b.Loop() {
		serveRequest(h, "POST", "/api/v1/jobs", `{"type": "mail", "params": {"to": 7}, "prioritty": 5}`)
	}
}

// cachedReply answers every Enqueue with the reply to the first, without a commit.
type cachedReply struct {
	rota.Store
	first []rota.Result
}

func (r *cachedReply) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if b.Commands[0].Verb() != rota.VerbEnqueue {
		return r.Store.Apply(ctx, b)
	}
	if r.first == nil {
		first, err := r.Store.Apply(ctx, b)
		if err != nil {
			return nil, err
		}
		r.first = first
	}
	return r.first, nil
}

// BenchmarkOverTheWire measures 32 clients with a connection each, on the same machine as the server.
func BenchmarkOverTheWire(b *testing.B) {
	server := httptest.NewServer(benchHandler(b, wrap.Coalesce))
	b.Cleanup(server.Close)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.SetParallelism(16)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, _ := http.NewRequest("POST", server.URL+"/api/v1/jobs", strings.NewReader(benchBody))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			got, err := client.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, got.Body)
			got.Body.Close()
			if got.StatusCode != http.StatusCreated {
				b.Fatal(got.Status)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
}
