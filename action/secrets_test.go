package action

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// jobSecrets are the secrets of every job of an engine.
type jobSecrets map[string]string

func (s jobSecrets) Secret(_ context.Context, _ *rota.Job, key string) (string, error) {
	return s[key], nil
}

func (s jobSecrets) Secrets(context.Context, *rota.Job) (map[string]string, error) { return s, nil }

const testSecret = "correct horse battery staple"

// TestAnswerThatRepeatsABinarySecretIsMasked: bytes that are not UTF-8 are replaced in a result.
func TestAnswerThatRepeatsABinarySecretIsMasked(t *testing.T) {
	const binary = "k\xff\xfe-\x80\x81key"
	w := newSecretHTTPEnv(t, binary)
	server := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", r.Header.Get("Authorization"))
		_, _ = w.Write([]byte("you are " + r.Header.Get("Authorization") + "."))
	})
	job := w.runHTTP(map[string]any{"url": server.URL, "headers": map[string]string{"Authorization": "${secret:TOKEN}"}})
	var answer Answer
	if err := json.Unmarshal(job.Run.Result, &answer); err != nil {
		t.Fatalf("%v, %s", err, job.Run.Error)
	}
	if answer.Body != "you are ***." || answer.Headers["ETag"] != "***" {
		t.Errorf("%s", job.Run.Result)
	}
}

// newSecretHTTPEnv runs jobs of type http whose secret TOKEN has a value.
func newSecretHTTPEnv(t *testing.T, value string) *testEnv {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w := &testEnv{T: t, store: store, client: rota.New(store), log: &logBuffer{}}
	reg := engine.NewRegistry()
	Register(reg, Config{Guard: &Guard{Allow: allow(t, "loopback")}})
	w.run(reg, engine.Config{Workers: 4, Secrets: jobSecrets{"TOKEN": value}})
	return w
}

// TestAnswerThatRepeatsASecretIsMaskedBeforeItIsCut: a server repeats the header in answers of all sizes, so that the limits of a
// result and of an answer cut it at every place.
func TestAnswerThatRepeatsASecretIsMaskedBeforeItIsCut(t *testing.T) {
	w := newSecretHTTPEnv(t, testSecret)
	kind, size := "", 0
	server := newTestServer(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", strings.Repeat("e", headerMax-10)+r.Header.Get("Authorization"))
		body := strings.Repeat(".", size) + r.Header.Get("Authorization") + strings.Repeat(",", responseMax-size/2)
		if kind == "application/json" {
			body = `"` + body[:size+len(testSecret)] + strings.Repeat(",", 1000) + `"`
		}
		_, _ = w.Write([]byte(body))
	})
	for _, kind = range []string{"text/plain", "application/json"} {
		for _, limit := range []int{rota.ResultMax - 1500, responseMax - 10} {
			for cut := range 12 {
				size = limit - 8*cut*8
				job := w.runHTTP(map[string]any{"url": server.URL, "headers": map[string]string{"Authorization": "${secret:TOKEN}"}})
				if job.Run.Outcome != rota.OutcomeCompleted {
					t.Fatalf("%s %s", job.Run.Outcome, job.Run.Error)
				}
				var answer Answer
				if err := json.Unmarshal(job.Run.Result, &answer); err != nil {
					t.Fatal(err)
				}
				if text := string(job.Run.Result); strings.Contains(text, ".co") || strings.Contains(text, "eco") || strings.Contains(text, "horse") {
					body, _ := answer.Body.(string)
					t.Errorf("%s of %d bytes: the body ends with %q, the headers are %v", kind, size, body[max(0, len(body)-60):], answer.Headers)
				}
			}
		}
	}
}
