package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// TestBackupAndRestore backs up a running server, restores the backup and starts a server with it.
func TestBackupAndRestore(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	id := idShape.FindString(s.must("job create noop --unique kept"))
	file := filepath.Join(t.TempDir(), "rota backup.db")
	out := s.must("backup '" + file + "'")
	if !strings.HasPrefix(out, "wrote "+file) {
		t.Error(out)
	}
	if out, errs, code := s.run("backup '" + file + "'"); code != exitFailed || !strings.Contains(errs, "already exists") {
		t.Errorf("a second backup exits with %d: %s%s", code, out, errs)
	}
	s.must("backup '" + file + "' --force -o json")
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(file), ".*")); len(left) > 0 {
		t.Errorf("temporary files remain: %s", left)
	}
	s.must("job create noop --unique lost")
	if out, errs, code := s.run("restore '" + file + "' --force"); code != exitUnavailable || !strings.Contains(errs, "a server (process ") {
		t.Errorf("restore while a server runs exits with %d: %s%s", code, out, errs)
	}
	s.stop()
	if out, errs, code := s.run("restore '" + file + "'"); code != exitFailed || !strings.Contains(errs, "already exists") {
		t.Errorf("restore over a store exits with %d: %s%s", code, out, errs)
	}
	var view restoreView
	if err := json.Unmarshal([]byte(s.must("restore '"+file+"' --force -o json")), &view); err != nil || view.Jobs != 1 {
		t.Errorf("restored %+v, %v", view, err)
	}
	if _, err := os.Stat(view.Aside); err != nil {
		t.Errorf("the old store was not kept: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.data, ".restore-*")); len(left) > 0 {
		t.Errorf("temporary files remain: %s", left)
	}
	s.start()
	list := s.must("job list")
	if !strings.Contains(list, id) || strings.Count(list, "noop") != 1 {
		t.Errorf("after the restore the jobs are\n%s", list)
	}
	s.must("verify")
}

// TestRestoreIntoEmptyDirectory creates the directory, and leaves no store if the file is refused.
func TestRestoreIntoEmptyDirectory(t *testing.T) {
	verifyFixture(t)
	for _, row := range []struct {
		file string
		code int
		word string
	}{
		{"healthy.db", exitDone, "restored data/rota.db from healthy.db: clean, 3 jobs"},
		{"broken.db", exitNotClean, "broken.db is not clean: 2 violations"},
		{"foreign.db", exitNotFound, "foreign.db is not a Rota store"},
		{"notes.txt", exitNotFound, "notes.txt is not a Rota store"},
		{"missing.db", exitNotFound, "there is no file missing.db"},
		{"folder", exitUsage, "folder is not a file"},
	} {
		if err := os.RemoveAll("data"); err != nil {
			t.Fatal(err)
		}
		out, errs, code := runLine("restore " + row.file + " --data data")
		if code != row.code || !strings.Contains(out+errs, row.word) {
			t.Errorf("%s exits with %d: %s%s", row.file, code, out, errs)
		}
		if _, err := os.Stat("data/rota.db"); (err == nil) != (row.code == exitDone) {
			t.Errorf("%s: the store exists: %v", row.file, err == nil)
		}
	}
}

// TestRestoreFromFileWithWAL: the restored store has the jobs that are only in the write-ahead log.
func TestRestoreFromFileWithWAL(t *testing.T) {
	t.Chdir(t.TempDir())
	store, err := sqlite.Open("live.db")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		command := &rota.Enqueue{Meta: rota.Meta{ID: rota.NewID()}, Jobs: []rota.NewJob{{Type: "mail.send"}}}
		if _, err := rota.Do[*rota.Enqueued](t.Context(), store, command); err != nil {
			t.Fatal(err)
		}
	}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile("live.db" + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("crashed.db"+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	out, errs, code := runLine("restore crashed.db --data data")
	if code != exitDone || !strings.Contains(out, "clean, 3 jobs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if out, errs, code = runLine("verify --store sqlite:data/rota.db"); code != exitDone || !strings.Contains(out, "checked 3 jobs") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// TestIncompleteBackupLeavesNoFile ends the stream early in several ways.
func TestIncompleteBackupLeavesNoFile(t *testing.T) {
	verifyFixture(t)
	whole, err := os.ReadFile("healthy.db")
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func(w http.ResponseWriter){
		"cut without an error": func(w http.ResponseWriter) { w.Write(whole[:len(whole)/2]) },
		"cut with a Content-Length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "1000000")
			w.Write(whole[:len(whole)/2])
		},
		"connection lost": func(w http.ResponseWriter) {
			w.Write(whole[:len(whole)/2])
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		"not a database": func(w http.ResponseWriter) { io.Copy(w, bytes.NewReader(bytes.Repeat([]byte("no"), 1000))) },
		"nothing":        func(http.ResponseWriter) {},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { send(w) }))
		_, errs, code := runLine("backup copy.db --url " + server.URL)
		server.Close()
		if code == exitDone || errs == "" {
			t.Errorf("%s: exit %d", name, code)
		}
		if left, _ := filepath.Glob("*copy.db*"); len(left) > 0 {
			t.Errorf("%s: left %s", name, left)
		}
	}
}
