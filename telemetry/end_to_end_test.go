package telemetry_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/telemetry"
	"github.com/rotajobs/rota/worker"
)

// The test submits a job over HTTP. A worker in another process runs it twice. The test
// checks the spans of both at the collector.
func TestTraceSpansCallerServerAndWorker(t *testing.T) {
	const (
		token        = "0123456789abcdef"
		caller       = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
		unauthorized = "00-11111111111111111111111111111111-2222222222222222-01"
	)
	r := telemetry.NewReceiver(t)
	serverTraces, workerTraces := telemetry.OpenFor(t, r, "rota"), telemetry.OpenFor(t, r, "shop")

	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	serverTypes := engine.NewRegistry()
	engine.Builtins(serverTypes)
	serverTypes.Use(serverTraces.Middleware())
	e := engine.New(rota.New(store), serverTypes, engine.Config{})
	api, err := httpapi.New(httpapi.Config{Store: store, Engine: e, Token: token, OnEnqueue: serverTraces.Enqueuing})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(api)
	defer server.Close()

	done := make(chan struct{})
	workerTypes := engine.NewRegistry()
	workerTypes.Use(workerTraces.Middleware())
	workerTypes.Func("order", rota.TypeSpec{}, func(_ context.Context, job *rota.Job) error {
		if job.Attempt == 1 {
			return errors.New("the card is refused")
		}
		defer close(done)
		return nil
	})
	w := worker.New(server.URL, token, workerTypes, worker.Config{Name: "till-1"})
	stop := runAll(t, e.Run, w.Run)
	<-e.Ready()
	<-w.Ready()

	submit := func(token, caller string) (status int) {
		request, _ := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/api/v1/jobs",
			strings.NewReader(`{"type": "order", "max_retries": 1, "backoff": "1ms"}`))
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("traceparent", caller)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode
	}
	if status := submit("of a stranger", unauthorized); status != http.StatusUnauthorized {
		t.Fatal(status)
	}
	if status := submit(token, caller); status != http.StatusCreated {
		t.Fatal(status)
	}
	<-done
	stop()
	for _, p := range []*telemetry.Provider{serverTraces, workerTraces} {
		if err := p.Close(telemetry.DeadlineContext(t)); err != nil {
			t.Fatal(err)
		}
	}

	enqueued, runs := r.Named("enqueue"), r.Named("run order")
	if len(enqueued) != 1 || len(runs) != 2 {
		t.Fatalf("%d enqueued and %d runs arrived", len(enqueued), len(runs))
	}
	for _, link := range []struct{ child, parent string }{
		{enqueued[0].Parent(), caller[36:52]},
		{runs[0].Parent(), enqueued[0].ID()},
		{runs[1].Parent(), enqueued[0].ID()},
	} {
		if link.child != link.parent {
			t.Errorf("a span is under %s, want %s", link.child, link.parent)
		}
	}
	for _, span := range append(runs, enqueued[0]) {
		if span.Trace() != caller[3:35] {
			t.Errorf("%s is in the trace %s", span.Name, span.Trace())
		}
	}
	if runs[0].Service() != "shop" || enqueued[0].Service() != "rota" {
		t.Errorf("the run has service %s, the enqueue %s", runs[0].Service(), enqueued[0].Service())
	}
	runs[0].Check(t, map[string]string{"rota.job.attempt": "1", "rota.outcome": "failed", "rota.run.runner": "till-1"})
	runs[1].Check(t, map[string]string{"rota.job.attempt": "2", "rota.outcome": "completed"})
	if runs[0].Status.Message != "the card is refused" || runs[1].Status.Message != "" {
		t.Errorf("the status messages are %q and %q", runs[0].Status.Message, runs[1].Status.Message)
	}
	for _, span := range r.All() { // no spans of long polls or of unauthorized requests
		if span.Trace() != caller[3:35] {
			t.Errorf("there is a span %s", span.Name)
		}
	}
}

// runAll runs functions until stop is called; stop waits for them.
func runAll(t *testing.T, all ...func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, len(all))
	for _, run := range all {
		go func() { ended <- run(ctx) }()
	}
	left := len(all)
	stop = func() {
		cancel()
		for ; left > 0; left-- {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return stop
}
