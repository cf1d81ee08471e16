package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/httpapi"
	"github.com/rotajobs/rota/internal/faultproxy"
	"github.com/rotajobs/rota/store/sqlite"
)

// losesFirstAnswer carries out each request, and closes the connection instead of answering it the first time.
func losesFirstAnswer(next http.Handler, lost func(*http.Request)) http.Handler {
	var mu sync.Mutex
	seen := map[string]bool{}
	reads := 0
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Idempotency-Key")
		mu.Lock()
		if key == "" { // every second read
			reads++
			key = fmt.Sprint("read ", (reads+1)/2)
		}
		again := seen[key]
		seen[key] = true
		mu.Unlock()
		if again {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		lost(r)
		panic(http.ErrAbortHandler)
	})
}

// Every request is carried out, its answer is lost, and the client sends it again. It takes effect once.
func TestClientsAgreeWhenEveryAnswerIsLost(t *testing.T) {
	for method, scenario := range scenarios {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			embedded := newEmbedded(t)
			scenario(embedded)
			store, writes := openFile(t), 0
			inner := newHandler(t, store)
			proxy := httptest.NewServer(losesFirstAnswer(inner.Config.Handler, func(r *http.Request) {
				if r.Method != http.MethodGet {
					writes++
				}
			}))
			t.Cleanup(proxy.Close)
			dialed, err := client.Dial(proxy.URL, token)
			if err != nil {
				t.Fatal(err)
			}
			remote := &queue{T: t, Client: dialed, store: store, ids: map[string]string{}}
			scenario(remote)
			if embedded.record.String() != remote.record.String() {
				t.Errorf("the clients differ:\n%s", firstDifference(embedded.record.String(), remote.record.String()))
			}
			if writes == 0 {
				t.Error("no write was lost")
			}
		})
	}
}

// restartable is a server on one file that stops and starts behind a proxy.
type restartable struct {
	*testing.T
	file  string
	proxy *faultproxy.Proxy
	stop  func()
}

func newRestartable(t *testing.T) *restartable {
	s := &restartable{T: t, file: filepath.Join(t.TempDir(), "rota.db"), proxy: faultproxy.New(t)}
	s.start()
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *restartable) start() {
	s.Helper()
	store, err := sqlite.Open(s.file)
	if err != nil {
		s.Fatal(err)
	}
	handler, err := httpapi.New(httpapi.Config{Store: store, Token: token})
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewServer(handler)
	s.proxy.SetTarget(strings.TrimPrefix(server.URL, "http://"))
	s.stop = func() {
		s.proxy.SetTarget("")
		s.proxy.Cut()
		server.CloseClientConnections()
		server.Close()
		if err := store.Close(); err != nil {
			s.Error(err)
		}
	}
}

// Several goroutines enqueue while the server restarts. Each call succeeds, and each job exists once.
func TestServerRestartLosesAndRepeatsNothing(t *testing.T) {
	s := newRestartable(t)
	dialed, err := client.Dial("http://"+s.proxy.Addr(), token, rota.WithRetryFor(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	const callers, calls, restarts = 4, 30, 3
	progress := make(chan struct{}, callers*calls)
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			for i := range calls {
				if _, err := dialed.Enqueue(t.Context(), mail{To: fmt.Sprintf("%d-%d", n, i)}); err != nil {
					t.Error(err)
				}
				progress <- struct{}{}
			}
		})
	}
	for range restarts {
		for range callers * calls / (restarts + 1) {
			<-progress
		}
		s.stop()
		s.start()
	}
	group.Wait()
	s.stop()
	store, err := sqlite.Open(s.file)
	if err != nil {
		t.Fatal(err)
	}
	s.stop = func() { _ = store.Close() }
	jobs, err := store.Jobs(t.Context(), rota.JobQuery{Limit: rota.PageMax})
	seen := map[string]int{}
	for _, job := range jobs {
		seen[string(job.Params)]++
	}
	if err != nil || len(jobs) != callers*calls || len(seen) != callers*calls {
		t.Errorf("there are %d jobs with %d different params, want %d: %v", len(jobs), len(seen), callers*calls, err)
	}
}

func TestServerThatIsDownIsUnavailable(t *testing.T) {
	proxy := faultproxy.New(t) // accepts connections, and closes them
	dialed, err := client.Dial("http://"+proxy.Addr(), token, rota.WithRetryFor(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]func(context.Context) error{
		"write": func(ctx context.Context) error { _, err := dialed.Enqueue(ctx, mail{To: "a"}); return err },
		"read":  func(ctx context.Context) error { _, err := dialed.Job(ctx, rota.NewID()); return err },
	}
	for name, call := range calls {
		ctx, done := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := call(ctx); rota.CodeOf(err) != rota.Unavailable || ctx.Err() == nil {
			t.Errorf("%s: the server is down: %v, and the context: %v", name, err, ctx.Err())
		}
		done()
		ctx, done = context.WithCancel(t.Context())
		done()
		if err := call(ctx); rota.CodeOf(err) != rota.Unavailable || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the context is cancelled: %v", name, err)
		}
	}
	proxy.Hold() // connections stay open without an answer
	impatient, err := client.DialWith("http://"+proxy.Addr(), token, client.Config{Timeout: 50 * time.Millisecond}, rota.WithRetryFor(0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := impatient.Job(t.Context(), rota.NewID()); rota.CodeOf(err) != rota.Unavailable || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the server hangs: %v", err)
	}
}
