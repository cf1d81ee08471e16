package node

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/store/sqlite"
)

// signedReceiver is a receiver of webhooks that reports whether each delivery is signed with the secret.
func signedReceiver(t *testing.T) (*httptest.Server, chan error) {
	got := make(chan error, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- action.Verify(testSecret, r.Header.Get(action.HeaderSignature), body, time.Now(), 0)
	}))
	t.Cleanup(s.Close)
	return s, got
}

func wantSigned(t *testing.T, got chan error) {
	t.Helper()
	select {
	case err := <-got:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(waitMax):
		t.Fatal("no delivery")
	}
}

// TestWebhookSecretIsInNoFile sets secrets of webhooks, delivers, rotates the key, and looks for the value in every file.
func TestWebhookSecretIsInNoFile(t *testing.T) {
	dir := t.TempDir()
	l := start(t, Config{Data: dir, HTTPAllow: "127.0.0.0/8"})
	receiver, got := signedReceiver(t)
	hook := `{"url":` + jsonText(receiver.URL) + `,"events":["job.completed"],"secret":` + jsonText(testSecret) + `}`
	global := `{"webhooks":[` + hook + `]}`
	before := l.wantStatus(200, "PUT", "/webhooks", global)
	if again := l.wantStatus(200, "PUT", "/webhooks", global); again != before {
		t.Errorf("the same list again: %s, then %s", before, again)
	}
	first := l.wantStatus(201, "POST", "/templates", `{"name":"hooked","type":"noop","webhooks":[`+hook+`]}`)
	if again := l.wantStatus(200, "PATCH", "/templates/hooked", `{"webhooks":[`+hook+`]}`); again != first {
		t.Errorf("the same template again: %s, then %s", first, again)
	}
	for range 2 {
		id := l.enqueue(`{"template":"hooked"}`)
		l.await(rota.EventJobCompleted, id)
		wantSigned(t, got) // of the global webhook and of the template
		wantSigned(t, got)
		l.wantStatus(200, "POST", "/secrets/rotate", "")
	}
	if text := l.wantStatus(200, "POST", "/webhooks/test", `{"url":`+jsonText(receiver.URL)+`}`); !strings.Contains(text, `"delivered":true`) {
		t.Error(text)
	}
	wantSigned(t, got)
	if text := l.wantStatus(200, "POST", "/webhooks/test", `{"template":"hooked","url":`+jsonText(receiver.URL)+`}`); !strings.Contains(text, `"delivered":true`) {
		t.Error(text)
	}
	wantSigned(t, got)
	shown := l.wantStatus(200, "GET", "/webhooks", "") + l.wantStatus(200, "GET", "/templates/hooked", "") + l.wantStatus(200, "GET", "/audit", "")
	if strings.Contains(shown, "sealed:") {
		t.Errorf("a listing has a ciphertext: %s", shown)
	}
	l.wantStatus(200, "GET", "/definitions?secrets=true", "")
	l.stopCleanly()
	wantInNoFile(t, dir, testSecret)

	// The key is needed by webhooks alone.
	if err := os.Rename(filepath.Join(dir, "master.key"), filepath.Join(t.TempDir(), "master.key")); err != nil {
		t.Fatal(err)
	}
	if n, err := Open(t.Context(), Config{Data: dir, HTTP: "127.0.0.1:0", Logger: quiet}); err == nil || !strings.Contains(err.Error(), "no keys") {
		if err == nil {
			n.Cut()
		}
		t.Errorf("without the key: %v", err)
	}
}

// TestPlainWebhookSecretOfEarlierVersionIsSealed: a store of an earlier version has the secrets of webhooks as they are. They
// sign deliveries, a start without a key leaves them, a rotation seals them, and so does a start with the key.
func TestPlainWebhookSecretOfEarlierVersionIsSealed(t *testing.T) {
	dir := t.TempDir()
	receiver, got := signedReceiver(t)
	putPlain := func() {
		t.Helper()
		store, err := sqlite.Open(filepath.Join(dir, "rota.db"))
		if err != nil {
			t.Fatal(err)
		}
		hooks := []rota.Webhook{{URL: receiver.URL, Events: []rota.EventKind{rota.EventJobCompleted}, Secret: testSecret}}
		_, err = rota.Do[*rota.WebhooksPut](context.Background(), store, &rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: hooks})
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	putPlain()
	l := start(t, Config{Data: dir, HTTPAllow: "127.0.0.0/8"})
	l.await(rota.EventJobCompleted, l.enqueue(`{"type":"noop"}`))
	wantSigned(t, got)
	if _, err := os.Stat(filepath.Join(dir, "master.key")); err == nil {
		t.Error("the start created a keyset")
	}
	if text := l.wantStatus(200, "POST", "/secrets/rotate", ""); !strings.Contains(text, `"rewrapped":1`) {
		t.Error(text)
	}
	l.await(rota.EventJobCompleted, l.enqueue(`{"type":"noop"}`))
	wantSigned(t, got)
	l.wantStatus(200, "PUT", "/webhooks", `{"webhooks":[]}`)
	l.stopCleanly()

	putPlain() // the store knows its key now
	l = start(t, Config{Data: dir, HTTPAllow: "127.0.0.0/8"})
	state, err := l.store.SecretState(context.Background())
	if err != nil || state.Plain != 0 || len(state.Needed) != 1 {
		t.Errorf("%+v, %v", state, err)
	}
	l.await(rota.EventJobCompleted, l.enqueue(`{"type":"noop"}`))
	wantSigned(t, got)
	l.stopCleanly()
}
