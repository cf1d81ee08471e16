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

// TestFailedReplaceKeepsOldStore lets the last step of a restore fail: what was there still is, under its name alone.
func TestFailedReplaceKeepsOldStore(t *testing.T) {
	verifyFixture(t)
	a := &app{environment: environment{now: time.Now}}
	if _, err := a.replace(t.Context(), "no such copy.db", "healthy.db"); err == nil {
		t.Error("a copy that is not there was put in place")
	}
	if out, errs, code := runLine("verify --store sqlite:healthy.db"); code != exitDone {
		t.Errorf("the store that was to be replaced: exit %d %s%s", code, out, errs)
	}
	if left, _ := filepath.Glob("healthy.db.before-*"); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// makeCrashedStore makes a store as a crash leaves it: some jobs stand in its log alone.
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

// TestRestoreOverStoreWithWAL keeps all of the old store aside, its log included, and lets none of it into the new.
func TestRestoreOverStoreWithWAL(t *testing.T) {
	verifyFixture(t)
	makeCrashedStore(t, "data/rota.db", 5)
	out, errs, code := runLine("restore healthy.db --data data --force -o json")
	var view restoreView
	if err := json.Unmarshal([]byte(out), &view); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	if left, _ := filepath.Glob("data/rota.db-*"); len(left) > 0 {
		t.Errorf("beside the new store lies %s", left)
	}
	for path, want := range map[string]string{view.Aside: "checked 5 jobs", view.Store: "checked 3 jobs"} {
		if out, errs, code := runLine("verify --store sqlite:" + path); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d: %s%s", path, code, out, errs)
		}
	}
}

// TestRestoreOverCorruptStore takes it and its log out of the way as they are.
func TestRestoreOverCorruptStore(t *testing.T) {
	verifyFixture(t)
	makeCrashedStore(t, "data/rota.db", 1)
	if err := os.WriteFile("data/rota.db", []byte(strings.Repeat("ruined ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := runLine("restore healthy.db --data data --force")
	if code != exitDone || !strings.Contains(out, "clean, 3 jobs") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if kept, _ := filepath.Glob("data/rota.db.before-*"); len(kept) != 2 {
		t.Errorf("kept aside are %s, want the store and its log", kept)
	}
	if out, errs, code := runLine("verify --store sqlite:data/rota.db"); code != exitDone || !strings.Contains(out, "checked 3 jobs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}
