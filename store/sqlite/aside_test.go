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

// readsOn wants an ordinary read to be answered now.
func readsOn(t *testing.T, s *Store, beside string) {
	t.Helper()
	ctx, done := context.WithTimeout(t.Context(), 5*time.Second)
	defer done()
	if _, err := s.NextDue(ctx); err != nil {
		t.Errorf("beside %s nobody can read: %v", beside, err)
	}
}

// verifyAnd verifies, and does something in the middle.
func verifyAnd(ctx context.Context, s *Store, middle func()) (err error) {
	begun := false
	for _, e := range s.VerifyProgress(ctx, func(rota.Checked) {
		if !begun {
			begun = true
			middle()
		}
	}) {
		err = errors.Join(err, e)
	}
	return err
}

// TestLongReadsLeaveTheReadersToOthers has more of them under way than there
// are readers.
func TestLongReadsLeaveTheReadersToOthers(t *testing.T) {
	s := openTest(t, Config{Readers: 1})
	cast(t, s)
	copied := filepath.Join(t.TempDir(), "copy.db")
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	must(t, verifyAnd(ctx, s, func() {
		readsOn(t, s, "a verification")
		two := verifyAnd(ctx, s, func() { readsOn(t, s, "two of them") })
		backup := s.Backup(ctx, copied, func(int64, int64) { readsOn(t, s, "a backup, too") })
		if err := errors.Join(two, backup); err != nil {
			t.Error(err)
		}
	}))
}

// TestCloseEndsAVerification as it ends a backup: it is told that the store is
// closed, and the file is let go of after it, not before.
func TestCloseEndsAVerification(t *testing.T) {
	s := openTest(t, Config{})
	bulk(t, s, 3)
	closed := make(chan error, 1)
	err := verifyAnd(t.Context(), s, func() {
		go func() { closed <- s.Close() }()
		<-s.closed
		if _, err := Open(s.path); rota.CodeOf(err) != rota.Busy {
			t.Errorf("the file is free while somebody reads it: %v", err)
		}
	})
	refused(t, err, rota.Unavailable, "the store is closed", "")
	must(t, <-closed)
	refused(t, verifyAnd(t.Context(), s, func() {}), rota.Unavailable, "the store is closed", "")
	must(t, reopen(s.path))
}

func reopen(path string) error {
	s, err := OpenWith(path, Config{Logger: quiet})
	if err != nil {
		return err
	}
	return s.Close()
}

func TestAVerificationEndsWithItsContext(t *testing.T) {
	s := openTest(t, Config{})
	bulk(t, s, 3)
	ctx, cancel := context.WithCancel(t.Context())
	if err := verifyAnd(ctx, s, cancel); !errors.Is(err, context.Canceled) {
		t.Errorf("in the middle: %v", err)
	}
	if err := verifyAnd(ctx, s, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("before it began: %v", err)
	}
}

// TestABackupIsOfTheFileThatIsOpen and of no other that came to stand there.
func TestABackupIsOfTheFileThatIsOpen(t *testing.T) {
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
	refused(t, s.Backup(t.Context(), again, nil), rota.Unavailable, "moved or replaced", "stop this process")
	must(t, os.Rename(filepath.Join(dir, "copy.db"), filepath.Join(dir, "rota.db")))
	refused(t, s.Backup(t.Context(), again, nil), rota.Unavailable, "moved or replaced", "stop this process")
	must(t, os.Rename(filepath.Join(dir, "away.db"), filepath.Join(dir, "rota.db")))
	must(t, s.Backup(t.Context(), again, nil))
}
