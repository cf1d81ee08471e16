package node

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

const testSecret = "Sw0rd-fish/é 42!"

// forms are the spellings of a value that must be in no file.
func forms(value string) [][]byte {
	var all [][]byte
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + value))
		all = append(all, []byte(encoded[4:len(encoded)-4]))
	}
	return append(all, []byte(value), []byte(url.QueryEscape(value)), []byte(url.PathEscape(value)))
}

// wantInNoFile fails if a file below a directory contains a value.
func wantInNoFile(t *testing.T, dir, value string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil //nolint:nilerr // a file that is gone meanwhile contains nothing
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		files++
		for _, form := range forms(value) {
			if bytes.Contains(text, form) {
				t.Errorf("%s contains %q", path, form)
			}
		}
		return nil
	})
	if err != nil || files < 3 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// recordedHeader is a server that keeps the header that it receives.
func recordedHeader(t *testing.T) (*httptest.Server, chan string) {
	got := make(chan string, 10)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		http.Error(w, "no: "+r.Header.Get("Authorization"), http.StatusOK)
	}))
	t.Cleanup(target.Close)
	return target, got
}

func (l *testNode) wantStatus(status int, method, path, body string) string {
	l.t.Helper()
	response, text := l.request(method, "/api/v1"+path, body)
	if response.StatusCode != status {
		l.t.Fatalf("%s %s: %d %s", method, path, response.StatusCode, text)
	}
	return text
}

func jsonText(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestSecretReachesItsJobAndNothingElse sets a secret, uses it in a header, rotates the key, takes a backup, and then looks
// for the value in every file and in every answer.
func TestSecretReachesItsJobAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	l := start(t, Config{Data: dir, HTTPAllow: "127.0.0.0/8"})
	target, got := recordedHeader(t)
	if _, err := os.Stat(filepath.Join(dir, "master.key")); err == nil {
		t.Fatal("there is a keyset before the first secret")
	}
	params := `{"url":` + jsonText(target.URL) + `,"headers":{"Authorization":"Bearer ${secret:TOKEN}"}}`
	for _, name := range []string{"call", "other"} {
		l.wantStatus(201, "POST", "/templates", `{"name":"`+name+`","type":"http","max_retries":0,"default_params":`+params+`}`)
	}
	var answers strings.Builder
	note := func(text string) { answers.WriteString(text + "\n") }
	note(l.wantStatus(200, "PUT", "/secrets/call/TOKEN", `{"value":`+jsonText(testSecret)+`}`))
	note(l.wantStatus(422, "PUT", "/secrets/call/TOKEN", `{"value":`+jsonText(testSecret)+`,"wrong":1}`))
	note(l.wantStatus(404, "PUT", "/secrets/none/TOKEN", `{"value":`+jsonText(testSecret)+`}`))
	note(l.wantStatus(422, "PUT", "/secrets/call/9TOKEN", `{"value":`+jsonText(testSecret)+`}`))
	if text := l.wantStatus(400, "PUT", "/secrets/call/TOKEN", `{"value":"\ud800x"}`); strings.Contains(text, "d800") {
		t.Errorf("the refusal shows a part of the value: %s", text)
	}
	for range 2 {
		id := l.enqueue(`{"template":"call"}`)
		l.await(rota.EventJobCompleted, id)
		if header := <-got; header != "Bearer "+testSecret {
			t.Fatalf("the header is %q", header)
		}
		note(l.wantStatus(200, "GET", "/jobs/"+id.String(), ""))
		_, text := l.request("GET", "/api/v1/jobs/"+id.String()+"/logs", "")
		note(text)
		note(l.wantStatus(200, "POST", "/secrets/rotate", ""))
	}
	other := l.enqueue(`{"template":"other"}`)
	l.await(rota.EventJobDead, other)
	for _, path := range []string{"/jobs/" + other.String(), "/secrets", "/secrets?template=call", "/templates/call", "/definitions", "/audit", "/jobs"} {
		note(l.wantStatus(200, "GET", path, ""))
	}
	if text := l.wantStatus(200, "GET", "/secrets", ""); !strings.Contains(text, `"key":"TOKEN"`) || strings.Contains(text, "sealed") {
		t.Error(text)
	}
	_, backup := l.request("GET", "/api/v1/backup", "")
	if len(backup) < 1000 || strings.Contains(backup, "primaryKeyId") {
		t.Errorf("the backup has %d bytes, or the keyset", len(backup))
	}
	_, metrics := l.request("GET", "/metrics", "")
	note(backup + metrics)
	for _, form := range forms(testSecret) {
		if strings.Contains(answers.String(), string(form)) {
			t.Errorf("an answer contains %q", form)
		}
	}
	wantInNoFile(t, dir, testSecret)
	l.stopCleanly()
	wantInNoFile(t, dir, testSecret)
}

// TestNodeWithoutTheKeyOfAStoreIsRefused: a store with secrets names the key that a node lacks; without secrets it accepts any.
func TestNodeWithoutTheKeyOfAStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := start(t, Config{Data: dir})
	l.wantStatus(201, "POST", "/templates", `{"name":"call","type":"noop"}`)
	l.wantStatus(200, "PUT", "/secrets/call/TOKEN", `{"value":"swordfish"}`)
	needed, _ := l.vault.Keyring.Keys()
	l.stopCleanly()
	path := filepath.Join(dir, "master.key")
	keyset, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open := func(config Config) error {
		config.Data, config.HTTP, config.Logger = dir, "127.0.0.1:0", quiet
		n, err := Open(t.Context(), config)
		if err == nil {
			ctx, stop := context.WithCancel(context.Background())
			stop()
			err = n.Run(ctx)
		}
		return err
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := open(Config{}); err == nil || !strings.Contains(err.Error(), needed[0]) || !strings.Contains(err.Error(), "no keys") {
		t.Errorf("without a keyset: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the refused node created a keyset")
	}
	other := t.TempDir()
	ring, err := secret.Load(other, "")
	if err != nil {
		t.Fatal(err)
	}
	own, err := ring.Primary("")
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := os.ReadFile(filepath.Join(other, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := open(Config{MasterKey: base64.StdEncoding.EncodeToString(wrong)}); err == nil || !strings.Contains(err.Error(), needed[0]) || !strings.Contains(err.Error(), own) {
		t.Errorf("with another keyset: %v", err)
	}
	if err := open(Config{MasterKey: base64.StdEncoding.EncodeToString(keyset)}); err != nil {
		t.Errorf("with the keyset in the variable: %v", err)
	}
	if err := os.WriteFile(path, keyset, 0o600); err != nil {
		t.Fatal(err)
	}
	l = start(t, Config{Data: dir})
	l.wantStatus(204, "DELETE", "/secrets/call/TOKEN", "")
	l.stopCleanly()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	l = start(t, Config{Data: dir})
	l.wantStatus(200, "PUT", "/secrets/call/TOKEN", `{"value":"swordfish"}`)
	l.stopCleanly()
}

// TestCopiesOfAStoreNeedItsKey: a backup and a copy contain the secrets and not the key, so a node in another data
// directory is refused until it has the key.
func TestCopiesOfAStoreNeedItsKey(t *testing.T) {
	dir := t.TempDir()
	l := start(t, Config{Data: dir})
	l.wantStatus(201, "POST", "/templates", `{"name":"call","type":"noop"}`)
	l.wantStatus(200, "PUT", "/secrets/call/TOKEN", `{"value":"swordfish"}`)
	needed, _ := l.vault.Keyring.Keys()
	copies := map[string]string{"a backup": t.TempDir(), "a copy": t.TempDir()}
	if err := l.backup(t.Context(), filepath.Join(copies["a backup"], "rota.db"), func(int64, int64) {}); err != nil {
		t.Fatal(err)
	}
	l.stopCleanly()
	keyset, err := os.ReadFile(filepath.Join(dir, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(dir, "rota.db"), filepath.Join(copies["a copy"], "rota.db"))
	for name, other := range copies {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(t.Context(), Config{Data: other, HTTP: "127.0.0.1:0", Logger: quiet}); err == nil || !strings.Contains(err.Error(), needed[0]) {
				t.Fatalf("a node without the key: %v", err)
			}
			if err := os.WriteFile(filepath.Join(other, "master.key"), keyset, 0o600); err != nil {
				t.Fatal(err)
			}
			l := start(t, Config{Data: other})
			value, err := l.vault.Secret(t.Context(), &rota.Job{Template: "call", CreatedAt: time.Now()}, "TOKEN")
			if err != nil || value != "swordfish" {
				t.Errorf("%q, %v", value, err)
			}
			l.stopCleanly()
		})
	}
}

// copyFile copies a store as rota copy does.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	source, err := sqlite.OpenTransferSource(from, sqlite.TransferConfig{})
	if err != nil {
		t.Fatal(err)
	}
	target, err := sqlite.OpenTransferTarget(to, sqlite.TransferConfig{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = transfer.Copy(t.Context(), source, target, transfer.Options{Now: time.Now()})
	if err := errors.Join(err, source.Close(), target.Close()); err != nil {
		t.Fatal(err)
	}
}
