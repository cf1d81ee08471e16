package sqlite

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestPaddedLogIsOverwrittenAndReadAfterCrash checks that SQLite overwrites the padding without
// growing the file, and that a store opens after a crash with a padded log.
func TestPaddedLogIsOverwrittenAndReadAfterCrash(t *testing.T) {
	s := openTest(t, Config{})
	for range 3 {
		time.Sleep(2 * walIdleGap)
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	}
	size := func() int64 {
		info, err := os.Stat(s.path + "-wal")
		must(t, err)
		return info.Size()
	}
	before := size()
	if before < walPaddingBytes {
		t.Fatalf("the log has %d bytes", before)
	}
	for range 10 {
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	}
	if after := size(); after != before {
		t.Errorf("the log has grown from %d to %d bytes", before, after)
	}
	crashed := copyFiles(t, s.path)
	again, err := OpenWith(crashed, Config{Logger: quiet})
	must(t, err)
	defer again.Close()
	verifyClean(t, again)
	jobs, err := again.Jobs(t.Context(), rota.JobQuery{Limit: 100})
	must(t, err)
	if len(jobs) != 13 {
		t.Errorf("%d of 13 jobs were read", len(jobs))
	}
}

// TestLogIsNotPaddedBeyondCheckpointSize pads a log that has the size of a checkpoint.
func TestLogIsNotPaddedBeyondCheckpointSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	file, err := os.Create(path + "-wal")
	must(t, err)
	must(t, file.Truncate(walPaddingMax))
	must(t, file.Close())
	var r walPadding
	r.open(path)
	r.extend()
	info, err := os.Stat(path + "-wal")
	must(t, err)
	if info.Size() != walPaddingMax || r.file != nil {
		t.Errorf("the log has %d bytes, and padding is on: %t", info.Size(), r.file != nil)
	}
}

// TestPaddingStaysInOwnLogAfterChdir opens a store through a link and changes the working directory
// to one with a file of the same name.
func TestPaddingStaysInOwnLogAfterChdir(t *testing.T) {
	mine, elsewhere := t.TempDir(), t.TempDir()
	foreign := filepath.Join(elsewhere, "rota.db-wal")
	must(t, os.WriteFile(foreign, []byte("not yours"), 0o600))
	t.Chdir(mine)
	must(t, os.Symlink("rota.db", "link.db"))
	s, err := OpenWith("link.db", Config{Logger: quiet})
	must(t, err)
	defer s.Close()
	t.Chdir(elsewhere)
	for range 3 {
		time.Sleep(2 * walIdleGap)
		apply(t, s, at(0, enqueue(rota.NewJob{Type: "mail"})))
	}
	text, err := os.ReadFile(foreign)
	must(t, err)
	info, err := os.Stat(filepath.Join(mine, "rota.db-wal"))
	must(t, err)
	if string(text) != "not yours" || info.Size() < walPaddingBytes {
		t.Errorf("the other file has %d bytes, the log of the store %d", len(text), info.Size())
	}
}
