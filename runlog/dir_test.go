package runlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// logNow is the start time of the runs in these tests.
var logNow = time.Date(2026, 11, 15, 23, 30, 0, 0, time.FixedZone("", -2*60*60))

func newLogs(t *testing.T, limit int64) (*Files, *bytes.Buffer) {
	t.Helper()
	server := &bytes.Buffer{}
	return Dir(filepath.Join(t.TempDir(), "logs"), Config{
		Max: limit, Keep: 30 * day, Clock: func() time.Time { return logNow },
		Logger: slog.New(slog.NewTextHandler(server, nil)),
	}), server
}

func startedJob() *rota.Job {
	return &rota.Job{ID: rota.NewID(), StartedAt: logNow, Run: &rota.Run{StartedAt: logNow}}
}

func openLog(t *testing.T, logs engine.Logs, job *rota.Job) engine.LogFile {
	t.Helper()
	file, err := logs.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func write(t *testing.T, file io.Writer, text string) {
	t.Helper()
	if n, err := io.WriteString(file, text); n != len(text) || err != nil {
		t.Fatalf("Write accepted %d of %d bytes: %v; a log must never fail its run", n, len(text), err)
	}
}

// reader is what the HTTP API reads logs with.
type reader interface {
	ReadLog(ctx context.Context, job *rota.Job) (io.ReadSeekCloser, error)
}

func readLog(t *testing.T, logs reader, job *rota.Job) string {
	t.Helper()
	file, err := logs.ReadLog(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	text, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestLogFileIsCreatedByFirstLineAndReadableAtOnce(t *testing.T) {
	logs, _ := newLogs(t, 1<<20)
	job := startedJob()
	file := openLog(t, logs, job)
	if want := "logs/2026-11-16/" + job.ID.String() + ".log"; file.Path() != want {
		t.Errorf("path %s, want %s with the day in UTC", file.Path(), want)
	}
	if _, err := os.Stat(logs.dir); err == nil {
		t.Error("the folder exists before the first line")
	}
	early, err := logs.ReadLog(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	if text, err := io.ReadAll(early); len(text) > 0 || err != nil {
		t.Errorf("a log that was not written: %q, %v", text, err)
	}
	write(t, file, "one\n")
	if text, err := io.ReadAll(early); string(text) != "one\n" || err != nil {
		t.Errorf("a reader from before the first line reads %q, %v", text, err)
	}
	if got := readLog(t, logs, job); got != "one\n" {
		t.Errorf("a follower sees %q", got)
	}
	write(t, file, "two")
	if got := readLog(t, logs, job); got != "one\ntwo" {
		t.Errorf("a follower sees %q", got)
	}
	info, err := os.Stat(logs.file(job))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, file, "of a handler that was given up\n")
	if got := readLog(t, logs, job); got != "one\ntwo" {
		t.Errorf("text written after Close was stored: %q", got)
	}
}

func TestFullLogEndsWithOneNotice(t *testing.T) {
	logs, _ := newLogs(t, 1024)
	job := startedJob()
	file := openLog(t, logs, job)
	for i := range 100 {
		write(t, file, fmt.Sprintf("line %3d of what would be too much to keep\n", i))
	}
	text := readLog(t, logs, job)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; !strings.Contains(last, "the log is full at 1KiB") || strings.Count(text, "[rota:") != 1 {
		t.Errorf("the log ends with %q", last)
	}
	if kept := lines[len(lines)-2]; !strings.HasSuffix(kept, "too much to keep") {
		t.Errorf("the last line was cut: %q", kept)
	}
	if len(text) > 1024+128 || len(text) < 900 {
		t.Errorf("the log has %d bytes", len(text))
	}
}

func TestLineLongerThanLogIsCut(t *testing.T) {
	logs, _ := newLogs(t, 1024)
	job := startedJob()
	file := openLog(t, logs, job)
	write(t, file, strings.Repeat("x", 5000))
	text := readLog(t, logs, job)
	if !strings.HasPrefix(text, strings.Repeat("x", 1024)+"\n[rota: ") {
		t.Errorf("%d bytes, ending in %q", len(text), text[max(0, len(text)-100):])
	}
}

// TestFullDiskLosesOnlyLogLines writes to /dev/full.
func TestFullDiskLosesOnlyLogLines(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no device that is full")
	}
	logs, server := newLogs(t, 1<<20)
	job := startedJob()
	file := openLog(t, logs, job)
	name := logs.file(job)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/full", name); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		write(t, file, "lost line\n")
	}
	if got := strings.Count(server.String(), "cannot be written"); got != 1 {
		t.Errorf("the server logs it %d times, want once:\n%s", got, server)
	}
	if err := os.Remove(name); err != nil { // the next write can succeed
		t.Fatal(err)
	}
	write(t, file, "kept line\n")
	if got, want := readLog(t, logs, job), "[rota: 100 bytes are missing here: they could not be written]\nkept line\n"; got != want {
		t.Errorf("the log is %q, want %q", got, want)
	}
	if !strings.Contains(server.String(), "can be written again") {
		t.Errorf("the server does not log that logs can be written again:\n%s", server)
	}
}

func TestUncreatableLogFolderLosesOnlyLogLines(t *testing.T) {
	logs, server := newLogs(t, 1<<20)
	if err := os.WriteFile(logs.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, openLog(t, logs, startedJob()), "lost\n")
	if !strings.Contains(server.String(), "cannot be written") {
		t.Error("the server did not log the failure")
	}
}

// TestOpenLogFilesAreBounded writes to many logs at once, line by line.
func TestOpenLogFilesAreBounded(t *testing.T) {
	logs, _ := newLogs(t, 1<<20)
	jobs := make([]*rota.Job, openFilesMax+50)
	files := make([]engine.LogFile, len(jobs))
	for i := range jobs {
		jobs[i] = startedJob()
		files[i] = openLog(t, logs, jobs[i])
	}
	var group sync.WaitGroup
	for _, file := range files {
		group.Go(func() {
			for range 3 {
				_, _ = io.WriteString(file, "line\n")
			}
		})
	}
	group.Wait()
	if kept := logs.openFiles.Load(); kept != openFilesMax {
		t.Errorf("%d files are open, want %d", kept, openFilesMax)
	}
	for i, job := range jobs {
		if got := readLog(t, logs, job); got != "line\nline\nline\n" {
			t.Errorf("log %d is %q", i, got)
		}
	}
	for _, file := range files {
		_ = file.Close()
	}
	if kept := logs.openFiles.Load(); kept != 0 {
		t.Errorf("%d are open after the end", kept)
	}
}

// TestOldLogDaysAreRemoved: a day is removed when its last minute is older than 30
// days. Files other than logs stay.
func TestOldLogDaysAreRemoved(t *testing.T) {
	logs, server := newLogs(t, 1<<20)
	log := rota.NewID().String() + ".log"
	for _, name := range []string{
		"2026-10-01/" + log, "2026-10-16/" + log, "2026-10-17/" + log, "2026-11-15/" + log,
		"notes/" + log, "2026-13-01/" + log, "2026-10-02.txt", // not folders of days
		"2026-10-02/" + log, "2026-10-02/access.log", "2026-10-02/" + strings.ToUpper(log), "2026-10-02/" + log + ".gz",
		"2026-10-02/below/" + log, "2026-10-02/" + rota.NewID().String() + ".log/mine",
	} {
		path := filepath.Join(logs.dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(logs.dir, "2026-10-03"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 2 { // at 2026-11-16 01:30 UTC
		logs.PruneLogs(t.Context(), false)
	}
	for _, row := range []struct {
		day  string
		want int // entries; -1: removed
	}{
		{"2026-10-01", -1}, {"2026-10-16", -1}, {"2026-10-03", -1}, {"2026-10-17", 1}, {"2026-11-15", 1}, {"notes", 1}, {"2026-13-01", 1}, {"2026-10-02", 5},
	} {
		entries, err := os.ReadDir(filepath.Join(logs.dir, row.day))
		if got := len(entries); err == nil && got != row.want || err != nil && row.want >= 0 {
			t.Errorf("%s has %v, %v; want %d entries", row.day, entries, err, row.want)
		}
	}
	if logged := strings.Count(server.String(), "removed old run logs"); logged != 3 || strings.Contains(server.String(), "ERROR") {
		t.Errorf("the server logs %d removed days:\n%s", logged, server)
	}
}

func TestStoredLogPathIsIgnored(t *testing.T) {
	logs, _ := newLogs(t, 1<<20)
	job := startedJob()
	job.Run.LogPath, job.Run.Outcome = "../../etc/passwd", rota.OutcomeCompleted
	if _, err := logs.ReadLog(t.Context(), job); rota.CodeOf(err) != rota.NotFound {
		t.Errorf("%v", err)
	}
	job.Run = nil
	if _, err := logs.ReadLog(t.Context(), job); rota.CodeOf(err) != rota.NotFound || !strings.Contains(err.Error(), "not started") {
		t.Errorf("%v", err)
	}
}

func BenchmarkLogLine(b *testing.B) {
	logs := Dir(b.TempDir(), Config{Max: 100 << 30, Logger: slog.New(slog.DiscardHandler)})
	file, _ := logs.Open(startedJob())
	line := []byte("2026-11-15T23:30:00Z INFO a line of a log as long as most of them are\n")
	for b.Loop() {
		_, _ = file.Write(line)
	}
	_ = file.Close()
}

// TestLogOfRemoteWorkerIsReplaced: a log that a worker sends again replaces the first.
func TestLogOfRemoteWorkerIsReplaced(t *testing.T) {
	logs, _ := newLogs(t, 1024)
	job := startedJob()
	for _, text := range []string{"one\ntwo\n", "one\ntwo\n", "three"} {
		if err := logs.Keep(t.Context(), map[*rota.Job]string{job: text}); err != nil {
			t.Fatal(err)
		}
		if got := readLog(t, logs, job); got != text {
			t.Errorf("the log is %q, want %q", got, text)
		}
	}
	if got, want := logs.Path(job), "logs/2026-11-16/"+job.ID.String()+".log"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
	if err := logs.Keep(t.Context(), map[*rota.Job]string{job: strings.Repeat("a line that is one of many\n", 100)}); err != nil {
		t.Fatal(err)
	}
	if text := readLog(t, logs, job); len(text) > 1024+128 || !strings.Contains(text, "the log is full at 1KiB") {
		t.Errorf("it has %d bytes, ending in %q", len(text), text[max(0, len(text)-100):])
	}
	if kept := logs.openFiles.Load(); kept != 0 {
		t.Errorf("%d files are open after the end", kept)
	}
}

// TestUnwritableLogOfRemoteWorkerIsLogged: the server logs it once and returns no error.
func TestUnwritableLogOfRemoteWorkerIsLogged(t *testing.T) {
	logs, server := newLogs(t, 1024)
	if err := os.WriteFile(logs.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := logs.Keep(t.Context(), map[*rota.Job]string{startedJob(): "lost\n"}); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Count(server.String(), "cannot be written"); got != 1 {
		t.Errorf("the server logs it %d times, want once:\n%s", got, server)
	}
}
