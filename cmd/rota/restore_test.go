package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// TestFailedReplaceKeepsOldStore lets the last step of a restore fail: the old store stays under its name.
func TestFailedReplaceKeepsOldStore(t *testing.T) {
	verifyFixture(t)
	a := &app{environment: environment{now: time.Now}}
	if _, err := a.replace(t.Context(), "no such copy.db", "healthy.db"); err == nil {
		t.Error("a missing copy replaced the store")
	}
	if out, errs, code := runLine("verify --store sqlite:healthy.db"); code != exitDone {
		t.Errorf("verify of the old store: exit %d %s%s", code, out, errs)
	}
	if left, _ := filepath.Glob("healthy.db.before-*"); len(left) > 0 {
		t.Errorf("files remain: %s", left)
	}
}

// makeCrashedStore creates a store as a crash leaves it: some jobs are only in its write-ahead log.
func makeCrashedStore(t *testing.T, path string, jobs int) {
	t.Helper()
	live := filepath.Join(t.TempDir(), "live.db")
	store, err := sqlite.Open(live)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for range jobs {
		command := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail.send"}}}
		if _, err := rota.Do[*rota.Enqueued](t.Context(), store, command); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(live + suffix)
		if err == nil {
			err = os.WriteFile(path+suffix, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestRestoreOverStoreWithWAL: the old store is kept with the jobs of its log, and the new store has none of them.
func TestRestoreOverStoreWithWAL(t *testing.T) {
	verifyFixture(t)
	makeCrashedStore(t, "data/rota.db", 5)
	out, errs, code := runLine("restore healthy.db --data data --force -o json")
	var view restoreView
	if err := json.Unmarshal([]byte(out), &view); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if left, _ := filepath.Glob("data/rota.db-*"); len(left) > 0 {
		t.Errorf("files of the old store remain: %s", left)
	}
	for path, want := range map[string]string{view.Aside: "checked 5 jobs", view.Store: "checked 3 jobs"} {
		if out, errs, code := runLine("verify --store sqlite:" + path); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s%s", path, code, out, errs)
		}
	}
}

// TestRestoreOverCorruptStore: the corrupt file and its log are renamed unchanged.
func TestRestoreOverCorruptStore(t *testing.T) {
	verifyFixture(t)
	makeCrashedStore(t, "data/rota.db", 1)
	if err := os.WriteFile("data/rota.db", []byte(strings.Repeat("corrupt ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := runLine("restore healthy.db --data data --force")
	if code != exitDone || !strings.Contains(out, "clean, 3 jobs") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if kept, _ := filepath.Glob("data/rota.db.before-*"); len(kept) != 2 {
		t.Errorf("kept are %s, want the store and its log", kept)
	}
	if out, errs, code := runLine("verify --store sqlite:data/rota.db"); code != exitDone || !strings.Contains(out, "checked 3 jobs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
