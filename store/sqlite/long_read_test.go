package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// checkReadAnswered checks that a short read is answered.
func checkReadAnswered(t *testing.T, s *Store, during string) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 5*time.Second)
	defer done()
	if _, err := s.NextDue(ctx); err != nil {
		t.Errorf("a short read during %s fails: %v", during, err)
	}
}

// verifyWith runs Verify and calls a function at its first progress report.
func verifyWith(ctx context.Context, s *Store, onProgress func()) (err error) {
	called := false
	for _, e := range s.VerifyProgress(ctx, func(rota.Checked) {
		if !called {
			called = true
			onProgress()
		}
	}) {
		err = errors.Join(err, e)
	}
	return err
}

// TestLongReadsDoNotBlockShortReads runs more long reads than the pool has connections.
func TestLongReadsDoNotBlockShortReads(t *testing.T) {
	s := openTest(t, Config{Readers: 1})
	fillJobs(t, s)
	copied := filepath.Join(t.TempDir(), "copy.db")
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	must(t, verifyWith(ctx, s, func() {
		checkReadAnswered(t, s, "a verification")
		two := verifyWith(ctx, s, func() { checkReadAnswered(t, s, "two verifications") })
		backup := s.Backup(ctx, copied, func(int64, int64) { checkReadAnswered(t, s, "two verifications and a backup") })
		if err := errors.Join(two, backup); err != nil {
			t.Error(err)
		}
	}))
}

// TestCloseInterruptsVerify closes the store during Verify. Verify returns that the store is
// closed, and the file is released only after Verify has ended.
func TestCloseInterruptsVerify(t *testing.T) {
	s := openTest(t, Config{})
	enqueueBulk(t, s, 3)
	closed := make(chan error, 1)
	err := verifyWith(t.Context(), s, func() {
		go func() { closed <- s.Close() }()
		<-s.closed
		if _, err := Open(s.path); rota.CodeOf(err) != rota.Busy {
			t.Errorf("Open succeeds while Verify reads the file: %v", err)
		}
	})
	checkError(t, err, rota.Unavailable, "the store is closed", "")
	must(t, <-closed)
	checkError(t, verifyWith(t.Context(), s, func() {}), rota.Unavailable, "the store is closed", "")
	must(t, reopen(s.path))
}

func reopen(path string) error {
	s, err := OpenWith(path, Config{Logger: quiet})
	if err != nil {
		return err
	}
	return s.Close()
}

func TestVerifyEndsWithContext(t *testing.T) {
	s := openTest(t, Config{})
	enqueueBulk(t, s, 3)
	ctx, cancel := context.WithCancel(t.Context())
	if err := verifyWith(ctx, s, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled during Verify: %v", err)
	}
	if err := verifyWith(ctx, s, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before Verify: %v", err)
	}
}

// TestBackupRefusesMovedOrReplacedFile backs up from another working directory, and then with the
// file moved away and replaced.
func TestBackupRefusesMovedOrReplacedFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s, err := OpenWith("rota.db", Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	t.Chdir(t.TempDir())
	must(t, s.Backup(t.Context(), filepath.Join(dir, "copy.db"), nil))
	verifyClean(t, s)

	must(t, os.Rename(filepath.Join(dir, "rota.db"), filepath.Join(dir, "away.db")))
	again := filepath.Join(dir, "again.db")
	checkError(t, s.Backup(t.Context(), again, nil), rota.Unavailable, "moved or replaced", "stop this process")
	must(t, os.Rename(filepath.Join(dir, "copy.db"), filepath.Join(dir, "rota.db")))
	checkError(t, s.Backup(t.Context(), again, nil), rota.Unavailable, "moved or replaced", "stop this process")
	must(t, os.Rename(filepath.Join(dir, "away.db"), filepath.Join(dir, "rota.db")))
	must(t, s.Backup(t.Context(), again, nil))
}
