package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// enqueueBulk fills a store with batches of 100 jobs of 3 KB.
func enqueueBulk(t testing.TB, s *Store, batches int) {
	t.Helper()
	params := []byte(`{"x":"` + strings.Repeat("x", 3000) + `"}`)
	for i := range batches {
		jobs := make([]rota.NewJob, 100)
		for k := range jobs {
			jobs[k] = rota.NewJob{Type: "mail", Params: params}
		}
		apply(t, s, at(time.Duration(i)*time.Second, enqueue(jobs...)))
	}
}

func TestBackupIsCompleteStore(t *testing.T) {
	s := openTest(t, Config{})
	fillJobs(t, s)
	enqueueBulk(t, s, 20)
	before := dump(t, s)
	path := filepath.Join(t.TempDir(), "copy.db")
	var done, total int64
	must(t, s.Backup(t.Context(), path, func(d, of int64) {
		if d < done || d > of {
			t.Errorf("%d of %d bytes after %d", d, of, done)
		}
		done, total = d, of
	}))
	info, err := os.Stat(path)
	must(t, err)
	if done != total || total != info.Size() {
		t.Errorf("the last progress report is %d of %d bytes, the file has %d", done, total, info.Size())
	}
	checkOnlyFile(t, path)
	readOnly, err := OpenWith(path, Config{ReadOnly: true, Logger: quiet})
	must(t, err)
	if got := dump(t, readOnly); got != before {
		t.Error("the copy has another content")
	}
	must(t, readOnly.Close())
	if conn := rawConn(t, path); column(t, conn, `SELECT value FROM rota_meta WHERE key = 'clean'`)[0] != "1" {
		t.Error("the copy is not marked as closed cleanly")
	}
	if got := reopenAndDump(t, path); got != before {
		t.Error("the copy has another content after it was opened for writing")
	}
}

// checkOnlyFile checks that a directory holds only one file.
func checkOnlyFile(t testing.TB, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("%s is beside the file", e.Name())
		}
	}
}

// TestBackupDuringWritesIsOneSnapshot writes a batch between any two steps of a backup. The copy
// holds exactly the jobs from before the backup, and the writer is not blocked.
func TestBackupDuringWritesIsOneSnapshot(t *testing.T) {
	s := openTest(t, Config{})
	enqueueBulk(t, s, 15)
	step, wrote := make(chan struct{}), make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for range step {
			enqueueBulk(t, s, 1)
			wrote <- struct{}{}
		}
	})
	path := filepath.Join(t.TempDir(), "copy.db")
	during := 0
	must(t, s.Backup(t.Context(), path, func(done, total int64) {
		step <- struct{}{} // writes and answers a batch between two steps of the copy
		<-wrote
		during++
	}))
	close(step)
	writer.Wait()
	if during < 2 {
		t.Fatalf("the copy took %d steps; the store is too small for this test", during)
	}
	if got := countJobs(t, s); got != 1500+100*during {
		t.Errorf("the store has %d jobs", got)
	}
	copied, err := OpenWith(path, Config{Logger: quiet})
	must(t, err)
	defer copied.Close()
	verifyClean(t, copied)
	if got := countJobs(t, copied); got != 1500 {
		t.Errorf("the copy has %d jobs; it began with 1500", got)
	}
	apply(t, copied, at(time.Hour, claim(10)))
	verifyClean(t, s)
}

func TestBackupRefusesExistingOrUnwritablePath(t *testing.T) {
	s := openTest(t, Config{})
	dir := t.TempDir()
	existing := filepath.Join(dir, "there.db")
	must(t, os.WriteFile(existing, []byte("mine"), 0o600))
	checkError(t, s.Backup(t.Context(), existing, nil), rota.Conflict, "already exists", "never replaces")
	checkError(t, s.Backup(t.Context(), s.path, nil), rota.Conflict, "already exists", "never replaces")
	checkError(t, s.Backup(t.Context(), filepath.Join(dir, "none", "copy.db"), nil), rota.Unavailable, "cannot be written", "directory exists")
	checkError(t, s.Backup(t.Context(), "", nil), rota.Invalid, "is empty", "")
	taken := filepath.Join(dir, "taken.db")
	err := s.Backup(t.Context(), taken, func(done, total int64) {
		if done == total { // another process creates the file at the last moment
			must(t, os.WriteFile(taken, []byte("mine"), 0o600))
		}
	})
	checkError(t, err, rota.Conflict, "already exists", "never replaces")
	for _, path := range []string{existing, taken} {
		if content, err := os.ReadFile(path); err != nil || string(content) != "mine" {
			t.Errorf("%s holds %q, %v", path, content, err)
		}
	}
	must(t, os.Remove(taken))
	checkOnlyFile(t, existing)
	must(t, s.Close())
	checkError(t, s.Backup(t.Context(), taken, nil), rota.Unavailable, "the store is closed", "")
	checkOnlyFile(t, existing)
}

// TestInterruptedBackupLeavesNothing cancels a backup, and closes the store during another.
func TestInterruptedBackupLeavesNothing(t *testing.T) {
	s := openTest(t, Config{})
	enqueueBulk(t, s, 15)
	path := filepath.Join(t.TempDir(), "copy.db")
	ctx, cancel := context.WithCancel(t.Context())
	err := s.Backup(ctx, path, func(done, total int64) {
		if done == total {
			t.Error("the backup was completed")
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := s.Backup(ctx, path, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it began: %v", err)
	}
	closed := make(chan error, 1)
	err = s.Backup(t.Context(), path, func(done, total int64) {
		go func() { closed <- s.Close() }()
		<-s.closed
	})
	checkError(t, err, rota.Unavailable, "the store is closed", "")
	must(t, <-closed)
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) > 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func countJobs(t *testing.T, s *Store) int {
	t.Helper()
	last := rota.Checked{}
	for v, err := range s.VerifyProgress(t.Context(), func(c rota.Checked) { last = c }) {
		must(t, err)
		t.Errorf("%+v", v)
	}
	return last.Jobs
}
