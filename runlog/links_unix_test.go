//go:build unix

package runlog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// Neither the directory of the logs, nor a day, nor a file is followed to another place.
func TestLogsAreNotWrittenOrReadThroughLinks(t *testing.T) {
	started := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	job := &rota.Job{ID: rota.NewID(), Run: &rota.Run{StartedAt: started}}
	for place, link := range map[string]func(logs string) string{
		"directory": func(logs string) string { return logs },
		"day":       func(logs string) string { return filepath.Join(logs, "2026-11-18") },
		"file":      func(logs string) string { return filepath.Join(logs, name(job)) },
	} {
		outside, logs := t.TempDir(), filepath.Join(t.TempDir(), "logs")
		victim := filepath.Join(outside, strings.TrimPrefix(filepath.Join(logs, name(job)), link(logs)))
		for _, dir := range []string{filepath.Dir(victim), filepath.Dir(link(logs))} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if place == "file" {
			victim = filepath.Join(outside, "victim")
		}
		if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
			t.Fatal(err)
		}
		target := outside
		if place == "file" {
			target = victim
		}
		if err := os.Symlink(target, link(logs)); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		files := Dir(logs, Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: func() time.Time { return started.AddDate(1, 0, 0) }})
		file, err := files.Open(job)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = file.Write([]byte("line\n"))
		_ = file.Close()
		if reader, err := files.ReadLog(t.Context(), job); err == nil {
			t.Errorf("%s: the log is read through the link", place)
			_ = reader.Close()
		}
		files.PruneLogs(t.Context(), true)
		if text, _ := os.ReadFile(victim); string(text) != "keep" {
			t.Errorf("%s: the file behind the link became %q", place, text)
		}
		if !strings.Contains(log.String(), "symbolic link") {
			t.Errorf("%s: the server logs\n%s", place, &log)
		}
	}
}

func TestLogsAreNotWrittenOrReadThroughHardLinks(t *testing.T) {
	started := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	job := &rota.Job{ID: rota.NewID(), Run: &rota.Run{StartedAt: started}}
	dir := t.TempDir()
	logs, victim := filepath.Join(dir, "logs"), filepath.Join(dir, "victim")
	if err := os.MkdirAll(filepath.Join(logs, "2026-11-18"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(victim, filepath.Join(logs, name(job))); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	files := Dir(logs, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	file, err := files.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = file.Write([]byte("line\n"))
	_ = file.Close()
	if !strings.Contains(log.String(), "hard link") {
		t.Errorf("the server logs\n%s", &log)
	}
	if reader, err := files.ReadLog(t.Context(), job); err == nil {
		t.Error("the log is read through the link")
		_ = reader.Close()
	}
	if err := files.Keep(t.Context(), map[*rota.Job]string{job: "from a worker\n"}); err != nil { // replaces the link
		t.Error(err)
	}
	if text, _ := os.ReadFile(victim); string(text) != "keep" {
		t.Errorf("the file behind the link became %q", text)
	}
	if text, _ := os.ReadFile(filepath.Join(logs, name(job))); string(text) != "from a worker\n" {
		t.Errorf("the log of the worker is %q", text)
	}
}
