//go:build unix

package worker_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/worker"
	"github.com/rotajobs/rota/worker/workertest"
)

// A server that does not know the wait of an extend refuses the field, or a proxy removes it. The
// worker then extends as often as without it.
func TestOlderServerGetsNoMoreExtends(t *testing.T) {
	t.Parallel()
	for name, refuses := range map[string]bool{"refuses wait": true, "ignores wait": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := workertest.New(t)
			target, err := url.Parse(s.NewProxy().URL())
			if err != nil {
				t.Fatal(err)
			}
			forward := httputil.NewSingleHostReverseProxy(target)
			var extends, waits atomic.Int32
			older := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/v1/extend" {
					extends.Add(1)
					var body map[string]json.RawMessage
					if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
						t.Error(err)
					}
					if body["wait"] != nil {
						waits.Add(1)
						if refuses {
							w.Header().Set("Content-Type", "application/problem+json")
							w.WriteHeader(http.StatusUnprocessableEntity)
							_, _ = io.WriteString(w, `{"title": "Invalid", "status": 422, "code": "invalid", "detail": "wait is not a field of this request"}`)
							return
						}
						delete(body, "wait")
					}
					text, _ := json.Marshal(body)
					r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
				}
				forward.ServeHTTP(w, r)
			}))
			defer older.Close()
			startWorker(t, older.URL, s.Token(), ledgerOf(s).registry(), worker.Config{Lease: rota.LeaseMax, CancelGrace: time.Hour}).awaitReady()
			if end := s.AwaitEnd(s.Enqueue("task", workertest.Object{"mark": "nap", "do": "nap", "for": "2500ms"}, nil)); end.State != "completed" {
				t.Errorf("the job is %s", end.State)
			}
			most := int32(1)
			if refuses {
				most = 2
			}
			if extends.Load() > most || waits.Load() > 1 {
				t.Errorf("%d extends, %d with a wait; want at most %d and 1", extends.Load(), waits.Load(), most)
			}
		})
	}
}
